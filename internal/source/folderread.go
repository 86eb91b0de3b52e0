package source

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

func (f *folder) readRules(rel string) string {
	file, err := f.root.OpenFile(filepath.FromSlash(rel), os.O_RDONLY|nonBlock, 0)
	if err != nil {
		return ""
	}
	defer file.Close()
	b, _ := io.ReadAll(io.LimitReader(file, 1<<20))
	return string(b)
}

// readExclude reads info/exclude of the repository whose .git, a directory or
// a file that names one, is given.
func readExclude(dotGit string) string {
	return readSmall(filepath.Join(commonDir(dotGit), "info", "exclude"))
}

// readSmall reads a rules file, "" when there is none. Only ordinary files, and
// no more than 1 MiB of them: the name may belong to a device.
func readSmall(name string) string {
	if fi, err := os.Lstat(name); err != nil || !fi.Mode().IsRegular() {
		return ""
	}
	f, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	b, _ := io.ReadAll(io.LimitReader(f, 1<<20))
	return string(b)
}

// Read implements kb.Snapshot. A file that has gone since it was listed is
// Unsupported too, wrapping fs.ErrNotExist.
func (f *folder) Read(ctx context.Context, e kb.Entry) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := checkPath(e.Path); err != nil {
		return nil, err
	}
	if r := pathReason(e.Path, f.sel); r != "" {
		return nil, f.ruleOut(e.Path, r, nil)
	}
	if f.throughLink(e.Path) {
		return nil, f.ruleOut(e.Path, reasonSymlink, nil)
	}
	name := filepath.FromSlash(e.Path)
	// Asked before it is opened: opening a device can have effects of its own.
	if info, err := f.root.Lstat(name); err != nil {
		return nil, f.readError(e.Path, err)
	} else if r := modeReason(info.Mode()); r != "" {
		return nil, f.ruleOut(e.Path, r, nil)
	}
	file, err := f.root.OpenFile(name, os.O_RDONLY|nonBlock, 0)
	if err != nil {
		return nil, f.readError(e.Path, err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, f.readError(e.Path, err)
	}
	if r := modeReason(info.Mode()); r != "" {
		return nil, f.ruleOut(e.Path, r, nil)
	}
	if info.Size() > f.sel.maxBytes {
		return nil, f.ruleOut(e.Path, reasonTooLarge, nil)
	}
	// One byte more than expected shows the end without a second allocation.
	data := make([]byte, 0, info.Size()+1)
	for {
		n, err := file.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, f.readError(e.Path, err)
		}
		if int64(len(data)) > f.sel.maxBytes {
			return nil, f.ruleOut(e.Path, reasonTooLarge, nil)
		}
		if len(data) == cap(data) {
			data = slices.Grow(data, len(data))
		}
	}
	if r := contentReason(e.Path, data, f.sel.all || f.sel.named(e.Path)); r != "" && !f.sel.exempt(e.Path, r) {
		return nil, f.ruleOut(e.Path, r, nil)
	}
	return data, nil
}

// throughLink reports whether a directory on the way to p is a link. The root
// keeps such a path inside the folder, but not out of what the rules hide.
func (f *folder) throughLink(p string) bool {
	dir := p[:strings.LastIndexByte(p, '/')+1]
	if _, ok := f.real.Load(dir); ok || dir == "" {
		return false
	}
	for i := range dir {
		if dir[i] != '/' {
			continue
		}
		if fi, err := f.root.Lstat(filepath.FromSlash(dir[:i])); err == nil && !fi.IsDir() {
			return true
		}
	}
	return false
}

func (f *folder) readError(p string, err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return f.ruleOut(p, reasonGone, fs.ErrNotExist)
	}
	f.trouble("cannot be read: "+cause(err), p)
	return f.ruleOut(p, reasonUnreadable, err)
}

func modeReason(m fs.FileMode) string {
	switch {
	case m.IsRegular():
		return ""
	case m&fs.ModeSymlink != 0:
		return reasonSymlink
	default:
		return reasonNotAFile
	}
}

// checkPath refuses paths that no listing contains.
func checkPath(p string) error {
	if !fs.ValidPath(p) || p == "." || !filepath.IsLocal(filepath.FromSlash(p)) {
		return kb.Errorf(kb.Invalid, "%q is not a path inside the store", p).
			WithHint("give a path relative to the store's root, with slashes")
	}
	return nil
}

// cause is the last part of an error of the file system: "permission denied".
func cause(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}

// checkDir makes sure that dir is a directory.
func checkDir(dir string) error {
	fi, err := os.Stat(dir)
	if err != nil {
		return dirError(dir, err)
	}
	if !fi.IsDir() {
		return kb.Errorf(kb.Invalid, "%q is not a folder", dir).
			WithHint("name the folder that holds it, and the file with paths")
	}
	return nil
}

// notSwapped refuses a folder in whose place a link has come since its store
// was made: a canonical source has none. A commit that makes docs a
// link could otherwise have any folder of the reader indexed. Above the work tree that holds the folder links are its owner's.
func notSwapped(dir string, root *os.Root) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return dirError(dir, err)
	}
	links := []string{dir}
	for p := dir; ; p = filepath.Dir(p) {
		if hasDotGit(p) {
			break
		}
		if links = append(links, filepath.Dir(p)); filepath.Dir(p) == p {
			links = links[:1] // it lies in no work tree
			break
		}
	}
	for _, p := range links[:max(1, len(links)-1)] {
		if at, err := os.Lstat(p); err == nil && at.Mode()&fs.ModeSymlink != 0 {
			return kb.Errorf(kb.Denied, "%q is a link now, and the folder that the store was made of is not there", p).
				WithHint("make a store of the folder that is meant")
		}
	}
	if opened, err := root.Stat("."); err != nil || !os.SameFile(info, opened) {
		return kb.Errorf(kb.Busy, "%q was replaced just now", dir).WithHint("try again")
	}
	return nil
}

func dirError(dir string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return kb.Errorf(kb.NotFound, "there is no folder %q", dir).
			WithHint("check the spelling; relative paths start at the working directory")
	case errors.Is(err, fs.ErrPermission):
		return kb.Errorf(kb.Denied, "no permission to read the folder %q", dir).
			WithHint("allow this user to read it, or name a folder inside it")
	default:
		return kb.Errorf(kb.Denied, "cannot read the folder %q: %s", dir, cause(err)).
			WithHint("see whether the disk it lies on is there")
	}
}
