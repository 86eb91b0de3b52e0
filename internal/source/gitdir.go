package source

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/project"
)

// gitDirs are the two directories of a repository: git keeps HEAD of a linked
// work tree in its own directory, objects and branches in the common one.
type gitDirs struct{ own, common string }

// repoRoot returns the root of the work tree, or the bare repository, that holds dir.
func repoRoot(dir string) (string, error) {
	for d := dir; ; d = filepath.Dir(d) {
		if _, ok := gitDirsAt(d); ok {
			if filepath.Base(d) == ".git" {
				return filepath.Dir(d), nil
			}
			return d, nil
		}
		if filepath.Dir(d) == d {
			return "", kb.Errorf(kb.NotFound, "%q is not inside a git repository", dir).
				WithHint("index it as a folder, with type file")
		}
	}
}

// gitDirsAt returns the repository of the work tree whose root is dir, or dir
// itself when it is a bare repository.
func gitDirsAt(dir string) (gitDirs, bool) {
	own := resolveDotGit(filepath.Join(dir, ".git"))
	if own == "" || !isGitDir(own) {
		own = dir
		if !isGitDir(own) {
			return gitDirs{}, false
		}
	}
	return gitDirs{own: own, common: commonDir(own)}, true
}

func isGitDir(dir string) bool {
	common := commonDir(dir)
	fi, err := os.Stat(filepath.Join(dir, "HEAD"))
	return err == nil && fi.Mode().IsRegular() && isDir(filepath.Join(common, "objects")) && isDir(filepath.Join(common, "refs"))
}

// resolveDotGit returns the directory that .git is or, as a file, names; "" for neither.
func resolveDotGit(dotGit string) string {
	fi, err := os.Stat(dotGit)
	if err != nil {
		return ""
	}
	if fi.IsDir() {
		return dotGit
	}
	target, ok := strings.CutPrefix(strings.TrimSpace(readSmall(dotGit)), "gitdir:")
	if !ok {
		return ""
	}
	target = filepath.FromSlash(strings.TrimSpace(target))
	if !filepath.IsAbs(target) {
		target = filepath.Join(filepath.Dir(dotGit), target)
	}
	return target
}

// commonDir returns the directory that holds what work trees share.
func commonDir(dotGit string) string {
	own := resolveDotGit(dotGit)
	if own == "" {
		return dotGit
	}
	c := strings.TrimSpace(readSmall(filepath.Join(own, "commondir")))
	if c == "" {
		return own
	}
	if c = filepath.FromSlash(c); !filepath.IsAbs(c) {
		c = filepath.Join(own, c)
	}
	return filepath.Clean(c)
}

// unsupportedFormat says which feature of the repository cannot be read, or "".
func unsupportedFormat(common string) string {
	section := ""
	for line := range strings.SplitSeq(readSmall(filepath.Join(common, "config")), "\n") {
		line = strings.ToLower(strings.TrimSpace(line))
		if strings.HasPrefix(line, "[") {
			section = line
			continue
		}
		key, value, _ := strings.Cut(line, "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		if section != "[extensions]" {
			continue
		}
		if key == "objectformat" && value != "sha1" {
			return "objects named by " + value
		}
		if key == "refstorage" && value != "files" {
			return "references stored as " + value
		}
	}
	return ""
}

// GitPlaces returns the directories outside of a local repository's root that
// reading it touches: where its .git file leads, and whose objects it borrows.
// The repository of a linked work tree is not among them when that knows the
// work tree: that cannot be written into a foreign repository.
func GitPlaces(root string) []string {
	d, ok := gitDirsAt(root)
	if !ok {
		return nil
	}
	var out []string
	places := []string{d.own, d.common}
	if knowsTree(root, d) {
		places = nil
	}
	objs := openObjects(d)
	defer objs.Close()
	for _, p := range append(places, objs.places...) {
		if p = project.RealPath(p); !project.Within(root, p) {
			out = append(out, p)
		}
	}
	return out
}

// knowsTree reports whether a repository knows the linked work tree at root,
// gitrepository-layout(5): worktrees/<id>/gitdir holds the path of its .git file.
func knowsTree(root string, d gitDirs) bool {
	back := strings.TrimSpace(readSmall(filepath.Join(d.own, "gitdir")))
	if back == "" || !sameDir(filepath.Dir(filepath.Dir(d.own)), d.common) || filepath.Base(filepath.Dir(d.own)) != "worktrees" {
		return false
	}
	if !filepath.IsAbs(back) {
		back = filepath.Join(d.own, back)
	}
	return sameDir(filepath.Dir(back), root)
}

// WorkTrees returns the roots of the other work trees of the repository whose
// work tree root is: the main one and the linked ones, as far as each knows of
// the repository and the repository of it.
func WorkTrees(root string) []string {
	d, ok := gitDirsAt(root)
	if !ok {
		return nil
	}
	isLinked := knowsTree(root, d)
	if !isLinked && !sameDir(d.common, filepath.Join(root, ".git")) {
		return nil
	}
	var out []string
	if isLinked && filepath.Base(d.common) == ".git" {
		out = append(out, filepath.Dir(d.common))
	}
	trees, _ := os.ReadDir(filepath.Join(d.common, "worktrees")) // there may be none
	for _, t := range trees {
		own := filepath.Join(d.common, "worktrees", t.Name())
		back := strings.TrimSpace(readSmall(filepath.Join(own, "gitdir")))
		if back == "" {
			continue
		}
		if !filepath.IsAbs(back) {
			back = filepath.Join(own, back)
		}
		if other, ok := gitDirsAt(filepath.Dir(back)); ok && sameDir(other.own, own) {
			out = append(out, filepath.Dir(back))
		}
	}
	return out
}
