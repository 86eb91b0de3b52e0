package restapi

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Log records calls, one JSON object a line, in a file that several processes
// append to. At half of its bound it replaces PATH.1, so that both together stay
// below it. It keeps the shape of an argument, "string(12)", not its value.
type Log struct {
	Path string
	Max  int64 // bytes of both files; 0 is 1 MiB

	mu      sync.Mutex
	wait    *sync.Cond // for the writer to end; nil until the first line
	pending []byte     // lines that are not written yet
	writing bool
	err     error    // of the last write
	file    *os.File // of the writer
}

// maxPending bounds what waits for a slow disk; beyond it, calls wait too.
const maxPending = 1 << 20

// Entry is one line of the log.
type Entry struct {
	At      time.Time         `json:"at"`
	API     string            `json:"api"`
	Tool    string            `json:"tool"`
	Method  string            `json:"method"`
	Host    string            `json:"host"`
	Path    string            `json:"path"` // as defined, with its {params}
	Args    map[string]string `json:"args,omitempty"`
	Status  int               `json:"status,omitempty"`
	Tries   int               `json:"tries,omitempty"`
	Millis  int64             `json:"ms"`
	Bytes   int               `json:"bytes,omitempty"`
	Code    kb.Code           `json:"error,omitempty"` // the words of an error may quote the service
	Removed []string          `json:"redacted,omitempty"`
}

const defaultLogMax = 1 << 20

func (l *Log) add(p *Provider, t *Tool, values []value, r *Reply, failed error) error {
	if l == nil {
		return nil
	}
	e := Entry{
		At: r.At, API: p.Code, Tool: t.Code, Method: t.Method, Host: p.Host(), Status: r.Status, Tries: r.Tries,
		Path:   strings.TrimPrefix(p.BaseURL[strings.Index(p.BaseURL, "://")+3:], p.Host()) + t.Path,
		Millis: r.Elapsed.Milliseconds(), Bytes: len(r.JSON) + len(r.Text), Removed: r.Redacted,
	}
	if len(values) > 0 {
		e.Args = map[string]string{}
	}
	for _, v := range values {
		e.Args[v.param.Name] = shape(v.json)
	}
	if failed != nil {
		e.Code = kb.CodeOf(failed)
	}
	return l.put(append(mustJSON(e), '\n'))
}

// put passes a line to the writer: a call does not wait for the disk. It returns
// the error of an earlier write.
func (l *Log) put(line []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.wait == nil {
		l.wait = sync.NewCond(&l.mu)
	}
	for len(l.pending) > maxPending && l.writing {
		l.wait.Wait()
	}
	l.pending = append(l.pending, line...)
	if !l.writing {
		l.writing = true
		go l.write()
	}
	err := l.err
	l.err = nil
	return err
}

// write writes what is pending until there is nothing. One runs at a time.
func (l *Log) write() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.pending) > 0 {
		lines := l.pending
		l.pending = nil
		l.mu.Unlock()
		err := l.open()
		if err == nil {
			_, err = l.file.Write(lines) // appended as a whole
		}
		l.mu.Lock()
		if err != nil {
			l.err = kb.Errorf(kb.Denied, "the log of calls cannot be written: %w", err).
				WithHint("check permissions and free space at %s", l.Path)
		}
		l.wait.Broadcast()
	}
	l.writing = false
	l.wait.Broadcast()
}

// Flush returns when what was added is in the file.
func (l *Log) Flush() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.writing {
		l.wait.Wait()
	}
	err := l.err
	l.err = nil
	return err
}

// shape describes a value without quoting it.
func shape(v json.RawMessage) string {
	if len(v) == 0 {
		return "nothing"
	}
	switch v[0] {
	case '"':
		return fmt.Sprintf("string(%d)", utf8.RuneCountInString(text(v)))
	case '{':
		return "object"
	case '[':
		return "array"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "number"
}

// open opens the file, or another when it has grown too long or was moved
// away by another process. Only the writer calls it.
func (l *Log) open() error {
	limit := l.Max
	if limit <= 0 {
		limit = defaultLogMax
	}
	if l.file != nil {
		mine, err := l.file.Stat()
		at, e := os.Stat(l.Path)
		if err == nil && e == nil && os.SameFile(mine, at) && mine.Size() < limit/2 {
			return nil
		}
		l.file.Close()
		l.file = nil
	}
	if at, err := os.Stat(l.Path); err == nil && at.Size() >= limit/2 {
		if err := os.Rename(l.Path, l.Path+".1"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	f, err := os.OpenFile(l.Path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	l.file = f
	return nil
}

// Close writes what is pending and closes the file.
func (l *Log) Close() error {
	if l == nil {
		return nil
	}
	err := l.Flush()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return err
	}
	err = errors.Join(err, l.file.Close())
	l.file = nil
	return err
}

// Recent returns the last n entries, oldest first.
func (l *Log) Recent(n int) ([]Entry, error) {
	if err := l.Flush(); err != nil {
		return nil, err
	}
	var all []Entry
	for _, path := range []string{l.Path + ".1", l.Path} {
		f, err := os.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, kb.Errorf(kb.Denied, "the log of calls cannot be read: %w", err).
				WithHint("check the permissions of %s", path)
		}
		s := bufio.NewScanner(f)
		s.Buffer(nil, 1<<20)
		for s.Scan() {
			var e Entry
			if json.Unmarshal(s.Bytes(), &e) == nil && e.Tool != "" { // a line cut short by a crash is left out
				all = append(all, e)
			}
		}
		f.Close()
	}
	return all[max(0, len(all)-n):], nil
}
