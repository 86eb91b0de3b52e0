package install

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/data/atomicfile"
	"github.com/seed-4f2d999b/knowledge/internal/data/lockfile"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// ReceiptsFile is the name of the file of receipts in the data directory.
const ReceiptsFile = "installs.json"

// receipts is that file.
type receipts struct {
	Version int       `json:"version"` // 1
	Files   []receipt `json:"files"`
}

// receipt is what undoes one edit: the bytes from At on, New of them, were Old
// in a file whose SHA-256 was Before and became After.
type receipt struct {
	File   string `json:"file"`
	Kind   string `json:"kind"`
	Client string `json:"client"`
	Scope  string `json:"scope"`
	Root   string `json:"root,omitempty"` // of the project
	Before string `json:"before"`
	After  string `json:"after"`
	At     int    `json:"at"`
	Old    []byte `json:"old,omitempty"`
	New    int    `json:"new"`
	// Created says that there was no file, and Dirs which folders were made for it.
	Created bool     `json:"created,omitempty"`
	Dirs    []string `json:"dirs,omitempty"`
	// Containers is how many objects around the entry were made with it.
	Containers int    `json:"containers,omitempty"`
	Command    string `json:"command,omitempty"` // that the entry ran
}

func load(dataDir string) (*receipts, error) {
	path := filepath.Join(dataDir, ReceiptsFile)
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &receipts{Version: 1}, nil
	}
	var r receipts
	if err == nil {
		err = json.Unmarshal(raw, &r)
	}
	if err != nil {
		return nil, kb.Errorf(kb.Corrupt, "the receipts in %q cannot be read: %w", path, err).
			WithHint("without it entries are removed all the same: rm %s", kb.ShellWord(path))
	}
	if r.Version != 1 {
		return nil, kb.Errorf(kb.Unsupported, "the receipts in %q are of version %d, and this program knows version 1",
			path, r.Version).WithHint("update the program")
	}
	return &r, nil
}

func (r *receipts) find(file, kind string) *receipt {
	i := slices.IndexFunc(r.Files, func(x receipt) bool { return x.File == file && x.Kind == kind })
	if i < 0 {
		return nil
	}
	return &r.Files[i]
}

// lockWait is how long one waits for others who write receipts, which takes
// each of them a moment.
const lockWait = 30 * time.Second

// save replaces the receipt of a file, or drops it. Several may do so at once.
func save(dataDir string, s *Step) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	lock, err := lockfile.Acquire(ctx, filepath.Join(dataDir, ReceiptsFile+".lock"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Remove()) }()
	r, err := load(dataDir)
	if err != nil {
		return err
	}
	r.Files = slices.DeleteFunc(r.Files, func(x receipt) bool { return x.File == s.File && x.Kind == s.Kind })
	if s.receipt != nil {
		r.Files = append(r.Files, *s.receipt)
	}
	// Folders that another file of ours still lies in go with that one.
	for i := range r.Files {
		for _, d := range s.dirs {
			if x := &r.Files[i]; strings.HasPrefix(x.File, d+string(filepath.Separator)) && !slices.Contains(x.Dirs, d) {
				x.Dirs = append(x.Dirs, d)
				kb.SortFunc(x.Dirs, func(a, b string) int { return len(a) - len(b) })
			}
		}
	}
	path := filepath.Join(dataDir, ReceiptsFile)
	if len(r.Files) == 0 {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	raw, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(path, append(raw, '\n'))
}

// Roots returns the projects that have files with receipts.
func Roots(dataDir string) ([]string, error) {
	r, err := load(dataDir)
	if err != nil {
		return nil, err
	}
	var roots []string
	for _, f := range r.Files {
		if f.Root != "" {
			roots = append(roots, f.Root)
		}
	}
	slices.Sort(roots)
	return slices.Compact(roots), nil
}

func hash(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// newReceipt describes how base became after. What an earlier receipt of the
// file says of who made it stays true.
func newReceipt(p Place, s Step, base, after []byte, earlier *receipt) *receipt {
	at := 0
	for at < len(base) && at < len(after) && base[at] == after[at] {
		at++
	}
	tail := 0
	for tail < len(base)-at && tail < len(after)-at && base[len(base)-1-tail] == after[len(after)-1-tail] {
		tail++
	}
	r := &receipt{File: s.File, Kind: s.Kind, Client: s.Client, Scope: s.Scope, Before: hash(base), After: hash(after),
		At: at, Old: base[at : len(base)-tail], New: len(after) - tail - at, Created: !s.exists}
	if s.Scope == Project {
		r.Root = p.Root
	}
	if earlier != nil {
		r.Created, r.Dirs = r.Created || earlier.Created, earlier.Dirs
	}
	return r
}

// undo returns the bytes before an edit, nil when the file is not as it left it.
func undo(now []byte, r *receipt) []byte {
	if r == nil || hash(now) != r.After || r.At < 0 || r.New < 0 || r.At+r.New > len(now) {
		return nil
	}
	before := slices.Concat(now[:r.At], r.Old, now[r.At+r.New:])
	if hash(before) != r.Before {
		return nil
	}
	if before == nil {
		before = []byte{}
	}
	return before
}

// withoutBlank takes out of after, which is now without our entry, the blank
// line that an addition to the end of the file began with, when the receipt
// shows that all up to the end of the addition is as it was then: what follows
// was written since.
func withoutBlank(now, after []byte, r *receipt) []byte {
	if r == nil || len(r.Old) > 0 || r.At < 0 || r.New < 0 || r.At+r.New > len(now) ||
		hash(now[:r.At+r.New]) != r.After || hash(now[:r.At]) != r.Before {
		return after
	}
	ours := now[r.At : r.At+r.New]
	blank := len(ours) - len(bytes.TrimLeft(ours, "\r\n"))
	if r.At > 0 && now[r.At-1] != '\n' { // the first ends the line before
		blank -= bytes.IndexByte(ours, '\n') + 1
	}
	start := r.At + len(ours) - len(bytes.TrimLeft(ours, "\r\n")) - blank
	if blank <= 0 || len(now)-len(after) != len(bytes.TrimLeft(ours, "\r\n")) || // it went already
		len(after) < start+blank || !bytes.Equal(after[:start+blank], now[:start+blank]) {
		return after
	}
	return slices.Concat(after[:start], after[start+blank:])
}

// Apply carries a step out, and keeps its receipt.
func (o Options) Apply(s *Step) error {
	if !s.Changes() {
		if s.drop {
			return save(o.DataDir, s)
		}
		return nil
	}
	if err := o.unchanged(s); err != nil {
		return err
	}
	if s.after == nil {
		if err := os.Remove(s.target()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return denied(s.File, err)
		}
		kept, err := load(o.DataDir)
		if err != nil {
			return err
		}
		if r := kept.find(s.File, s.Kind); r != nil {
			s.dirs = r.Dirs // a step before this one may have left it some
		}
		for len(s.dirs) > 0 && os.Remove(s.dirs[len(s.dirs)-1]) == nil {
			s.dirs = s.dirs[:len(s.dirs)-1]
		}
		return save(o.DataDir, s)
	}
	// The receipt goes first: one too many is harmless, one too few is not.
	if s.receipt != nil {
		s.receipt.Dirs = append(s.receipt.Dirs, missing(filepath.Dir(s.File))...)
		if err := save(o.DataDir, s); err != nil {
			return err
		}
	}
	if err := s.write(); err != nil {
		return err
	}
	if s.receipt == nil {
		return save(o.DataDir, s)
	}
	return nil
}

// target is the file itself: of a link what it leads to.
func (s *Step) target() string {
	if real, err := filepath.EvalSymlinks(s.File); err == nil {
		return real
	}
	return s.File
}

// unchanged returns an error if the file was written since it was read.
func (o Options) unchanged(s *Step) error {
	now := Step{File: s.File}
	if err := now.read(); err != nil {
		return err
	}
	if now.exists != s.exists || !bytes.Equal(now.before, s.before) {
		return kb.Errorf(kb.Busy, "%q was changed by another program just now", s.File).
			WithHint("try once more: %s", o.again(*s))
	}
	return nil
}

func missing(dir string) []string {
	var dirs []string
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Stat(d); err == nil || filepath.Dir(d) == d {
			break
		}
		dirs = append(dirs, d)
	}
	slices.Reverse(dirs)
	return dirs
}

// write replaces the file and keeps its mode. A new one is for its user alone,
// one of a project for everybody.
func (s *Step) write() error {
	mode, dirMode := fs.FileMode(0o600), fs.FileMode(0o700)
	if s.Scope == Project {
		mode, dirMode = 0o644, 0o755
	}
	path := s.target()
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	if err := os.MkdirAll(filepath.Dir(path), dirMode); err != nil {
		return denied(s.File, err)
	}
	f, err := atomicfile.Create(path)
	if err != nil {
		return err
	}
	defer f.Abort()
	if err := f.Chmod(mode); err != nil {
		return err
	}
	if _, err := f.Write(s.after); err != nil {
		return err
	}
	return f.Commit()
}

func denied(file string, err error) error {
	return kb.Errorf(kb.Denied, "%q cannot be written: %w", file, err).WithHint("check the permissions of its folder")
}
