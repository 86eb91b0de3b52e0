package httpguard

import (
	"os"
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

// GivenToken returns the token that the user wants kept from start to start:
// the content of file, else the variable; "" when there is neither. One that
// could be guessed, or that others on the machine can read, is refused.
func GivenToken(env func(string) string, file string) (string, error) {
	token, where := env(TokenVariable), "$"+TokenVariable
	if file != "" {
		where = file
		info, err := os.Stat(file)
		if err != nil {
			return "", kb.Errorf(kb.NotFound, "the token file %q cannot be read", file).WithHint("make one with: (umask 077; openssl rand -hex 32 > %s)", file)
		}
		if !info.Mode().IsRegular() || info.Size() > 2*maxToken {
			return "", kb.Errorf(kb.Invalid, "%q is no file with a token", file).WithHint("make one with: (umask 077; openssl rand -hex 32 > %s)", file)
		}
		if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
			return "", kb.Errorf(kb.Denied, "the token file %q can be read by others", file).WithHint("close it with: chmod 600 %s", file)
		}
		raw, err := os.ReadFile(file)
		if err != nil {
			return "", kb.Errorf(kb.Denied, "the token file %q cannot be read: %w", file, err).WithHint("check its permissions")
		}
		token = string(raw)
		if strings.TrimSpace(token) == "" {
			return "", kb.Errorf(kb.Invalid, "the token file %q is empty", file).WithHint("make one with: (umask 077; openssl rand -hex 32 > %s)", file)
		}
	}
	token = strings.TrimSpace(token)
	switch {
	case token == "":
		return "", nil
	case len(token) < minToken || len(token) > maxToken:
		return "", kb.Errorf(kb.Invalid, "the token in %s has %d characters, and must have %d to %d", where, len(token), minToken, maxToken).
			WithHint("make one with: openssl rand -hex 32")
	case strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		return "", kb.Errorf(kb.Invalid, "the token in %s holds signs that no HTTP header may hold", where).WithHint("make one with: openssl rand -hex 32")
	case strings.Count(token, token[:1]) == len(token):
		return "", kb.Errorf(kb.Invalid, "the token in %s is one sign many times", where).WithHint("make one with: openssl rand -hex 32")
	}
	return token, nil
}
