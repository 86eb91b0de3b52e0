package project

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// ownIgnore is the .gitignore of a data directory.
const ownIgnore = "# made by knowledge, which keeps its data here\n*\n"

// OwnIgnore reports whether the file at path is such a .gitignore, unchanged.
func OwnIgnore(path string) bool {
	if info, err := os.Stat(path); err != nil || info.Size() != int64(len(ownIgnore)) || !info.Mode().IsRegular() {
		return false
	}
	b, err := os.ReadFile(path)
	return err == nil && filepath.Base(path) == ".gitignore" && string(b) == ownIgnore
}

// Database is the file that every data directory has.
const Database = "knowledge.db"

// IsDatabase reports whether a file is a SQLite database with a table that
// every version of ours has. The schema is text in the file's first pages, or
// in its log as long as that was not carried over.
func IsDatabase(path string) bool {
	for _, p := range []string{path, path + "-wal"} {
		info, err := os.Lstat(p)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		f, err := os.Open(p)
		if err != nil {
			continue
		}
		first, err := io.ReadAll(io.LimitReader(f, 1<<20))
		f.Close()
		if err == nil && bytes.Contains(first, []byte("CREATE TABLE stores (")) {
			return true
		}
	}
	return false
}

// DataSigns are the names by which a directory shows that it is a data
// directory: the database, and beside it what only this program makes together
// with one. Nothing in such a directory is a document of the project around it.
type DataSigns struct{ database, parts, segments, generations bool }

// See takes one name of the directory into account.
func (s *DataSigns) See(name string) {
	switch name {
	case Database:
		s.database = true
	case "segments":
		s.parts, s.segments = true, true
	case "generations":
		s.parts, s.generations = true, true
	case "jobs":
		s.parts = true
	}
}

// Data reports whether the names seen are those of a data directory.
func (s *DataSigns) Data() bool { return s.database && s.parts }

// Perhaps reports whether the directory may be one whose database is gone;
// HasGenerations decides.
func (s *DataSigns) Perhaps() bool { return s.segments && s.generations }

// HasGenerations reports whether there are generations of stores in a directory.
func HasGenerations(dir string) bool {
	list, err := os.ReadDir(filepath.Join(dir, "generations"))
	return err == nil && slices.ContainsFunc(list, func(e fs.DirEntry) bool {
		return ourFile().MatchString("generations/" + e.Name())
	})
}

// MakeDataDir makes a data directory that does not exist. A new or an empty
// one gets a .gitignore of everything, as caches of other tools have it, so
// that no repository around it takes it up; so does one without any in which
// nothing but this program's own files lie. One with anything else in it, which
// may be a project's own folder, is left as it is.
func MakeDataDir(dir string) {
	ignore := filepath.Join(dir, ".gitignore")
	if _, err := os.Lstat(ignore); err == nil {
		return
	}
	list, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = os.MkdirAll(dir, 0o700)
	}
	foreign := slices.ContainsFunc(list, func(e fs.DirEntry) bool { return !Own(e.Name()) })
	if len(list) > 0 && (foreign || !IsDatabase(filepath.Join(dir, Database))) {
		return
	}
	if err == nil { // what goes wrong here, opening the database says with its cause
		_ = os.WriteFile(ignore, []byte(ownIgnore), 0o600)
	}
}
