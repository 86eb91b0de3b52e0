package source

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/gofrs/flock"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// initBare makes sure that dir is a bare repository and clears what killed
// fetches left in it. The lock is held.
func initBare(dir string) error {
	for _, d := range []string{"objects/pack", "objects/info", "refs/heads", "refs/tags", "refs/knowledge"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.FromSlash(d)), 0o700); err != nil {
			return err
		}
	}
	for _, glob := range []string{"objects/pack/tmp_*", "shallow.lock", "*.lock"} {
		left, _ := filepath.Glob(filepath.Join(dir, filepath.FromSlash(glob)))
		for _, name := range left {
			os.Remove(name)
		}
	}
	for _, file := range []struct{ name, text string }{
		{"config", "[core]\n\trepositoryformatversion = 0\n\tbare = true\n[gc]\n\tauto = 0\n"},
		{"HEAD", "ref: refs/heads/none\n"},
	} {
		name := filepath.Join(dir, file.name)
		if _, err := os.Stat(name); err == nil {
			continue
		}
		if err := os.WriteFile(name, []byte(file.text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// lock takes the lock of a bare repository, which writers hold.
func lock(ctx context.Context, dir string) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return nil, diskError(dir, err)
	}
	l := flock.New(dir+".lock", flock.SetPermissions(0o600))
	if _, err := l.TryLockContext(ctx, 50*time.Millisecond); err != nil {
		if ctx.Err() != nil {
			return nil, canceled(ctx.Err())
		}
		return nil, diskError(dir, err)
	}
	return func() { l.Unlock() }, nil
}

// local is where a ref is kept: refs/knowledge/<type>/<name>, with all but
// [a-z0-9._-] escaped, so that "a" and "a/b", "A" and "a" get along on every
// file system.
func local(ref kb.Ref) plumbing.ReferenceName {
	if ref == (kb.Ref{}) {
		return "refs/knowledge/default/head"
	}
	var b strings.Builder
	for i := 0; i < len(ref.Name); i++ {
		c := ref.Name[i]
		if isLower(c) || isDigit(c) || c == '-' || c == '_' || c == '.' && i > 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02x", c)
		}
	}
	name := b.String()
	if len(name) > 150 {
		sum := sha256.Sum256([]byte(ref.Name))
		name = name[:100] + "%" + kb.IDEncoding.EncodeToString(sum[:10])
	}
	return plumbing.ReferenceName("refs/knowledge/" + string(ref.Type) + "/" + name)
}

func refspec(src string, dst plumbing.ReferenceName) config.RefSpec {
	return config.RefSpec("+" + src + ":" + string(dst))
}

// have returns what a reference of the bare repository at dir leads to, if
// that commit is there.
func have(dir string, name plumbing.ReferenceName) (plumbing.Hash, bool) {
	objs := openObjects(gitDirs{own: dir, common: dir})
	defer objs.Close()
	h, err := objs.resolve(name)
	if err != nil {
		return h, false
	}
	_, err = objs.commit(h)
	return h, err == nil
}
