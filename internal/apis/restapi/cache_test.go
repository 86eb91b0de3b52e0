package restapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/apis/restapi"
)

// TestCache: what is sent again and what is not, by RFC 9111; the section stands with
// each case.
func TestCache(t *testing.T) {
	const day = "Mon, 23 Nov 2026 10:00:00 GMT"
	for _, c := range []struct {
		name   string
		header string // of the reply, "K: v; K: v"
		wait   time.Duration
		method string // between two GETs
		sent   int    // requests for the two GETs
		full   int    // of which were answered in full
	}{
		{"5.2.2.1 max-age", "Cache-Control: max-age=60", 30 * time.Second, "", 1, 1},
		{"4.2 stale", "Cache-Control: max-age=60", 61 * time.Second, "", 2, 2},
		{"4.3.1 ETag", `Cache-Control: max-age=60; ETag: "a"`, 61 * time.Second, "", 2, 1},
		{"4.3.1 Last-Modified", "Last-Modified: " + day, time.Second, "", 2, 1},
		{"4.2.3 Age", "Cache-Control: max-age=60; Age: 50", 11 * time.Second, "", 2, 2},
		{"5.2.2.5 no-store", `Cache-Control: max-age=60, no-store; ETag: "a"`, 0, "", 2, 2},
		{"5.2.2.4 no-cache", `Cache-Control: no-cache, max-age=60; ETag: "a"`, 0, "", 2, 1},
		{"5.2.2.7 private", "Cache-Control: private, max-age=60", time.Second, "", 1, 1},
		{"5.3 Expires", "Date: " + day + "; Expires: Mon, 23 Nov 2026 10:01:00 GMT", 30 * time.Second, "", 1, 1},
		{"5.3 Expires in the past", "Date: " + day + "; Expires: 0", 0, "", 2, 2},
		{"4.2.1 max-age before Expires", "Cache-Control: max-age=0; Date: " + day + "; Expires: Mon, 23 Nov 2026 11:00:00 GMT", time.Second, "", 2, 2},
		{"4.1 Vary", "Cache-Control: max-age=60; Vary: *", 0, "", 2, 2},
		{"4.1 Vary that agrees", "Cache-Control: max-age=60; Vary: Accept", 0, "", 1, 1},
		{"3 says nothing", "", 0, "", 2, 2},
		{"4.2.1 what cannot be read", "Cache-Control: max-age=soon", 0, "", 2, 2},
		{"4.4 an unsafe method", "Cache-Control: max-age=60", 0, "PUT", 2, 2},
	} {
		sent, full := 0, 0
		ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != "GET" {
				return
			}
			sent++
			for _, h := range strings.Split(c.header, "; ") {
				if k, v, ok := strings.Cut(h, ": "); ok {
					w.Header().Set(k, v)
				}
			}
			if r.Header.Get("If-None-Match") == `"a"` || r.Header.Get("If-Modified-Since") == day {
				w.WriteHeader(http.StatusNotModified)
				return
			}
			full++
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"n":1}`)
		}))
		now := time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC)
		f, err := restapi.Parse("apis.yaml", []byte("apis:\n  - code: a\n    baseUrl: "+ts.URL+"\n    tools:\n      - {code: get, endpointPath: /x}\n      - {code: put, httpMethod: PUT, endpointPath: /x}\n"))
		if err != nil {
			t.Fatal(err)
		}
		p := f.Providers[0]
		caller := &restapi.Caller{Secrets: &restapi.Resolver{}, Client: func(*restapi.Provider) (restapi.Client, error) { return direct{}, nil },
			Cache: &restapi.Cache{Now: func() time.Time { return now }}}
		for i := range 2 {
			r, err := caller.Call(t.Context(), p, &p.Tools[0], nil)
			if err != nil || string(r.JSON) != `{"n":1}` {
				t.Errorf("%s: %v %+v", c.name, err, r)
			}
			if i == 0 && c.method != "" {
				if _, err := caller.Call(t.Context(), p, &p.Tools[1], json.RawMessage(`{}`)); err != nil {
					t.Errorf("%s: %v", c.name, err)
				}
			}
			if kept := i == 1 && full == 1; err == nil && r.FromCache != kept {
				t.Errorf("%s: call %d is from the cache: %v", c.name, i, r.FromCache)
			}
			now = now.Add(c.wait)
		}
		ts.Close()
		if sent != c.sent || full != c.full {
			t.Errorf("%s: %d requests, %d in full, want %d, %d", c.name, sent, full, c.sent, c.full)
		}
	}
}

// TestCacheApart: a reply for one credential is none for another.
func TestCacheApart(t *testing.T) {
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=600")
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"for":%d}`, len(r.Header.Get("Authorization")))
	}))
	defer ts.Close()
	f, err := restapi.Parse("apis.yaml", []byte("apis:\n  - {code: a, baseUrl: "+ts.URL+", authenticationType: BEARER, apiKeyValue: '${A}', tools: [{code: one, endpointPath: /x}]}\n"+
		"  - {code: b, baseUrl: "+ts.URL+", authenticationType: BEARER, apiKeyValue: '${B}', tools: [{code: two, endpointPath: /x}]}\n"))
	if err != nil || len(f.Problems) > 0 {
		t.Fatal(err, f.Problems)
	}
	caller := &restapi.Caller{Cache: &restapi.Cache{}, Client: func(*restapi.Provider) (restapi.Client, error) { return direct{}, nil },
		Secrets: &restapi.Resolver{Env: func(n string) string { return map[string]string{"A": "first-secret", "B": "second-secret-2"}[n] }}}
	for i, want := range []string{`{"for":19}`, `{"for":22}`, `{"for":19}`} {
		p := f.Providers[i%2]
		if r, err := caller.Call(t.Context(), p, &p.Tools[0], nil); err != nil || string(r.JSON) != want {
			t.Errorf("%d: %v %+v", i, err, r)
		}
	}
}
