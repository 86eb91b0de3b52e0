package embed

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/time/rate"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/outbound"
	"github.com/seed-4f2d999b/knowledge/internal/platform/visible"
	"github.com/seed-4f2d999b/knowledge/internal/text/tokens"
)

const (
	mostTries = 6
	longest   = 10 * time.Minute // that a provider may ask to wait
	mostText  = 24 << 10         // bytes of a text that are embedded
	mostSent  = 64_000           // tokens in a request, as we estimate them
	mostReply = 64 << 20         // bytes
	underWay  = 2                // requests at once: what a kill may cost
	askTime   = 3 * time.Second  // for a question, while somebody waits
	restTime  = 30 * time.Second // after a question that failed: what is down costs one its time
	mostAsked = 256              // questions that are remembered
)

// Remote is an embedder behind an API. It is safe for concurrent use.
type Remote struct {
	c       Config
	p       provider
	id      string
	client  *outbound.Client
	journal *journal
	slots   chan struct{}
	pace    *rate.Limiter
	sleep   func(context.Context, time.Duration) error // replaced in tests

	mu      sync.Mutex
	pending map[[32]byte]chan struct{} // texts that are being asked for
	asked   map[string][]float32       // the last questions: a search asks for one several times
	rest    time.Time                  // until when questions are not asked
	why     error                      // of rest
}

// newRemote returns the embedder of a provider. Nothing is asked yet.
func newRemote(c Config) (kb.Embedder, error) {
	p := providers[c.Backend]
	c.Endpoint = strings.TrimRight(cmp.Or(c.Endpoint, p.endpoint), "/")
	if c.Model == "" || c.Dims < 1 || c.Dims > 4096 {
		return nil, kb.Errorf(kb.Invalid, "the embedder %s needs a model and how many dimensions its vectors have, 1 to 4096", c.Backend).
			WithHint("set embedder.model and embedder.dimensions in the configuration file; its provider says which")
	}
	u, err := url.Parse(c.Endpoint)
	if err != nil || u.Host == "" {
		return nil, kb.Errorf(kb.Invalid, "%q is no endpoint of an embedder", c.Endpoint).WithHint("write it as https://api.example.org/v1")
	}
	policy := c.Network // the user's own configuration names the endpoint: that is the word that it takes
	policy.Allow = append(slices.Clone(policy.Allow), u.Host)
	policy.MaxBytes, policy.Timeout = mostReply, 2*time.Minute
	client, err := outbound.New(policy)
	if err != nil {
		return nil, err
	}
	r := &Remote{c: c, p: p, client: client, slots: make(chan struct{}, underWay), sleep: sleep, pending: map[[32]byte]chan struct{}{}}
	r.id = fmt.Sprintf("%s-%s-%d-%d", c.Backend, plain(c.Model), max(c.Version, 1), c.Dims)
	r.journal = newJournal(c.Dir, r.id, c.Dims)
	if c.PerMinute > 0 {
		r.pace = rate.NewLimiter(rate.Limit(float64(c.PerMinute)/60), 1)
	}
	return r, nil
}

// plain makes the name of a model fit the name of a file.
func plain(model string) string {
	return strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-' {
			return c
		}
		return '_'
	}, kb.Clip(model, 100))
}

// ID returns "PROVIDER-MODEL-VERSION-DIMS".
func (r *Remote) ID() string { return r.id }

// Dims returns the number of dimensions.
func (r *Remote) Dims() int { return r.c.Dims }

// Batch is how many texts are best given to Embed at once.
func (r *Remote) Batch() int { return r.p.most }

// Missing estimates how many tokens of the texts would be sent: those that were embedded
// before are not.
func (r *Remote) Missing(texts []string) (n int64, err error) {
	r.journal.mu.Lock()
	err = r.journal.refresh()
	r.journal.mu.Unlock()
	for _, t := range texts {
		if t = clean(t); t != "" && !r.journal.has(sumOf(t)) {
			n += int64(tokens.Estimate(t))
		}
	}
	return n, err
}

// clean is what is sent of a text; "" when there is nothing in it.
func clean(t string) string {
	if strings.TrimSpace(t) == "" {
		return ""
	}
	if n := mostText; len(t) > n {
		for n > mostText-utf8.UTFMax && !utf8.RuneStart(t[n]) {
			n--
		}
		t = t[:n]
	}
	return strings.ToValidUTF8(t, "\uFFFD")
}

// Embed returns the vectors of documents. Each batch is durable as soon as its
// reply is read, and what was embedded before is not sent again.
func (r *Remote) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if err := ctx.Err(); err != nil {
		return nil, kb.Errorf(kb.Canceled, "%w", err)
	}
	out := make([][]float32, len(texts))
	sums := make([][32]byte, len(texts))
	byText := map[[32]byte]string{}
	var want [][32]byte
	for i, t := range texts {
		if t = clean(t); t == "" {
			out[i] = make([]float32, r.c.Dims)
			continue
		}
		sums[i] = sumOf(t)
		if _, twice := byText[sums[i]]; !twice {
			byText[sums[i]] = t
			want = append(want, sums[i])
		}
	}
	for tries := 0; len(want) > 0; tries++ {
		if tries == mostTries { // paying for ever is the one thing that must not be
			return nil, kb.Errorf(kb.Corrupt, "the journal of embeddings does not keep what is written to it: %s", r.journal.path).WithHint("check that disk")
		}
		have, err := r.journal.look(want)
		if err != nil {
			return nil, err
		}
		for i, v := range out {
			if v == nil {
				out[i] = have[sums[i]]
			}
		}
		want = slices.DeleteFunc(want, func(s [32]byte) bool { return have[s] != nil })
		if err := r.fill(ctx, want, byText); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// fill has the vectors of texts in the journal: asks for those that no other caller is asking
// for, and waits for the others.
func (r *Remote) fill(ctx context.Context, want [][32]byte, texts map[[32]byte]string) error {
	if len(want) == 0 {
		return nil
	}
	var mine [][32]byte
	var others []chan struct{}
	r.mu.Lock()
	for _, s := range want {
		if c, ok := r.pending[s]; ok {
			others = append(others, c)
			continue
		}
		r.pending[s] = make(chan struct{})
		mine = append(mine, s)
	}
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, s := range mine {
			close(r.pending[s])
			delete(r.pending, s)
		}
	}()
	// Another may have had them between our look and now.
	have, err := r.journal.look(mine)
	if err != nil {
		return err
	}
	var batch []string
	var sums [][32]byte
	weight := 0
	send := func() error {
		if len(batch) == 0 {
			return nil
		}
		vectors, err := r.request(ctx, batch, false)
		if err == nil {
			err = r.journal.add(context.WithoutCancel(ctx), sums, vectors)
		}
		batch, sums, weight = nil, nil, 0
		return err
	}
	for _, s := range mine {
		if have[s] != nil {
			continue
		}
		n := tokens.Estimate(texts[s])
		if len(batch) == r.p.most || weight+n > cmp.Or(r.p.tokens, mostSent) {
			if err := send(); err != nil {
				return err
			}
		}
		batch, sums, weight = append(batch, texts[s]), append(sums, s), weight+n
	}
	if err := send(); err != nil {
		return err
	}
	for _, c := range others {
		select {
		case <-c:
		case <-ctx.Done():
			return kb.Errorf(kb.Canceled, "%w", ctx.Err())
		}
	}
	return nil
}

// request asks for one batch, again while the provider is busy or ill.
func (r *Remote) request(ctx context.Context, texts []string, query bool) ([][]float32, error) {
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
	case <-ctx.Done():
		return nil, kb.Errorf(kb.Canceled, "%w", ctx.Err())
	}
	if r.c.Key == "" && (!r.p.keyless || r.c.KeyName != "") {
		return nil, kb.Errorf(kb.Denied, "the embedder %s needs a key, and the variable %s is empty", r.c.Backend, cmp.Or(r.c.KeyName, "that embedder.key is to name")).
			WithHint("set that variable where this program starts")
	}
	body, err := json.Marshal(r.p.body(&r.c, texts, query))
	if err != nil {
		return nil, kb.Errorf(kb.Internal, "encode a request: %w", err)
	}
	for try := 1; ; try++ {
		if r.pace != nil {
			if err := r.pace.Wait(ctx); err != nil {
				return nil, kb.Errorf(kb.Canceled, "%w", err)
			}
		}
		raw, wait, err := r.once(ctx, body)
		if err == nil {
			return r.vectors(raw, len(texts))
		}
		if ctx.Err() != nil {
			return nil, kb.Errorf(kb.Canceled, "%w", ctx.Err())
		}
		if wait < 0 || try == mostTries || wait > longest {
			return nil, err
		}
		if err := r.sleep(ctx, max(wait, time.Second<<(try-1))); err != nil {
			return nil, kb.Errorf(kb.Canceled, "%w", err)
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// once sends a request. With an error it returns how long to wait before the next;
// less than 0 when another would end the same.
func (r *Remote) once(ctx context.Context, body []byte) (raw []byte, wait time.Duration, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.c.Endpoint+r.p.path, bytes.NewReader(body))
	if err != nil {
		return nil, -1, kb.Errorf(kb.Invalid, "the embedder's endpoint is no address").WithHint("write embedder.endpoint as https://api.example.org/v1")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	if r.c.Key != "" {
		req.Header.Set("Authorization", "Bearer "+r.c.Key)
	}
	resp, err := r.client.Once(ctx, req)
	if err != nil {
		if kb.CodeOf(err) != kb.Away {
			return nil, -1, err
		}
		return nil, 0, err
	}
	defer resp.Body.Close()
	if raw, err = io.ReadAll(resp.Body); err != nil {
		return nil, 0, kb.Errorf(kb.Away, "the reply of the embedder %s broke off: %w", r.c.Backend, err).WithHint("index again: what was embedded is kept")
	}
	if resp.StatusCode == http.StatusOK {
		return raw, 0, nil
	}
	said := kb.Clip(visible.Line(saidWrong(raw)), 300)
	if r.c.Key != "" { // some repeat it
		said = strings.ReplaceAll(said, r.c.Key, "****")
	}
	if said != "" {
		said = ": " + said
	}
	err = kb.Errorf(kb.Away, "the embedder %s answered with status %d%s", r.c.Backend, resp.StatusCode, said).
		WithHint("index again later: what was embedded is kept and not paid for again")
	switch s := resp.StatusCode; {
	case s == http.StatusTooManyRequests && spent(raw):
		return nil, -1, err
	case s == http.StatusTooManyRequests, s == http.StatusRequestTimeout, s >= 500:
		return nil, retryAfter(resp.Header, time.Now()), err
	case s == http.StatusUnauthorized, s == http.StatusForbidden:
		return nil, -1, kb.Errorf(kb.Denied, "the embedder %s refuses the key%s", r.c.Backend, said).
			WithHint("check the variable that embedder.key names")
	}
	return nil, -1, kb.Errorf(kb.Invalid, "the embedder %s refuses the request with status %d%s", r.c.Backend, resp.StatusCode, said).
		WithHint("check embedder.model, embedder.dimensions and embedder.endpoint")
}

// retryAfter reads how long a server asks to wait (RFC 9110 §10.2.3); 0 when it does not.
func retryAfter(h http.Header, now time.Time) time.Duration {
	v := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseFloat(v, 64); err == nil && s >= 0 && s < 1e6 {
		return time.Duration(s * float64(time.Second))
	}
	if at, err := http.ParseTime(v); err == nil {
		return max(at.Sub(now), 0)
	}
	return 0
}

// vectors reads a reply, and refuses what is not a vector of the right size for every text.
func (r *Remote) vectors(raw []byte, n int) ([][]float32, error) {
	vectors, _, err := r.p.read(raw, n)
	if err != nil {
		return nil, kb.Errorf(kb.Away, "the reply of the embedder %s cannot be read: %w", r.c.Backend, err).WithHint("check that embedder.provider is what the endpoint speaks")
	}
	if len(vectors) != n {
		return nil, kb.Errorf(kb.Away, "the embedder %s returned %d vectors for %d texts", r.c.Backend, len(vectors), n).WithHint("check that embedder.provider is what the endpoint speaks")
	}
	for _, v := range vectors {
		if len(v) != r.c.Dims {
			return nil, kb.Errorf(kb.Invalid, "the model %s returns vectors of %d dimensions, and %d are configured", r.c.Model, len(v), r.c.Dims).
				WithHint("set embedder.dimensions: %d", len(v))
		}
		for _, x := range v {
			if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
				return nil, kb.Errorf(kb.Away, "the model %s returns what is no number", r.c.Model).WithHint("choose another model")
			}
		}
		normalise(v)
	}
	return vectors, nil
}
