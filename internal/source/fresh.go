package source

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// FileStamp returns the stamp (see kb.Entry) of the document at a
// slash-separated path below the folder root, as Walk would give it now; ""
// when there is no regular file.
func FileStamp(root, path string) (string, error) {
	if checkPath(path) != nil {
		return "", nil
	}
	info, err := os.Lstat(filepath.Join(root, filepath.FromSlash(path)))
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return stamp(info), nil
}
