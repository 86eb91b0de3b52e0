package source

import (
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// units are lengths of time that times are written in.
var units = map[byte]time.Duration{'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour}

// ParseTime reads a day, "2026-11-01", of which it is the beginning, or a time
// that long ago: "12h", "7d", "3w". ok is false for anything else.
func ParseTime(text string, now time.Time) (t time.Time, ok bool) {
	if t, err := time.ParseInLocation(time.DateOnly, text, now.Location()); err == nil {
		return t, true
	}
	if text == "" {
		return t, false
	}
	unit, known := units[text[len(text)-1]]
	n, err := strconv.Atoi(text[:len(text)-1])
	if !known || err != nil || n <= 0 || n > 10_000 {
		return t, false
	}
	return now.Add(-time.Duration(n) * unit), true
}

// Before returns the last commit before a time on the line of first parents that
// ends in h. The error is plumbing.ErrObjectNotFound where there is none, or where
// a shallow clone lacks it.
func (r *Repository) Before(h plumbing.Hash, when time.Time) (plumbing.Hash, error) {
	for {
		c, err := r.objects.commit(h)
		if err != nil {
			return h, err
		}
		if c.Committer.When.Before(when) {
			return c.Hash, nil
		}
		if c.NumParents() == 0 {
			return h, plumbing.ErrObjectNotFound
		}
		h = c.ParentHashes[0]
	}
}

// Shallow reports whether the repository lacks what is older than some commits.
func (r *Repository) Shallow() bool {
	info, err := os.Stat(filepath.Join(r.dirs.common, "shallow"))
	return err == nil && info.Size() > 0
}
