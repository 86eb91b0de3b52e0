package app

import (
	"os"
	"path/filepath"
	"time"
)

// anew is the file, below the data directory, whose time says when an agent of
// this machine last began with an empty context.
var anew = filepath.Join("hooks", "anew")

// BeginAnew notes that an agent begins with an empty context: its session was
// cleared or compacted, or it is a sub-agent. What a server has given before is
// then not in it.
func (a *App) BeginAnew(now time.Time) error {
	dir, err := a.DataDir()
	if err != nil {
		return err
	}
	file := filepath.Join(dir, anew)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		return err
	}
	return os.Chtimes(file, now, now)
}

// BegunAnew returns when an agent last began with an empty context, as far as
// that was noted.
func (a *App) BegunAnew() time.Time {
	dir, err := a.DataDir()
	if err != nil {
		return time.Time{}
	}
	info, err := os.Stat(filepath.Join(dir, anew))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}
