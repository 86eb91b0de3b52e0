package lab

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// clockTick is the unit of processor times in /proc/PID/stat: USER_HZ, which
// is 100 on every architecture that Go runs on.
const clockTick = 10 * time.Millisecond

func usageOf(p *os.ProcessState) sample {
	s := sample{user: p.UserTime(), sys: p.SystemTime()}
	if r, ok := p.SysUsage().(*syscall.Rusage); ok {
		s.rss = r.Maxrss << 10
		s.written = r.Oublock * 512
	}
	return s
}

// sampleAll updates seen with every process whose executable is bin and
// returns how many there are.
func sampleAll(bin string, seen map[int]sample) (n int, now int64) {
	dir, err := os.Open("/proc")
	if err != nil {
		return 0, 0
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if exe, err := os.Readlink("/proc/" + name + "/exe"); err != nil || exe != bin {
			continue
		}
		n++
		stat, err := os.ReadFile("/proc/" + name + "/stat")
		if err != nil {
			continue
		}
		s := seen[pid]
		// The second field is the name in brackets and may hold blanks.
		f := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if len(f) > 12 {
			user, _ := strconv.Atoi(string(f[11]))
			sys, _ := strconv.Atoi(string(f[12]))
			s.user, s.sys = time.Duration(user)*clockTick, time.Duration(sys)*clockTick
		}
		if v, ok := procField("/proc/"+name+"/status", "VmHWM:"); ok {
			s.rss = v << 10
		}
		if v, ok := procField("/proc/"+name+"/status", "VmRSS:"); ok {
			now += v << 10
		}
		if v, ok := procField("/proc/"+name+"/io", "write_bytes:"); ok {
			s.written = v
		}
		seen[pid] = s
	}
	return n, now
}

// procField returns the number that follows key at the start of a line.
func procField(file, key string) (int64, bool) {
	b, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	for line := range bytes.Lines(b) {
		if rest, ok := bytes.CutPrefix(line, []byte(key)); ok {
			if f := bytes.Fields(rest); len(f) > 0 {
				v, err := strconv.ParseInt(string(f[0]), 10, 64)
				return v, err == nil
			}
		}
	}
	return 0, false
}

// OwnRSS returns the peak of this process in bytes.
func OwnRSS() int64 {
	v, _ := procField("/proc/self/status", "VmHWM:")
	return v << 10
}

// Processor returns how long the server has had a processor so far, 0 where
// the system does not tell: what else the machine does takes no part in it.
func (c *Client) Processor() time.Duration {
	const sched = 2 // the clock of a process that counts what its threads have run
	var ts unix.Timespec
	if unix.ClockGettime(int32(^c.PID())<<3|sched, &ts) != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}

// Anonymous returns how much memory the server has that is in no file, in bytes.
func (c *Client) Anonymous() int64 {
	v, _ := procField("/proc/"+strconv.Itoa(c.PID())+"/status", "RssAnon:")
	return v << 10
}

// CPU returns the processor time that this process has taken so far.
func CPU() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
