// Package gain is the room that says what looking at code has cost in the
// sessions of a client, and what of it was left in the window: of the product, and of
// grep, of reading and of listing files beside it. It reads the client's own logs,
// only when a person asks, keeps nothing, and shows counts, names of tools and
// folders of projects; no text of a session.
//
// What is counted, of each kind of calls:
//
//	in       Σ tokens of the calls, their names and arguments
//	out      Σ tokens of the replies, as the model was given them
//	carried  Σ over responses: tokens of the replies that were in the window when it was asked for
//	left     tokens of replies in the window at the end of the session
//
// Tokens are those of package tokens, which errs upwards. A window begins empty,
// takes every reply, and is emptied where the client has compacted it. Windows of sub-agents
// are gone when these end: nothing of them is left.
package gain

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/gain/sessionlog"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// request is what is counted.
type request struct {
	folder   string    // of the logs
	since    time.Time // files that were not written to since are passed over
	project  string    // only sessions in this folder and below; "" for all
	sessions int       // how many sessions are listed
}

// where returns the folder of the client's logs.
func where(a *app.App) (string, error) {
	dir := a.Config.Env("CLAUDE_CONFIG_DIR")
	if dir == "" {
		home := a.Config.Env("HOME")
		if runtime.GOOS == "windows" {
			home = a.Config.Env("USERPROFILE")
		}
		if home == "" {
			return "", kb.Errorf(kb.Invalid, "no home directory is known, below which Claude Code keeps its logs").
				WithHint("set $HOME or $CLAUDE_CONFIG_DIR")
		}
		dir = filepath.Join(home, ".claude")
	}
	return filepath.Join(dir, "projects"), nil
}

// log is one file of the folder.
type log struct {
	path  string
	agent bool // of a sub-agent
}

// logs lists the files, those of a session before those of its sub-agents. What is not of
// sessions, and links, are passed over.
func logs(q request) (found []log, older int, err error) {
	err = filepath.WalkDir(q.folder, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && path == q.folder:
			return err
		case err != nil: // gone meanwhile, or not ours to read
			return nil
		case d.IsDir() && d.Name() == "tool-results":
			return fs.SkipDir
		case !d.Type().IsRegular() || filepath.Ext(path) != ".jsonl" || d.Name() == "journal.jsonl":
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return nil
		}
		if info.ModTime().Before(q.since) {
			older++
			return nil
		}
		in := filepath.Base(filepath.Dir(path))
		found = append(found, log{path, in == "subagents" || strings.HasPrefix(d.Name(), "agent-")})
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return found, older, err
}

// counting is a count under way.
type counting struct {
	request
	seen     *seen
	report   *Report
	sessions map[string]*session
	versions map[string]bool
}

// session is what was counted of one session and its sub-agents.
type session struct {
	id, project string
	first, last time.Time
	client      int64
	agents      int
	main, subs  tally
}

// Count reads the logs and counts.
func Count(ctx context.Context, q request) (Report, error) {
	found, older, err := logs(q)
	if err != nil {
		return Report{}, kb.Errorf(kb.Denied, "the logs in %s cannot be read: %w", q.folder, err).
			WithHint("check its permissions")
	}
	n := &counting{request: q, seen: newSeen(), report: &Report{Folder: q.folder, Since: q.since, Older: older},
		sessions: map[string]*session{}, versions: map[string]bool{}}
	for _, l := range found {
		if err := n.file(ctx, l); err != nil {
			return Report{}, err
		}
	}
	if len(n.sessions) == 0 {
		return Report{}, n.none(older + len(found))
	}
	n.finish()
	return *n.report, nil
}

// none says that there was nothing to count, and where that was looked for.
func (n *counting) none(files int) error {
	if files == 0 {
		return kb.Errorf(kb.NotFound, "there are no session logs of Claude Code: looked for *.jsonl below %s", n.folder).
			WithHint("if they lie elsewhere, set CLAUDE_CONFIG_DIR to the folder that holds projects")
	}
	of := ""
	if n.project != "" {
		of = " in " + n.project
	}
	return kb.Errorf(kb.NotFound, "no session%s was written to since %s: looked at %s below %s",
		of, n.since.Format(time.DateOnly), kb.Count(files, "file"), n.folder).
		WithHint("look further back: knowledge gain --since 365d")
}

// file counts one file. What cannot be opened or read to its end is counted as such.
func (n *counting) file(ctx context.Context, l log) error {
	in, err := os.Open(l.path)
	if err != nil {
		n.report.Unread++
		return nil
	}
	defer in.Close()
	f := newFile(n.seen, l.agent)
	s := &session{}
	decided, elsewhere := n.project == "", false
	err = sessionlog.Read(in, &n.report.Skipped, func(line sessionlog.Line) bool {
		if line.Folder != "" && !decided {
			decided, elsewhere = true, !inside(line.Folder, n.project)
		}
		if elsewhere || ctx.Err() != nil {
			return false
		}
		s.note(line)
		if line.Version != "" && len(n.versions) < 1000 {
			n.versions[line.Version] = true
		}
		f.line(line)
		return true
	})
	if ctx.Err() != nil {
		return kb.Errorf(kb.Canceled, "stopped").WithHint("ask for less: knowledge gain --since 7d")
	}
	if err != nil {
		n.report.Unread++
	}
	if elsewhere || !decided || s.last.IsZero() && len(f.nodes) == 0 {
		return nil
	}
	f.end()
	n.take(l, f, s)
	return nil
}

// note keeps what a line says of its session.
func (s *session) note(l sessionlog.Line) {
	if s.id == "" {
		s.id = l.Session
	}
	if s.project == "" {
		s.project = l.Folder
	}
	if t := l.Time; !t.IsZero() {
		if s.first.IsZero() || t.Before(s.first) {
			s.first = t
		}
		if t.After(s.last) {
			s.last = t
		}
	}
}

// take adds what was counted of a file to its session: a file of a session is
// called by its id, that of a sub-agent names it in its lines or by its folder.
func (n *counting) take(l log, f *file, of *session) {
	id := strings.TrimSuffix(filepath.Base(l.path), ".jsonl")
	if l.agent {
		if id = of.id; id == "" {
			id = filepath.Base(filepath.Dir(filepath.Dir(l.path)))
		}
		n.report.Agents++
	} else {
		n.report.Files++
	}
	s := n.sessions[id]
	if s == nil {
		s = &session{id: id}
		n.sessions[id] = s
	}
	if s.project == "" || !l.agent && of.project != "" {
		s.project = of.project
	}
	s.note(sessionlog.Line{Time: of.first})
	s.note(sessionlog.Line{Time: of.last})
	n.report.Copies += f.copies
	switch {
	case l.agent:
		s.agents++
		s.subs.add(f.main.tally)
	default:
		s.client = f.main.client
		s.main.add(f.main.tally)
		for _, c := range f.agents {
			s.agents++
			s.subs.add(c.tally)
		}
	}
}

// inside reports whether a folder of the log is dir or lies below it.
func inside(folder, dir string) bool {
	folder, dir = filepath.Clean(folder), filepath.Clean(dir)
	sep := string(filepath.Separator)
	return folder == dir || strings.HasPrefix(folder, strings.TrimRight(dir, sep)+sep)
}

// newest are the sessions, the last written first.
func (n *counting) newest() []*session {
	var all []*session
	for _, s := range n.sessions {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b *session) int {
		if c := b.last.Compare(a.last); c != 0 {
			return c
		}
		return strings.Compare(a.id, b.id)
	})
	return all
}
