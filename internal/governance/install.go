package governance

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/governance/gate"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// stageHooks are the hooks of git at which the gate is asked.
var stageHooks = []struct {
	name  string
	stage gate.Stage
}{{"pre-commit", gate.PreCommit}, {"pre-push", gate.PrePush}}

const (
	hookMark = "# Asks the gate of knowledge; \"knowledge gate:hook --remove\" takes it out.\n"
	// before is behind the name of a hook that was there, which is asked first.
	before = ".before-knowledge"
)

// hookScript is the text of a hook. It stops where the program is not found:
// a gate that cannot be asked allows nothing.
func hookScript(name string, stage gate.Stage) []byte {
	return []byte("#!/bin/sh\n" + hookMark + fmt.Sprintf(`first="$(dirname "$0")/%s%s"
if [ -x "$first" ]; then
	"$first" "$@" || exit $?
fi
if ! command -v knowledge >/dev/null 2>&1; then
	echo "the gate cannot be asked: there is no knowledge on the PATH" >&2
	exit 1
fi
exec knowledge gate %s
`, name, before, stage))
}

// HookReply says what became of the hooks of a repository.
type HookReply struct {
	Hooks []HookState `json:"hooks"`
}

// HookState is one hook, and what was done.
type HookState struct {
	Hook  string `json:"hook"`
	State string `json:"state"`
}

// Hooks puts the hooks of the gate in, or takes them out.
func Hooks(a *app.App, remove bool) (out HookReply, err error) {
	r, there, err := repo(a)
	if err == nil && !there {
		err = noRepository()
	}
	if err != nil {
		return out, err
	}
	dir, own, err := r.HooksDir()
	if err != nil {
		return out, err
	}
	if !own {
		return out, kb.Errorf(kb.Denied, "the hooks of this repository lie outside of it, in %q, where other repositories have theirs", dir).
			WithHint("let them say: knowledge gate PRE_COMMIT")
	}
	for _, h := range stageHooks {
		path := filepath.Join(dir, h.name)
		change := takeHook
		if !remove {
			change = func(path string) (string, error) { return putHook(path, hookScript(h.name, h.stage)) }
		}
		line, err := change(path)
		if err != nil {
			return out, err
		}
		out.Hooks = append(out.Hooks, HookState{h.name, line})
	}
	return out, nil
}

// ours reports whether a hook is one that we made.
func ours(text []byte) bool { return bytes.Contains(text, []byte(hookMark)) }

// putHook writes a hook, and lets one that is there be asked first.
func putHook(path string, script []byte) (string, error) {
	text, err := os.ReadFile(path)
	said := "put in"
	switch {
	case err == nil && ours(text):
		said = "is there already"
	case err == nil:
		if _, err := os.Lstat(path + before); err == nil {
			return "", kb.Errorf(kb.Exists, "%q is there already, so that the hook beside it cannot be kept under that name", path+before).
				WithHint("move one of them away")
		}
		if err := os.Rename(path, path+before); err != nil {
			return "", err
		}
		said = "put in; what was there is asked first, as " + filepath.Base(path) + before
	case !errors.Is(err, fs.ErrNotExist):
		return "", err
	default:
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return "", err
		}
	}
	if err := os.WriteFile(path, script, 0o755); err != nil {
		return "", err
	}
	return said, os.Chmod(path, 0o755)
}

// takeHook takes a hook of ours out, and puts back what was there.
func takeHook(path string) (string, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !ours(text) {
		return "is not ours, or not there", nil
	}
	if err != nil {
		return "", err
	}
	if _, err := os.Lstat(path + before); err == nil {
		return "taken out; what was there is back", os.Rename(path+before, path)
	}
	return "taken out", os.Remove(path)
}
