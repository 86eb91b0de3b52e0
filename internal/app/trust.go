package app

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/project"
	"github.com/seed-4f2d999b/knowledge/internal/source"
)

// MaxTrusted is the largest project file that is read.
const MaxTrusted = 1 << 20

// Subject is what a person is asked to vouch for.
type Subject struct {
	Path   string // without links
	Folder bool
	Text   string // of a file
	About  string // of a folder: how much it holds, of what kind
}

// TrustSubject reads what a person wants to vouch for, to show it. Trust
// then takes this and nothing that has come in its place.
func (a *App) TrustSubject(ctx context.Context, path string) (Subject, error) {
	s, hash, err := a.subject(ctx, path)
	if err == nil {
		a.shown.Store(s.Path, hash)
	}
	return s, err
}

func (a *App) subject(ctx context.Context, path string) (s Subject, hash string, err error) {
	full := source.LocalPath(kb.KindFolder, path, a.Config.Dir)
	if s.Path, err = filepath.EvalSymlinks(full); full == "" || err != nil {
		return s, "", kb.Errorf(kb.NotFound, "there is no file or folder %q", path).WithHint("name a project file, such as .knowledge/stores.json, or a folder")
	}
	info, err := os.Stat(s.Path)
	switch {
	case err != nil:
		return s, "", kb.Errorf(kb.Denied, "%q cannot be read: %w", path, err).WithHint("check its permissions")
	case info.IsDir():
		if why := source.Dangerous(s.Path); why != "" {
			return s, "", kb.Errorf(kb.Invalid, "%q is %s, which is too much to vouch for at once", s.Path, why).WithHint("name a folder inside it")
		}
		s.Folder = true
		s.About, err = about(ctx, s.Path)
		return s, trustedFolder, err
	case !info.Mode().IsRegular():
		return s, "", kb.Errorf(kb.Invalid, "%q is neither a file nor a folder", path).WithHint("name a project file, such as .knowledge/stores.json, or a folder")
	case info.Size() > MaxTrusted:
		return s, "", kb.Errorf(kb.TooLarge, "%q has %d bytes, more than a project file may have", path, info.Size()).WithHint("name a project file of at most 1 MiB")
	}
	raw, err := os.ReadFile(s.Path)
	if err != nil {
		return s, "", kb.Errorf(kb.Denied, "%q cannot be read: %w", path, err).WithHint("check its permissions")
	}
	sum := sha256.Sum256(raw)
	s.Text = string(raw)
	return s, hex.EncodeToString(sum[:]), nil
}

// about says how much lies in a folder, and of what kind.
func about(ctx context.Context, dir string) (string, error) {
	const most = 100_000
	files, bytes, kinds, over := 0, int64(0), map[string]int{}, false
	err := filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil || !e.Type().IsRegular():
			return nil // what cannot be read is not indexed either
		case files == most:
			over = true
			return fs.SkipAll
		}
		files++
		kinds[cmp.Or(strings.ToLower(filepath.Ext(e.Name())), "without an ending")]++
		if info, err := e.Info(); err == nil {
			bytes += info.Size()
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	names := slices.SortedFunc(maps.Keys(kinds), func(a, b string) int { return cmp.Or(kinds[b]-kinds[a], strings.Compare(a, b)) })
	for i, n := range names {
		names[i] = fmt.Sprintf("%d %s", kinds[n], n)
	}
	text := fmt.Sprintf("%s, %s", kb.Count(files, "file"), BytesOf(bytes))
	if over {
		text = "more than " + text
	}
	if len(names) > 0 {
		text += ": " + strings.Join(names[:min(len(names), 8)], ", ")
		if len(names) > 8 {
			text += ", …"
		}
	}
	return text, nil
}

// Trust records that a person vouches for the project file at path as it is
// now, for its content, so that the trust ends when the file changes; or for
// the folder there and all that will ever lie in it. forget takes it back.
func (a *App) Trust(ctx context.Context, path string, forget bool) (string, error) {
	if forget {
		return a.distrust(ctx, path)
	}
	s, hash, err := a.subject(ctx, path)
	if err != nil {
		return "", err
	}
	if seen, ok := a.shown.Load(s.Path); ok && seen != hash {
		return "", kb.Errorf(kb.Busy, "%q has changed since it was shown, and is not trusted", s.Path).WithHint("look at it again: knowledge trust %s", kb.ShellWord(path))
	}
	c, err := a.Open(ctx)
	if err != nil {
		return "", err
	}
	if err := c.Catalog.Trust(ctx, s.Path, hash); err != nil {
		return "", err
	}
	if s.Folder {
		return fmt.Sprintf("agents may index %s and everything below it", s.Path), nil
	}
	more := ""
	if filepath.Base(s.Path) == source.OwnRules {
		more = "; what it keeps is found when its folder has been indexed again: store:index"
	}
	return fmt.Sprintf("trusted %s as it is now (sha256 %s…)%s", s.Path, hash[:12], more), nil
}

// distrust takes back what was trusted at a path, whether or not it is there.
func (a *App) distrust(ctx context.Context, path string) (string, error) {
	full := project.RealPath(source.LocalPath(kb.KindFolder, path, a.Config.Dir))
	c, err := a.Open(ctx)
	if err != nil {
		return "", err
	}
	there, err := c.Catalog.Distrust(ctx, full)
	switch {
	case err != nil:
		return "", err
	case slices.Contains(c.vouched, full):
		return "", kb.Errorf(kb.Invalid, "%q is named by your configuration or environment", full).WithHint("take it out of trust.paths, or of KNOWLEDGE_TRUST_PATHS")
	case !there:
		return "", kb.Errorf(kb.NotFound, "nobody has vouched for %q", full).WithHint("name it as it was named then")
	}
	return fmt.Sprintf("%s is trusted no more; stores that were made of it stay", full), nil
}

// ReadProjectFile reads a file that a stranger may have written.
func ReadProjectFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		return nil, kb.Errorf(kb.Denied, "%q cannot be read: %w", path, err).WithHint("check its permissions")
	}
	if !info.Mode().IsRegular() {
		return nil, kb.Errorf(kb.Invalid, "%q is not a file", path).WithHint("make it a file, or remove it")
	}
	if info.Size() > MaxTrusted {
		return nil, kb.Errorf(kb.TooLarge, "%q has %d bytes, more than a project file may have", path, info.Size()).WithHint("keep it below 1 MiB")
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, kb.Errorf(kb.Denied, "%q cannot be read: %w", path, err).WithHint("check its permissions")
	}
	return raw, nil
}

// Trusts reports whether a person vouched for the file with that content.
func (c *Core) Trusts(ctx context.Context, path string, raw []byte) (bool, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return false, nil
	}
	if c.vouchesFor(real) {
		return true, nil
	}
	sum := sha256.Sum256(raw)
	return c.Catalog.Trusted(ctx, real, hex.EncodeToString(sum[:]))
}
