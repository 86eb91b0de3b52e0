package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// maxTrusted is the largest project file that is read.
const maxTrusted = 1 << 20

// Trust records that a person vouches for the project file at path as it is
// now: for its content, so that the trust ends when the file changes.
func (a *App) Trust(ctx context.Context, path string) (string, error) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(a.cfg.Dir, path)
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", kb.Errorf(kb.NotFound, "there is no file %q", path).WithHint("name a project file, such as .knowledge/stores.json")
	}
	info, err := os.Stat(real)
	if err != nil || !info.Mode().IsRegular() {
		return "", kb.Errorf(kb.Invalid, "%q is not a file", path).WithHint("name a project file, such as .knowledge/stores.json")
	}
	if info.Size() > maxTrusted {
		return "", kb.Errorf(kb.TooLarge, "%q has %d bytes, more than a project file may have", path, info.Size()).WithHint("name a project file of at most 1 MiB")
	}
	raw, err := os.ReadFile(real)
	if err != nil {
		return "", kb.Errorf(kb.Denied, "%q cannot be read: %w", path, err).WithHint("check its permissions")
	}
	c, err := a.open(ctx)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(raw)
	hash := hex.EncodeToString(sum[:])
	if err := c.catalog.Trust(ctx, real, hash); err != nil {
		return "", err
	}
	return fmt.Sprintf("trusted %s as it is now (sha256 %s…)", real, hash[:12]), nil
}
