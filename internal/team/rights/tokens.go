package rights

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/data/atomicfile"
	"github.com/seed-4f2d999b/knowledge/internal/data/lockfile"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// A file of tokens has a line for each: the SHA-256 of the token in hexadecimal,
// the user, and the day after whose end it is refused, or "-". A token is 256
// random bits, so that its hash cannot be turned back and needs no salt.

// prefix begins every token, so that scanners for secrets know one.
const prefix = "kbt_"

// Token is a line of the file.
type Token struct {
	Hash  [sha256.Size]byte
	User  string
	Until time.Time // zero for ever
}

func (t Token) line() string {
	until := "-"
	if !t.Until.IsZero() {
		until = t.Until.Format(time.DateOnly)
	}
	return hex.EncodeToString(t.Hash[:]) + " " + t.User + " " + until
}

// ID is how a token is called where it must not be known: the beginning of its hash.
func (t Token) ID() string { return hex.EncodeToString(t.Hash[:4]) }

// parseTokens reads the lines of a file.
func parseTokens(path string, text []byte) (map[[sha256.Size]byte]Token, error) {
	all := map[[sha256.Size]byte]Token{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		var t Token
		f := strings.Fields(line)
		ok := len(f) == 3 && validName(f[1])
		if ok {
			b, err := hex.DecodeString(f[0])
			ok = err == nil && copy(t.Hash[:], b) == len(t.Hash) && len(b) == len(t.Hash)
			t.User = f[1]
		}
		if ok && f[2] != "-" {
			day, err := time.Parse(time.DateOnly, f[2])
			t.Until, ok = day, err == nil
		}
		if !ok { // the line is not repeated: somebody may have written a token into it
			return nil, kb.Errorf(kb.Invalid, "%s:%d: this is no token", path, n).WithHint("a line is a hash, a user and a day or -; make one with: knowledge team:token USER")
		}
		all[t.Hash] = t
	}
	return all, lines.Err()
}

// Give makes a token for a user and writes its hash into the file. The token is in
// what it returns, and nowhere else.
func Give(path, user string, until time.Time) (token string, t Token, err error) {
	if !validName(user) {
		return "", t, kb.Errorf(kb.Invalid, "%q cannot name a user", kb.Clip(user, 100)).WithHint("use letters, digits and signs such as . _ - @, no spaces")
	}
	b := make([]byte, 32)
	rand.Read(b) // never fails
	token = prefix + base64.RawURLEncoding.EncodeToString(b)
	t = Token{Hash: sha256.Sum256([]byte(token)), User: user, Until: until}
	return token, t, change(path, func(lines []string) []string { return append(lines, t.line()) })
}

// Take deletes tokens of a user: the one of that ID, or all for "". It returns how many.
func Take(path, user, id string) (n int, err error) {
	err = change(path, func(lines []string) []string {
		return slices.DeleteFunc(lines, func(l string) bool {
			f := strings.Fields(l)
			gone := len(f) == 3 && f[1] == user && strings.HasPrefix(f[0], id)
			if gone {
				n++
			}
			return gone
		})
	})
	return n, err
}

// change writes the lines of the file anew, as one change among several processes.
func change(path string, how func([]string) []string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	lock, err := lockfile.Acquire(ctx, path+".lock")
	if err != nil {
		return kb.Errorf(kb.Busy, "another program changes %q: %w", path, err).WithHint("try again")
	}
	defer lock.Remove()
	text, err := read(path, true)
	if err != nil {
		return err
	}
	if _, err := parseTokens(path, text); err != nil {
		return err
	}
	var lines []string
	if s := strings.TrimRight(string(text), "\n"); s != "" {
		lines = strings.Split(s, "\n")
	}
	lines = how(lines)
	if len(lines) == 0 {
		return atomicfile.Write(path, nil)
	}
	return atomicfile.Write(path, fmt.Appendln(nil, strings.Join(lines, "\n")))
}
