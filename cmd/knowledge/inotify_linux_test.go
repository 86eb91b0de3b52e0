package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Where the system gives out no more watches, or no watcher at all, following
// a folder says so and what would help, and goes on by looking.
func TestInotifyExhausted(t *testing.T) {
	unshare, err := exec.LookPath("unshare")
	if err != nil {
		t.Skip("no program unshare: ", err)
	}
	for limit, says := range map[string]string{"max_inotify_watches": "no more", "max_inotify_instances": "no more watchers"} {
		t.Run(limit, func(t *testing.T) {
			file := "/proc/sys/user/" + limit
			if out, err := exec.Command(unshare, "-Ur", "sh", "-c", "echo 1 > "+file).CombinedOutput(); err != nil {
				t.Skipf("%s cannot be set here: %v %s", file, err, out)
			}
			w := newWorld(t)
			dir := w.dir("p")
			write(t, dir, ".git/HEAD", []byte("ref: refs/heads/main\n"))
			write(t, dir, "a/a.md", []byte("# Retries\n\nThe limit of retries is five.\n"))
			write(t, dir, "b/b.md", []byte("# Pauses\n\nThey grow.\n"))
			n := "1"
			if limit == "max_inotify_instances" {
				n = "0"
			}
			cmd := w.command(dir, "watch")
			cmd.Args = append([]string{"unshare", "-Ur", "sh", "-c", "echo " + n + " > " + file + ` && exec "$0" "$@"`, cmd.Path}, cmd.Args[1:]...)
			cmd.Path = unshare
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			cmd.Stderr = cmd.Stdout
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			late := time.AfterFunc(patience, func() { cmd.Process.Kill() })
			defer func() {
				late.Stop()
				cmd.Process.Signal(os.Interrupt)
				cmd.Wait()
			}()
			var said strings.Builder
			lines := bufio.NewScanner(out)
			until := func(texts ...string) {
				t.Helper()
				for {
					missing := ""
					for _, x := range texts {
						if !strings.Contains(said.String(), x) {
							missing = x
						}
					}
					if missing == "" {
						return
					}
					if !lines.Scan() {
						t.Fatalf("never said %q:\n%s", missing, said.String())
					}
					said.WriteString(lines.Text() + "\n")
				}
			}
			until(says, "it is looked at every", "fs.inotify."+map[string]string{"max_inotify_watches": "max_user_watches", "max_inotify_instances": "max_user_instances"}[limit], "2 documents")
			if err := os.WriteFile(filepath.Join(dir, "b", "new.md"), []byte("# Quokka\n\nIt came later.\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			until("3 documents")
		})
	}
}
