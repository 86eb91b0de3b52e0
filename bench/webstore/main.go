// Command webstore measures stores of type web through the whole program,
// against a generated site on this machine: a crawl with everything that a
// crawler meets, kill -9 and going on, a refresh, an edit and a removal,
// cancelling, how fast searches are, and packages of the registries that this
// machine's settings name. It writes its report to bench/runs.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
	"github.com/seed-4f2d999b/knowledge/internal/web/crawl/crawltest"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "webstore:", err)
		os.Exit(1)
	}
}

type bench struct {
	bin, work, scratch string
	env                []string
	client             *lab.Client
	rows               [][]string
}

func (b *bench) row(what, value, bound string, met bool) {
	mark := "met"
	if !met {
		mark = "**missed**"
	}
	if bound == "" {
		mark = ""
	}
	b.rows = append(b.rows, []string{what, value, bound, mark})
	fmt.Fprintf(os.Stderr, "%-60s %-50s %s\n", what, value, mark)
}

type args map[string]any

// ask runs one command through a server and decodes its JSON.
func (b *bench) ask(out any, command string, a args) error {
	if command != "search" {
		return b.client.Execute(command, a, out)
	}
	text, err := b.client.Call(command, a)
	if err != nil {
		return err
	}
	return json.Unmarshal([]byte(text), out)
}

type job struct {
	ID, Status, Message string
	Progress            struct {
		Phase       string
		Done, Total int
	}
	Details map[string]any
}

func (b *bench) job(id string) (job, error) {
	var j job
	return j, b.ask(&j, "job:status", args{"jobId": id})
}

// wait polls a job until it has ended.
func (b *bench) wait(id string, each func(job) error) (job, error) {
	for {
		j, err := b.job(id)
		if err != nil || j.Status == "completed" || j.Status == "failed" || j.Status == "cancelled" {
			return j, err
		}
		if each != nil {
			if err := each(j); err != nil {
				return j, err
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// start creates or indexes a store and returns its job.
func (b *bench) start(command string, a args) (string, error) {
	var s struct{ JobID string }
	err := b.ask(&s, command, a)
	return s.JobID, err
}

// worker returns the process that runs a job.
func worker(id string) int {
	procs, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, p := range procs {
		raw, _ := os.ReadFile(p)
		args := strings.Split(strings.TrimRight(string(raw), "\x00"), "\x00")
		if slices.Contains(args, "work") && slices.Contains(args, id) {
			n, _ := strconv.Atoi(strings.Split(p, "/")[2])
			return n
		}
	}
	return 0
}

type page struct{ URL, State, Path, Reason string }

func (b *bench) pages(store, state string) (list []page, counts map[string]int, err error) {
	var out struct {
		Pages  []page
		Counts map[string]int
	}
	err = b.ask(&out, "store:pages", args{"store": store, "state": state, "limit": 5000})
	return out.Pages, out.Counts, err
}

// compare tells what is missing from a store, and what should not be there.
func (b *bench) compare(store string, srv *crawltest.Server) (missing, extra []string, err error) {
	list, _, err := b.pages(store, "kept")
	if err != nil {
		return nil, nil, err
	}
	have := map[string]int{}
	for _, p := range list {
		u, err := url.Parse(p.URL)
		if err != nil {
			return nil, nil, err
		}
		have[u.Path]++
	}
	want := map[string]bool{}
	for _, p := range srv.Wanted() {
		want[p] = true
		if have[p] == 0 && have[p+"/"] == 0 {
			missing = append(missing, p)
		}
	}
	for p, n := range have {
		trap := false // a calendar and the like: bounded, not forbidden; pages that a browser, where there is one, can read
		for _, t := range []string{"/calendar/", "/session/", "/deep", "/app/"} {
			trap = trap || strings.HasPrefix(p, t)
		}
		if trap && n == 1 {
			continue
		}
		if n > 1 || !want[p] && !want[strings.TrimSuffix(p, "/")] {
			extra = append(extra, p)
		}
	}
	slices.Sort(extra)
	return missing, extra, nil
}

func run() error {
	out := flag.String("out", "bench/runs", "folder of the report")
	size := flag.Int("pages", 2000, "ordinary pages of the site")
	bin := flag.String("bin", "", "measure this program instead of building the last commit")
	offline := flag.Bool("offline", false, "leave out package registries")
	flag.Parse()
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	b := &bench{}
	if b.scratch, err = lab.Scratch("webstore"); err != nil {
		return err
	}
	defer os.RemoveAll(b.scratch)
	began, load := time.Now(), lab.Load()
	tree := lab.Tree{Commit: *bin}
	if b.bin = *bin; b.bin == "" {
		if tree, err = lab.Checkout(root, filepath.Join(b.scratch, "tree")); err != nil {
			return err
		}
		b.bin = filepath.Join(b.scratch, "knowledge")
		if err := tree.Build(b.bin); err != nil {
			return err
		}
	}
	site := crawltest.New(crawltest.Options{Pages: *size, Traps: true, Lastmod: true})
	srv := crawltest.Start(site)
	defer srv.Close()
	u, err := url.Parse(srv.URL)
	if err != nil {
		return err
	}
	b.work = filepath.Join(b.scratch, "work")
	if err := os.MkdirAll(b.work, 0o755); err != nil {
		return err
	}
	config := filepath.Join(b.scratch, "config.yaml")
	if err := os.WriteFile(config, []byte("web: {allow: [\""+u.Host+"\"]}\n"), 0o600); err != nil {
		return err
	}
	b.env = lab.Env(filepath.Join(b.scratch, "data"), "KNOWLEDGE_CONFIG="+config, "CLAUDE_PROJECT_DIR="+b.work)
	if b.client, err = lab.Dial(b.work, b.env, b.bin, lab.Handshake); err != nil {
		return err
	}
	defer b.client.Close()
	most := *size + 500
	for _, step := range []struct {
		name string
		run  func() error
	}{
		{"crawl", func() error { return b.crawl(srv, most) }},
		{"refresh", func() error { return b.refresh(srv) }},
		{"edit", func() error { return b.edit(srv) }},
		{"search", func() error { return b.search(srv) }},
		{"kill", func() error { return b.kill(srv, most) }},
		{"cancel", func() error { return b.cancel() }},
		{"refused", b.refused},
		{"packages", func() error {
			if *offline {
				return nil
			}
			return b.packages()
		}},
	} {
		fmt.Fprintf(os.Stderr, "%s  %s (load %s)\n", time.Now().Format(time.TimeOnly), step.name, lab.Load())
		if err := step.run(); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	var r lab.Report
	r.Printf("# Stores of type web, %s\n\n%s. Program: %s. Load before: %s; the run took %s.\n\n", began.Format(time.DateOnly), lab.Machine(), tree.Commit, load, time.Since(began).Round(time.Second))
	r.Printf("A generated site of %d pages on the loopback interface, with sitemaps, robots.txt, redirects, duplicates, slow, broken, huge and script-only pages and traps, crawled by the program itself; the server counts what it was asked and what it sent.\n\n", *size)
	r.Table(append([][]string{{"what", "measured", "bound", ""}}, b.rows...)...)
	path, err := r.Write(*out, "webstore")
	fmt.Println(path)
	return err
}

var firstBytes int64

func (b *bench) crawl(srv *crawltest.Server, most int) error {
	began := time.Now()
	id, err := b.start("store:create", args{"name": "site", "source": srv.URL, "type": "web", "maxPages": most})
	if err != nil {
		return err
	}
	early, peak := time.Duration(0), int64(0)
	j, err := b.wait(id, func(j job) error {
		if pid := worker(id); pid > 0 {
			peak = max(peak, rss(pid))
		}
		if early == 0 {
			var r struct{ Hits []struct{ At string } }
			if err := b.ask(&r, "search", args{"query": "Home", "stores": []string{"site"}, "limit": 1}); err == nil && len(r.Hits) > 0 {
				early = time.Since(began)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	took := time.Since(began)
	firstBytes = srv.Sent()
	missing, extra, err := b.compare("site", srv)
	if err != nil {
		return err
	}
	_, counts, err := b.pages("site", "failed")
	if err != nil {
		return err
	}
	n := counts["kept"]
	b.row("first crawl and index", fmt.Sprintf("%s: %d pages in %s, %.0f pages/s", j.Status, n, took.Round(time.Millisecond), float64(n)/took.Seconds()), "completed", j.Status == "completed")
	b.row("reachable pages that are missing", fmt.Sprintf("%d of %d %v", len(missing), len(srv.Wanted()), missing[:min(3, len(missing))]), "0", len(missing) == 0)
	b.row("pages that should not be there, or twice", fmt.Sprintf("%d %v", len(extra), extra[:min(5, len(extra))]), "0", len(extra) == 0)
	forbidden := 0
	for _, r := range srv.Requests() {
		if crawltest.Forbidden(r.Path) {
			forbidden++
		}
	}
	b.row("requests that robots.txt forbids", fmt.Sprint(forbidden), "0", forbidden == 0)
	b.row("addresses by what became of them", fmt.Sprint(counts), "", true)
	b.row("first hit while the crawl was under way", early.Round(time.Millisecond).String(), "", true)
	b.row("memory of the worker, as sampled", lab.MB(peak), "", true)
	b.row("bytes sent by the server", lab.MB(firstBytes), "", true)
	return nil
}

// rss returns the peak of a process in bytes.
func rss(pid int) int64 {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(raw)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "VmHWM:" {
			n, _ := strconv.ParseInt(f[1], 10, 64)
			return n << 10
		}
	}
	return 0
}

func (b *bench) refresh(srv *crawltest.Server) error {
	before := srv.Sent()
	began := time.Now()
	id, err := b.start("store:index", args{"store": "site"})
	if err != nil {
		return err
	}
	j, err := b.wait(id, nil)
	if err != nil {
		return err
	}
	share := float64(srv.Sent()-before) / float64(firstBytes)
	b.row("refresh of the unchanged site", fmt.Sprintf("%s in %s, %.1f %% of the bytes: %s", j.Status, time.Since(began).Round(time.Millisecond), 100*share, j.Message), "≤ 5 %", share <= 0.05 && j.Status == "completed")
	return nil
}

// edit changes a page and removes another.
func (b *bench) edit(srv *crawltest.Server) error {
	const changed, removed = 40, 41
	srv.Change(changed)
	srv.Remove(removed)
	var before, after struct{ Text, Note string }
	if err := b.ask(&before, "read", args{"store": "site", "path": srv.URL + crawltest.Path(changed)}); err != nil {
		return err
	}
	id, err := b.start("store:index", args{"store": "site"})
	if err != nil {
		return err
	}
	j, err := b.wait(id, nil)
	if err != nil {
		return err
	}
	if err := b.ask(&after, "read", args{"store": "site", "path": srv.URL + crawltest.Path(changed)}); err != nil {
		return err
	}
	gone := b.ask(new(any), "read", args{"store": "site", "path": srv.URL + crawltest.Path(removed)}) != nil
	b.row("an edited page shows after store:index", fmt.Sprintf("%v (%s)", before.Text != after.Text, j.Message), "true", before.Text != after.Text)
	b.row("a removed page is gone after store:index", fmt.Sprint(gone), "true", gone)
	return nil
}

// search asks for every tenth page by its title and first words.
func (b *bench) search(srv *crawltest.Server) error {
	list, _, err := b.pages("site", "kept")
	if err != nil {
		return err
	}
	asked, found, cited := 0, 0, 0
	var times []float64
	for i := 0; i < len(list); i += max(1, len(list)/100) {
		u, err := url.Parse(list[i].URL)
		if err != nil {
			return err
		}
		words := strings.Fields(strings.NewReplacer("-", " ", "/", " ", "_", " ").Replace(u.Path))
		if len(words) < 3 {
			continue
		}
		asked++
		var r struct {
			Hits []struct{ At string }
			Ms   float64
		}
		if err := b.ask(&r, "search", args{"query": strings.Join(words, " "), "stores": []string{"site"}, "limit": 3}); err != nil {
			return err
		}
		times = append(times, r.Ms)
		for _, h := range r.Hits {
			at, fragment, _ := strings.Cut(h.At, "#")
			if at == list[i].URL {
				found++
				if fragment != "" {
					cited++
				}
				break
			}
		}
	}
	b.row("pages found by the words of their address among three hits", fmt.Sprintf("%d of %d, %d with an anchor", found, asked, cited), "all", found == asked)
	b.row("time of such a search, median", fmt.Sprintf("%.1f ms", lab.Median(times)), "", true)
	return nil
}

// kill kills the worker of a crawl three times.
func (b *bench) kill(srv *crawltest.Server, most int) error {
	if err := b.ask(new(any), "store:delete", args{"store": "site"}); err != nil {
		return err
	}
	srv.Reset()
	id, err := b.start("store:create", args{"name": "killed", "source": srv.URL, "type": "web", "maxPages": most})
	if err != nil {
		return err
	}
	kills := 0
	var at []int
	next := 300
	j, err := b.wait(id, func(j job) error {
		if kills < 3 && j.Progress.Phase == "crawl" && j.Progress.Done >= next {
			if pid := worker(id); pid > 0 {
				if p, err := os.FindProcess(pid); err != nil || p.Kill() != nil {
					return fmt.Errorf("cannot kill %d", pid)
				}
				kills++
				at = append(at, j.Progress.Done)
				next += 400
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	twice, pages := 0, map[string]int{}
	for _, r := range srv.Requests() {
		if strings.HasPrefix(r.Path, "/docs/") && r.Status == 200 {
			if pages[r.Path]++; pages[r.Path] == 2 {
				twice++
			}
		}
	}
	missing, extra, err := b.compare("killed", srv)
	if err != nil {
		return err
	}
	b.row(fmt.Sprintf("kill -9 of the worker at %v pages", at), fmt.Sprintf("%s; %d missing, %d too many; %d pages asked for twice", j.Status, len(missing), len(extra), twice), "nothing missing",
		kills == 3 && j.Status == "completed" && len(missing) == 0)
	return nil
}

// cancel stops a refresh of everything, which must leave what was there.
func (b *bench) cancel() error {
	var before, after struct{ Generation, Documents int }
	if err := b.ask(&before, "store:info", args{"store": "killed"}); err != nil {
		return err
	}
	id, err := b.start("store:index", args{"store": "killed", "force": true})
	if err != nil {
		return err
	}
	for {
		j, err := b.job(id)
		if err != nil {
			return err
		}
		if j.Progress.Done > 100 || j.Status == "completed" {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	began := time.Now()
	if err := b.ask(new(any), "job:cancel", args{"jobId": id}); err != nil {
		return err
	}
	pid := worker(id)
	j, err := b.wait(id, nil)
	if err != nil {
		return err
	}
	took := time.Since(began)
	for pid > 0 && worker(id) == pid && time.Since(began) < 10*time.Second {
		time.Sleep(10 * time.Millisecond)
	}
	ended := time.Since(began)
	if err := b.ask(&after, "store:info", args{"store": "killed"}); err != nil {
		return err
	}
	b.row("cancel while crawling", fmt.Sprintf("%s after %s, worker gone after %s; generation %d → %d", j.Status, took.Round(time.Millisecond), ended.Round(time.Millisecond), before.Generation, after.Generation),
		"< 1 s, previous generation stays", j.Status == "cancelled" && took < time.Second && before == after)
	data := ""
	for _, e := range b.env {
		if v, ok := strings.CutPrefix(e, "KNOWLEDGE_DATA_DIR="); ok {
			data = v
		}
	}
	if err := b.ask(new(any), "store:delete", args{"store": "killed"}); err != nil {
		return err
	}
	left, _ := os.ReadDir(filepath.Join(data, "web"))
	b.row("kept pages after store:delete", fmt.Sprintf("%d folders", len(left)), "0", len(left) == 0)
	return nil
}

func (b *bench) refused() error {
	_, err := lab.Command(b.work, b.env, b.bin, "store:create", "x", "http://127.0.0.1:8080/", "--type", "web")
	said := fmt.Sprint(err)
	b.row("a site of this very machine that was not allowed", strings.Join(strings.Fields(said[max(0, strings.Index(said, "knowledge: ")):]), " "), "refused, names web.allow", err != nil && strings.Contains(said, "web.allow"))
	return nil
}

// packages makes stores of packages through the registries of this machine.
func (b *bench) packages() error {
	for _, p := range []struct{ source, query string }{
		{"npm:zod@3", "parse an optional string"},
		{"npm:cors@2", "allow an origin"},
		{"npm:@sindresorhus/slugify", "separator of the slug"},
		{"go:golang.org/x/sync@v0.7.0", "limit the number of goroutines"},
		{"go:github.com/rogpeppe/go-internal@v1", "run a script as a test"},
		{"go:github.com/BurntSushi/toml", "decode a file"},
	} {
		began := time.Now()
		id, err := b.start("store:create", args{"source": p.source})
		if err != nil {
			return err
		}
		j, err := b.wait(id, nil)
		if err != nil {
			return err
		}
		var r struct{ Hits []struct{ At, Store string } }
		hit := ""
		if j.Status == "completed" {
			if err := b.ask(&r, "search", args{"query": p.query, "stores": []string{"*"}, "limit": 1}); err != nil {
				return err
			}
			if len(r.Hits) > 0 {
				hit = r.Hits[0].Store + " " + r.Hits[0].At
			}
		}
		b.row(p.source, fmt.Sprintf("%s in %s: %s; %q → %s", j.Status, time.Since(began).Round(time.Millisecond), j.Message, p.query, hit), "completed", j.Status == "completed" && hit != "")
	}
	return nil
}
