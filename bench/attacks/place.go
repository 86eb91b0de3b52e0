package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
)

// place is where the attacks happen.
type place struct {
	dir, bin, commit string
	scripts          string
	env              []string
	swap             *strings.Replacer // of what the scripts have hard-coded
	ports            map[string]string // of the scripts to free ones
}

// foreign are the ports that the scripts name.
var foreign = []string{"7391", "7411", "7412", "7477", "7497", "7498", "7499"}

func newPlace(from string) (*place, error) {
	dir, err := lab.Scratch("attacks")
	if err != nil {
		return nil, err
	}
	w := &place{dir: dir, scripts: filepath.Join(dir, "scripts"), ports: map[string]string{}}
	src := filepath.Join(dir, "attacks-src")
	tree, err := lab.Checkout(".", src)
	if err != nil {
		return nil, err
	}
	w.commit = tree.Commit
	bin := filepath.Join(dir, "bin")
	w.bin = filepath.Join(bin, "knowledge")
	// Not the commit alone: who tries a change sees it.
	if err := lab.Build(".", w.bin, "./cmd/knowledge"); err != nil {
		return nil, err
	}
	old := []string{"/tmp/attacks", dir + "/attacks", "/tmp/out.tmp", dir + "/out.tmp", "/tmp/err.tmp", dir + "/err.tmp", "err.tmp /tmp/", "err.tmp " + dir + "/"}
	for _, p := range foreign {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		_, w.ports[p], _ = net.SplitHostPort(l.Addr().String())
		l.Close()
		old = append(old, p, w.ports[p])
	}
	w.swap = strings.NewReplacer(old...)
	for _, d := range []string{w.scripts, dir + "/attacks-home", dir + "/tmp"} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return nil, err
		}
	}
	files, err := filepath.Glob(filepath.Join(from, "*.*"))
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		s := w.swap.Replace(string(text))
		if filepath.Base(f) == "kill.py" {
			// It knows its processes by the path of their program.
			s = strings.Replace(s, "K='knowledge'", "K='"+w.bin+"'", 1)
			s = strings.Replace(s, "\nbad=0; Q=", settled+"\nbad=0; Q=", 1)
		}
		if err := os.WriteFile(filepath.Join(w.scripts, filepath.Base(f)), []byte(s), 0o755); err != nil {
			return nil, err
		}
	}
	w.env = append(lab.Env(dir+"/attacks-data"),
		"HOME="+dir+"/attacks-home", "PATH="+bin+":"+os.Getenv("PATH"), "TMPDIR="+dir+"/tmp", "LC_ALL=C.UTF-8", "PYTHONPATH="+filepath.Join(dir, "scripts"),
		"XDG_CONFIG_HOME=", "XDG_DATA_HOME=", "XDG_CACHE_HOME=", "GIT_CONFIG_NOSYSTEM=1")
	if err := os.Chmod(dir, 0o755); err != nil { // another user of the machine comes by
		return nil, err
	}
	return w, w.fixtures()
}

// settled waits for the jobs of the fresh index as kill.py does for those of the
// one that was killed: the references of a large folder are linked by a job of
// their own, and rank once they are there.
const settled = `
for _ in range(60):
    if not [x for x in json.loads(k('jobs','--json',data=F)[1] or '{}').get('jobs',[]) if x.get('status') in('queued','running','waiting')]: break
    time.sleep(1)`

// close unmounts what the scripts may have left.
func (w *place) close() {
	b, err := os.ReadFile("/proc/mounts")
	if err != nil {
		return
	}
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) > 1 && strings.HasPrefix(f[1], w.dir) {
			_ = exec.Command("umount", "-l", f[1]).Run()
		}
	}
}

// fixtures makes what the scripts expect to be there.
func (w *place) fixtures() error {
	p1 := w.dir + "/attacks-p1"
	for path, text := range map[string]string{
		p1 + "/notes.md":                                "# Nightingale\n\nThe launch code of project Nightingale is 4711.\n",
		p1 + "/big.txt":                                 strings.Repeat("all work and no play makes a dull file\n", 20000),
		w.dir + "/attacks-outside.txt":                  "outside canary\n",
		w.dir + "/attacks-p2/other.md":                  "# Budget\n\nThe budget of apples is 42 apples a year.\n",
		w.dir + "/attacks-trust/.knowledge/stores.json": `{"version":1,"stores":[{"name":"ssh","type":"folder","source":"/etc/ssh"}]}`,
		w.dir + "/attacks-trust/a.md":                   "# zebra\n",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	for link, to := range map[string]string{"link.txt": "../attacks-outside.txt", "etc-link": "/etc", "loop": "."} {
		if err := os.Symlink(to, p1+"/"+link); err != nil {
			return err
		}
	}
	for _, d := range []string{p1, w.dir + "/attacks-trust"} {
		if _, err := lab.Command(d, w.env, "git", "init", "-q", "."); err != nil {
			return err
		}
	}
	if _, err := w.knowledge(p1, "store:create", "handbook", w.dir+"/attacks-p2", "--scope", "user"); err != nil {
		return err
	}
	if _, err := w.knowledge(p1, "store:public", "handbook"); err != nil {
		return err
	}
	before, err := w.knowledge(p1, "search", "how many apples is the budget", "--stores", "handbook", "--json")
	if err != nil {
		return err
	}
	if err := os.WriteFile(w.unrated(), []byte(before), 0o644); err != nil {
		return err
	}
	id, err := w.knowledge(p1, "--format", "plain", "search", "launch code of project Nightingale", "--limit", "1")
	if err != nil {
		return err
	}
	// A private id that the scripts have hard-coded.
	private, _, _ := strings.Cut(id, "\t")
	for _, name := range []string{"http1.py", "public.py"} {
		p := filepath.Join(w.scripts, name)
		b, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		if err := os.WriteFile(p, bytes.ReplaceAll(b, []byte("5vlbys5hb5e"), []byte(private)), 0o755); err != nil {
			return err
		}
	}
	return nil
}

// unrated keeps an answer from before anybody rated any.
func (w *place) unrated() string { return filepath.Join(w.dir, "unrated.json") }

func (w *place) knowledge(dir string, args ...string) (string, error) {
	return lab.Command(dir, w.env, w.bin, args...)
}

// attack runs one script and has it judged.
func (w *place) attack(s *seen) {
	if _, err := os.Stat(filepath.Join(w.scripts, s.name)); err != nil {
		s.skipped = "there is no such script"
		return
	}
	args := slices.Clone(s.args)
	if slices.Contains(args, "PORT") {
		srv, err := w.serve(s.attack)
		if err != nil {
			s.expect("the server starts", false, "%v", err)
			return
		}
		defer srv.end()
		for i, a := range args {
			switch a {
			case "PORT":
				args[i] = srv.port
			case "TOKEN":
				args[i] = srv.token
			case "PID":
				args[i] = fmt.Sprint(srv.cmd.Process.Pid)
			}
		}
	}
	began := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), s.limit)
	defer cancel()
	if s.lane == "folder" && s.name != "folder.sh" {
		// A session searches the repository around it, and asks before it takes
		// another folder.
		_ = exec.CommandContext(ctx, "git", "init", "-q", w.dir+"/attacks-fold").Run()
	}
	program := "bash"
	if strings.HasSuffix(s.name, ".py") {
		program = "python3"
	}
	cmd := exec.CommandContext(ctx, program, append([]string{filepath.Join(w.scripts, s.name)}, args...)...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = w.scripts, w.env, 5*time.Second
	said, err := cmd.CombinedOutput()
	s.out, s.took = string(said), time.Since(began)
	_ = os.WriteFile(filepath.Join(w.dir, s.file()), said, 0o644)
	if ctx.Err() != nil {
		s.expect("the script comes to its end", false, "stopped after %s", s.limit)
	} else if err != nil && strings.Contains(s.out, "Traceback") {
		s.expect("the script comes to its end", false, "%v: %s", err, lastLine(s.out))
	}
	s.judge(s)
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return lines[len(lines)-1]
}

// server is a "knowledge serve" over the fixtures.
type server struct {
	cmd         *exec.Cmd
	port, token string
}

var (
	addressOf = regexp.MustCompile(`http://127\.0\.0\.1:(\d+)`)
	tokenOf   = regexp.MustCompile(`Bearer (\S+)`)
)

// serve starts a server on free ports. Its reading is open if the attack
// asks for that and the program has a switch for it.
func (w *place) serve(a attack) (*server, error) {
	token := strings.Repeat("t0ken-of-attacks-", 3)
	args := []string{"serve", "--addr", "127.0.0.1:0", "--enterprise-port", "0", "--evidence-port", "0"}
	if a.open && w.opens() {
		args = append(args, "--open-read")
	}
	if a.name == "last.sh" { // whose script calls it by these
		args = []string{"serve", "--addr", "127.0.0.1:" + w.ports["7411"], "--enterprise", "--evidence-port", "0", "--enterprise-port", w.ports["7391"]}
	}
	cmd := exec.Command(w.bin, args...)
	cmd.Dir, cmd.Env = w.dir+"/attacks-p1", append(slices.Clone(w.env), "KNOWLEDGE_TOKEN="+token)
	var log lockedBuffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s := &server{cmd: cmd, token: token}
	_ = os.WriteFile(w.dir+"/attacks-serve.pid", fmt.Append(nil, cmd.Process.Pid), 0o644)
	for range 300 {
		if m := addressOf.FindStringSubmatch(log.String()); m != nil {
			s.port = m[1]
			if t := tokenOf.FindStringSubmatch(log.String()); t != nil && len(t[1]) > 30 {
				s.token = t[1]
			}
			time.Sleep(300 * time.Millisecond)
			return s, nil
		}
		if cmd.ProcessState != nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	_ = cmd.Process.Kill()
	return nil, fmt.Errorf("no address in %q", log.String())
}

// opens reports whether serve has the switch that opens reading.
func (w *place) opens() bool {
	help, _ := w.knowledge(w.dir, "serve", "--help")
	return strings.Contains(help, "--open-read")
}

func (s *server) end() {
	_ = s.cmd.Process.Signal(os.Interrupt)
	done := make(chan struct{})
	go func() { _ = s.cmd.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		_ = s.cmd.Process.Kill()
	}
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
