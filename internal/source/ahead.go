package source

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// Most of a walk is waiting for the system to name files and to say of each how
// large and how old it is: directories are read by others while the walk is still
// at those before them.

const (
	readsAhead  = 16 // directories of one that are read before the walk is there
	mostReaders = 4
)

// dirRead is a directory that is read, or was.
type dirRead struct {
	root    *os.Root // open; nil when it could not be opened
	entries []fs.DirEntry
	err     error
	done    chan struct{}
}

// read reads the directory of that name in another.
func (l *dirRead) read(dir *os.Root, name string) {
	if l.root, l.err = dir.OpenRoot(filepath.FromSlash(name)); l.err == nil {
		l.entries, l.err = readNames(l.root)
	}
}

// readNames reads an open directory.
func readNames(dir *os.Root) ([]fs.DirEntry, error) {
	d, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.ReadDir(-1)
}

// reading are the directories in one that are read before the walk is there.
type reading struct {
	f       *folder
	dir     *os.Root
	rel     string // "" or ending in a slash
	left    []item
	begun   []string
	entered int
}

// readAhead begins to read directories among the items of rel, "" or ending in a
// slash, which must be the one listed last.
func (f *folder) readAhead(rel string, items []item) *reading {
	if f.readers == nil {
		f.readers, f.ahead = make(chan struct{}, min(mostReaders, runtime.GOMAXPROCS(0))), map[string]*dirRead{}
	}
	r := &reading{f: f, dir: f.root, rel: rel, left: items}
	if n := len(f.within); n > 0 {
		r.dir = f.within[n-1].root
	}
	return r
}

// enters says that the walk enters the next directory.
func (r *reading) enters() {
	for ; len(r.left) > 0 && len(r.begun) < r.entered+readsAhead; r.left = r.left[1:] {
		e := r.left[0].e
		if !e.IsDir() {
			continue
		}
		l := &dirRead{done: make(chan struct{})}
		r.f.ahead[r.rel+e.Name()] = l
		r.begun = append(r.begun, r.rel+e.Name())
		go func() {
			defer close(l.done)
			r.f.readers <- struct{}{}
			defer func() { <-r.f.readers }()
			l.read(r.dir, e.Name())
		}()
	}
	r.entered++
}

// leave closes what was read and not entered, since the walk ended before.
func (r *reading) leave() {
	for _, p := range r.begun {
		if l := r.f.ahead[p]; l != nil {
			delete(r.f.ahead, p)
			if <-l.done; l.root != nil {
				l.root.Close()
			}
		}
	}
}
