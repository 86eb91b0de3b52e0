package teamserver

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/data/atomicfile"
	"github.com/seed-4f2d999b/knowledge/internal/data/catalog"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// record is one line of the log: who did what, and what came of it. What was
// asked for, and what was found, is not in it, nor is any token.
type record struct {
	Time    time.Time  `json:"time"`
	User    string     `json:"user,omitempty"`
	Token   string     `json:"token,omitempty"` // the beginning of its hash, or "login"
	Client  netip.Addr `json:"client"`
	Face    string     `json:"face"`
	Command string     `json:"command,omitempty"`
	Store   string     `json:"store,omitempty"` // as it was named
	Job     string     `json:"job,omitempty"`
	Outcome string     `json:"outcome"` // ok, or the code of the failure
	Millis  int64      `json:"ms"`
	Bytes   int64      `json:"bytes"` // of the reply

	face, refused string
	status        int
}

type recordKey struct{}

func withRecord(ctx context.Context, r *record) context.Context {
	return context.WithValue(ctx, recordKey{}, r)
}

// watched runs a command and notes it. What execute runs in the end is what counts.
func (s *server) watched(ctx context.Context, c command.Command, _ *app.App, args json.RawMessage, run func() (any, error)) (any, error) {
	rec, _ := ctx.Value(recordKey{}).(*record)
	if rec == nil {
		return run()
	}
	if rec.Command = c.Name; c.Name != "execute" {
		var named struct{ Store, Name, JobID any }
		_ = json.Unmarshal(args, &named) // what it cannot be read as is refused in a moment
		if c.Name == "store:create" {
			named.Store = named.Name
		}
		for _, x := range []struct {
			to    *string
			named any
		}{{&rec.Store, named.Store}, {&rec.Job, named.JobID}} {
			if text, ok := x.named.(string); ok && catalog.CheckName(text) == nil {
				*x.to = text
			}
		}
	}
	out, err := run()
	rec.Outcome = "ok"
	if err != nil {
		rec.Outcome = string(kb.CodeOf(err))
	}
	if started, ok := out.(app.Started); ok {
		rec.Job = started.Job
	}
	return out, err
}

// done counts a request, and writes it down: every one that was refused or names a command.
func (s *server) done(rec *record) {
	took := time.Since(rec.Time)
	rec.Millis, rec.Face = took.Milliseconds(), rec.face
	if rec.Outcome == "" {
		rec.Outcome = fmt.Sprint(rec.status)
	}
	s.figures.count(rec, took)
	if rec.refused != "" {
		rec.Outcome = "refused: " + rec.refused
	}
	if rec.Command != "" || rec.refused != "" && rec.refused != "none" || rec.User != "" && rec.face != "metrics" {
		if err := s.audit.write(rec); err != nil {
			s.log.Error("the audit log cannot be written", "error", err.Error())
		}
	}
	s.log.Debug("request", slog.String("user", rec.User), slog.String("outcome", rec.Outcome))
}

const (
	auditBytes = 64 << 20 // of one file
	auditFiles = 4        // older ones, FILE.1 the newest
)

// auditLog appends lines to a file. The zero value writes nothing.
type auditLog struct {
	path string
	most int64

	mu   sync.Mutex
	file *os.File
	size int64
}

// openAudit opens the log; "" is none.
func openAudit(path string) (*auditLog, error) {
	l := &auditLog{path: path, most: auditBytes}
	if path == "" {
		return l, nil
	}
	if err := atomicfile.MkdirAll(filepath.Dir(path)); err != nil {
		return nil, err
	}
	return l, l.open()
}

func (l *auditLog) open() error {
	f, err := os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return kb.Errorf(kb.Denied, "the audit log %q cannot be written: %w", l.path, err).WithHint("name another file with team.audit, or none")
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return kb.Errorf(kb.Denied, "the audit log %q cannot be written: %w", l.path, err).WithHint("name another file with team.audit, or none")
	}
	l.file, l.size = f, info.Size()
	return nil
}

// write appends a line, each whole.
func (l *auditLog) write(rec *record) error {
	if l.path == "" {
		return nil
	}
	b, err := json.Marshal(rec)
	if err != nil {
		return err
	}
	b = append(b, '\n')
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil || l.size+int64(len(b)) > l.most {
		if err := l.turn(); err != nil {
			return err
		}
	}
	n, err := l.file.Write(b)
	l.size += int64(n)
	return err
}

// turn renames the files and begins a new one. l.mu is held.
func (l *auditLog) turn() error {
	if l.file != nil {
		l.file.Close()
		l.file = nil
		for i := auditFiles; i > 0; i-- {
			from := l.path
			if i > 1 {
				from = fmt.Sprintf("%s.%d", l.path, i-1)
			}
			_ = os.Rename(from, fmt.Sprintf("%s.%d", l.path, i)) // there may be none
		}
	}
	return l.open()
}

func (l *auditLog) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		l.file.Close()
		l.file = nil
	}
}

// tallied counts what is written.
type tallied struct {
	http.ResponseWriter
	rec *record
}

func (t *tallied) WriteHeader(status int) {
	t.rec.status = status
	t.ResponseWriter.WriteHeader(status)
}

func (t *tallied) Write(p []byte) (int, error) {
	n, err := t.ResponseWriter.Write(p)
	t.rec.Bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController through.
func (t *tallied) Unwrap() http.ResponseWriter { return t.ResponseWriter }
