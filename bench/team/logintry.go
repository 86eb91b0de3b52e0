package main

import (
	"fmt"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"time"
)

// try goes through what happens to logins, and returns a table.
func (l *login) try(dir, program string) (string, error) {
	var b strings.Builder
	b.WriteString("| what happens | what the server does |\n|---|---|\n")
	line := func(what, does string, args ...any) {
		fmt.Fprintf(&b, "| %s | %s |\n", what, fmt.Sprintf(does, args...))
	}
	expect := func(what, token string, want int) error {
		if got := l.status(token); got != want {
			return fmt.Errorf("%s: %d, not %d", what, got, want)
		}
		return nil
	}
	opaque, err := l.token("opaque-ann", resource)
	if err != nil {
		return "", err
	}
	signed, err := l.token("signed-bob", resource)
	if err != nil {
		return "", err
	}
	other, err := l.token("signed-bob", "https://other.example.org/")
	if err != nil {
		return "", err
	}
	if strings.Count(opaque, ".") == 2 || strings.Count(signed, ".") != 2 {
		return "", fmt.Errorf("tokens are not of the kinds that are meant: %s %s", opaque, signed)
	}
	file := l.world.Token(0)
	for what, token := range map[string]string{"opaque": opaque, "signed": signed, "of the file": file} {
		if err := expect(what, token, http.StatusOK); err != nil {
			return "", err
		}
	}
	line("a client that knows only the address of /mcp", "finds the login by RFC 9728 and 8414, and is served with an opaque and with a signed token")
	if err := expect("for another resource", other, http.StatusUnauthorized); err != nil {
		return "", err
	}
	line("a token of the same login for another service", "401")
	if err := l.revoke(opaque); err != nil {
		return "", err
	}
	took, err := l.until(opaque, http.StatusUnauthorized)
	if err != nil {
		return "", fmt.Errorf("a revoked token: %w", err)
	}
	line("an opaque token is revoked", "refused %.1f s later", took.Seconds())
	if opaque, err = l.token("opaque-ann", resource); err != nil {
		return "", err
	}
	if err := expect("a second opaque token", opaque, http.StatusOK); err != nil {
		return "", err
	}
	l.stop()
	if took, err = l.until(opaque, http.StatusServiceUnavailable); err != nil {
		return "", fmt.Errorf("an opaque token without its issuer: %w", err)
	}
	time.Sleep(max(0, 35*time.Second-took))
	for what, token := range map[string]string{"signed, without its issuer": signed, "of the file, without the issuer": file} {
		if err := expect(what, token, http.StatusOK); err != nil {
			return "", err
		}
	}
	line("the provider is away", "opaque tokens: 503 with Retry-After after %.1f s; 35 s later signed ones and those of the file are served", took.Seconds())
	if err := l.start(); err != nil {
		return "", err
	}
	fresh, err := l.token("signed-bob", resource)
	if err != nil {
		return "", err
	}
	began := time.Now()
	if took, err = l.until(fresh, http.StatusOK); err != nil {
		return "", fmt.Errorf("a token by the new key: %w", err)
	}
	if _, err = l.until(signed, http.StatusUnauthorized); err != nil {
		return "", fmt.Errorf("a token by the old key: %w", err)
	}
	line("the provider comes back with other keys", "a token by the new one is served %.1f s later, one by the old one refused %.1f s later", took.Seconds(), time.Since(began).Seconds())
	cmd := exec.Command(program, "team:token", "user00", "--take", "all")
	cmd.Env, cmd.Dir = l.world.Env(), dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s %w", out, err)
	}
	if took, err = l.until(file, http.StatusUnauthorized); err != nil {
		return "", fmt.Errorf("a token that was taken back: %w", err)
	}
	line("a token of the file is taken back", "refused %.1f s later", took.Seconds())
	return b.String(), nil
}

// revoke has the provider revoke a token.
func (l *login) revoke(token string) error {
	var meta struct {
		Revoke string `json:"revocation_endpoint"`
	}
	if err := get(l.issuer+"/.well-known/openid-configuration", &meta); err != nil {
		return err
	}
	return post(meta.Revoke, "opaque-ann", url.Values{"token": {token}}, nil)
}
