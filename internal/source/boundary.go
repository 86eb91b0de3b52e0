package source

import (
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/platform/project"
)

// signs are the names by which a directory shows what it is.
type signs struct {
	data                 project.DataSigns
	dotGit               bool // a file, as linked work trees and submodules have it
	head, objects, refs  bool // all three: the inside of a repository
	cacheTag, dataIgnore bool // perhaps: the content decides
}

func (s *signs) see(e fs.DirEntry) {
	name := e.Name()
	s.data.See(name)
	switch name {
	case ".git":
		s.dotGit = !e.IsDir()
	case "HEAD":
		s.head = true
	case "objects":
		s.objects = e.IsDir()
	case "refs":
		s.refs = e.IsDir()
	case cacheTag:
		s.cacheTag = e.Type().IsRegular()
	case ".gitignore":
		s.dataIgnore = e.Type().IsRegular()
	}
}

// isSign reports whether a name may be one of signs.
func isSign(name string) bool {
	switch name {
	case ".git", "HEAD", "objects", "refs", cacheTag, ".gitignore":
		return true
	}
	var data project.DataSigns
	data.See(name)
	return data != project.DataSigns{}
}

// any reports whether a directory may be none of the folder for what is in it.
func (s *signs) any() bool {
	return s.dotGit || s.head && s.objects && s.refs || s.data.Data() || s.data.Perhaps() || s.cacheTag
}

// boundary says why a directory below the folder, rel ending in a slash, is
// none of it, or "".
func (f *folder) boundary(rel string, s *signs) string {
	dir := filepath.Join(f.dir, filepath.FromSlash(rel))
	switch {
	case s.dotGit && linkedTo(filepath.Join(dir, ".git"), f.repos):
		return reasonWorkTree
	case s.head && s.objects && s.refs:
		return reasonRepository
	case s.data.Data(), s.data.Perhaps() && project.HasGenerations(dir), s.dataIgnore && project.OwnIgnore(filepath.Join(dir, ".gitignore")):
		return reasonData
	case s.cacheTag && f.tagged(rel):
		return reasonCache
	}
	return ""
}

// cacheTag is the file by which a directory says that it is a cache, and how it
// begins (bford.info/cachedir); Cargo, ccache, pytest, ruff and others write it.
const (
	cacheTag       = "CACHEDIR.TAG"
	cacheSignature = "Signature: 8a477f597d28d172789f06886806bc55"
)

func (f *folder) tagged(rel string) bool {
	file, err := f.root.OpenFile(filepath.FromSlash(rel+cacheTag), os.O_RDONLY|nonBlock, 0)
	if err != nil {
		return false
	}
	defer file.Close()
	head := make([]byte, len(cacheSignature))
	_, err = io.ReadFull(file, head)
	return err == nil && string(head) == cacheSignature
}

// repository is one that the walk is in, by its common directory.
type repository struct {
	common string
	id     os.FileInfo // nil when it is not known
}

// enter adds the repository of a work tree, whose .git is given.
func enter(around []repository, dotGit string) []repository {
	common := commonDir(dotGit)
	id, err := os.Stat(common)
	if err != nil {
		id = nil
	}
	return append(around[:len(around):len(around)], repository{common, id})
}

// linkedTo reports whether a directory whose .git is the file dotGit is a
// linked work tree of one of the repositories around it. Agents keep theirs
// inside the work tree, and each is the whole project once more.
//
// The file names COMMON/worktrees/NAME, absolute or from the directory on; see
// git-worktree(1) and gitrepository-layout(5). That of a submodule names
// COMMON/modules/NAME.
func linkedTo(dotGit string, around []repository) bool {
	own := filepath.ToSlash(resolveDotGit(dotGit))
	if own == "" || path.Base(path.Dir(own)) != "worktrees" {
		return false
	}
	name := path.Base(own)
	common := filepath.FromSlash(path.Dir(path.Dir(own)))
	id, err := os.Stat(common)
	for _, r := range around {
		if err == nil {
			if r.id != nil && os.SameFile(id, r.id) {
				return true
			}
			continue
		}
		// The repository was moved, or is seen from inside a container, and the
		// file names the place where it was: git knows the work tree by its name.
		if isDir(filepath.Join(r.common, "worktrees", name)) && !strings.ContainsAny(name, `/\`) {
			return true
		}
	}
	return false
}
