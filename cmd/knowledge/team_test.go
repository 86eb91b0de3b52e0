package main

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/team/teamtest"
	"github.com/seed-4f2d999b/knowledge/internal/web/browser/browsertest"
)

// TestTeam asks a server for several users at random, and compares each reply with
// what its user may know; bench/team does it fifty times as long. What the server
// wrote down meanwhile holds nothing of what was asked and found, and no token.
func TestTeam(t *testing.T) {
	w := newWorld(t)
	c := teamtest.Config{Program: program, Dir: w.root, Users: 4, Stores: 6, Requests: 700, Workers: 4, Change: 100, GroupsOf: 2, Seed: 1}
	if runtime.GOOS != "windows" {
		c.HUP = func(p *os.Process) error { return p.Signal(teamtest.Hang) }
	}
	team, err := teamtest.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	r := team.Run()
	for _, leak := range r.Leaks {
		t.Error(leak)
	}
	if r.Requests < c.Requests || r.Hidden < 50 || r.Created == 0 || len(r.Kinds) < 14 {
		t.Errorf("too little was tried: %+v", r)
	}
	if err := team.Close(); err != nil {
		t.Error(err)
	}
	audit, err := os.ReadFile(filepath.Join(w.data, "team", "audit.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range team.Secrets() {
		if strings.Contains(string(audit), secret) {
			t.Errorf("the audit log holds %q", secret)
		}
	}
	commands := 0
	for line := range strings.Lines(string(audit)) {
		var rec struct{ Time, User, Client, Face, Command, Outcome string }
		if err := json.Unmarshal([]byte(line), &rec); err != nil || rec.Time == "" || rec.Outcome == "" || rec.Client != "127.0.0.1" {
			t.Fatalf("%s: %v", line, err)
		}
		if rec.Command != "" {
			commands++
		}
	}
	if commands < c.Requests/2 {
		t.Errorf("%d commands are written down", commands)
	}
}

// A server that is stopped lets requests under way end; a broken file of rights
// changes nothing, and is said; a token that is taken back is refused at once.
func TestTeamServer(t *testing.T) {
	w := newWorld(t)
	c := teamtest.Config{Program: program, Dir: w.root, Users: 2, Stores: 1, GroupsOf: 1, Seed: 3}
	team, err := teamtest.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	get := func(path, token string) (int, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, team.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(b)
	}
	ann := team.Token(0)
	for path, want := range map[string]string{"/healthz": "ok\n", "/readyz": "ready\n"} {
		if status, text := get(path, ""); status != http.StatusOK || text != want {
			t.Errorf("%s: %d %q", path, status, text)
		}
	}
	file := filepath.Join(w.data, "team", "rights.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		time.Sleep(1100 * time.Millisecond) // a look at the file counts for a second
	}
	write("operators: [user00]\nstores: {}")
	if status, text := get("/metrics", ann); status != http.StatusOK || !strings.Contains(text, "knowledge_rights_problem 0") || strings.Contains(text, "user0") {
		t.Errorf("%d %s", status, text)
	}
	if status, _ := get("/metrics", team.Token(1)); status != http.StatusNotFound {
		t.Errorf("figures for everybody: %d", status)
	}
	write("operators: [user00\n")
	if status, text := get("/metrics", ann); status != http.StatusOK || !strings.Contains(text, "knowledge_rights_problem 1") {
		t.Errorf("%d %s", status, text)
	}
	if r := w.run(w.root, "team:token", "user00", "--take", "all", "--json"); r.status != 0 {
		t.Fatal(r.err)
	}
	time.Sleep(1100 * time.Millisecond)
	if status, _ := get("/api/stores", ann); status != http.StatusUnauthorized {
		t.Errorf("a token that was taken back: %d", status)
	}
	write("limits: {requests: 3}\n")
	last := 0
	for range 5 {
		last, _ = get("/api/stores", team.Token(1))
	}
	if last != http.StatusTooManyRequests {
		t.Errorf("the fifth of three requests: %d", last)
	}
	for range 30 {
		last, _ = get("/api/stores", "kbt_made-up")
	}
	if last != http.StatusTooManyRequests {
		t.Errorf("the thirtieth token that was tried: %d", last)
	}
	if err := team.Close(); err != nil {
		t.Error(err)
	}
}

// The page shows users what they may see, with their tokens.
func TestTeamPage(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	chromium := browsertest.Find()
	if chromium == "" {
		t.Skip(browsertest.Missing)
	}
	w := newWorld(t)
	team, err := teamtest.Open(t.Context(), teamtest.Config{Program: program, Dir: w.root, Users: 2, Stores: 2, GroupsOf: 1, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	rights := "stores: {" + team.Store(0) + ": {read: [user00]}, " + team.Store(1) + ": {read: [user01]}}\n"
	if err := os.WriteFile(filepath.Join(w.data, "team", "rights.yaml"), []byte(rights), 0o600); err != nil {
		t.Fatal(err)
	}
	time.Sleep(1100 * time.Millisecond)
	browser, err := browsertest.Start(t.Context(), chromium, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(browser.Close)
	for user := range 2 {
		b := browser.Tab(t, browsertest.Look{Scheme: "light", Early: watched}, pagePatience)
		for _, path := range []string{"/search?q=common+handbook", "/stores", "/jobs"} {
			b.Open(team.URL + path + "#token=" + team.Token(user))
			b.Until("document.body.innerText.includes('" + team.Store(user) + "')")
			if text := b.Text(); strings.Contains(text, team.Store(1-user)) {
				t.Errorf("user %d sees on %s: %s", user, path, text)
			}
		}
		if hits := b.JS("hits.join('; ')"); hits != "" {
			t.Errorf("in the page happened: %s", hits)
		}
		b.Close()
	}
	if err := team.Close(); err != nil {
		t.Error(err)
	}
}
