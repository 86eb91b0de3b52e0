package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// fixture is the repository in which the replies were recorded.
type fixture struct{ root string }

func (f fixture) git(args ...string) error {
	cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"}, args...)...)
	cmd.Dir = f.root
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return nil
}

func (f fixture) write(name, text string) error {
	p := filepath.Join(f.root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		return err
	}
	return os.WriteFile(p, []byte(text), 0o644)
}

// evidence writes the evidence file with another time in it.
func (f fixture) evidence(at time.Time) error {
	raw, err := os.ReadFile("internal/governance/evidence/testdata/golden.json")
	if err != nil {
		return err
	}
	text := string(raw)
	if !at.IsZero() {
		text = strings.Replace(text, `"timestamp": "2026-02-01T10:00:00.000Z"`, `"timestamp": "`+at.UTC().Format("2006-01-02T15:04:05.000Z")+`"`, 1)
	}
	return f.write(".ai_evidence.json", text)
}

// rebuild makes the repository. The package whose version replies name lies
// in node_modules, which is ignored.
func rebuild(root string) (fixture, error) {
	f := fixture{root}
	if err := os.MkdirAll(root, 0o755); err != nil {
		return f, err
	}
	err := f.git("init", "-q", "-b", "main")
	for _, step := range []func() error{
		func() error { return f.write("README.md", "# demo\n") },
		func() error { return f.write(".git/info/exclude", "node_modules/\n") },
		func() error {
			return f.write("node_modules/pumuki/package.json", `{"name":"pumuki","version":"6.3.26"}`)
		},
		func() error { return f.git("add", "README.md") },
		func() error { return f.git("commit", "-qm", "first") },
		func() error { return f.git("branch", "old/merged") },
		func() error { return f.git("checkout", "-q", "-b", "feature/demo") },
		func() error { return f.evidence(time.Time{}) },
	} {
		if err == nil {
			err = step()
		}
	}
	return f, err
}

// become brings the repository into the state of a part of the transcript.
func (f fixture) become(heading string) error {
	switch {
	case strings.HasPrefix(heading, "recorded"):
		return nil
	case strings.HasPrefix(heading, "modified one tracked file"):
		return f.write("README.md", "# demo\n\nmore\n")
	case strings.HasPrefix(heading, "second run"):
		return f.git("checkout", "-q", "README.md")
	case strings.HasPrefix(heading, "fresh evidence, branch main"):
		return errors.Join(f.evidence(time.Now()), f.git("checkout", "-q", "main"))
	case strings.HasPrefix(heading, "fresh evidence, feature branch"):
		return errors.Join(f.evidence(time.Now()), f.git("checkout", "-q", "feature/demo"))
	case heading == "detached":
		return f.git("checkout", "-q", "--detach")
	}
	return fmt.Errorf("the transcript has a part %q that is not known", heading)
}

// served is a running server.
type served struct {
	cmd                  *exec.Cmd
	evidence, enterprise string // addresses
}

func serve(program, root, tmp string, bypass bool) (*served, error) {
	cmd := exec.Command(program, "serve", "--addr", "127.0.0.1:0", "--evidence-port", "0", "--enterprise-port", "0")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "KNOWLEDGE_DATA_DIR="+filepath.Join(tmp, "data"), "CLAUDE_PROJECT_DIR=")
	if bypass {
		cmd.Env = append(cmd.Env, "PUMUKI_SDD_BYPASS=1")
	}
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s := &served{cmd: cmd}
	lines := bufio.NewScanner(pipe)
	for (s.evidence == "" || s.enterprise == "") && lines.Scan() {
		if rest, ok := strings.CutPrefix(lines.Text(), "evidence: "); ok {
			s.evidence = strings.TrimSuffix(rest, "/ai-evidence")
		}
		if rest, ok := strings.CutPrefix(lines.Text(), "enterprise: "); ok {
			s.enterprise = rest
		}
	}
	if s.enterprise == "" {
		s.stop()
		return nil, errors.New("the server did not start")
	}
	return s, nil
}

func (s *served) stop() {
	if s == nil {
		return
	}
	_ = s.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	_ = s.cmd.Wait()
}
