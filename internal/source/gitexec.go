package source

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/project"
)

// gitProgram returns the installed git, "" when there is none to be run. One
// below node_modules, which package managers put before others on the PATH, or
// below the working directory came with a foreign project.
func gitProgram() string {
	path, err := exec.LookPath("git")
	if err != nil || !filepath.IsAbs(path) {
		return ""
	}
	below := "" // the working directory, where that is a project's
	if dir, err := os.Getwd(); err == nil && Dangerous(dir) == "" {
		below = dir + string(filepath.Separator)
	}
	for _, p := range []string{path, project.RealPath(path)} {
		if slices.Contains(strings.Split(filepath.ToSlash(p), "/"), "node_modules") || below != "" && strings.HasPrefix(p, below) {
			return ""
		}
	}
	return path
}

func haveGit() bool { return gitProgram() != "" }

// keptGitVars are the variables of git that stay in its environment: where
// the user's configuration, certificates and ssh lie. The rest could point it
// at a foreign repository.
var keptGitVars = kb.WordsOf(`GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_CONFIG_NOSYSTEM GIT_EXEC_PATH GIT_SSL_CAINFO GIT_SSL_CAPATH
	GIT_SSH GIT_SSH_COMMAND GIT_SSH_VARIANT GIT_HTTP_PROXY_AUTHMETHOD`)

// gitEnv is the environment of installed git: no questions, no transport but
// the listed, plain http only where the URL is a loopback one.
func gitEnv(base []string, allowHTTP bool) []string {
	var env []string
	for _, kv := range base {
		name, _, _ := strings.Cut(kv, "=")
		switch {
		case strings.HasPrefix(name, "GIT_") && !keptGitVars[name], name == "SSH_ASKPASS", name == "DISPLAY", name == "LC_ALL", name == "LANGUAGE":
		default:
			env = append(env, kv)
		}
	}
	protocols := "https:ssh"
	if allowHTTP {
		protocols += ":http"
	}
	return append(env, "GIT_ALLOW_PROTOCOL="+protocols, "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=",
		"SSH_ASKPASS_REQUIRE=never", "GCM_INTERACTIVE=never", "LC_ALL=C", "GIT_CEILING_DIRECTORIES="+os.TempDir(), "GIT_OPTIONAL_LOCKS=0")
}

// runGit runs installed git in an empty directory outside any repository, with
// more variables than it would have, and returns what it prints. Its progress goes to progress, if that is not nil.
// It ends, with its children, when ctx does.
func runGit(ctx context.Context, more []string, stdin string, progress io.Writer, args ...string) ([]byte, error) {
	program := gitProgram()
	if program == "" {
		return nil, errors.New("no git is installed")
	}
	dir, err := os.MkdirTemp("", "knowledge-git-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	allowHTTP := false
	for _, a := range args {
		if strings.HasPrefix(a, "http://") && loopbackURL(a) {
			allowHTTP = true
		}
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	cmd.Env = append(gitEnv(os.Environ(), allowHTTP), more...)
	cmd.Stdin = strings.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout = &out
	cmd.Stderr = &errs
	if progress != nil {
		cmd.Stderr = io.MultiWriter(&errs, progress)
	}
	detach(cmd)
	cmd.WaitDelay = 300 * time.Millisecond
	if err := cmd.Run(); err != nil {
		return nil, gitError(errs.String(), err)
	}
	return out.Bytes(), nil
}

func loopbackURL(raw string) bool {
	host := hostOf(raw)
	if h, _, ok := strings.Cut(host, ":"); ok && !strings.HasPrefix(host, "[") {
		host = h
	} else if i := strings.IndexByte(host, ']'); i > 0 {
		host = host[1:i]
	}
	return loopback(host)
}

// gitError finds the line of git's output that says what went wrong.
func gitError(stderr string, err error) error {
	line := ""
	for l := range strings.FieldsFuncSeq(stderr, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if rest, ok := strings.CutPrefix(l, "fatal: "); ok {
			line = rest
			break
		}
		if rest, ok := strings.CutPrefix(l, "error: "); ok && line == "" {
			line = rest
		}
	}
	switch {
	case strings.Contains(stderr, "couldn't find remote ref"):
		return errNoRef
	case strings.Contains(stderr, "not our ref"), strings.Contains(stderr, "Server does not allow request for unadvertised object"):
		return errNoExact
	case line != "":
		return errors.New(line)
	}
	return err
}
