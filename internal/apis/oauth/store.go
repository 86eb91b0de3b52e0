package oauth

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"
	"sync"

	"github.com/zalando/go-keyring"

	"github.com/seed-4f2d999b/knowledge/internal/apis/restapi"
	"github.com/seed-4f2d999b/knowledge/internal/data/atomicfile"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Logins keeps tokens in the keyring of the system, and where there is none, as on
// a machine without a desktop session, in a file that only its user can read. The
// file says of each login where it is.
type Logins struct {
	Path string
	// NoKeyring keeps everything in the file. For tests, and where the user says so.
	NoKeyring bool

	mu sync.Mutex
}

// inKeyring stands in the file for what the keyring has.
const inKeyring = "keyring"

func (l *Logins) read() (map[string]string, error) {
	b, err := os.ReadFile(l.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]string{}, nil
	}
	if err != nil {
		return nil, kb.Errorf(kb.Denied, "the logins cannot be read: %w", err).WithHint("check the permissions of %s", l.Path)
	}
	m := map[string]string{}
	if json.Unmarshal(b, &m) != nil {
		return map[string]string{}, nil // a damaged file is as none: people log in again
	}
	return m, nil
}

func (l *Logins) write(m map[string]string) error {
	b, err := json.Marshal(m)
	if err != nil {
		return kb.Errorf(kb.Internal, "the logins cannot be written")
	}
	if err := atomicfile.Write(l.Path, b); err != nil {
		return err
	}
	if err := os.Chmod(l.Path, 0o600); err != nil {
		return kb.Errorf(kb.Denied, "%q cannot be closed to others: %w", l.Path, err).WithHint("check its permissions")
	}
	return nil
}

// Known reports whether there is a login under a key. The keyring is not asked.
func (l *Logins) Known(key string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	m, err := l.read()
	return err == nil && m[key] != ""
}

// Load implements Store.
func (l *Logins) Load(key string) ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	m, err := l.read()
	if err != nil || m[key] == "" {
		return nil, err
	}
	if m[key] != inKeyring {
		return []byte(m[key]), nil
	}
	v, err := restapi.Keyring(restapi.Service, key)
	if errors.Is(err, keyring.ErrNotFound) {
		return nil, nil
	}
	if err != nil { // its words may hold anything
		return nil, kb.Errorf(kb.Unsupported, "the keyring of this system cannot be read").WithHint("unlock it, or log in again")
	}
	return []byte(v), nil
}

// Save implements Store.
func (l *Logins) Save(key string, value []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	m, err := l.read()
	if err != nil {
		return err
	}
	kept := string(value)
	if !l.NoKeyring && keyring.Set(restapi.Service, key, kept) == nil {
		kept = inKeyring
	}
	if m[key] == kept && kept == inKeyring {
		return nil
	}
	m[key] = kept
	return l.write(m)
}

// Delete implements Store.
func (l *Logins) Delete(key string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	m, err := l.read()
	if err != nil || m[key] == "" {
		return err
	}
	if m[key] == inKeyring {
		if err := keyring.Delete(restapi.Service, key); err != nil && !errors.Is(err, keyring.ErrNotFound) {
			return kb.Errorf(kb.Unsupported, "the keyring of this system cannot be changed").WithHint("unlock it, and try again")
		}
	}
	delete(m, key)
	return l.write(m)
}

// InFile reports whether some login is kept in the file itself.
func (l *Logins) InFile() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	m, err := l.read()
	if err != nil {
		return false
	}
	for _, v := range m {
		if strings.HasPrefix(v, "{") {
			return true
		}
	}
	return false
}
