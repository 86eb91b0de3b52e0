package httpguard

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// TokenVariable is the environment variable that holds a token to keep.
const TokenVariable = "KNOWLEDGE_TOKEN"

const (
	minToken = 32 // characters: of hexadecimal digits, 128 bits
	maxToken = 512
)

// Given is a token that stays the same from start to start.
type Given struct {
	Token string // "" when the user keeps none
	From  string // the file, or the variable with its "$"
	New   bool   // the file was made just now, so that the token is not known yet
}

// GivenToken returns the token that the user wants kept: the content of file,
// which is made when there is none, else the variable. One that could be
// guessed, or that others on the machine can read or change, is refused.
func GivenToken(env func(string) string, file string) (Given, error) {
	if file == "" {
		g := Given{Token: strings.TrimSpace(env(TokenVariable)), From: "$" + TokenVariable}
		if g.Token == "" {
			return Given{}, nil
		}
		return g, checkToken(g.Token, g.From)
	}
	g := Given{From: file}
	raw, err := readToken(file)
	if errors.Is(err, fs.ErrNotExist) {
		if g.Token, g.New, err = makeToken(file); err != nil || g.New {
			return g, err
		}
		raw, err = readToken(file) // another server made it in the meantime
	}
	if err != nil {
		return g, err
	}
	g.Token = strings.TrimSpace(string(raw))
	return g, checkToken(g.Token, file)
}

// readToken returns the content of a file that only its owner can read, change or
// replace; fs.ErrNotExist without a file.
func readToken(file string) ([]byte, error) {
	named, err := os.Lstat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fs.ErrNotExist
	}
	if err != nil {
		return nil, kb.Errorf(kb.Denied, "the token file %q cannot be read: %w", file, cause(err)).
			WithHint("check the permissions of its directory")
	}
	if named.Mode()&fs.ModeSymlink != 0 {
		target, err := filepath.EvalSymlinks(file)
		if err == nil {
			var here string
			if here, err = filepath.EvalSymlinks(filepath.Dir(file)); err == nil && filepath.Dir(target) != here {
				return nil, kb.Errorf(kb.Denied, "the token file %q is a symbolic link to %q, in another directory", file, target).
					WithHint("name the file itself with --token-file")
			}
		}
		if err == nil {
			named, err = os.Stat(target)
		}
		if err != nil {
			return nil, kb.Errorf(kb.Denied, "the token file %q is a symbolic link to nothing", file).
				WithHint("remove the link, or name another file with --token-file")
		}
	}
	if !named.Mode().IsRegular() || named.Size() > 2*maxToken {
		return nil, kb.Errorf(kb.Invalid, "%q is no file with a token", file).
			WithHint("name a file that is not there yet: it is made, with a token in it")
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, kb.Errorf(kb.Denied, "the token file %q cannot be read: %w", file, cause(err)).
			WithHint("check its permissions")
	}
	defer f.Close()
	opened, err := f.Stat()
	if err != nil || !os.SameFile(named, opened) {
		return nil, kb.Errorf(kb.Denied, "the token file %q was exchanged while it was opened", file).
			WithHint("start again")
	}
	if runtime.GOOS != "windows" {
		if opened.Mode().Perm()&0o077 != 0 {
			return nil, kb.Errorf(kb.Denied, "the token file %q is open to others (mode %04o)", file, opened.Mode().Perm()).
				WithHint("close it with: chmod 600 %s", file)
		}
		if !ours(opened) {
			return nil, kb.Errorf(kb.Denied, "the token file %q belongs to another user", file).
				WithHint("name a file of your own with --token-file")
		}
	}
	b := make([]byte, 2*maxToken)
	n, err := f.Read(b)
	if err != nil && n > 0 {
		return nil, kb.Errorf(kb.Denied, "the token file %q cannot be read: %w", file, cause(err)).
			WithHint("check its permissions")
	}
	return b[:n], nil
}

// makeToken writes a new token into a file that is not there, for its owner
// alone; made is false when another process made the file first.
func makeToken(file string) (token string, made bool, _ error) {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist):
		return "", false, nil
	case errors.Is(err, fs.ErrNotExist):
		return "", false, kb.Errorf(kb.NotFound, "there is no directory %q for the token file", filepath.Dir(file)).
			WithHint("make it first, or name a file elsewhere with --token-file")
	case err != nil:
		return "", false, kb.Errorf(kb.Denied, "the token file %q cannot be made: %w", file, cause(err)).
			WithHint("name a file elsewhere with --token-file")
	}
	token = NewToken()
	_, err = f.WriteString(token + "\n")
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		os.Remove(file) // half a token is none
		return "", false, kb.Errorf(kb.CodeOf(err), "the token file %q cannot be written: %w", file, cause(err)).
			WithHint("make room, or name a file elsewhere with --token-file")
	}
	return token, true, nil
}

func checkToken(token, where string) error {
	switch {
	case token == "":
		return kb.Errorf(kb.Invalid, "the token file %q is empty", where).
			WithHint("remove it: the next start makes it anew")
	case len(token) < minToken || len(token) > maxToken:
		return kb.Errorf(kb.Invalid, "the token in %s has %d characters, and must have %d to %d", where, len(token), minToken, maxToken).
			WithHint("make one with: openssl rand -hex 32")
	case strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		return kb.Errorf(kb.Invalid, "the token in %s holds signs that no HTTP header may hold", where).
			WithHint("make one with: openssl rand -hex 32")
	case strings.Count(token, token[:1]) == len(token):
		return kb.Errorf(kb.Invalid, "the token in %s is one sign many times", where).
			WithHint("make one with: openssl rand -hex 32")
	}
	return nil
}
