// Package project finds on whose behalf something is asked, and where the
// program keeps its data.
//
// A project is a git repository, recognised by its common directory, so that
// all its work trees are one project; outside git, a directory that the user
// or the client names. Git itself is not run: it may be missing, and it is slow.
package project

import (
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Project says on whose behalf something is asked.
type Project struct {
	// ID is the same for all work trees of one repository: 16 characters of
	// lower-case base32; "" outside any project.
	ID string
	// Root is the own folder: the root of the work tree that asks, the project's
	// directory outside git, the directory asked from when there is no project.
	Root string
	// Dir is the directory that was asked from: absolute, links resolved.
	Dir string
	// Git reports whether Root is a git work tree (or a bare repository).
	Git bool
	// None reports that there is no project; names then belong to the user.
	None bool
}

// ClientVariable is the environment variable in which Claude Code names the
// project's directory.
const ClientVariable = "CLAUDE_PROJECT_DIR"

// Resolve finds the project of explicit (--project) if not empty, else of
// $CLAUDE_PROJECT_DIR, else of dir, the working directory. Outside git only
// the first two make a project.
func Resolve(dir, explicit string, env func(string) string) (Project, error) {
	named, by := explicit, "--project"
	if named == "" {
		named, by = env(ClientVariable), "$"+ClientVariable
	}
	start := named
	if start == "" {
		start, by = dir, "the working directory"
	} else if !filepath.IsAbs(start) {
		start = filepath.Join(dir, start)
	}
	start, err := resolve(start)
	if err == nil {
		var st fs.FileInfo
		if st, err = os.Stat(start); err == nil && !st.IsDir() {
			return Project{}, kb.Errorf(kb.Invalid, "%q, named by %s, is not a directory", start, by).
				WithHint("name the directory of the project")
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Project{}, kb.Errorf(kb.NotFound, "no directory %q, named by %s", start, by).
			WithHint("name a directory that exists with --project")
	case err != nil:
		return Project{}, kb.Errorf(kb.Denied, "cannot enter %q, named by %s: %w", start, by, err).
			WithHint("name a directory that you may read with --project")
	}
	for d := start; ; d = filepath.Dir(d) {
		if common, ok := commonDir(d); ok {
			return Project{ID: id("git", common), Root: d, Dir: start, Git: true}, nil
		}
		if filepath.Dir(d) == d {
			break
		}
	}
	if named != "" {
		return Project{ID: id("dir", start), Root: start, Dir: start}, nil
	}
	return Project{Root: start, Dir: start, None: true}, nil
}

func id(kind, path string) string {
	sum := sha256.Sum256([]byte(kind + "\x00" + path))
	return kb.IDEncoding.EncodeToString(sum[:10])
}

// resolve returns path absolute and without symbolic links; on error, the
// absolute path.
func resolve(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return path, err
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return abs, err
	}
	return real, nil
}

// commonDir returns the resolved common directory of the repository whose
// work tree has its root at dir, or that lies bare at dir.
//
// See gitrepository-layout(5): .git is the repository, or a file "gitdir: P"
// that points at it (work trees, submodules). The directory of a further work
// tree holds a file commondir, the path of the common one.
func commonDir(dir string) (string, bool) {
	git := filepath.Join(dir, ".git")
	st, err := os.Stat(git)
	switch {
	case err != nil:
		git = dir // perhaps bare
	case !st.IsDir():
		line, ok := readLine(git)
		target, isPointer := strings.CutPrefix(line, "gitdir:")
		if !ok || !isPointer {
			return "", false
		}
		git = below(dir, strings.TrimSpace(target))
	}
	if _, err := os.Lstat(filepath.Join(git, "HEAD")); err != nil {
		return "", false
	}
	common := git
	if line, ok := readLine(filepath.Join(git, "commondir")); ok {
		common = below(git, line)
	}
	for _, name := range []string{"objects", "refs"} {
		if st, err := os.Stat(filepath.Join(common, name)); err != nil || !st.IsDir() {
			return "", false
		}
	}
	common, err = resolve(common)
	return common, err == nil
}

func below(dir, path string) string {
	path = filepath.FromSlash(path)
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// readLine returns the content of a small file without surrounding space. What
// is no file, such as a pipe whose reader would wait, has none.
func readLine(path string) (string, bool) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return "", false
	}
	f, err := os.Open(path)
	if err != nil {
		return "", false
	}
	defer f.Close()
	b := make([]byte, 8<<10)
	n, _ := f.Read(b)
	s := strings.TrimSpace(string(b[:n]))
	return s, s != ""
}
