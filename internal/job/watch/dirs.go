package watch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"
)

// matters reports whether an event can change the documents, and notes when. A new
// directory is watched at once, with all below it.
func (s *state) matters(ctx context.Context, e fsnotify.Event) bool {
	if !s.changes(ctx, e) {
		return false
	}
	s.since = time.Now()
	return true
}

// changes reports whether an event can change the documents.
func (s *state) changes(ctx context.Context, e fsnotify.Event) bool {
	if s.tree.Shapes(e.Name) {
		s.relist = true
	}
	if e.Op == fsnotify.Chmod {
		// The modification time or permissions were set: the walk decides.
		if fi, err := os.Lstat(e.Name); err == nil && fi.IsDir() {
			s.relist = true
		}
		return s.tree.Wants(e.Name, s.watched[e.Name])
	}
	dir := s.watched[e.Name]
	s.relist = s.relist || dir
	if dir && (e.Has(fsnotify.Rename) || e.Has(fsnotify.Remove)) {
		if !s.inside(e.Name) { // a folder around it, watched for the rules in it
			delete(s.watched, e.Name)
			return true
		}
		s.forgetBelow(e.Name)
	}
	if e.Has(fsnotify.Create) {
		fi, err := os.Lstat(e.Name)
		dir = err == nil && fi.IsDir()
		s.relist = s.relist || dir
		if dir && s.tree.Wants(e.Name, true) {
			s.watchBelow(ctx, e.Name)
		}
	}
	return s.tree.Wants(e.Name, dir)
}

// inside reports whether a name is that of the folder or of something in it.
func (s *state) inside(name string) bool {
	return name == s.Root || strings.HasPrefix(name, strings.TrimSuffix(s.Root, string(filepath.Separator))+string(filepath.Separator))
}

// forgetBelow removes the watches of a directory that is gone. inotify's follow a
// directory to its new name: a later removal by the old name would then remove
// that of the new name.
func (s *state) forgetBelow(dir string) {
	for name := range s.watched {
		if name == dir || strings.HasPrefix(name, dir+string(filepath.Separator)) {
			_ = s.w.Remove(name) // fails when it went by itself
			delete(s.watched, name)
		}
	}
}

// watchBelow watches a new directory before it is known which of its folders are
// relevant; sync removes the other watches.
func (s *state) watchBelow(ctx context.Context, dir string) {
	const most = 1000 // of them; a larger tree waits for sync, which knows the rules
	n := 0
	_ = filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() || ctx.Err() != nil {
			return nil
		}
		if name != dir && !s.tree.Wants(name, true) {
			return fs.SkipDir
		}
		if n++; n > most {
			return fs.SkipAll
		}
		if !s.watched[name] && s.add(s.w, name) == nil {
			s.watched[name] = true
		}
		return nil
	})
}

// sync lists the directories and watches exactly them. When the system has no
// watches left the folder is polled from now on.
func (s *state) sync(ctx context.Context) error {
	tree, err := s.List(ctx)
	if err != nil {
		return err
	}
	s.tree, s.listed = tree, time.Now()
	if s.w == nil {
		return nil
	}
	want := map[string]bool{}
	for _, dir := range tree.Dirs() {
		want[dir] = true
	}
	for _, dir := range slices.Collect(maps.Keys(s.watched)) {
		if !want[dir] {
			_ = s.w.Remove(dir)
			clear(s.watched) // one of them may have had the same watch: see forgetBelow
		}
	}
	for _, dir := range tree.Dirs() {
		if s.watched[dir] {
			continue
		}
		switch err := s.add(s.w, dir); {
		case err == nil:
			s.watched[dir] = true
		case errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENOTDIR):
			// Gone meanwhile, or not ours to read: nothing in it is indexed.
		default:
			n := s.giveUp()
			s.why = fmt.Sprintf("%d directories can be watched and no more (%v)", n, err)
			if s.begun {
				s.tellPolling()
			}
			return nil
		}
	}
	return nil
}

// giveUp changes to polling and releases the watches.
func (s *state) giveUp() (watched int) {
	watched = len(s.watched)
	s.close()
	s.w, s.watched = nil, map[string]bool{}
	return watched
}

// takeProbes makes the directory of probes and watches it. Without it callers do not
// ask.
func (s *state) takeProbes() {
	if s.Probes == "" {
		return
	}
	_ = os.RemoveAll(s.Probes) // of a process that died
	if os.MkdirAll(s.Probes, 0o700) != nil || s.add(s.w, s.Probes) != nil {
		_ = os.RemoveAll(s.Probes)
	}
}

// probe reports whether an event is about a probe, and notes a new one.
func (s *state) probe(e fsnotify.Event) bool {
	if s.Probes == "" || filepath.Dir(e.Name) != s.Probes && e.Name != s.Probes {
		return false
	}
	if e.Has(fsnotify.Create) && !strings.HasSuffix(e.Name, Behind) {
		s.asked = append(s.asked, e.Name)
	}
	return true
}

// putOff says of the probes that were seen that the index is not up to date.
func (s *state) putOff() {
	for _, name := range s.asked {
		if f, err := os.OpenFile(name+Behind, os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
			f.Close()
		}
	}
}

// answer removes the probes that were seen, when the index is up to date; their
// owners remove the others.
func (s *state) answer(current bool) {
	for _, name := range s.asked {
		if current {
			_ = os.Remove(name)
		}
		_ = os.Remove(name + Behind) // of one who has given up
	}
	s.asked = nil
}
