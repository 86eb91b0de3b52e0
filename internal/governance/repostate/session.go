package repostate

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/config"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/project"
)

// Session is the change of a specification that is being worked on, as the
// repository's local configuration keeps it:
//
//	[pumuki "sdd.session"]
//		active = true
//		change = add-login
//		updatedAt = 2026-02-01T10:00:00.000Z
//		expiresAt = 2026-02-01T10:45:00.000Z
//		ttlMinutes = 45
type Session struct {
	Active  bool
	Change  string
	Updated string // as it is written, RFC 3339
	Expires string
	TTL     int // minutes, 0 when it is not said
}

const (
	section = "pumuki"
	session = "sdd.session"
)

// Time is how a session's times are written.
const Time = "2006-01-02T15:04:05.000Z"

// Session reads the session. Outside a repository there is none.
func (r *Reader) Session() Session {
	d, err := r.open()
	if err != nil {
		return Session{}
	}
	o := d.config().Section(section).Subsection(session)
	s := Session{
		Active: truth(o.Option("active"), false), Change: o.Option("change"),
		Updated: o.Option("updatedAt"), Expires: o.Option("expiresAt"),
	}
	s.TTL, _ = strconv.Atoi(o.Option("ttlMinutes"))
	return s
}

// SetSession replaces the session; nil removes it. It is the only write to a
// repository: one section of its local configuration, under git's own lock. All
// else stays to the byte.
func (r *Reader) SetSession(s *Session) error {
	d, err := r.open()
	if err != nil {
		return err
	}
	path, err := filepath.EvalSymlinks(filepath.Join(d.common, "config"))
	if err == nil {
		if !project.Within(project.RealPath(d.common), path) {
			return kb.Errorf(kb.Denied, "the configuration of %q is a link to another place, and is not written", r.Root).
				WithHint("write the session with: git config --local")
		}
	} else {
		path = filepath.Join(d.common, "config")
	}
	lock, err := os.OpenFile(path+".lock", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	switch {
	case errors.Is(err, fs.ErrExist):
		return kb.Errorf(kb.Busy, "somebody is changing the configuration of %q: %s.lock exists", r.Root, path).
			WithHint("try again; remove that file if no git is running")
	case err != nil:
		return kb.Errorf(kb.Denied, "the configuration of %q cannot be written: %w", r.Root, err).
			WithHint("check the permissions of %s", path)
	}
	done := false
	defer func() {
		if !done {
			lock.Close()
			os.Remove(path + ".lock")
		}
	}()
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return kb.Errorf(kb.Denied, "the configuration of %q cannot be read: %w", r.Root, err).
			WithHint("check the permissions of %s", path)
	}
	text, err := edited(string(old), s)
	if err != nil {
		return err
	}
	if info, err := os.Stat(path); err == nil {
		_ = lock.Chmod(info.Mode().Perm()) // not possible on every file system
	}
	_, err = lock.WriteString(text)
	if err = errors.Join(err, lock.Sync(), lock.Close()); err == nil {
		err = os.Rename(path+".lock", path)
	}
	if err != nil {
		return kb.Errorf(kb.Denied, "the configuration of %q cannot be written: %w", r.Root, err).
			WithHint("check the permissions of %s and the space on the disk", path)
	}
	done = true
	return nil
}

// edited returns a configuration with another session in it. It refuses a
// file in which anything else would come to read otherwise.
func edited(old string, s *Session) (string, error) {
	odd := kb.Errorf(kb.Unsupported, "the repository's configuration has a form that is not edited here").
		WithHint("write the session with: git config --local pumuki.sdd.session.active true")
	before := config.New()
	if config.NewDecoder(strings.NewReader(old)).Decode(before) != nil {
		return "", odd
	}
	var b strings.Builder
	in, goes := false, false // within our section; within a line that goes on
	for l := range strings.SplitAfterSeq(old, "\n") {
		trimmed := strings.TrimSpace(l)
		if !goes && strings.HasPrefix(trimmed, "[") {
			in = ours(trimmed)
			if in && trimmed[len(trimmed)-1] != ']' { // a key on the line of its section
				return "", odd
			}
		}
		goes = strings.HasSuffix(strings.TrimRight(l, "\r\n"), `\`) && !strings.HasPrefix(trimmed, "#") && !strings.HasPrefix(trimmed, ";")
		if !in {
			b.WriteString(l)
		}
	}
	text := b.String()
	if s != nil {
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		text += "[" + section + ` "` + session + `"]` + "\n\tactive = " + strconv.FormatBool(s.Active) + "\n\tchange = " + s.Change +
			"\n\tupdatedAt = " + s.Updated + "\n\texpiresAt = " + s.Expires + "\n\tttlMinutes = " + strconv.Itoa(s.TTL) + "\n"
	}
	after := config.New()
	if config.NewDecoder(strings.NewReader(text)).Decode(after) != nil || !slices.Equal(others(before), others(after)) {
		return "", odd
	}
	return text, nil
}

// ours reports whether a line begins the section of sessions.
func ours(l string) bool {
	l, _, _ = strings.Cut(l, "]")
	name, sub, ok := strings.Cut(strings.TrimPrefix(l, "["), `"`)
	return ok && strings.EqualFold(strings.TrimSpace(name), section) && strings.TrimSuffix(strings.TrimSpace(sub), `"`) == session
}

// others lists every option that is not of a session, in order.
func others(c *config.Config) []string {
	var out []string
	for _, s := range c.Sections {
		for _, o := range s.Options {
			out = append(out, s.Name+"\x00\x00"+o.Key+"\x00"+o.Value)
		}
		for _, sub := range s.Subsections {
			if strings.EqualFold(s.Name, section) && sub.Name == session {
				continue
			}
			out = append(out, s.Name+"\x00"+sub.Name)
			for _, o := range sub.Options {
				out = append(out, s.Name+"\x00"+sub.Name+"\x00"+o.Key+"\x00"+o.Value)
			}
		}
	}
	return out
}

// Lifecycle is what an installed governance tool left in the repository.
type Lifecycle struct {
	Package   string // version of the package in node_modules; "" when it is not there
	Installed string // pumuki.installed of the local configuration, and so on
	Version   string
	Hooks     string
	At        string
	Modules   int // tracked files below node_modules
	PreCommit Hook
	PrePush   Hook
}

// Hook says whether a hook is there and whether the tool manages it.
type Hook struct {
	Exists  bool `json:"exists"`
	Managed bool `json:"managedBlockPresent"`
}

// What surrounds the part of a hook that the tool manages.
const (
	managedStart = "# >>> PUMUKI MANAGED START >>>"
	managedEnd   = "# <<< PUMUKI MANAGED END <<<"
)

// Lifecycle reads it. Nothing of it is executed.
func (r *Reader) Lifecycle() (Lifecycle, error) {
	d, err := r.open()
	if err != nil {
		return Lifecycle{}, err
	}
	var l Lifecycle
	c := d.config()
	s := c.Section(section)
	l.Installed, l.Version, l.Hooks, l.At = s.Option("installed"), s.Option("version"), s.Option("hooks"), s.Option("installed-at")
	l.Package = packageVersion(small(filepath.Join(r.Root, "node_modules", "pumuki", "package.json")))
	mask(&l.Installed, &l.Version, &l.Hooks, &l.At, &l.Package)
	dir := r.hooksDir(d)
	l.PreCommit, l.PrePush = hook(filepath.Join(dir, "pre-commit")), hook(filepath.Join(dir, "pre-push"))
	if idx, err := d.index(); err == nil { // else 0: its form is not read here
		for _, e := range idx.Entries {
			if strings.HasPrefix(e.Name, "node_modules/") || strings.Contains(e.Name, "/node_modules/") {
				l.Modules++
			}
		}
	}
	return l, nil
}

// HooksDir returns the folder of the repository's hooks, and whether it is the
// repository's own: configuration may name one for many.
func (r *Reader) HooksDir() (dir string, own bool, err error) {
	d, err := r.open()
	if err != nil {
		return "", false, err
	}
	dir = project.RealPath(r.hooksDir(d))
	return dir, project.Within(project.RealPath(d.root), dir) || project.Within(project.RealPath(d.common), dir), nil
}

func (r *Reader) hooksDir(d dirs) string {
	c := d.config()
	if p := c.Section("core").Option("hookspath"); p != "" {
		return r.expand(d, p)
	}
	return filepath.Join(d.common, "hooks")
}

func hook(path string) Hook {
	text := small(path)
	_, err := os.Stat(path)
	start := strings.Index(text, managedStart)
	return Hook{Exists: err == nil, Managed: start >= 0 && strings.Contains(text[start:], managedEnd)}
}

// packageVersion returns the version that a package.json states.
func packageVersion(text string) string {
	var p struct {
		Version string `json:"version"`
	}
	if json.Unmarshal([]byte(text), &p) != nil {
		return ""
	}
	return p.Version
}
