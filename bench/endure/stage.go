package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
)

// token is that of every server here.
var token = strings.Repeat("endurance-", 5)

// stage is where everything happens: one project, one data directory, one
// site, one program.
type stage struct {
	dir, bin, commit string
	project, data    string
	env              []string
	site             *httptest.Server
	pages            atomic.Int64 // how often the site changed
	fronts           atomic.Int64 // how often somebody asked for its front page
	report           lab.Report

	mu       sync.Mutex
	breaches []string
	counts   map[string]int // of what was done, and how it ended
	odd      map[string]int // ends that nobody expects
}

// What the folder "fixed" holds is never edited: a file for each of these many
// words that stand nowhere else, beside documentation.
const fixedWords = 40

func newStage(name string) (*stage, error) {
	dir, err := lab.Scratch("endure-" + name)
	if err != nil {
		return nil, err
	}
	s := &stage{dir: dir, bin: filepath.Join(dir, "bin", "knowledge"), project: filepath.Join(dir, "project"), data: filepath.Join(dir, "data"),
		counts: map[string]int{}, odd: map[string]int{}}
	tree, err := lab.Checkout(".", filepath.Join(dir, "checkout"))
	if err != nil {
		return nil, err
	}
	s.commit = tree.Commit
	if err := lab.Build(".", s.bin, "./cmd/knowledge"); err != nil {
		return nil, err
	}
	s.site = httptest.NewServer(http.HandlerFunc(s.page))
	home := filepath.Join(dir, "home")
	config := filepath.Join(home, "config.yaml")
	for _, d := range []string{home, filepath.Join(dir, "tmp"), filepath.Join(s.project, "live"), filepath.Join(s.project, "fixed"), filepath.Join(s.project, "extra")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, err
		}
	}
	// The user's word for the site, and a rate that no test has to wait for.
	if err := os.WriteFile(config, []byte("web:\n  allow: [\"127.0.0.1\"]\n  rate: 200\n"), 0o600); err != nil {
		return nil, err
	}
	s.env = append(lab.Env(s.data), "HOME="+home, "KNOWLEDGE_CONFIG="+config, "KNOWLEDGE_TOKEN="+token, "TMPDIR="+filepath.Join(dir, "tmp"),
		"GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=n", "GIT_AUTHOR_EMAIL=n@example.org", "GIT_COMMITTER_NAME=n", "GIT_COMMITTER_EMAIL=n@example.org")
	for _, cp := range [][2]string{{"internal/search", "live/search"}, {"internal/ingest", "live/ingest"}, {"internal/data/catalog", "live/catalog"}, {"docs", "fixed/docs"}, {"internal/search/rank", "extra/rank"}} {
		if err := os.CopyFS(filepath.Join(s.project, cp[1]), os.DirFS(filepath.Join(tree.Dir, cp[0]))); err != nil {
			return nil, err
		}
	}
	for i := range fixedWords {
		text := fmt.Sprintf("# Entry %d\n\nThe %s is kept in drawer %d.\n", i, word(i), i)
		if err := os.WriteFile(filepath.Join(s.project, "fixed", fmt.Sprintf("entry%d.md", i)), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"commit", "-q", "-m", "one"}} {
		if _, err := lab.Command(s.project, s.env, "git", args...); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// word makes the i-th word that stands in one file only.
func word(i int) string {
	parts := []string{"bra", "kel", "mundo", "rif", "sol", "tav", "ubi"}
	return "zw" + parts[i%7] + parts[i/7%7] + parts[i/49%7] + "ix"
}

// page is the site: a front page that links to 25 others, which tell how often
// the site has changed.
func (s *stage) page(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	i, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/page/"))
	switch {
	case r.URL.Path == "/":
		s.fronts.Add(1)
		var b strings.Builder
		b.WriteString("<html><head><title>The site</title></head><body><main><h1>The site</h1><p>All of its pages stand here, one below the other.</p>")
		for i := range 25 {
			fmt.Fprintf(&b, `<p><a href="/page/%d">Page %d</a></p>`, i, i)
		}
		fmt.Fprint(w, b.String()+"</main></body></html>")
	case err == nil && i < 25:
		fmt.Fprintf(w, "<html><head><title>Page %d</title></head><body><main><h1>Page %d</h1><p>The %s of this page was seen on the site, which is there to be crawled again and again.</p><p>Change %d.</p></main></body></html>", i, i, word(100+i), s.pages.Load())
	default:
		http.NotFound(w, r)
	}
}

// close ends every process of the program and removes the folder.
func (s *stage) close(keep bool) {
	for _, pid := range s.processes() {
		if p, err := os.FindProcess(pid); err == nil {
			_ = p.Kill()
		}
	}
	s.site.Close()
	if keep {
		fmt.Println("kept in", s.dir)
		return
	}
	for range 50 { // workers that are about to end may still write
		if os.RemoveAll(s.dir) == nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func (s *stage) broken(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := fmt.Sprintf(format, args...)
	if len(s.breaches) < 40 && !slices.Contains(s.breaches, text) {
		s.breaches = append(s.breaches, text)
		fmt.Println("BROKEN", text)
	}
}

func (s *stage) count(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts[what]++
}

// processes lists those of the program.
func (s *stage) processes() (out []int) {
	names, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, n := range names {
		if exe, err := os.Readlink(n); err == nil && strings.HasPrefix(exe, filepath.Dir(s.bin)+"/") {
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(n))); err == nil {
				out = append(out, pid)
			}
		}
	}
	return out
}

// ended is how a run of the program ended.
type ended struct {
	status    int // -1 when it was killed
	out, errs string
}

// at runs a program in the project, with a data directory, and counts how it
// ended under the name of the command.
func (s *stage) at(bin, data string, args ...string) ended {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin, append([]string{"--data-dir", data, "--quiet"}, args...)...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = s.project, s.env, 5*time.Second
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	e := ended{out: out.String(), errs: strings.TrimSpace(errs.String())}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		e.status = -2
		s.broken("%s did not end within three minutes", args[0])
	case errors.As(err, &exit):
		e.status = exit.ExitCode()
	case err != nil:
		e.status, e.errs = -3, err.Error()
	}
	for _, sign := range []string{"panic:", "fatal error:", "goroutine 1 ["} {
		if strings.Contains(e.errs, sign) {
			s.broken("%s crashed: %.300s", strings.Join(args, " "), e.errs)
		}
	}
	s.count(args[0])
	return e
}

// run is at with this tree's program and the data directory of the stage; a
// status that is not among those expected is remembered.
func (s *stage) run(expected []int, args ...string) ended {
	e := s.at(s.bin, s.data, args...)
	s.expects(e, expected, args...)
	return e
}

func (s *stage) expects(e ended, expected []int, args ...string) {
	if e.status == 0 || e.status == -1 || slices.Contains(expected, e.status) {
		return
	}
	if strings.Contains(e.errs, "worker processes died") {
		s.count("jobs given up after three deaths, which is said")
		return
	}
	first, _, _ := strings.Cut(e.errs, "\n")
	if len(first) > 220 {
		first = first[:220]
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.odd[fmt.Sprintf("%s: status %d: %s", args[0], e.status, first)]++
}

// found is what searches print as JSON, over every face.
type found struct {
	Hits []struct {
		ID    string  `json:"id"`
		At    string  `json:"at"`
		Score float64 `json:"score"`
	} `json:"hits"`
	Notes []string `json:"notes"`
}

// places is what must be equal between two indexes of the same text.
func (f found) places() (out []string) {
	for _, h := range f.Hits {
		out = append(out, fmt.Sprintf("%s %.2f", h.At, h.Score))
	}
	return out
}

// search asks one store.
func (s *stage) search(bin, data, store, query string) (found, ended) {
	e := s.at(bin, data, "search", query, "--stores", store, "--limit", "10", "--json")
	var f found
	if e.status == 0 {
		if err := json.Unmarshal([]byte(e.out), &f); err != nil {
			s.broken("search %q printed no JSON: %.200s", query, e.out)
		}
	}
	return f, e
}

// known checks an answer to the question for one word of the folder "fixed".
func (s *stage) known(i int, f found, face string) {
	if len(f.Hits) > 0 && strings.Contains(f.Hits[0].At, fmt.Sprintf("entry%d.md", i)) {
		s.count("true answers")
		return
	}
	if len(f.Notes) > 0 {
		s.count("answers that say what they lack")
		return
	}
	s.broken("%s: the question for %s is answered with %v and no note", face, word(i), f.places())
}

// edit changes one file of the folder "live" as an editor does.
func (s *stage) edit(rng *rand.Rand) {
	list, _ := filepath.Glob(filepath.Join(s.project, "live", "*", "*.go"))
	if len(list) == 0 {
		return
	}
	f := list[rng.IntN(len(list))]
	b, err := os.ReadFile(f)
	if err != nil {
		return
	}
	if i := bytes.Index(b, []byte("\n// Change ")); i >= 0 {
		b = b[:i]
	}
	b = fmt.Appendf(b, "\n// Change %d of this file, which somebody saved.\n", rng.IntN(1e6))
	tmp := f + "~"
	if os.WriteFile(tmp, b, 0o600) == nil && os.Rename(tmp, f) == nil {
		s.count("files saved")
	}
}

// ask sends a request to a server of the stage.
func ask(ctx context.Context, address, path string, body any, into any) error {
	b, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address+path, bytes.NewReader(b))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		var b bytes.Buffer
		_, _ = b.ReadFrom(resp.Body)
		return fmt.Errorf("%s %s: %s", path, resp.Status, b.String())
	}
	return json.NewDecoder(resp.Body).Decode(into)
}

// serve starts a server on a free port and returns its address when it answers.
func (s *stage) serve(bin string) (*exec.Cmd, string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", err
	}
	addr := l.Addr().String()
	l.Close()
	cmd := exec.Command(bin, "--data-dir", s.data, "serve", "--addr", addr, "--no-evidence", "--no-enterprise")
	cmd.Dir, cmd.Env = s.project, s.env
	if err := cmd.Start(); err != nil {
		return nil, "", err
	}
	for range 200 {
		if c, err := net.Dial("tcp", addr); err == nil {
			c.Close()
			return cmd, "http://" + addr, nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	return nil, "", fmt.Errorf("the server does not answer on %s", addr)
}

// settle waits until no job is active.
func (s *stage) settle() {
	e := s.run(nil, "jobs", "--all", "--follow")
	if e.status != 0 {
		s.broken("jobs --follow ended with %d: %.200s", e.status, e.errs)
	}
}

// rows is a table of counts.
func rows(head string, m map[string]int) [][]string {
	out := [][]string{{head, "times"}}
	for _, k := range lab.Keys(m) {
		out = append(out, []string{k, strconv.Itoa(m[k])})
	}
	return out
}

// decode is json.Unmarshal that shows what it could not read.
func decode(text string, into any) error {
	if err := json.Unmarshal([]byte(text), into); err != nil {
		return fmt.Errorf("%w in %.200q", err, text)
	}
	return nil
}
