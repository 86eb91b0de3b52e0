package depot

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"aead.dev/minisign"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/outbound"
)

func keys(t testing.TB) (minisign.PublicKey, minisign.PrivateKey) {
	t.Helper()
	public, secret, err := minisign.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return public, secret
}

func statement(text string) Statement {
	b, _ := json.Marshal(text)
	return Statement{Store: "abcdefghijklmnop", Published: time.Unix(1700000000, 0).UTC(), Export: b}
}

func (d Depot) sendText(t testing.TB, text string) (sum string, sent int64) {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "packed"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	h := sha256.Sum256([]byte(text))
	sum = hex.EncodeToString(h[:])
	if sent, err = d.Send(t.Context(), sum, strings.NewReader(text), f); err != nil {
		t.Fatal(err)
	}
	return sum, sent
}

// store is an object store of the test that speaks as much of S3 as is used here.
type store struct {
	mu      sync.Mutex
	objects map[string][]byte
	// lose makes it forget to answer the next conditional write.
	lose bool
}

func (s *store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential=id/") {
		http.Error(w, "<Error><Code>AccessDenied</Code></Error>", http.StatusForbidden)
		return
	}
	name := r.URL.Path
	old, there := s.objects[name]
	tag := func(b []byte) string { return fmt.Sprintf("%q", tagOf(b)[:32]) }
	if there {
		w.Header().Set("ETag", tag(old))
		w.Header().Set("Last-Modified", "Mon, 02 Jan 2006 15:04:05 GMT")
	}
	switch {
	case r.Method == http.MethodPut:
		if none := r.Header.Get("If-None-Match"); none == "*" && there {
			w.WriteHeader(http.StatusPreconditionFailed)
			return
		}
		if m := r.Header.Get("If-Match"); m != "" && strings.Trim(m, `"`) != strings.Trim(tag(old), `"`) {
			w.WriteHeader(http.StatusPreconditionFailed)
			return
		}
		var b bytes.Buffer
		if _, err := b.ReadFrom(r.Body); err != nil {
			return
		}
		s.objects[name] = b.Bytes()
		if s.lose && strings.HasSuffix(name, headName) {
			s.lose = false
			w.WriteHeader(http.StatusServiceUnavailable) // the write was done
			return
		}
		w.Header().Set("ETag", tag(b.Bytes()))
	case !there:
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(http.StatusNotFound)
		if r.Method == http.MethodGet {
			fmt.Fprint(w, "<Error><Code>NoSuchKey</Code></Error>")
		}
	default:
		w.Header().Set("Content-Length", fmt.Sprint(len(old)))
		if r.Method == http.MethodGet {
			_, _ = w.Write(old)
		}
	}
}

// inBucket is a target in an object store of the test.
func inBucket(t testing.TB) (Depot, *store) {
	t.Helper()
	s := &store{objects: map[string][]byte{}}
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	env := map[string]string{"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_ENDPOINT_URL": srv.URL}
	d, err := Open("s3://indexes/team/project", "", func(k string) string { return env[k] }, outbound.Policy{Allow: []string{strings.TrimPrefix(srv.URL, "http://")}})
	if err != nil {
		t.Fatal(err)
	}
	return d, s
}

// targets are those that can be written, each empty.
func targets(t *testing.T) map[string]Depot {
	f, err := Open("published", t.TempDir(), os.Getenv, outbound.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	b, _ := inBucket(t)
	return map[string]Depot{"folder": f, "bucket": b}
}

func TestPublished(t *testing.T) {
	for name, d := range targets(t) {
		t.Run(name, func(t *testing.T) {
			public, secret := keys(t)
			if _, err := d.Read(t.Context(), public.String()); kb.CodeOf(err) != kb.NotFound {
				t.Errorf("nothing is there: %v", err)
			}
			text := strings.Repeat("a text that packs well ", 1000)
			sum, sent := d.sendText(t, text)
			if sent == 0 || sent > 2000 {
				t.Errorf("%d bytes were sent", sent)
			}
			if _, sent := d.sendText(t, text); sent != 0 {
				t.Errorf("it was sent twice")
			}
			first, err := d.Publish(t.Context(), statement("one"), nil, secret)
			if err != nil || first.Generation != 1 {
				t.Fatal(first, err)
			}
			got, err := d.Read(t.Context(), public.String())
			if err != nil || string(got.Export) != `"one"` || got.SHA256 != first.SHA256 {
				t.Fatal(got, err)
			}
			if shown, err := d.PublicKey(t.Context()); err != nil || shown != public.String() {
				t.Error(shown, err)
			}
			var b bytes.Buffer
			if err := d.Fetch(t.Context(), sum, int64(len(text)), &b); err != nil || b.String() != text {
				t.Error(err)
			}
			if err := d.Fetch(t.Context(), sum, int64(len(text))-1, &b); kb.CodeOf(err) != kb.Corrupt {
				t.Errorf("more came than was said: %v", err)
			}
			second, err := d.Publish(t.Context(), statement("two"), &got, secret)
			if err != nil || second.Generation != 2 || second.Parents[0] != first.SHA256 {
				t.Error(second, err)
			}
			// Going on from what is no longer there.
			if _, err := d.Publish(t.Context(), statement("three"), &got, secret); kb.CodeOf(err) != kb.Busy || kb.HintOf(err) == "" {
				t.Error(err)
			}
			if _, err := d.Publish(t.Context(), statement("three"), nil, secret); kb.CodeOf(err) != kb.Busy {
				t.Error(err)
			}
			if now, err := d.Read(t.Context(), public.String()); err != nil || now.SHA256 != second.SHA256 {
				t.Error(now, err)
			}
		})
	}
}

// Two who publish at once make one head; the other is told.
func TestPublishersRace(t *testing.T) {
	for name, d := range targets(t) {
		t.Run(name, func(t *testing.T) {
			public, secret := keys(t)
			if _, err := d.Publish(t.Context(), statement("base"), nil, secret); err != nil {
				t.Fatal(err)
			}
			for round := range 10 {
				base, err := d.Read(t.Context(), public.String())
				if err != nil {
					t.Fatal(err)
				}
				var won []string
				var mu sync.Mutex
				var wg sync.WaitGroup
				for who := range 4 {
					wg.Go(func() {
						f, err := d.Publish(t.Context(), statement(fmt.Sprint(round, " ", who)), &base, secret)
						mu.Lock()
						defer mu.Unlock()
						if err == nil {
							won = append(won, f.SHA256)
						} else if kb.CodeOf(err) != kb.Busy {
							t.Error(err)
						}
					})
				}
				wg.Wait()
				now, err := d.Read(t.Context(), public.String())
				if err != nil || len(won) != 1 || now.SHA256 != won[0] || now.Generation != base.Generation+1 {
					t.Fatal(won, now.SHA256, err)
				}
			}
		})
	}
}

// A head that was written although the answer was lost is no lost race.
func TestLostAnswer(t *testing.T) {
	d, s := inBucket(t)
	public, secret := keys(t)
	s.lose = true
	f, err := d.Publish(t.Context(), statement("one"), nil, secret)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := d.Read(t.Context(), public.String()); err != nil || got.SHA256 != f.SHA256 {
		t.Error(err)
	}
}

// TestEveryChangedByteIsRefused: no byte of what a reader reads can be another.
func TestEveryChangedByteIsRefused(t *testing.T) {
	public, secret := keys(t)
	dir := t.TempDir()
	d, err := Open(dir, "", os.Getenv, outbound.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	sum, _ := d.sendText(t, "a text of which every byte counts, "+strings.Repeat("and then some, ", 40))
	f, err := d.Publish(t.Context(), statement("one"), nil, secret)
	if err != nil {
		t.Fatal(err)
	}
	look := func() error {
		got, err := d.Read(t.Context(), public.String())
		if err == nil && string(got.Export) != `"one"` {
			t.Error("another statement was believed")
		}
		if err == nil {
			var b bytes.Buffer
			err = d.Fetch(t.Context(), sum, 635, &b)
			if err == nil && b.Len() != 635 {
				t.Error("another text was believed")
			}
		}
		return err
	}
	if err := look(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{headName, statementName(f.SHA256), statementName(f.SHA256) + ".minisig", objectName(sum)} {
		path := filepath.Join(dir, name)
		good, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i := range good {
			bad := bytes.Clone(good)
			bad[i] ^= 1 << (i % 7)
			if err := os.WriteFile(path, bad, 0o600); err != nil {
				t.Fatal(err)
			}
			// What is not signed of a signature says nothing: its first line; nor do space after the
			// head and some bits of a frame.
			harmless := strings.HasSuffix(name, ".minisig") && i < bytes.IndexByte(good, '\n')+1 || name == headName && i == len(good)-1 || name == objectName(sum)
			if err := look(); err == nil && !harmless {
				t.Errorf("byte %d of %s may be another", i, name)
			} else if err != nil && kb.HintOf(err) == "" {
				t.Errorf("byte %d of %s: %v has no hint", i, name, err)
			}
		}
		for _, n := range []int{0, len(good) / 2, len(good) - 2} {
			if err := os.WriteFile(path, good[:n], 0o600); err != nil {
				t.Fatal(err)
			}
			if look() == nil {
				t.Errorf("%s may be cut to %d bytes", name, n)
			}
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if look() == nil {
			t.Errorf("%s may be missing", name)
		}
		if err := os.WriteFile(path, good, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAnotherKeyIsRefused(t *testing.T) {
	_, secret := keys(t)
	other, _ := keys(t)
	d, err := Open(t.TempDir(), "", os.Getenv, outbound.Policy{})
	if err == nil {
		_, err = d.Publish(t.Context(), statement("one"), nil, secret)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Read(t.Context(), other.String()); kb.CodeOf(err) != kb.Denied || !strings.Contains(err.Error(), "another key") {
		t.Error(err)
	}
	if _, err := d.Read(t.Context(), "RWQnonsense"); kb.CodeOf(err) != kb.Invalid {
		t.Error(err)
	}
}

func TestGoingBackIsRefused(t *testing.T) {
	f := Found{Statement: Statement{Generation: 4}, SHA256: "a"}
	for _, tt := range []struct {
		seen Seen
		ok   bool
	}{{Seen{}, true}, {Seen{3, "x"}, true}, {Seen{4, "a"}, true}, {Seen{4, "b"}, false}, {Seen{5, "x"}, false}} {
		if err := f.Check(tt.seen); (err == nil) != tt.ok || err != nil && kb.CodeOf(err) != kb.Denied {
			t.Errorf("%+v: %v", tt.seen, err)
		}
	}
}

// Plain HTTP serves the folder; what it gives too much of is not read.
func TestOverHTTP(t *testing.T) {
	public, secret := keys(t)
	dir := t.TempDir()
	d, err := Open(dir, "", os.Getenv, outbound.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	sum, _ := d.sendText(t, "some text")
	if _, err := d.Publish(t.Context(), statement("one"), nil, secret); err != nil {
		t.Fatal(err)
	}
	files := http.StripPrefix("/team", http.FileServer(http.Dir(dir)))
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/endless"):
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 1<<16)); err != nil {
					return
				}
			}
		case strings.HasPrefix(r.URL.Path, "/ill"):
			w.WriteHeader(http.StatusBadGateway)
		default:
			files.ServeHTTP(w, r)
		}
	}))
	defer srv.Close()
	open := func(path string, allow ...string) Depot {
		d, err := Open(srv.URL+path, "", os.Getenv, outbound.Policy{Allow: allow})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	host := strings.TrimPrefix(srv.URL, "http://")
	web := open("/team", host)
	got, err := web.Read(t.Context(), public.String())
	if err != nil || string(got.Export) != `"one"` {
		t.Fatal(got, err)
	}
	var b bytes.Buffer
	if err := web.Fetch(t.Context(), sum, 9, &b); err != nil || b.String() != "some text" {
		t.Error(err)
	}
	if there, err := web.Has(t.Context(), "objects/none"); there || err != nil {
		t.Error(there, err)
	}
	if _, err := web.Publish(t.Context(), statement("two"), &got, secret); kb.CodeOf(err) != kb.Unsupported {
		t.Error(err)
	}
	if _, err := open("/team").Read(t.Context(), public.String()); kb.CodeOf(err) != kb.Denied {
		t.Errorf("an address of this machine without a word: %v", err)
	}
	if _, err := open("/endless", host).Read(t.Context(), public.String()); kb.CodeOf(err) != kb.TooLarge {
		t.Error(err)
	}
	if _, err := open("/ill", host).Read(t.Context(), public.String()); kb.CodeOf(err) != kb.Away {
		t.Error(err)
	}
}

func TestAddresses(t *testing.T) {
	for _, bad := range []string{"", "ftp://host/x", "https://user:pw@host/x", "https://host/x?token=1", "s3://bucket/x"} {
		if d, err := Open(bad, t.TempDir(), func(string) string { return "" }, outbound.Policy{}); err == nil || kb.HintOf(err) == "" {
			t.Errorf("%q opens %v, %v", bad, d, err)
		}
	}
}

func TestCancelled(t *testing.T) {
	d, _ := inBucket(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	public, _ := keys(t)
	if _, err := d.Read(ctx, public.String()); err == nil {
		t.Error("it was read")
	}
}
