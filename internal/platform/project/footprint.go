package project

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Trace is one file or folder that the program has made.
type Trace struct {
	Path  string `json:"path"`
	What  string `json:"what"`  // one clause
	Dir   bool   `json:"dir"`   // a folder, with everything in it
	Empty bool   `json:"empty"` // a folder to be removed only when nothing else is in it
	Files int    `json:"files"` // in it, or 1
	Bytes int64  `json:"bytes"`
}

type dataItem struct {
	Name string
	Dir  bool
	What string
}

// inData is everything that the program makes in a data directory, by the
// name it has there. All else in it is foreign.
var inData = []dataItem{
	{"knowledge.db", false, "stores, names, jobs, trust"},
	{"knowledge.db-wal", false, "the newest writes to knowledge.db"},
	{"knowledge.db-shm", false, "shared memory of knowledge.db"},
	{"knowledge.db-journal", false, "a write to knowledge.db that did not end"},
	{"database-lost", false, "the day on which knowledge.db was gone, for a week"},
	{"segments", true, "text, words and vectors of documents"},
	{"generations", true, "what each store consists of"},
	{"views", true, "who uses what"},
	{"revisions", true, "which commits were searched lately"},
	{"looks", true, "what the last looks at large folders saw, a cache"},
	{"grammars", true, "machine code of grammars, a cache"},
	{"repos", true, "bare copies of repositories"},
	{"web", true, "kept pages of sites and packages"},
	{"shared", true, "tables of stores on a cluster"},
	{"replies", true, "kept replies of declared APIs"},
	{"packages", true, "archives of packages whose versions were compared"},
	{"embeddings", true, "vectors that providers were paid for and no store has yet"},
	{"history", true, "what commits of repositories changed, a cache"},
	{"evidence", true, "what imported reports of checkers say"},
	{"transfer", true, "what exports and imports did not complete"},
	{"jobs", true, "locks of jobs"},
	{"eval", true, "indexes of measurements"},
	{"hooks", true, "how often sessions searched by hand, for a week"},
	{"installs.json", false, "what was written into files of clients"},
	{"api-calls.jsonl", false, "the last calls of declared APIs"},
	{"api-calls.jsonl.1", false, "calls of declared APIs before those"},
	{"registry.json", false, "what package registries answered, a cache"},
	{"worker.log", false, "what jobs said when they crashed"},
}

// Own reports whether a name in a data directory is that of something that
// the program keeps there.
func Own(name string) bool {
	return slices.ContainsFunc(inData, func(x dataItem) bool { return x.Name == name })
}

// Footprint lists what the program has made on this machine and is there now:
// in the data directory, and in the folder where the launcher keeps programs.
// Files that a person wrote (the configuration) or asked for (clients' settings,
// exports, .knowledge in a project) are not among it, nor what processes have in
// the folder for temporary files while they run. Folders that may hold more than
// ours are last, with Empty set. A link is listed as itself, never followed.
func Footprint(dataDir string, env func(string) string) ([]Trace, error) {
	var all []Trace
	if dataDir != "" {
		for _, x := range inData {
			all = append(all, Trace{Path: filepath.Join(dataDir, x.Name), What: x.What, Dir: x.Dir})
		}
		for _, prefix := range []string{".tmp-", ".doctor-"} {
			list, _ := filepath.Glob(filepath.Join(escapeGlob(dataDir), prefix+"*")) // fails only for a bad pattern
			for _, p := range list {
				all = append(all, Trace{Path: p, What: "left by a process that died"})
			}
		}
		if ignore := filepath.Join(dataDir, ".gitignore"); OwnIgnore(ignore) {
			all = append(all, Trace{Path: ignore, What: "keeps the directory out of repositories"})
		}
	}
	var folders []string
	if bin := Programs(runtime.GOOS, env); bin != "" {
		all = append(all, Trace{Path: bin, What: "programs that the launcher fetched or built", Dir: true})
		if runtime.GOOS != "windows" { // there the folder above is the system's
			folders = append(folders, filepath.Dir(bin))
		}
	}
	if dataDir != "" {
		folders = append(folders, dataDir)
	}
	for _, dir := range folders {
		all = append(all, Trace{Path: dir, What: "the folder itself, if nothing else is in it", Dir: true, Empty: true})
	}
	var out []Trace
	for _, t := range all {
		ok, err := t.measure()
		if ok {
			out = append(out, t)
		}
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// Programs is the folder that the plugin's launcher, bin/knowledge or on Windows
// bin/knowledge.cmd, keeps programs in; "" when no home is known.
func Programs(goos string, env func(string) string) string {
	dir := filepath.Join(env("HOME"), ".cache", "knowledge", "bin")
	if d := env("XDG_CACHE_HOME"); d != "" {
		dir = filepath.Join(d, "knowledge", "bin")
	}
	if goos == "windows" {
		local := cmp.Or(env("LocalAppData"), filepath.Join(env("USERPROFILE"), "AppData", "Local"))
		dir = filepath.Join(local, "knowledge-bin")
	}
	if !filepath.IsAbs(dir) {
		return ""
	}
	return dir
}

// measure fills in what is at the path; ok is false when nothing of that kind is.
func (t *Trace) measure() (ok bool, err error) {
	info, err := os.Lstat(t.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	folder := t.Dir
	t.Dir = info.IsDir()
	switch {
	case !t.Dir:
		t.Files, t.Bytes = 1, info.Size()
		return !folder || info.Mode()&fs.ModeSymlink != 0, nil
	case !folder || t.Empty:
		return folder, nil
	}
	err = filepath.WalkDir(t.Path, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil // what cannot be listed is going, or is reported on its removal
		}
		t.Files++
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			t.Bytes += info.Size()
		}
		return nil
	})
	return true, err
}

// escapeGlob makes a path match itself as a pattern.
func escapeGlob(path string) string {
	if runtime.GOOS == "windows" {
		return path // has no signs of patterns but [, which cannot be escaped there
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}
