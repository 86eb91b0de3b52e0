package main

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/seed-4f2d999b/knowledge/internal/team/teamtest"
)

//go:embed provider.mjs
var providerScript []byte

const (
	secret   = "a-secret-of-the-tests-0123456789abcdef"
	resource = "https://kb.example.org/mcp"
)

// login is oidc-provider, and a server that takes its tokens.
type login struct {
	node, npm, issuer string
	cmd               *exec.Cmd
	world             *teamtest.World
	store             string
}

// tryLogin has a server take the tokens of oidc-provider, which is installed below
// npm, and says how it went.
func tryLogin(ctx context.Context, program, dir, npm string) (string, error) {
	node, err := exec.LookPath("node")
	if err != nil {
		return "skipped: there is no node", nil
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	l := &login{node: node, npm: npm, issuer: "http://" + ln.Addr().String()}
	ln.Close()
	if err := os.WriteFile(filepath.Join(npm, "provider.mjs"), providerScript, 0o600); err != nil {
		return "", err
	}
	if err := l.start(); err != nil {
		return "", err
	}
	defer func() { l.stop() }()
	config := fmt.Sprintf("mcp: {issuer: %q, resource: %q, clientId: knowledge, clientSecret: TEAM_SECRET}\nteam: {user: client_id}\n", l.issuer, resource)
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(config), 0o600); err != nil {
		return "", err
	}
	os.Setenv("TEAM_SECRET", secret)
	if l.world, err = teamtest.Open(ctx, teamtest.Config{Program: program, Dir: dir, Users: 1, Stores: 1, GroupsOf: 1, Seed: 9, Keep: true}); err != nil {
		return "", err
	}
	defer l.world.Close()
	l.store = l.world.Store(0)
	rights := fmt.Sprintf("stores: {%s: {read: [opaque-ann, signed-bob, user00]}}\n", l.store)
	if err := os.WriteFile(filepath.Join(dir, "data/team/rights.yaml"), []byte(rights), 0o600); err != nil {
		return "", err
	}
	time.Sleep(1200 * time.Millisecond)
	return l.try(dir, program)
}

// start starts the provider with a new key.
func (l *login) start() error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	id := fmt.Sprint(time.Now().UnixNano())
	keys, err := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key, KeyID: id, Algorithm: "ES256", Use: "sig"}}})
	if err != nil {
		return err
	}
	l.cmd = exec.Command(l.node, "provider.mjs")
	l.cmd.Dir = l.npm
	l.cmd.Env = append(os.Environ(), "ISSUER="+l.issuer, "RESOURCE="+resource, "KEYS="+string(keys), "SECRET="+secret)
	l.cmd.Stderr = os.Stderr
	out, err := l.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := l.cmd.Start(); err != nil {
		return err
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if lines.Text() == "listening" {
			go io.Copy(io.Discard, out)
			return nil
		}
	}
	return fmt.Errorf("oidc-provider did not start")
}

func (l *login) stop() {
	if l.cmd != nil {
		_ = l.cmd.Process.Kill()
		_ = l.cmd.Wait()
		l.cmd = nil
	}
}

// get asks for a document of JSON.
func get(address string, into any) error {
	resp, err := http.Get(address)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", address, resp.Status)
	}
	return json.NewDecoder(resp.Body).Decode(into)
}

// token has the provider give a user a token for a resource, as a client finds it:
// by the challenge, the metadata of the resource and that of the issuer.
func (l *login) token(user, forResource string) (string, error) {
	resp, err := http.Post(l.world.URL+"/mcp", "application/json", strings.NewReader("{}"))
	if err != nil {
		return "", err
	}
	resp.Body.Close()
	m := regexp.MustCompile(`resource_metadata="https://kb\.example\.org([^"]+)"`).FindStringSubmatch(resp.Header.Get("WWW-Authenticate"))
	if resp.StatusCode != http.StatusUnauthorized || m == nil {
		return "", fmt.Errorf("no challenge: %s %s", resp.Status, resp.Header.Get("WWW-Authenticate"))
	}
	var about struct {
		Resource string
		Servers  []string `json:"authorization_servers"`
	}
	if err := get(l.world.URL+m[1], &about); err != nil || about.Resource != resource || len(about.Servers) != 1 {
		return "", fmt.Errorf("metadata of the resource: %+v %w", about, err)
	}
	var meta struct {
		Token string `json:"token_endpoint"`
	}
	if err := get(about.Servers[0]+"/.well-known/openid-configuration", &meta); err != nil {
		return "", err
	}
	var got struct {
		Token string `json:"access_token"`
	}
	err = post(meta.Token, user, url.Values{"grant_type": {"client_credentials"}, "resource": {forResource}, "scope": {"knowledge"}}, &got)
	return got.Token, err
}

func post(address, user string, form url.Values, into any) error {
	req, err := http.NewRequest(http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.SetBasicAuth(user, secret)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s %s", address, resp.Status, b)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(b, into)
}

// status asks the server for its stores with a token.
func (l *login) status(token string) int {
	req, err := http.NewRequest(http.MethodGet, l.world.URL+"/api/stores", nil)
	if err != nil {
		return 0
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body)
	if resp.StatusCode == http.StatusOK && !strings.Contains(string(b), l.store) {
		return -1
	}
	return resp.StatusCode
}

// until asks until the status comes, for 90 s at most, and returns how long it took.
func (l *login) until(token string, want int) (time.Duration, error) {
	began := time.Now()
	for time.Since(began) < 90*time.Second {
		if l.status(token) == want {
			return time.Since(began), nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return 0, fmt.Errorf("90 s later it is still %d, not %d", l.status(token), want)
}
