package project

import (
	"path/filepath"
	"runtime"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// DataVariable is the environment variable that names the data directory.
const DataVariable = "KNOWLEDGE_DATA_DIR"

// DataDir returns the absolute data directory: flag, else $KNOWLEDGE_DATA_DIR,
// else the platform's per-user data directory. It makes nothing.
//
//	linux and others  $XDG_DATA_HOME/knowledge, else ~/.local/share/knowledge
//	macOS             ~/Library/Application Support/knowledge
//	Windows           %LocalAppData%\knowledge
func DataDir(flag string, env func(string) string) (string, error) {
	dir, err := dataDir(runtime.GOOS, flag, env)
	if err != nil {
		return "", err
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
	if flag != "" {
		return flag, nil
	}
	if d := env(DataVariable); d != "" {
		return d, nil
	}
	const name = "knowledge"
	home := env("HOME")
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
