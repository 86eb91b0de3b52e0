package project

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// ownIgnore is the .gitignore of a data directory.
const ownIgnore = "# made by knowledge, which keeps its data here\n*\n"

// OwnIgnore reports whether the file at path is such a .gitignore, unchanged.
func OwnIgnore(path string) bool {
	b, err := os.ReadFile(path)
	return err == nil && filepath.Base(path) == ".gitignore" && string(b) == ownIgnore
}

// Database is the file that every data directory has.
const Database = "knowledge.db"

// DataSigns are the names by which a directory shows that it is a data
// directory: the database, and beside it what only this program makes together
// with one. Nothing in such a directory is a document of the project around it.
type DataSigns struct{ database, parts bool }

// See takes one name of the directory into account.
func (s *DataSigns) See(name string) {
	switch name {
	case Database:
		s.database = true
	case "segments", "generations", "jobs":
		s.parts = true
	}
}

// Data reports whether the names seen are those of a data directory.
func (s *DataSigns) Data() bool { return s.database && s.parts }

// MakeDataDir makes a data directory that does not exist. A new or an empty
// one gets a .gitignore of everything, as caches of other tools have it, so
// that no repository around it takes it up; one with anything in it, which may
// be a project's own folder, is left as it is.
func MakeDataDir(dir string) {
	if _, err := os.Lstat(filepath.Join(dir, Database)); err == nil {
		return
	}
	list, err := os.ReadDir(dir)
	if err == nil && len(list) > 0 {
		return
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = os.MkdirAll(dir, 0o700)
	}
	if err == nil { // what goes wrong here, opening the database says with its cause
		_ = os.WriteFile(filepath.Join(dir, ".gitignore"), []byte(ownIgnore), 0o600)
	}
}
