package source

import (
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// cacheBytes is the size of one handle's cache of inflated objects, the bases
// of deltas above all.
const cacheBytes = 16 << 20

// objects reads the objects of one repository and of those it borrows from.
// It is not safe for concurrent use: go-git's packfiles share a file offset.
type objects struct {
	*filesystem.Storage
	borrowed []*filesystem.Storage // objects/info/alternates; go-git opens them anew at every miss
	places   []string              // where those lie
}

func openObjects(d gitDirs) *objects {
	lru := cache.NewObjectLRU(cacheBytes)
	open := func(fs billy.Filesystem) *filesystem.Storage {
		return filesystem.NewStorageWithOptions(fs, lru, filesystem.Options{KeepDescriptors: true})
	}
	var fs billy.Filesystem = osfs.New(d.own)
	if d.common != d.own {
		fs = dotgit.NewRepositoryFilesystem(fs, osfs.New(d.common))
	}
	o := &objects{Storage: open(fs)}
	seen := map[string]bool{filepath.Join(d.common, "objects"): true}
	var borrow func(objectDir string, depth int)
	borrow = func(objectDir string, depth int) {
		for line := range strings.SplitSeq(readSmall(filepath.Join(objectDir, "info", "alternates")), "\n") {
			alt := strings.TrimSpace(line)
			if alt == "" || alt[0] == '#' {
				continue
			}
			if !filepath.IsAbs(alt) {
				alt = filepath.Join(objectDir, alt)
			}
			alt = filepath.Clean(alt)
			if seen[alt] || depth > 5 || !isDir(alt) || filepath.Base(alt) != "objects" {
				continue
			}
			seen[alt] = true
			o.places = append(o.places, alt)
			o.borrowed = append(o.borrowed, open(osfs.New(filepath.Dir(alt))))
			borrow(alt, depth+1)
		}
	}
	borrow(filepath.Join(d.common, "objects"), 0)
	return o
}

func (o *objects) Close() error {
	errs := []error{o.Storage.Close()}
	for _, b := range o.borrowed {
		errs = append(errs, b.Close())
	}
	return errors.Join(errs...)
}

// EncodedObject implements storer.EncodedObjectStorer.
func (o *objects) EncodedObject(t plumbing.ObjectType, h plumbing.Hash) (plumbing.EncodedObject, error) {
	for _, b := range o.borrowed {
		// The index is asked first: a miss in EncodedObject is expensive.
		if b.HasEncodedObject(h) == nil {
			return b.EncodedObject(t, h)
		}
	}
	return o.Storage.EncodedObject(t, h)
}

// EncodedObjectSize implements storer.EncodedObjectStorer.
func (o *objects) EncodedObjectSize(h plumbing.Hash) (int64, error) {
	n, err := o.Storage.EncodedObjectSize(h)
	for _, b := range o.borrowed {
		if err == nil {
			return n, nil
		}
		n, err = b.EncodedObjectSize(h)
	}
	return n, err
}

// withPrefix returns the commits whose hash begins with the hexadecimal digits.
func (o *objects) withPrefix(digits string) ([]plumbing.Hash, error) {
	var out []plumbing.Hash
	seen := map[plumbing.Hash]bool{}
	for _, s := range append([]*filesystem.Storage{o.Storage}, o.borrowed...) {
		hs, err := s.HashesWithPrefix(evenPrefix(digits))
		if err != nil {
			return nil, err
		}
		for _, h := range hs {
			if seen[h] || !strings.HasPrefix(h.String(), digits) {
				continue
			}
			seen[h] = true
			if _, err := o.EncodedObject(plumbing.CommitObject, h); err == nil {
				out = append(out, h)
			}
		}
	}
	return out, nil
}

// evenPrefix returns the whole bytes that the digits spell.
func evenPrefix(digits string) []byte {
	h := plumbing.NewHash(digits[:len(digits)&^1] + strings.Repeat("0", 40-len(digits)&^1))
	return h[:len(digits)/2]
}

// commit follows tags from h to a commit.
func (o *objects) commit(h plumbing.Hash) (*object.Commit, error) {
	for range 10 {
		c, err := object.GetCommit(o, h)
		if err == nil {
			return c, nil
		}
		t, terr := object.GetTag(o, h)
		if terr != nil {
			return nil, err
		}
		h = t.Target
	}
	return nil, plumbing.ErrObjectNotFound
}

// resolve returns the hash that a reference leads to.
func (o *objects) resolve(name plumbing.ReferenceName) (plumbing.Hash, error) {
	r, err := storer.ResolveReference(o.Storage, name)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	return r.Hash(), nil
}

var errTooLarge = errors.New("too large")

// blob returns the bytes of a blob of at most limit bytes.
func (o *objects) blob(h plumbing.Hash, limit int64) ([]byte, error) {
	size, err := o.EncodedObjectSize(h)
	if err != nil {
		return nil, err
	}
	if size > limit {
		return nil, errTooLarge
	}
	obj, err := o.EncodedObject(plumbing.BlobObject, h)
	if err != nil {
		return nil, err
	}
	r, err := obj.Reader()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	data := make([]byte, obj.Size())
	if _, err := io.ReadFull(r, data); err != nil {
		return nil, err
	}
	// A flipped bit in a pack may still inflate, to something else.
	sum := sha1.New()
	fmt.Fprintf(sum, "blob %d\x00", len(data))
	sum.Write(data)
	if plumbing.Hash(sum.Sum(nil)) != h {
		return nil, errors.New("its content has another hash")
	}
	return data, nil
}

// packIndexBytes is the size of all pack indexes of a repository: what one
// handle holds in memory.
func packIndexBytes(common string) (n int64) {
	entries, _ := os.ReadDir(filepath.Join(common, "objects", "pack"))
	for _, e := range entries {
		if filepath.Ext(e.Name()) == ".idx" {
			if fi, err := e.Info(); err == nil {
				n += fi.Size()
			}
		}
	}
	return n
}

func (r *repo) acquire() (*objects, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		if r.closed {
			return nil, kb.Errorf(kb.Internal, "the snapshot is closed")
		}
		if n := len(r.free); n > 0 {
			o := r.free[n-1]
			r.free = r.free[:n-1]
			return o, nil
		}
		if r.open < r.handles {
			r.open++
			return openObjects(r.dirs), nil
		}
		r.cond.Wait()
	}
}

func (r *repo) release(o *objects) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		o.Close()
		return
	}
	r.free = append(r.free, o)
	r.cond.Signal()
}

// readTree holds a handle no longer than it takes: the callee
// needs one to read its entry.
func (r *repo) readTree(h plumbing.Hash) (*object.Tree, error) {
	objs, err := r.acquire()
	if err != nil {
		return nil, err
	}
	defer r.release(objs)
	return object.GetTree(objs, h)
}

// rulesOf reads a file of rules, "" when it cannot be read or has more than 1 MiB.
func (r *repo) rulesOf(h plumbing.Hash) string {
	objs, err := r.acquire()
	if err != nil {
		return ""
	}
	defer r.release(objs)
	data, err := objs.blob(h, 1<<20)
	if err != nil {
		return ""
	}
	return string(data)
}
