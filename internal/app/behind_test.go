package app

import (
	"slices"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/ingest"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// What cannot be brought up to date is told with the cause and what to do about
// it; to a stranger without both.
func TestWhyNothingIsBroughtUpToDateIsSaid(t *testing.T) {
	b := &behind{st: kb.Store{Name: "notes"}, drift: ingest.Drift{Files: 2}, why: `no space left to write "/home/a/knowledge.db"`, hint: "free some space on that disk, then try again"}
	a, err := New(Config{DataDir: t.TempDir(), Dir: t.TempDir(), Env: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	missing := "2 files have changed since it was indexed, so hits may be missing"
	for public, want := range map[bool]string{
		false: "store notes could not be brought up to date (" + b.why + "): " + missing + "; " + b.hint,
		true:  "store notes could not be brought up to date: " + missing,
	} {
		if got := a.tellBehind(t.Context(), []*behind{b}, Asking{Public: public}); !slices.Equal(got, []string{want}) {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
}

// TestAnswersNow: what is small is worth the wait, what is large is answered
// from what is ready, unless somebody says to wait.
func TestAnswersNow(t *testing.T) {
	const w = 10 * time.Second
	for name, c := range map[string]struct {
		early  time.Duration
		waited time.Duration
		at     kb.Progress
		want   bool
	}{
		"just begun":          {w, time.Second, kb.Progress{Done: 1, Total: 50_000}, false},
		"much left":           {w, 11 * time.Second, kb.Progress{Done: 5_000, Total: 50_000}, true},
		"nearly done":         {w, 11 * time.Second, kb.Progress{Done: 49_500, Total: 50_000}, false},
		"small and slow":      {w, time.Hour, kb.Progress{Done: 1, Total: 900}, false},
		"not counted yet":     {w, time.Hour, kb.Progress{Done: 5_000}, false},
		"who waits":           {0, time.Hour, kb.Progress{Done: 1, Total: 50_000}, false},
		"who has seen it all": {w, time.Hour, kb.Progress{Done: 50_000, Total: 50_000}, false},
	} {
		if got := answersNow(c.early, c.waited, c.at); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Each failure doubles the rest, up to lastRetry.
func TestRestsGrow(t *testing.T) {
	for n, want := range map[int]time.Duration{1: 5 * time.Second, 2: 10 * time.Second, 4: 40 * time.Second, 7: lastRetry, 1000: lastRetry} {
		if got := retryAfter(n); got != want {
			t.Errorf("after %d failures %s, want %s", n, got, want)
		}
	}
}
