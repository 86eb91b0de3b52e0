// Package teamtest tries a server for several users against a model: it makes
// stores and users with random rights, asks at random by every way there is, and
// compares each reply with what its user may know. A reply that names, quotes,
// counts or hints at anything else is a leak, and so is one that tells a store that
// is hidden from one that is not there.
package teamtest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Config says how much is tried.
type Config struct {
	Program       string // the built program
	Dir           string // an empty folder for data and sources
	Keep          bool   // the configuration that is there already
	Users, Stores int
	GroupsOf      int           // how many groups there are
	Requests      int           // in all; 0 goes by Span
	Span          time.Duration // how long, without Requests
	Workers       int
	Pause         time.Duration // of a worker between two requests
	Change        int           // rights are made anew after as many requests
	Seed          uint64
	HUP           func(*os.Process) error // has the server read its rights again; nil waits until it does
}

// store is one store, shared or of one user.
type store struct {
	name, id   string
	marker     string // a word of its text that is asked for
	secret     string // a word of its text and its paths that is never asked for
	owner      string // "" is shared
	jobs       []string
	hits       []string
	read, edit map[string]bool // by user, now
}

func (s *store) file() string { return s.secret + ".md" }

// World is a server with its stores and users, and what they may know.
type World struct {
	Config
	URL    string
	Server *exec.Cmd
	log    *os.File
	site   *httptest.Server

	rng    *rand.Rand
	users  []string
	tokens map[string]string

	turn   sync.RWMutex // held for writing while rights change
	mu     sync.Mutex
	stores []*store
	pages  map[string]string // of the site, by path
	result Result
}

// Result is what came of a run.
type Result struct {
	Requests, Changes, Created int
	Kinds                      map[string]int // requests by kind
	Hidden                     int            // of things that the user may not know of
	Leaks                      []string
}

// letters makes a word that nobody has.
func letters(rng *rand.Rand, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = "bcdfghjklmnpqrstvwxz"[rng.IntN(20)]
	}
	return string(b)
}

// Open makes a world and starts its server.
func Open(ctx context.Context, c Config) (*World, error) {
	w := &World{Config: c, rng: rand.New(rand.NewPCG(c.Seed, 1)), tokens: map[string]string{}, pages: map[string]string{}}
	w.result.Kinds = map[string]int{}
	w.site = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		page, ok := w.pages[r.URL.Path]
		w.mu.Unlock()
		if !ok {
			http.NotFound(rw, r)
			return
		}
		rw.Header().Set("Content-Type", "text/html; charset=utf-8")
		io.WriteString(rw, page)
	}))
	host := strings.TrimPrefix(w.site.URL, "http://")
	if !c.Keep {
		if err := os.WriteFile(w.path("config.yaml"), []byte("web: {allow: ['"+host+"']}\n"), 0o600); err != nil {
			return nil, err
		}
	}
	for i := range c.Stores {
		if err := w.share(ctx, i); err != nil {
			return nil, err
		}
	}
	for i := range c.Users {
		name := fmt.Sprintf("user%02d", i)
		out, err := w.run(ctx, "team:token", name, "--json")
		if err != nil {
			return nil, err
		}
		var given struct{ Token string }
		if err := json.Unmarshal(out, &given); err != nil {
			return nil, err
		}
		w.users, w.tokens[name] = append(w.users, name), given.Token
	}
	if err := w.rights(); err != nil {
		return nil, err
	}
	return w, w.Start()
}

func (w *World) path(name string) string { return filepath.Join(w.Dir, name) }

// Env is what the program runs with.
func (w *World) Env() []string {
	return append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "KNOWLEDGE_") }),
		"HOME="+w.Dir, "XDG_CONFIG_HOME=", "KNOWLEDGE_DATA_DIR="+w.path("data"), "KNOWLEDGE_CONFIG="+w.path("config.yaml"))
}

// run runs the program as who runs the server does.
func (w *World) run(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, w.Program, args...)
	cmd.Env, cmd.Dir = w.Env(), w.Dir
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return out, fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, errs.String())
	}
	return out, nil
}

// share makes a shared store of a folder.
func (w *World) share(ctx context.Context, i int) error {
	s := &store{name: fmt.Sprintf("st%s%02d", letters(w.rng, 8), i), marker: "mk" + letters(w.rng, 10), secret: "sx" + letters(w.rng, 10)}
	dir := w.path(filepath.Join("src", s.name))
	files := map[string]string{
		s.file(): fmt.Sprintf("# Common handbook %s\n\nEverybody asks about the common word. %s is what %s says.\n", s.secret, s.marker, s.secret),
		s.secret + ".go": fmt.Sprintf("package %s\n\n// Handle%s does the common thing of %s.\nfunc Handle%s() { Common%s() }\n\n// Common%s is called.\nfunc Common%s() {}\n",
			s.secret, s.marker, s.secret, s.marker, s.secret, s.secret, s.secret),
		"spec/" + s.secret + ".md": fmt.Sprintf("---\nid: REQ-%s\nkind: requirement\ntitle: The common requirement %s\n---\n\n# The common requirement %s\n\nIt shall do %s.\n",
			s.marker, s.secret, s.secret, s.marker),
	}
	for name, text := range files {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	out, err := w.run(ctx, "store:create", s.name, "--source", dir, "--scope", "user", "--json")
	if err != nil {
		return err
	}
	var made struct{ Store, ID, Job, JobID string }
	if err := json.Unmarshal(bytes.TrimSpace(out), &made); err != nil {
		return fmt.Errorf("%s: %w", out, err)
	}
	out, err = w.run(ctx, "store:info", s.name, "--json")
	if err != nil {
		return err
	}
	var info struct{ ID string }
	if err := json.Unmarshal(out, &info); err != nil {
		return err
	}
	if s.id = info.ID; made.JobID != "" {
		s.jobs = append(s.jobs, made.JobID)
	}
	w.stores = append(w.stores, s)
	return nil
}

// rights makes random rights and writes them down. w.turn is held, or nothing runs yet.
func (w *World) rights() error {
	var b strings.Builder
	groups := make([][]string, max(1, w.GroupsOf))
	b.WriteString("groups:\n")
	for g := range groups {
		for _, u := range w.users {
			if w.rng.IntN(4) == 0 {
				groups[g] = append(groups[g], u)
			}
		}
		fmt.Fprintf(&b, "  g%d: [%s]\n", g, strings.Join(groups[g], ", "))
	}
	who := func() (list []string, users map[string]bool) {
		users = map[string]bool{}
		switch n := w.rng.IntN(10); {
		case n == 0:
			list = []string{`"*"`}
			for _, u := range w.users {
				users[u] = true
			}
		case n < 4:
			g := w.rng.IntN(len(groups))
			list = []string{fmt.Sprintf(`"@g%d"`, g)}
			for _, u := range groups[g] {
				users[u] = true
			}
		case n < 8:
			for range 1 + w.rng.IntN(3) {
				u := w.users[w.rng.IntN(len(w.users))]
				list, users[u] = append(list, u), true
			}
		}
		return list, users
	}
	b.WriteString("stores:\n")
	for _, s := range w.stores {
		if s.owner != "" {
			continue
		}
		reads, read := who()
		writes, edit := who()
		if w.rng.IntN(3) > 0 {
			writes, edit = nil, map[string]bool{}
		}
		for u := range edit {
			read[u] = true
		}
		s.read, s.edit = read, edit
		fmt.Fprintf(&b, "  %s: {read: [%s], write: [%s]}\n", s.name, strings.Join(reads, ", "), strings.Join(writes, ", "))
	}
	fmt.Fprintf(&b, "sources: ['%s/']\nlimits: {requests: 10000000, bytes: 100000000000, jobs: 1000, stores: 3}\n", w.site.URL)
	file := w.path("data/team/rights.yaml")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(b.String()), 0o600)
}

// Start starts the server.
func (w *World) Start() error {
	w.Server = exec.Command(w.Program, "serve", "--team", "127.0.0.1:0")
	w.Server.Env, w.Server.Dir = w.Env(), w.Dir
	log, err := w.Server.StderrPipe()
	if err != nil {
		return err
	}
	if err := w.Server.Start(); err != nil {
		return err
	}
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		var line struct{ Msg, Address string }
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "serving" {
			w.URL = "http://" + line.Address
			if w.log, err = os.OpenFile(w.path("server.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
				return err
			}
			go io.Copy(w.log, log) // ends with the server
			return nil
		}
	}
	return fmt.Errorf("the server did not start: %w", w.Server.Wait())
}

// Close stops the server and waits for its end.
func (w *World) Close() error {
	defer w.site.Close()
	if w.Server == nil || w.Server.Process == nil {
		return nil
	}
	if err := w.Server.Process.Signal(os.Interrupt); err != nil {
		_ = w.Server.Process.Kill() // where there are no signals
	}
	return w.Server.Wait()
}

// Token returns the token of a user.
func (w *World) Token(user int) string { return w.tokens[w.users[user]] }

// Secrets are what no log may hold: tokens, and words of texts.
func (w *World) Secrets() []string {
	var all []string
	for _, t := range w.tokens {
		all = append(all, t)
	}
	for _, s := range w.stores {
		all = append(all, s.marker, s.secret)
	}
	return all
}

// Store returns what a shared store is called.
func (w *World) Store(i int) string { return w.stores[i].name }
