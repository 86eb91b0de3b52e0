package apis

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed-4f2d999b/knowledge/internal/apis/restapi"
	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/data/atomicfile"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/config"
)

// writeDefinitions writes the user's definitions, which no other user can read.
func writeDefinitions(path string, text []byte) error {
	if len(text) > restapi.MaxFile {
		return kb.Errorf(kb.TooLarge, "your definitions would have %d bytes, more than the %d that are read", len(text), restapi.MaxFile).
			WithHint("import fewer operations: --operations")
	}
	if err := atomicfile.MkdirAll(filepath.Dir(path)); err != nil {
		return err
	}
	if err := atomicfile.Write(path, text); err != nil {
		return err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return kb.Errorf(kb.Denied, "%q cannot be closed to others: %w", path, err).WithHint("check its permissions")
	}
	return nil
}

// Remove takes an API out of the user's definitions.
func Remove(_ context.Context, a *app.App, code string) (string, error) {
	path := config.APIsPath(a.Config.Env)
	if path == "" {
		return "", kb.Errorf(kb.NotFound, "you have declared no APIs").WithHint("there is no place for your configuration: set $%s", config.Variable)
	}
	raw, _, err := readAPIFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", kb.Errorf(kb.NotFound, "you have declared no APIs").WithHint("those of a project stand in its %s", projectAPIs)
	}
	if err != nil {
		return "", err
	}
	text, err := restapi.Remove(path, raw, code)
	if err != nil {
		return "", err
	}
	if err := writeDefinitions(path, text); err != nil {
		return "", err
	}
	apisOf(a).current.Store(nil)
	return fmt.Sprintf("removed %s from %s; its credential, if it has one, is where it was", code, path), nil
}

// LastCalls returns the last n calls, oldest first.
func LastCalls(ctx context.Context, a *app.App, n int) ([]LogEntry, error) {
	c, err := a.Open(ctx)
	if err != nil {
		return nil, err
	}
	apisOf(a).mu.Lock()
	mine := apisOf(a).log
	apisOf(a).mu.Unlock()
	if err := mine.Flush(); err != nil {
		return nil, err
	}
	log := restapi.Log{Path: filepath.Join(c.Dir, callLog)}
	return log.Recent(n)
}
