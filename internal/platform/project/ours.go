package project

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

// Files of the program in a data directory, by the shape of their path there.
// A person may have named a folder in use, with a folder web or jobs of its
// own: a name alone does not make a file ours. Stores, projects and copies of
// repositories are called by 16 characters of base32, segments and layouts by
// 24, jobs by 8, views by 32 hexadecimal digits, joins by both, histories by 24.
var (
	ourFile = expression(`^(?:` + strings.Join([]string{
		`knowledge\.db(?:-wal|-shm|-journal|\.lock)?`, `worker\.log`, `registry\.json`, `installs\.json(?:\.lock)?`, `api-calls\.jsonl(?:\.1)?`,
		`(?:[^/]+/){0,3}(?:\.tmp-[a-z0-9]+|\.doctor-[0-9]+)`, // of a writer that died
		`segments/[a-z2-7]{24}(?:\.seg|\.lay|\.imported|\.[A-Za-z0-9][A-Za-z0-9_.-]*\.vec)`,
		`generations/[a-z2-7]{16}-[0-9]+-[A-Za-z0-9]+\.gen`,
		`views/(?:[0-9a-f]{32}\.view|[a-z2-7]{16}\.now|[a-z2-7]{16}-[0-9a-f]{32}\.join)`,
		`grammars/[a-z0-9_-]+/wazero-[^/]+/[0-9a-f]{64}(?:\.sum|\.[0-9]+\.tmp)?`,
		`repos/[a-z2-7]{16}(?:\.full)?(?:\.lock|\.damaged|` + bareRepo + `)`,
		`web/[a-z2-7]{16}/pages\.[0-9]{6}(?:\.bad)?`,
		`replies/(?:user|[a-z2-7]{16})/[^/]+/[^/]+-[0-9]{8}T[0-9]{6}Z-[0-9a-f]{6}\.md`,
		`jobs/(?:[a-z2-7]{8}\.(?:lock|at)|(?:clock|(?:store|watch|slot|transfer|server)-[a-z0-9-]+)\.lock|watch-[a-z2-7]{16}\.(?:json|probes/[0-9]+-[0-9]+))`,
		`hooks/[0-9a-f]{16}(?:\.said)?`,
		`evidence/[a-z2-7]{16}\.json`,
		`history/[0-9a-f]{24}\.log`,
		`revisions/[a-z2-7]{16}\.json`,
		`looks/[a-z2-7]{16}\.trail`,
		`packages/(?:go/cache/download/.+/@v/[^/]+\.(?:mod|zip)|npm/[^/]+@[^/]+\.zip)`,
		`embeddings/[^/]+\.rows(?:\.before)?`,
		`transfer/transfer-[a-z2-7]{12}/.+`,
		`shared/(?:segments/[a-z2-7]{24}(?:\.seg|\.lay)|generations/[a-z2-7]{16}-[0-9]+-[A-Za-z0-9]+\.gen|writer)`,
	}, `|`) + `)$`)
	ourFolder = expression(`^(?:` + strings.Join([]string{
		`segments`, `generations`, `views`, `repos`, `web`, `jobs(?:/watch-[a-z2-7]{16}\.probes)?`, `hooks`, `eval`, `evidence`, `history`, `revisions`, `looks`, `embeddings`,
		`packages(?:/(?:npm|go(?:/cache(?:/download(?:/.+)?)?)?))?`,
		`grammars(?:/[a-z0-9_-]+(?:/wazero-[^/]+)?)?`, `shared(?:/(?:segments|generations))?`,
		`repos/[a-z2-7]{16}(?:\.full)?(?:` + bareRepo + `)?`,
		`web/[a-z2-7]{16}`,
		`replies(?:/(?:user|[a-z2-7]{16})(?:/[^/]+)?)?`,
		`transfer(?:/transfer-[a-z2-7]{12}(?:/.+)?)?`,
	}, `|`) + `)$`)
)

// bareRepo is what lies in a bare repository.
const bareRepo = `/(?:HEAD|FETCH_HEAD|ORIG_HEAD|config|description|packed-refs|shallow|index|(?:objects|refs|logs|info|hooks|branches)(?:/.+)?)`

// expression compiles an expression when it is first used.
func expression(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// Ours reports whether the file or folder at path, in a data directory, has a
// name that only the program gives. What is reached through a link is
// foreign, wherever it leads; the data directory itself may be one.
func Ours(dataDir, path string) bool {
	rel, err := filepath.Rel(dataDir, path)
	if err != nil || !filepath.IsLocal(rel) || rel == "." {
		return false
	}
	for dir := filepath.Dir(rel); dir != "."; dir = filepath.Dir(dir) {
		if info, err := os.Lstat(filepath.Join(dataDir, dir)); err != nil || !info.IsDir() {
			return false
		}
	}
	info, err := os.Lstat(path)
	if err != nil {
		return false
	}
	name := filepath.ToSlash(rel)
	name = strings.TrimPrefix(name, "eval/") // which is such a directory itself
	if info.IsDir() {
		return ourFolder().MatchString(name)
	}
	return ourFile().MatchString(name) || OwnIgnore(path)
}

// OursBelow lists the files below path that are ours, and the folders, the
// innermost first; path may be a file, or the data directory itself. Foreign says
// that there is something else.
func OursBelow(dataDir, path string) (files, folders []string, foreign bool) {
	root := path
	if path == dataDir {
		root += string(filepath.Separator) // which follows a link
	}
	_ = filepath.WalkDir(root, func(p string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			foreign = foreign || !errors.Is(err, fs.ErrNotExist)
		case p == root && root != path:
		case !Ours(dataDir, p):
			foreign = true
			if e.IsDir() {
				return fs.SkipDir
			}
		case e.IsDir():
			folders = append([]string{p}, folders...)
		default:
			files = append(files, p)
		}
		return nil
	})
	return files, folders, foreign
}

// Remove deletes what is ours at path and below, and folders of ours that are
// empty then. What else lies there stays, without an error.
func Remove(dataDir, path string) error {
	files, folders, _ := OursBelow(dataDir, path)
	var failed error
	for _, f := range files {
		if err := os.Remove(f); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = errors.Join(failed, err)
		}
	}
	for _, d := range folders {
		_ = os.Remove(d) // when it is empty
	}
	return failed
}

// Weigh returns how many bytes files take.
func Weigh(files []string) (n int64) {
	for _, f := range files {
		if info, err := os.Lstat(f); err == nil && info.Mode().IsRegular() {
			n += info.Size()
		}
	}
	return n
}
