package rights

import (
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// looked is how long a look at the files counts.
const looked = time.Second

// Book is both files as they are now. It is safe for concurrent use.
type Book struct {
	rights, tokens string
	now            func() time.Time

	mu      sync.Mutex
	at      time.Time // of the last look
	stamp   [2]stamp
	held    *Rights
	known   map[[sha256.Size]byte]Token
	version int
	problem error
}

// stamp tells one state of a file from another.
type stamp struct {
	size int64
	mod  time.Time
	info fs.FileInfo
}

func (s stamp) same(t stamp) bool {
	return s.size == t.size && s.mod.Equal(t.mod) && (s.info == nil) == (t.info == nil) && (s.info == nil || os.SameFile(s.info, t.info))
}

// Open reads the file of rights and that of tokens, which need not be there: then
// nobody has rights, or a token.
func Open(rights, tokens string) (*Book, error) {
	b := &Book{rights: rights, tokens: tokens, now: time.Now}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held, b.known = &Rights{Limits: defaults}, nil
	b.look(true)
	return b, b.problem
}

// Now returns the rights as they are, and a number that grows when they change,
// or tokens do.
func (b *Book) Now() (*Rights, int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.look(false)
	return b.held, b.version
}

// Reload looks at the files at once, and returns what is wrong with them.
func (b *Book) Reload() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.look(true)
	return b.problem
}

// Problem returns why the files as they are do not count; nil when they do.
func (b *Book) Problem() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.look(false)
	return b.problem
}

// Token returns the user whose token this is, and the token by its ID.
func (b *Book) Token(token string) (user, id string, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.look(false)
	t, ok := b.known[sha256.Sum256([]byte(token))]
	if !ok || !t.Until.IsZero() && b.now().After(t.Until.AddDate(0, 0, 1)) {
		return "", "", false
	}
	return t.User, t.ID(), true
}

// look reads what has changed since the last look. b.mu is held.
func (b *Book) look(at bool) {
	now := b.now()
	if d := now.Sub(b.at); !at && d >= 0 && d < looked {
		return
	}
	b.at = now
	stamps := [2]stamp{stampOf(b.rights), stampOf(b.tokens)}
	if !at && b.problem == nil && stamps[0].same(b.stamp[0]) && stamps[1].same(b.stamp[1]) {
		return
	}
	text, err := read(b.rights, false)
	var r *Rights
	if err == nil {
		r, err = Parse(b.rights, text)
	}
	lines, e := read(b.tokens, true)
	var known map[[sha256.Size]byte]Token
	if e == nil {
		known, e = parseTokens(b.tokens, lines)
	}
	// Of two files that are changed together neither waits for the other: a token
	// that is taken away is gone whatever stands in the rights.
	if err == nil {
		b.held = r
	}
	if e == nil {
		b.known = known
	}
	b.problem, b.stamp = errors.Join(err, e), stamps
	b.version++
}

func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	return stamp{info.Size(), info.ModTime(), info}
}

// read returns the content of a file, nil when there is none. Others may not
// change one of them, nor read one that is secret.
func read(path string, secret bool) ([]byte, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, kb.Errorf(kb.Denied, "%q cannot be read: %w", path, err).WithHint("check its permissions")
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, kb.Errorf(kb.Invalid, "%q is no file", path).WithHint("name a file")
	}
	if runtime.GOOS != "windows" {
		closed, to := fs.FileMode(0o022), "go-w"
		if secret {
			closed, to = 0o077, "600"
		}
		if info.Mode().Perm()&closed != 0 {
			return nil, kb.Errorf(kb.Denied, "%q is open to others (mode %04o)", path, info.Mode().Perm()).WithHint("close it with: chmod %s %s", to, path)
		}
	}
	b, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err != nil {
		return nil, kb.Errorf(kb.Denied, "%q cannot be read: %w", path, err).WithHint("check its disk")
	}
	return b, nil
}
