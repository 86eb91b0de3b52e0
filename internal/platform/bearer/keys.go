package bearer

import (
	"context"
	"crypto"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

const (
	// keysOutlive is how long keys count that were fetched last, while the issuer
	// cannot be reached.
	keysOutlive = 10 * time.Minute
	// askAgain is how long after a look an unknown key is no reason for another:
	// anybody can name one.
	askAgain = 5 * time.Second
	// waitForKeys is how long a token waits for a look that takes long, if older
	// keys count.
	waitForKeys = 2 * time.Second
)

// algorithms are those by which an issuer may sign: none that knows its own key
// by the secret of somebody else.
var algorithms = []jose.SignatureAlgorithm{jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512,
	jose.ES256, jose.ES384, jose.ES512, jose.EdDSA}

// keys are those of an issuer, as it published them last.
type keys struct {
	server *Server

	mu    sync.Mutex
	set   []jose.JSONWebKey
	at    time.Time     // when the last look that succeeded began
	tried time.Time     // when the last look began
	look  chan struct{} // closed when the one under way ends; nil without one
}

// signed judges a token by the issuer's signature on it.
func (s *Server) signed(ctx context.Context, token string) Verdict {
	parsed, err := jose.ParseSigned(token, algorithms)
	if err != nil || len(parsed.Signatures) != 1 {
		return s.refuse("this token is not signed as it should be")
	}
	set, at, err := s.keys.get(ctx, parsed.Signatures[0].Header.KeyID)
	if err != nil {
		return s.away()
	}
	meta, err := s.about(ctx)
	if err != nil {
		return s.away()
	}
	names := make([]string, len(algorithms))
	for i, a := range algorithms {
		names[i] = string(a)
	}
	id, err := oidc.NewVerifier(meta.Issuer, &oidc.StaticKeySet{PublicKeys: set},
		&oidc.Config{SkipClientIDCheck: true, SupportedSigningAlgs: names, Now: s.now}).Verify(ctx, token)
	if err != nil {
		return s.refuse("this token is not valid, or not any more")
	}
	var claims map[string]any
	var said struct {
		Scope string
		Scp   list
	}
	if id.Claims(&claims) != nil || id.Claims(&said) != nil {
		return s.refuse("this token says nothing that can be read")
	}
	return s.judged(at, claims, id.Audience, said.Scope+" "+strings.Join(said.Scp, " "), id.Expiry)
}

// get returns the keys by which a token may be signed that names one, and when they
// were fetched; a token judged by them counts from then.
func (k *keys) get(ctx context.Context, id string) (set []crypto.PublicKey, at time.Time, err error) {
	now := k.server.now()
	k.mu.Lock()
	if now.Sub(k.at) >= k.server.Holds || len(k.public(id)) == 0 && now.Sub(k.tried) >= askAgain {
		if k.look == nil && (k.tried.IsZero() || now.Sub(k.tried) >= time.Second) {
			k.look, k.tried = make(chan struct{}), now
			go k.fetch(context.WithoutCancel(ctx), now, k.look)
		}
	}
	look := k.look
	k.mu.Unlock()
	if look != nil {
		late := time.NewTimer(waitForKeys)
		defer late.Stop()
		select {
		case <-look:
		case <-late.C:
		case <-ctx.Done():
			return nil, at, ctx.Err()
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if now.Sub(k.at) >= keysOutlive {
		return nil, at, kb.Errorf(kb.Away, "the keys of %s could not be had", k.server.Issuer)
	}
	if now.Sub(k.at) < k.server.Holds {
		now = k.at
	}
	return k.public(id), now, nil
}

// public returns the keys of that id, or all for a token that names none. k.mu is held.
func (k *keys) public(id string) (set []crypto.PublicKey) {
	for _, j := range k.set {
		if (id == "" || j.KeyID == id) && j.Use != "enc" && j.IsPublic() && j.Valid() {
			set = append(set, j.Key)
		}
	}
	return set
}

// fetch looks for the keys as they are now.
func (k *keys) fetch(ctx context.Context, now time.Time, done chan struct{}) {
	defer close(done)
	var found jose.JSONWebKeySet
	meta, err := k.server.about(ctx)
	if err == nil {
		err = k.server.get(ctx, meta.Keys, &found)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.look = nil; err == nil {
		k.set, k.at = found.Keys, now
	}
}
