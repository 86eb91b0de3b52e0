package project

import (
	"cmp"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// DataVariable is the environment variable that names the data directory.
const DataVariable = "KNOWLEDGE_DATA_DIR"

// DataDir returns the absolute data directory: flag, else $KNOWLEDGE_DATA_DIR,
// else the platform's per-user data directory. It makes nothing. A leading "~/"
// is the home directory in both. The flag may be relative to the working
// directory, since a person at a terminal sees that; the variable may not: the
// same setting would be another place in each folder that a client opens.
//
//	linux and others  $XDG_DATA_HOME/knowledge, else ~/.local/share/knowledge
//	macOS             ~/Library/Application Support/knowledge
//	Windows           %LocalAppData%\knowledge
func DataDir(flag string, env func(string) string) (string, error) {
	dir, err := dataDir(runtime.GOOS, flag, env)
	if err != nil {
		return "", err
	}
	if flag == "" && env(DataVariable) != "" && !filepath.IsAbs(dir) {
		return "", kb.Errorf(kb.Invalid, "the data directory %q is not an absolute path", dir).
			WithHint("begin it with ~/ or the root of the file system, in $%s or in the plugin's option data_dir; where settings stand: knowledge help configuration", DataVariable)
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", kb.Errorf(kb.Invalid, "cannot resolve the data directory %q: %w", dir, err).
			WithHint("name an absolute one with --data-dir")
	}
	return abs, nil
}

// dataDir depends on its arguments alone.
func dataDir(goos, flag string, env func(string) string) (string, error) {
	const name = "knowledge"
	home := env("HOME")
	if named := cmp.Or(flag, env(DataVariable)); named != "" {
		rest, ok := strings.CutPrefix(named, "~/")
		if goos == "windows" {
			home = cmp.Or(env("USERPROFILE"), home)
			if !ok {
				rest, ok = strings.CutPrefix(named, `~\`)
			}
		}
		if !ok {
			return named, nil
		}
		if home == "" {
			return "", kb.Errorf(kb.Invalid, "no home directory is known, in which the data directory %q lies", named).
				WithHint("set $HOME, or name it without ~")
		}
		return home + named[1:2] + rest, nil
	}
	switch goos {
	case "windows":
		if d := env("LocalAppData"); d != "" {
			return d + `\` + name, nil
		}
		if d := env("USERPROFILE"); d != "" {
			return d + `\AppData\Local\` + name, nil
		}
	case "darwin", "ios":
		if home != "" {
			return home + "/Library/Application Support/" + name, nil
		}
	default:
		// The XDG specification has relative paths ignored.
		if d := env("XDG_DATA_HOME"); len(d) > 0 && d[0] == '/' {
			return d + "/" + name, nil
		}
		if home != "" {
			return home + "/.local/share/" + name, nil
		}
	}
	return "", kb.Errorf(kb.Invalid, "no home directory is known to keep data in").
		WithHint("set $%s or pass --data-dir", DataVariable)
}
