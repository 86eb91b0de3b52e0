package oauth_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/seed-4f2d999b/knowledge/internal/apis/oauth"
	"github.com/seed-4f2d999b/knowledge/internal/apis/restapi"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/outbound"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const clientSecret = "s3cret/of+the=client"

// server is a token server and the service that takes its tokens.
type server struct {
	*httptest.Server
	mu      sync.Mutex
	n       int             // tokens given
	good    map[string]bool // access tokens
	refresh string          // the one that is valid
	asked   []string        // grant types, "revoke", "api"
	expires int
	pending int               // device: how often it is not yet
	codes   map[string]string // code → challenge
	answer  func(w http.ResponseWriter, r *http.Request) bool
}

func newServer(t *testing.T) *server {
	s := &server{good: map[string]bool{}, codes: map[string]string{}, expires: 3600}
	mux := http.NewServeMux()
	mux.HandleFunc("/token", s.token)
	mux.HandleFunc("/auth", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		s.mu.Lock()
		s.codes["code-1"] = q.Get("code_challenge")
		s.mu.Unlock()
		if q.Get("code_challenge_method") != "S256" || q.Get("client_id") != "me" {
			w.WriteHeader(400)
			return
		}
		http.Redirect(w, r, q.Get("redirect_uri")+"?"+url.Values{"code": {"code-1"}, "state": {q.Get("state")}}.Encode(), http.StatusFound)
	})
	mux.HandleFunc("/device", func(w http.ResponseWriter, r *http.Request) {
		reply(w, 200, map[string]any{"device_code": "dc-secret-1", "user_code": "ABCD-EFGH", "verification_uri": s.URL + "/enter", "expires_in": 60, "interval": 1})
	})
	mux.HandleFunc("/revoke", func(w http.ResponseWriter, r *http.Request) {
		s.note("revoke " + r.PostFormValue("token_type_hint"))
	})
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, r *http.Request) {
		reply(w, 200, map[string]any{"issuer": s.URL, "token_endpoint": s.URL + "/token", "authorization_endpoint": s.URL + "/auth", "device_authorization_endpoint": s.URL + "/device", "revocation_endpoint": s.URL + "/revoke"})
	})
	mux.HandleFunc("/evil/.well-known/openid-configuration", func(w http.ResponseWriter, r *http.Request) {
		reply(w, 200, map[string]any{"issuer": "https://login.example", "token_endpoint": s.URL + "/token"})
	})
	mux.HandleFunc("/v1/me", func(w http.ResponseWriter, r *http.Request) {
		s.note("api")
		token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		s.mu.Lock()
		ok := s.good[token]
		s.mu.Unlock()
		if !ok {
			reply(w, 401, map[string]any{"error": "invalid_token", "seen": r.Header.Get("Authorization")})
			return
		}
		reply(w, 200, map[string]any{"me": "ann", "seen": r.Header.Get("Authorization")})
	})
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
}

func (s *server) note(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, what)
}

func (s *server) took() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := strings.Join(s.asked, ", ")
	s.asked = nil
	return a
}

func (s *server) token(w http.ResponseWriter, r *http.Request) {
	grant := r.PostFormValue("grant_type")
	s.note(grant)
	if s.answer != nil && s.answer(w, r) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	id, pass, _ := r.BasicAuth()
	id, _ = url.QueryUnescape(id)
	pass, _ = url.QueryUnescape(pass)
	refuse := func(code string) {
		reply(w, 400, map[string]any{"error": code, "error_description": "you sent " + pass + r.PostFormValue("refresh_token")})
	}
	switch grant {
	case "client_credentials":
		if id != "me" || pass != clientSecret {
			refuse("invalid_client")
			return
		}
	case "refresh_token":
		if r.PostFormValue("refresh_token") != s.refresh {
			refuse("invalid_grant")
			return
		}
	case "authorization_code":
		sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
		if s.codes[r.PostFormValue("code")] != base64.RawURLEncoding.EncodeToString(sum[:]) {
			refuse("invalid_grant")
			return
		}
	default:
		if s.pending--; s.pending >= 0 {
			refuse("authorization_pending")
			return
		}
	}
	s.n++
	token := fmt.Sprintf("access-token-%d", s.n)
	s.good[token] = true
	out := map[string]any{"access_token": token, "token_type": "Bearer", "expires_in": s.expires}
	if grant != "client_credentials" {
		s.refresh = fmt.Sprintf("refresh-token-%d", s.n)
		out["refresh_token"] = s.refresh
	}
	reply(w, 200, out)
}

// forget makes every token that was given invalid.
func (s *server) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.good)
}

// user is a machine with a definition.
type user struct {
	t      *testing.T
	s      *server
	p      *restapi.Provider
	tokens *oauth.Tokens
	caller *restapi.Caller
	path   string
}

func newUser(t *testing.T, s *server, fields string) *user {
	t.Helper()
	host := strings.TrimPrefix(s.URL, "http://")
	f, err := restapi.Parse("apis.yaml", []byte(strings.ReplaceAll("apis:\n  - code: me\n    baseUrl: {s}/v1\n    allowHosts: ['"+host+"']\n    authenticationType: OAUTH2\n    clientId: me\n"+fields+
		"\n    tools: [{code: whoami, endpointPath: /me}, {code: post, httpMethod: POST, endpointPath: /me}]\n", "{s}", s.URL)))
	if err != nil || len(f.Problems) > 0 {
		t.Fatal(err, f.Problems)
	}
	u := &user{t: t, s: s, p: f.Providers[0], path: filepath.Join(t.TempDir(), "logins.json")}
	c, err := outbound.New(outbound.Policy{Allow: u.p.AllowHosts, MaxBytes: 64 << 10, Timeout: u.p.Timeout, MaxRedirects: 5})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	client := func(*restapi.Provider) (restapi.Client, error) { return c, nil }
	u.tokens = &oauth.Tokens{Client: client, Store: &oauth.Logins{Path: u.path, NoKeyring: true}}
	u.caller = &restapi.Caller{Client: client, Tokens: u.tokens, Secrets: &restapi.Resolver{Env: func(n string) string {
		return map[string]string{"SECRET": clientSecret}[n]
	}}}
	return u
}

// restart forgets what the process knows.
func (u *user) restart() {
	u.tokens = &oauth.Tokens{Client: u.tokens.Client, Store: u.tokens.Store}
	u.caller.Tokens = u.tokens
}

// call calls a tool and fails when anything secret is in what comes of it.
func (u *user) call(tool string) error {
	u.t.Helper()
	p, tl, err := restapi.Find([]*restapi.Provider{u.p}, tool)
	if err != nil {
		u.t.Fatal(err)
	}
	r, err := u.caller.Call(u.t.Context(), p, tl, nil)
	said := fmt.Sprint(err, kb.HintOf(err))
	if r != nil {
		said += string(r.JSON) + r.Text
	}
	u.clean(said)
	return err
}

func (u *user) clean(said string) {
	u.t.Helper()
	for _, secret := range []string{"access-token-", "refresh-token-", clientSecret, "dc-secret", "code-1"} {
		if strings.Contains(said, secret) {
			u.t.Errorf("%q in %s", secret, said)
		}
	}
}

const credentials = "    tokenUrl: '{s}/token'\n    apiKeyValue: ${SECRET}\n    scopes: [read]"

// TestClientCredentials: a token is asked for once, again when it ends, and again
// when the service refuses it in the middle of a call, POST included.
func TestClientCredentials(t *testing.T) {
	s := newServer(t)
	u := newUser(t, s, credentials)
	for range 2 {
		if err := u.call("whoami"); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.took(); got != "client_credentials, api, api" {
		t.Error(got)
	}
	s.forget()
	if err := u.call("post"); err != nil {
		t.Error(err)
	}
	if got := s.took(); got != "api, client_credentials, api" {
		t.Error(got)
	}
	s.expires = 1 // within the margin: never used twice
	u.restart()
	for range 2 {
		if err := u.call("whoami"); err != nil {
			t.Error(err)
		}
	}
	if got := s.took(); got != "client_credentials, api, client_credentials, api" {
		t.Error(got)
	}
	s.answer = func(w http.ResponseWriter, r *http.Request) bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		clear(s.good)
		return false
	}
	s.mu.Lock()
	s.good = nil // every token is refused: asked for again once, and no more
	s.mu.Unlock()
	s.answer = func(w http.ResponseWriter, r *http.Request) bool {
		reply(w, 200, map[string]any{"access_token": "access-token-x", "token_type": "bearer"})
		return true
	}
	if err := u.call("whoami"); kb.CodeOf(err) != kb.Denied {
		t.Error(err)
	}
	if got := s.took(); got != "client_credentials, api, client_credentials, api" {
		t.Error(got)
	}
}

// TestLogin: a person logs in in a browser, with PKCE; the login outlives the
// process, is renewed, rotated, and ends when the server says so.
func TestLogin(t *testing.T) {
	s := newServer(t)
	u := newUser(t, s, "    flow: authorizationCode\n    openIdUrl: '{s}/.well-known/openid-configuration'")
	if err := u.call("whoami"); kb.CodeOf(err) != kb.Denied || !strings.Contains(kb.HintOf(err), "knowledge api login me") {
		t.Fatal(err, kb.HintOf(err))
	}
	browse := func(said string) {
		_, addr, _ := strings.Cut(said, "\n")
		back, err := url.Parse(addr)
		if err != nil {
			t.Error(err)
		}
		// What somebody else sends to the port is not taken.
		if r, err := http.Get(back.Query().Get("redirect_uri") + "?code=stolen&state=guessed"); err != nil || r.StatusCode != 404 {
			t.Error(err, r)
		} else {
			r.Body.Close()
		}
		r, err := http.Get(addr)
		if err != nil {
			t.Error(err)
			return
		}
		page, _ := io.ReadAll(r.Body)
		r.Body.Close()
		http.DefaultClient.CloseIdleConnections()
		if !strings.Contains(string(page), "logged in") {
			t.Errorf("%s", page)
		}
	}
	login := func() error {
		client, secret, err := u.caller.Secrets.ClientOf(u.p, &u.p.Auth)
		if err != nil {
			return err
		}
		return u.tokens.Login(t.Context(), u.p, &u.p.Auth, client, secret, false, browse)
	}
	if err := login(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(u.path); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info.Mode(), err)
	}
	s.took()
	u.restart()
	if err := u.call("whoami"); err != nil || s.took() != "api" {
		t.Error(err)
	}
	s.forget()
	if err := u.call("whoami"); err != nil {
		t.Error(err)
	}
	if got := s.took(); got != "api, refresh_token, api" {
		t.Error(got)
	}
	u.restart() // what was rotated is kept
	s.forget()
	if err := u.call("whoami"); err != nil {
		t.Error(err)
	}
	s.took()
	s.forget()
	s.refresh = "revoked"
	if err := u.call("whoami"); kb.CodeOf(err) != kb.Denied || !strings.Contains(kb.HintOf(err), "login") {
		t.Error(err)
	}
	if u.tokens.Ready(u.p, &u.p.Auth) == nil {
		t.Error("a login that has ended is ready")
	}
	if err := login(); err != nil {
		t.Fatal(err)
	}
	s.took()
	was, revoked, err := u.tokens.Logout(t.Context(), u.p, &u.p.Auth, *u.p.Auth.OAuth, "")
	if got := s.took(); !was || !revoked || err != nil || got != "revoke refresh_token, revoke access_token" {
		t.Error(was, revoked, err, got)
	}
	if b, _ := os.ReadFile(u.path); strings.Contains(string(b), "token-") {
		t.Errorf("%s", b)
	}
}

// TestDevice: a person enters a code elsewhere.
func TestDevice(t *testing.T) {
	s := newServer(t)
	s.pending = 1
	u := newUser(t, s, "    flow: deviceCode\n    tokenUrl: '{s}/token'\n    deviceUrl: '{s}/device'")
	shown := ""
	if err := u.tokens.Login(t.Context(), u.p, &u.p.Auth, *u.p.Auth.OAuth, "", true, func(s string) { shown = s }); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(shown, "ABCD-EFGH") || !strings.Contains(shown, s.URL+"/enter") {
		t.Error(shown)
	}
	if err := u.call("whoami"); err != nil {
		t.Error(err)
	}
}

// TestHostileTokenServers: whatever a token server answers, nothing of it is sent
// on, followed, quoted or believed without bounds.
func TestHostileTokenServers(t *testing.T) {
	elsewhere := 0
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { elsewhere++ }))
	defer other.Close()
	for name, answer := range map[string]func(http.ResponseWriter, *http.Request){
		"html": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, "<p>log in")
		},
		"liar":  func(w http.ResponseWriter, _ *http.Request) { reply(w, 200, map[string]any{"access_token": 7}) },
		"empty": func(w http.ResponseWriter, _ *http.Request) { reply(w, 200, map[string]any{"token_type": "bearer"}) },
		"lines": func(w http.ResponseWriter, _ *http.Request) {
			reply(w, 200, map[string]any{"access_token": "access-token-\r\nX-Evil: 1", "token_type": "bearer"})
		},
		"mac": func(w http.ResponseWriter, _ *http.Request) {
			reply(w, 200, map[string]any{"access_token": "access-token-9", "token_type": "mac"})
		},
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		},
		"huge": func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, `{"access_token":"`+strings.Repeat("a", 200<<10))
		},
		"long": func(w http.ResponseWriter, _ *http.Request) {
			reply(w, 200, map[string]any{"access_token": strings.Repeat("a", 20<<10), "token_type": "bearer"})
		},
		"echo": func(w http.ResponseWriter, r *http.Request) {
			reply(w, 400, map[string]any{"error": clientSecret, "error_description": r.Header.Get("Authorization")})
		},
		"teapot":    func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(418) },
		"failing":   func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) },
		"forbidden": func(w http.ResponseWriter, _ *http.Request) { reply(w, 403, map[string]any{"error": "access_denied"}) },
	} {
		s := newServer(t)
		s.answer = func(w http.ResponseWriter, r *http.Request) bool { answer(w, r); return true }
		u := newUser(t, s, credentials)
		if err := u.call("whoami"); err == nil || kb.HintOf(err) == "" {
			t.Errorf("%s: %v (%s)", name, err, kb.HintOf(err))
		}
		if got := s.took(); strings.Contains(got, "api") {
			t.Errorf("%s: the service was called: %s", name, got)
		}
	}
	if elsewhere > 0 {
		t.Error("the credentials went elsewhere")
	}
	s := newServer(t)
	for fields, want := range map[string]string{
		"    openIdUrl: '{s}/evil/.well-known/openid-configuration'\n    apiKeyValue: ${SECRET}": "another issuer",
		"    tokenUrl: http://login.example/token\n    apiKeyValue: ${SECRET}":                   "https alone",
		"    tokenUrl: https://10.0.0.7/token\n    apiKeyValue: ${SECRET}":                       "not fetched",
		"    openIdUrl: '{s}/nothing'\n    apiKeyValue: ${SECRET}":                               "cannot be had",
	} {
		if err := newUser(t, s, fields).call("whoami"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", fields, err)
		}
	}
}
