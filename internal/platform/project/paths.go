package project

import "path/filepath"

// RealPath returns a path without links, as far as it exists.
func RealPath(path string) string {
	path = filepath.Clean(path)
	for rest := ""; ; {
		real, err := filepath.EvalSymlinks(path)
		if err == nil {
			return filepath.Join(real, rest)
		}
		if filepath.Dir(path) == path {
			return filepath.Join(path, rest)
		}
		path, rest = filepath.Dir(path), filepath.Join(filepath.Base(path), rest)
	}
}

// Within reports whether path, as it is spelt, is root or lies below it.
func Within(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && filepath.IsLocal(rel)
}
