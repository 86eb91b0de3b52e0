package browser

import (
	"bytes"
	"os"
	"strconv"
)

// count counts the processes of a browser: those of its group that are no
// zombies, and those that run on its profile.
func count(pgid int, profile string) int {
	n := 0
	processes(func(pid int, cmdline []byte) {
		stat, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		f := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if len(f) < 3 || string(f[0]) == "Z" {
			return
		}
		if string(f[2]) == strconv.Itoa(pgid) || bytes.Contains(cmdline, []byte(profile)) {
			n++
		}
	})
	return n
}
