package grammar

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// The machine code of a language lies in FOLDER/LANGUAGE/wazero-…/KEY, where
// wazero puts it. Of what it reads back wazero checks the instructions only,
// not the table of where functions begin: one flipped bit there, and a
// process would jump to where no function is. So KEY.sum holds a checksum and
// the length of the whole file, and what it does not fit is deleted unread.

const (
	sumExt = ".sum"
	tmpExt = ".tmp" // of what wazero is writing, or was when it was killed
	// tmpAge is the age at which no process can be writing it any more.
	tmpAge = time.Hour
)

// folder returns where a language's machine code is kept, "" for nowhere.
func (s *Set) folder(language string) string {
	if s.Folder == "" {
		return ""
	}
	return filepath.Join(s.Folder, language)
}

// clean deletes from a folder what is damaged, unsigned or left by a killed
// process. False means that something damaged cannot be deleted, so that the
// folder must not be used.
func clean(folder string) bool {
	usable := true
	for _, f := range keptIn(folder) {
		switch filepath.Ext(f) {
		case sumExt:
			if _, err := os.Stat(strings.TrimSuffix(f, sumExt)); errors.Is(err, fs.ErrNotExist) {
				_ = os.Remove(f)
			}
		case tmpExt:
			if info, err := os.Stat(f); err == nil && time.Since(info.ModTime()) > tmpAge {
				_ = os.Remove(f)
			}
		default:
			sum, err := sumOf(f)
			if said, e := os.ReadFile(f + sumExt); err == nil && e == nil && string(said) == sum {
				continue
			}
			if err := os.Remove(f); err != nil && !errors.Is(err, fs.ErrNotExist) {
				usable = false
			}
		}
	}
	return usable
}

// sign writes the checksums of what has none. What fails costs a compilation later.
func sign(folder string) {
	for _, f := range keptIn(folder) {
		if ext := filepath.Ext(f); ext == sumExt || ext == tmpExt {
			continue
		}
		if _, err := os.Stat(f + sumExt); err == nil {
			continue
		}
		if sum, err := sumOf(f); err == nil {
			_ = os.WriteFile(f+sumExt, []byte(sum), 0o600)
		}
	}
}

func keptIn(folder string) []string {
	list, err := filepath.Glob(filepath.Join(folder, "wazero-*", "*"))
	if err != nil {
		return nil
	}
	return list
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func sumOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := crc32.New(castagnoli)
	n, err := io.Copy(h, f)
	return fmt.Sprintf("%08x %d\n", h.Sum32(), n), err
}
