//go:build unix

package plugin

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/command"
)

// What is kept is run only while it is what was kept; else it is fetched again.
func TestLauncherVerifiesKept(t *testing.T) {
	archive := packed(t, "echo good")
	at := func(i *install) string {
		return filepath.Join(i.dir, "home/.cache/knowledge/bin", command.Version, "knowledge")
	}
	must := func(t *testing.T, errs ...error) {
		t.Helper()
		for _, err := range errs {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, tt := range []struct {
		name string
		harm func(t *testing.T, p string)
		gets int32
	}{
		{"nothing", func(*testing.T, string) {}, 1},
		{"another program", func(t *testing.T, p string) { must(t, os.WriteFile(p, []byte("#!/bin/sh\necho evil\n"), 0o755)) }, 2},
		{"another program of that size and time", func(t *testing.T, p string) {
			info, err := os.Stat(p)
			must(t, err, os.WriteFile(p, []byte("#!/bin/sh\necho evil"), 0o755), os.Chtimes(p, info.ModTime(), info.ModTime()))
		}, 2},
		{"half of it", func(t *testing.T, p string) { must(t, os.Truncate(p, 12)) }, 2},
		{"a folder", func(t *testing.T, p string) { must(t, os.Remove(p), os.Mkdir(p, 0o755)) }, 2},
		{"a folder with something in it", func(t *testing.T, p string) {
			must(t, os.Remove(p), os.MkdirAll(filepath.Join(p, "x"), 0o755))
		}, 2},
		{"no sum", func(t *testing.T, p string) { must(t, os.Remove(p+".sum")) }, 2},
		{"an empty sum", func(t *testing.T, p string) { must(t, os.Truncate(p+".sum", 0)) }, 2},
		{"the same, restored", func(t *testing.T, p string) {
			b, err := os.ReadFile(p)
			must(t, err, os.Remove(p), os.WriteFile(p, b, 0o755))
		}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			i := newInstall(t, archive, 0)
			i.promise(archive)
			for round := range 3 {
				if round == 1 {
					tt.harm(t, at(i))
				}
				if out, err := i.run("version"); err != nil || out != "good" {
					t.Fatalf("%v: %s", err, out)
				}
			}
			if n := i.gets.Load(); n != tt.gets {
				t.Errorf("fetched %d times, want %d", n, tt.gets)
			}
		})
	}
}

// What others may have written is not run, whatever its sum says: the place is
// named, with the command that takes it away.
func TestLauncherOfOthers(t *testing.T) {
	archive := packed(t, "echo good")
	for _, tt := range []struct {
		name, path string
		mode       os.FileMode
		owner      int
	}{
		{"a place that all can write", "", 0o777, -1},
		{"a place of a group", "", 0o770, -1},
		{"a folder that all can write", command.Version, 0o777, -1},
		{"a program that all can write", command.Version + "/knowledge", 0o777, -1},
		{"a sum that all can write", command.Version + "/knowledge.sum", 0o666, -1},
		{"a place of another user", "", 0o700, 65534},
		{"a program of another user", command.Version + "/knowledge", 0o755, 65534},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.owner >= 0 && os.Geteuid() != 0 {
				t.Skip("only root can give a file away")
			}
			i := newInstall(t, archive, 0)
			i.promise(archive)
			i.env = append(i.env, "PATH=/usr/bin:/bin")
			if out, err := i.run("version"); err != nil || out != "good" {
				t.Fatalf("%v: %s", err, out)
			}
			place := filepath.Join(i.dir, "home/.cache/knowledge/bin")
			if info, err := os.Stat(place); err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("%v %v", info.Mode(), err)
			}
			// All times stay as the sum has them.
			if err := os.Chmod(filepath.Join(place, tt.path), tt.mode); err != nil {
				t.Fatal(err)
			}
			if err := os.Chown(filepath.Join(place, tt.path), tt.owner, -1); err != nil {
				t.Fatal(err)
			}
			out, err := i.run("version")
			_, command, ok := strings.Cut(out, "it is made anew: ")
			if err == nil || !ok || strings.Count(out, "\n") != 0 {
				t.Fatalf("%v: %s", err, out)
			}
			if out, err := i.run("hook", "session-start"); err != nil || out != "" {
				t.Errorf("%v: %s", err, out)
			}
			session := i.command("mcp")
			session.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search"}}` + "\n")
			if out, err := session.Output(); err != nil || !strings.Contains(string(out), command) {
				t.Errorf("%v: %s does not say %s", err, out, command)
			}
			if out, err := exec.Command("sh", "-c", command).CombinedOutput(); err != nil {
				t.Fatalf("%s: %v: %s", command, err, out)
			}
			if out, err := i.run("version"); err != nil || out != "good" || i.gets.Load() != 2 {
				t.Errorf("%v: %s, fetched %d times", err, out, i.gets.Load())
			}
		})
	}
}

// A link to the launcher is the launcher, through links to links too.
func TestLauncherThroughLinks(t *testing.T) {
	archive := packed(t, `echo "got $*"`)
	i := newInstall(t, archive, 0)
	i.promise(archive)
	i.write("home/bin/x", "")
	links := map[string]string{"full": filepath.Join(i.dir, "bin/knowledge"), "beside": "../../bin/knowledge", "knowledge": "beside"}
	for link, to := range links {
		if err := os.Symlink(to, filepath.Join(i.dir, "home/bin", link)); err != nil {
			t.Fatal(err)
		}
	}
	i.env = append(i.env, "PATH="+filepath.Join(i.dir, "home/bin")+":/usr/bin:/bin")
	for link := range links {
		for _, from := range []string{filepath.Join(i.dir, "home/bin", link), "./" + link} {
			cmd := exec.Command(from, "version")
			cmd.Env, cmd.Dir = i.env, filepath.Join(i.dir, "home/bin")
			if out, err := cmd.CombinedOutput(); err != nil || string(out) != "got version\n" {
				t.Errorf("%s: %v: %s", from, err, out)
			}
		}
	}
}

// Another version is another program, later or earlier, and those of versions
// long past go when one is kept.
func TestLauncherKeepsVersionsApart(t *testing.T) {
	archive := packed(t, "echo good")
	i := newInstall(t, archive, 0)
	i.promise(archive)
	place := filepath.Join(i.dir, "home/.cache/knowledge/bin")
	month := time.Now().Add(-31 * 24 * time.Hour)
	for _, v := range []string{"0.0.1", "0.0.2"} {
		i.write("home/.cache/knowledge/bin/"+v+"/knowledge", "#!/bin/sh\necho evil\n")
	}
	if err := os.Chtimes(filepath.Join(place, "0.0.1"), month, month); err != nil {
		t.Fatal(err)
	}
	if out, err := i.run("version"); err != nil || out != "good" {
		t.Fatalf("%v: %s", err, out)
	}
	if left, _ := filepath.Glob(filepath.Join(place, "*")); len(left) != 2 || filepath.Base(left[0]) != "0.0.2" {
		t.Errorf("left: %q", left)
	}
	manifest, err := os.ReadFile(filepath.Join(i.dir, ".claude-plugin/plugin.json"))
	if err != nil {
		t.Fatal(err)
	}
	i.write(".claude-plugin/plugin.json", strings.Replace(string(manifest), `"`+command.Version+`"`, `"0.0.3"`, 1))
	if out, err := i.run("version"); err == nil || !strings.Contains(out, "no release of version 0.0.3 is known") {
		t.Errorf("an earlier version: %v: %s", err, out)
	}
}

// A knowledge on the PATH is taken when its version fits, and no other program
// of that name is: not an older one, not a stranger, no launcher, no file of
// the project.
func TestLauncherOnPath(t *testing.T) {
	says := func(v string) string {
		return "#!/bin/sh\n[ \"$1\" != version ] || { echo \"knowledge " + v + " linux/amd64 go1.26\"; exit; }\necho \"path got $*\"\n"
	}
	var major, minor, patch int
	if _, err := fmt.Sscanf(command.Version, "%d.%d.%d", &major, &minor, &patch); err != nil {
		t.Fatal(err)
	}
	number := func(a, b, c int) string { return fmt.Sprintf("%d.%d.%d", a, b, c) }
	archive := packed(t, `echo "release got $*"`)
	for _, tt := range []struct {
		name, script, want string
	}{
		{"the same", says(command.Version), "path"},
		{"a later one of the same promise", says(number(major, minor, patch+3)), "path"},
		{"a later one", says(number(major+1, 0, 0)), "release"},
		{"a later one before 1.0", says(number(0, minor+1, patch)), "release"},
		{"one not released", says(number(major, minor, patch+1) + "-rc.1"), "release"},
		{"another program", "#!/bin/sh\necho knowledge base 7\n", "release"},
		{"another program that says little", "#!/bin/sh\n", "release"},
		{"one that fails", "#!/bin/sh\necho knowledge " + command.Version + " a/b\nexit 1\n", "release"},
		{"one of numbers that no shell counts", says(number(major, minor, 9) + strings.Repeat("9", 30)), "release"},
		{"one that lacks a number", says("0..1"), "release"},
		{"one that hangs, with a child", "#!/bin/sh\nsleep 60\n", "release"},
		{"no program", "", "release"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			i := newInstall(t, archive, 0)
			i.promise(archive)
			i.write("path/knowledge", tt.script)
			i.env = append(i.env, "PATH="+filepath.Join(i.dir, "bin")+":"+filepath.Join(i.dir, "path")+":/usr/bin:/bin")
			began := time.Now()
			for range 2 {
				if out, err := i.run("search", "x y"); err != nil || out != tt.want+" got search x y" {
					t.Errorf("%v: %s", err, out)
				}
			}
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("waited %v for another program", took)
			}
		})
	}
	t.Run("one that was replaced", func(t *testing.T) {
		i := newInstall(t, archive, 0)
		i.promise(archive)
		i.env = append(i.env, "PATH="+filepath.Join(i.dir, "path")+":/usr/bin:/bin")
		for _, tt := range []struct{ script, want string }{{says(command.Version), "path"}, {says("0.0.1"), "release"}} {
			i.write("path/knowledge", tt.script)
			if out, err := i.run("search"); err != nil || out != tt.want+" got search" {
				t.Errorf("%v: %s", err, out)
			}
		}
	})
	t.Run("one that hangs is asked once", func(t *testing.T) {
		i := newInstall(t, archive, 0)
		i.promise(archive)
		i.write("path/knowledge", "#!/bin/sh\necho asked >>"+"\"$HOME/asked\"\nsleep 60\n")
		i.write("home/asked", "")
		i.env = append(i.env, "PATH="+filepath.Join(i.dir, "path")+":/usr/bin:/bin")
		if out, err := i.run("search"); err != nil || out != "release got search" {
			t.Fatalf("%v: %s", err, out)
		}
		if b, _ := os.ReadFile(filepath.Join(i.dir, "home/asked")); string(b) != "asked\n" {
			t.Errorf("%q", b)
		}
	})
	t.Run("one that never ends", func(t *testing.T) { // a file for what it says stays small, and has no name
		i := newInstall(t, archive, 0)
		i.promise(archive)
		i.write("path/knowledge", "#!/bin/sh\nls -A \"$TMPDIR\" >\"$HOME/seen\"\nexec yes 'knowledge "+command.Version+" a/b'\n")
		i.write("home/seen", "not asked")
		i.write("tmp/x", "")
		i.env = append(i.env, "PATH="+filepath.Join(i.dir, "path")+":/usr/bin:/bin", "TMPDIR="+filepath.Join(i.dir, "tmp"))
		if out, err := i.run("search"); err != nil || out != "release got search" {
			t.Errorf("%v: %s", err, out)
		}
		if b, _ := os.ReadFile(filepath.Join(i.dir, "home/seen")); string(b) != "x\n" {
			t.Errorf("while it was asked there was %q", b)
		}
	})
	t.Run("only launchers", func(t *testing.T) { // of this copy of the plugin and of another
		i, other := newInstall(t, archive, 0), newInstall(t, archive, 0)
		i.env = append(i.env, "PATH="+filepath.Join(i.dir, "bin")+":"+filepath.Join(other.dir, "bin")+":/usr/bin:/bin")
		if out, err := i.run("version"); err == nil || !strings.Contains(out, "no knowledge of that version is on the PATH") {
			t.Errorf("%v: %s", err, out)
		}
		// A link to one is asked, and answers nothing.
		if err := os.MkdirAll(filepath.Join(i.dir, "path"), 0o755); err != nil {
			t.Fatal(err)
		}
		i.write("path/knowledge", "#!/bin/sh\nexec '"+filepath.Join(other.dir, "bin/knowledge")+"' \"$@\"\n")
		i.env = append(i.env, "PATH="+filepath.Join(i.dir, "path")+":/usr/bin:/bin")
		if out, err := i.run("version"); err == nil || !strings.Contains(out, "no knowledge of that version is on the PATH") {
			t.Errorf("%v: %s", err, out)
		}
	})
	t.Run("the project's", func(t *testing.T) {
		i := newInstall(t, archive, 0)
		i.write("knowledge", says(command.Version))
		i.env = append(i.env, "PATH=.::/usr/bin:/bin")
		if out, err := i.run("version"); err == nil {
			t.Errorf("a program of the working directory ran: %s", out)
		}
	})
	t.Run("nowhere to keep anything", func(t *testing.T) {
		i := newInstall(t, archive, 0)
		i.write("path/knowledge", says(command.Version))
		i.write("file", "")
		i.env = append(i.env, "PATH="+filepath.Join(i.dir, "path")+":/usr/bin:/bin", "XDG_CACHE_HOME="+filepath.Join(i.dir, "file"))
		if out, err := i.run("search", "x"); err != nil || out != "path got search x" {
			t.Errorf("%v: %s", err, out)
		}
		i.env = append(i.env, "PATH=/usr/bin:/bin")
		i.promise(archive)
		if out, err := i.run("search", "x"); err == nil || !strings.Contains(out, "cannot write to ") || !strings.Contains(out, "XDG_CACHE_HOME") {
			t.Errorf("%v: %s", err, out)
		}
	})
}

// A hook has no time: it runs what is ready, and is silent where nothing is.
func TestLauncherHook(t *testing.T) {
	archive := packed(t, `echo "got $*"`)
	i := newInstall(t, archive, 0)
	i.promise(archive)
	builds := i.source("0")
	for range 2 {
		if out, err := i.run("hook", "session-start"); err != nil || out != "" {
			t.Errorf("%v: %q", err, out)
		}
	}
	if i.gets.Load() != 0 || builds() != 0 || len(i.programs("home/.cache")) != 0 {
		t.Error("a hook fetches or builds")
	}
	if out, err := i.run("version"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if out, err := i.run("hook", "session-start"); err != nil || out != "got hook session-start" {
		t.Errorf("%v: %q", err, out)
	}
	i.write("home/.cache/knowledge/bin/"+command.Version+"/knowledge", "#!/bin/sh\necho evil\n")
	if out, err := i.run("hook", "session-start"); err != nil || out != "" {
		t.Errorf("%v: %q", err, out)
	}
}

// Options of the plugin reach the program; the names of options, as a client
// without options leaves them, do not.
func TestLauncherOptions(t *testing.T) {
	archive := packed(t, `echo "data in ${KNOWLEDGE_DATA_DIR-its own place}"`)
	i := newInstall(t, archive, 0)
	i.promise(archive)
	i.env = append(i.env, "KNOWLEDGE_OPTION_DATA_DIR=${user_config.data_dir}", "KNOWLEDGE_OPTION_RELEASE_URL=${user_config.release_url}")
	if out, err := i.run("version"); err != nil || out != "data in its own place" {
		t.Errorf("%v: %s", err, out)
	}
	i.env = append(i.env, "KNOWLEDGE_OPTION_DATA_DIR=")
	if out, err := i.run("version"); err != nil || out != "data in its own place" {
		t.Errorf("%v: %s", err, out)
	}
	i.env = append(i.env, "KNOWLEDGE_OPTION_DATA_DIR=/two words")
	if out, err := i.run("version"); err != nil || out != "data in /two words" {
		t.Errorf("%v: %s", err, out)
	}
}

// Three sessions that begin at once build once, and each is answered meanwhile.
func TestLaunchersBuildOnce(t *testing.T) {
	i := newInstall(t, nil, 0)
	builds := i.source("1")
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			cmd := i.command("mcp")
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Error(err)
				return
			}
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Error(err)
				return
			}
			if err := cmd.Start(); err != nil {
				t.Error(err)
				return
			}
			lines := bufio.NewReader(out)
			say := func(s, want string) {
				fmt.Fprintln(in, s)
				if got, err := lines.ReadString('\n'); err != nil || !strings.HasPrefix(got, want) {
					t.Errorf("%v: %q, want %q", err, got, want)
				}
			}
			say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`, `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion"`)
			const call = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"search"}}`
			for range 20 { // until the program repeats its arguments
				fmt.Fprintln(in, call)
				got, err := lines.ReadString('\n')
				if err != nil || got == "mcp\n" {
					break
				}
				if !strings.Contains(got, "knowledge is being built with Go") && !strings.Contains(got, "made by another session") {
					t.Errorf("%q", got)
				}
			}
			if got, err := lines.ReadString('\n'); err != nil || got != call+"\n" {
				t.Errorf("%v: %q", err, got)
			}
			_ = in.Close()
			_ = cmd.Wait()
		})
	}
	all.Wait()
	if n := builds(); n != 1 {
		t.Errorf("built %d times", n)
	}
	if left, _ := filepath.Glob(filepath.Join(i.dir, "home/.cache/knowledge/bin/.[nl]*")); len(left) != 0 {
		t.Errorf("left: %q", left)
	}
}

// A lock is nobody's when its holder is gone, at whatever moment it went.
func TestLauncherOutlivesTheKilled(t *testing.T) {
	i := newInstall(t, nil, 0)
	builds := i.source("30")
	cmd := i.command("version")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for builds() == 0 {
		time.Sleep(10 * time.Millisecond)
	}
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	place := filepath.Join(i.dir, "home/.cache/knowledge/bin")
	if _, err := os.Stat(filepath.Join(place, ".lock")); err != nil {
		t.Fatal("the killed start holds no lock: nothing is tried here")
	}
	again := i.source("0")
	if out, err := i.run("version"); err != nil || out != "version" {
		t.Fatalf("%v: %s", err, out)
	}
	if n := again(); n != 1 {
		t.Errorf("built %d times", n)
	}
	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	for name, pid := range map[string]string{"a dead holder": fmt.Sprintln(dead.Process.Pid), "no holder yet": "", "no number": "x\n"} {
		if err := os.RemoveAll(filepath.Join(place, command.Version)); err != nil {
			t.Fatal(err)
		}
		i.write("home/.cache/knowledge/bin/.lock/pid", pid)
		if out, err := i.run("version"); err != nil || out != "version" {
			t.Errorf("%s: %v: %s", name, err, out)
		}
	}
}

// Where no program can be had the first reply says so, with a command that
// mends it; once that is done the same session goes on.
func TestLauncherSaysWhatMends(t *testing.T) {
	i := newInstall(t, nil, 0)
	i.source("0")
	i.env = append(i.env, "PATH=/usr/bin:/bin")
	if _, err := os.Stat("/usr/bin/go"); err == nil {
		t.Skip("Go lies beside the tools of the launcher")
	}
	cmd := i.command("mcp")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	place := filepath.Join(i.dir, "home/.cache/knowledge/bin")
	mends := "mkdir -p '" + place + "' && curl -fsSL https://go.dev/dl/go1.26.0."
	fmt.Fprintln(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`)
	if got, err := lines.ReadString('\n'); err != nil || !strings.Contains(got, `"instructions":"This server cannot work yet. knowledge: no release`) || !strings.Contains(got, mends) {
		t.Errorf("%v: %.600s", err, got)
	}
	const call = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"search"}}`
	fmt.Fprintln(in, call)
	if got, err := lines.ReadString('\n'); err != nil || !strings.Contains(got, `"isError":true`) || !strings.Contains(got, mends) {
		t.Errorf("%v: %s", err, got)
	}
	if err := os.MkdirAll(filepath.Join(place, "go/bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(i.dir, "path/go"), filepath.Join(place, "go/bin/go")); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(in, call)
	if got, err := lines.ReadString('\n'); err != nil || got != "mcp\n" {
		t.Errorf("%v: %s", err, got)
	}
	_ = in.Close()
	_ = cmd.Wait()
}
