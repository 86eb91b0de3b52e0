package hook

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/project"
)

const (
	keepFor  = 7 * 24 * time.Hour // what is known of a session
	keepMost = 200                // files
)

// session is what is remembered of one session: DATA/hooks/HASH holds a byte
// for each thing that was noticed, appended by processes that know nothing of
// each other, and HASH.said is there when the hint was given.
type session struct {
	file string
	now  time.Time
}

// sessionOf names the files of a session. It makes nothing.
func sessionOf(dataDir, id string, now time.Time) session {
	sum := sha256.Sum256([]byte(id))
	return session{filepath.Join(dataDir, "hooks", hex.EncodeToString(sum[:8])), now}
}

// said reports whether the hint was given.
func (s session) said() bool {
	_, err := os.Stat(s.file + ".said")
	return err == nil
}

// count notes a thing and returns how often it was noted. A directory that
// cannot be written counts nothing.
func (s session) count(thing byte) int {
	if _, err := os.Stat(s.file); err != nil {
		s.prune()
	}
	f, err := os.OpenFile(s.file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return 0
	}
	_, err = f.Write([]byte{thing})
	if f.Close() != nil || err != nil {
		return 0
	}
	b, err := os.ReadFile(s.file)
	if err != nil {
		return 0
	}
	return strings.Count(string(b), string(thing))
}

// say reports whether this process is the one to give the hint.
func (s session) say() bool {
	if err := os.MkdirAll(filepath.Dir(s.file), 0o700); err != nil {
		return false
	}
	f, err := os.OpenFile(s.file+".said", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return false
	}
	return f.Close() == nil
}

// prune makes the folder and forgets old sessions.
func (s session) prune() {
	dir := filepath.Dir(s.file)
	if os.MkdirAll(dir, 0o700) != nil {
		return
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	type old struct {
		path string
		at   time.Time
	}
	var all []old
	for _, e := range entries {
		if info, err := e.Info(); err == nil && project.Ours(filepath.Dir(dir), filepath.Join(dir, e.Name())) {
			all = append(all, old{filepath.Join(dir, e.Name()), info.ModTime()})
		}
	}
	kb.SortFunc(all, func(a, b old) int { return b.at.Compare(a.at) })
	for i, f := range all {
		if i >= keepMost-1 || s.now.Sub(f.at) > keepFor {
			_ = os.Remove(f.path)
		}
	}
}
