package bearer

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

const resource = "https://kb.example.org/mcp"

// issuer is a token server.
type issuer struct {
	*httptest.Server
	mu     sync.Mutex
	keys   map[string]*ecdsa.PrivateKey
	active map[string]bool // opaque tokens
	away   bool
	asked  map[string]int // by path
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	i := &issuer{keys: map[string]*ecdsa.PrivateKey{}, active: map[string]bool{}, asked: map[string]int{}}
	i.Server = httptest.NewServer(http.HandlerFunc(i.serve))
	t.Cleanup(i.Server.Close)
	i.rotate(t, "first")
	return i
}

func (i *issuer) serve(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.asked[r.URL.Path]++
	if i.away {
		http.Error(w, "away", http.StatusBadGateway)
		return
	}
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		json.NewEncoder(w).Encode(map[string]string{"issuer": i.URL, "jwks_uri": i.URL + "/keys", "introspection_endpoint": i.URL + "/introspect"})
	case "/keys":
		var set jose.JSONWebKeySet
		for id, k := range i.keys {
			set.Keys = append(set.Keys, jose.JSONWebKey{Key: k.Public(), KeyID: id, Algorithm: "ES256", Use: "sig"})
		}
		json.NewEncoder(w).Encode(set)
	case "/introspect":
		json.NewEncoder(w).Encode(map[string]any{"active": i.active[r.FormValue("token")], "sub": "ann", "aud": resource, "iss": i.URL, "groups": []string{"docs"}})
	default:
		http.NotFound(w, r)
	}
}

func (i *issuer) set(f func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	f()
}

// rotate has the issuer sign by another key alone.
func (i *issuer) rotate(t *testing.T, id string) {
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	i.set(func() { i.keys = map[string]*ecdsa.PrivateKey{id: k} })
}

// sign returns a token by the key of that id.
func (i *issuer) sign(t *testing.T, id string, claims map[string]any) string {
	t.Helper()
	all := map[string]any{"iss": i.URL, "aud": resource, "sub": "ann", "exp": time.Now().Add(time.Hour).Unix()}
	for k, v := range claims {
		all[k] = v
	}
	return signed(t, jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: i.keys[id], KeyID: id}}, all)
}

func signed(t *testing.T, key jose.SigningKey, claims map[string]any) string {
	t.Helper()
	s, err := jose.NewSigner(key, nil)
	if err != nil {
		t.Fatal(err)
	}
	token, err := jwt.Signed(s).Claims(claims).Serialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// clock is time that goes by when it is told to.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) time() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func newServer(t *testing.T, i *issuer, keys bool) (*Server, *clock) {
	t.Helper()
	s, err := New(Config{Issuer: i.URL, Resource: resource, Keys: keys, Holds: 30 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	c := &clock{now: time.Now()}
	s.now = c.time
	return s, c
}

func code(v Verdict) kb.Code {
	if v.Err == nil {
		return ""
	}
	return v.Err.Code
}

func TestSignedTokens(t *testing.T) {
	i := newIssuer(t)
	s, _ := newServer(t, i, true)
	if v := s.Judge(t.Context(), i.sign(t, "first", nil)); v.Err != nil || v.Claims["sub"] != "ann" {
		t.Fatal(v.Err, v.Claims)
	}
	foreign := newIssuer(t)
	good := i.sign(t, "first", nil)
	parts := strings.Split(good, ".")
	for name, token := range map[string]string{
		"of another issuer's key": foreign.sign(t, "first", map[string]any{"iss": i.URL}),
		"another issuer":          i.sign(t, "first", map[string]any{"iss": foreign.URL}),
		"another audience":        i.sign(t, "first", map[string]any{"aud": "https://other.example.org"}),
		"no audience":             i.sign(t, "first", map[string]any{"aud": nil}),
		"expired":                 i.sign(t, "first", map[string]any{"exp": time.Now().Add(-time.Minute).Unix()}),
		"without an end":          i.sign(t, "first", map[string]any{"exp": nil}),
		"not yet":                 i.sign(t, "first", map[string]any{"nbf": time.Now().Add(time.Hour).Unix()}),
		"without a signature":     parts[0] + "." + parts[1] + ".",
		"of no algorithm":         "eyJhbGciOiJub25lIn0." + parts[1] + ".",
		"by a shared secret": signed(t, jose.SigningKey{Algorithm: jose.HS256, Key: []byte(strings.Repeat("k", 32))},
			map[string]any{"iss": i.URL, "aud": resource, "sub": "ann", "exp": time.Now().Add(time.Hour).Unix()}),
		"dots": "..",
	} {
		if v := s.Judge(t.Context(), token); code(v) != kb.Denied {
			t.Errorf("%s: %v", name, v.Err)
		}
	}
	if n := i.asked["/introspect"]; n != 0 {
		t.Errorf("the issuer was asked about %d signed tokens", n)
	}
}

// An issuer that rotates its keys is followed at once; a key that it withdrew
// counts no longer than a verdict.
func TestKeysAreRotated(t *testing.T) {
	i := newIssuer(t)
	s, c := newServer(t, i, true)
	old := i.sign(t, "first", nil)
	if v := s.Judge(t.Context(), old); v.Err != nil {
		t.Fatal(v.Err)
	}
	another := i.sign(t, "first", map[string]any{"sub": "bob"})
	c.pass(10 * time.Second)
	i.rotate(t, "second")
	if v := s.Judge(t.Context(), i.sign(t, "second", nil)); v.Err != nil {
		t.Errorf("a token by the new key: %v", v.Err)
	}
	// The look for the new key has shown that the other is withdrawn.
	if v := s.Judge(t.Context(), another); code(v) != kb.Denied {
		t.Errorf("a token by the old key: %v", v.Err)
	}
	c.pass(20 * time.Second)
	if v := s.Judge(t.Context(), old); code(v) != kb.Denied {
		t.Errorf("and one that was taken, half a minute later: %v", v.Err)
	}
	// Who makes up keys has the issuer asked once in a while, not each time.
	before := i.asked["/keys"]
	for n := range 20 {
		s.Judge(t.Context(), i.sign(t, "second", map[string]any{"n": n})+"x")
		s.Judge(t.Context(), strings.Replace(newIssuer(t).sign(t, "first", nil), ".", ".", 1))
	}
	if n := i.asked["/keys"] - before; n > 1 {
		t.Errorf("unknown keys had the issuer asked %d times", n)
	}
}

func TestIssuerAway(t *testing.T) {
	i := newIssuer(t)
	i.active["opaque"] = true
	s, c := newServer(t, i, true)
	token := i.sign(t, "first", nil)
	for _, tok := range []string{token, "opaque"} {
		if v := s.Judge(t.Context(), tok); v.Err != nil {
			t.Fatal(v.Err)
		}
	}
	i.set(func() { i.away = true })
	c.pass(time.Minute)
	if v := s.Judge(t.Context(), token); v.Err != nil {
		t.Errorf("known keys count for ten minutes: %v", v.Err)
	}
	if v := s.Judge(t.Context(), "opaque"); code(v) != kb.Away {
		t.Errorf("nobody vouches for this token: %v", v.Err)
	}
	c.pass(keysOutlive)
	if v := s.Judge(t.Context(), token); code(v) != kb.Away {
		t.Errorf("keys of long ago: %v", v.Err)
	}
	i.set(func() { i.away = false })
	c.pass(2 * time.Second)
	for _, tok := range []string{token, "opaque"} {
		if v := s.Judge(t.Context(), tok); v.Err != nil {
			t.Errorf("it is back: %v", v.Err)
		}
	}
	// One that was away from the start lets nobody in, and is asked again.
	i.set(func() { i.away = true })
	s, c = newServer(t, i, true)
	if v := s.Judge(t.Context(), token); code(v) != kb.Away {
		t.Errorf("never seen: %v", v.Err)
	}
	i.set(func() { i.away = false })
	c.pass(2 * time.Second)
	if v := s.Judge(t.Context(), token); v.Err != nil {
		t.Errorf("seen at last: %v", v.Err)
	}
}

// A token that is revoked is refused when its verdict has run out.
func TestRevoked(t *testing.T) {
	i := newIssuer(t)
	i.active["opaque"] = true
	s, c := newServer(t, i, true)
	v := s.Judge(t.Context(), "opaque")
	if v.Err != nil || v.Claims["sub"] != "ann" {
		t.Fatal(v.Err)
	}
	i.set(func() { delete(i.active, "opaque") })
	c.pass(29 * time.Second)
	s.Judge(t.Context(), "opaque") // asking does not make it last
	c.pass(time.Second)
	if v := s.Judge(t.Context(), "opaque"); code(v) != kb.Denied {
		t.Errorf("half a minute later: %v", v.Err)
	}
	if i.asked["/introspect"] != 2 {
		t.Errorf("asked %d times", i.asked["/introspect"])
	}
}

// What strangers try out does not push those out who were let in.
func TestManyTokens(t *testing.T) {
	i := newIssuer(t)
	s, _ := newServer(t, i, true)
	token := i.sign(t, "first", nil)
	s.Judge(t.Context(), token)
	for n := range mostVerdicts + 5 {
		s.Judge(t.Context(), strings.Repeat("x.", 2)+string(rune('a'+n%26))+strings.Repeat("y", n))
	}
	if len(s.known) > mostVerdicts {
		t.Errorf("%d verdicts are kept", len(s.known))
	}
	i.set(func() { i.away = true })
	if v := s.Judge(t.Context(), token); v.Err != nil {
		t.Error(v.Err)
	}
}
