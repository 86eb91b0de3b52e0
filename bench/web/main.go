// Command web measures stores of type web on real documentation: the folders
// of five public projects are rendered to sites in the styles of five
// generators and served on loopback, crawled by the program itself, and asked
// the questions of testdata, which were written from the sources beforehand. It
// also crawls with instructions and counts how early the pages they mean come.
//
//	web [-repos DIR] [-aside] [-out FILE] [-v] [-folder]
//
// DIR holds one folder per project, OWNER+NAME, with a git repository in it or
// in its folder repo; without one, or without a project, it is skipped and said
// so. -aside counts the third of the questions that is kept aside as well, and
// is for the figure in a report only; -v lists what was missed; -folder asks
// folders of the renderings as well, without a crawl.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
	"github.com/seed-4f2d999b/knowledge/internal/web/webdoc"
)

// sources are the sites: the project, its folder, the style it is rendered in.
var sources = []struct{ name, project, dir, style string }{
	{"fastify", "fastify/fastify", "docs", "plain"},
	{"vite", "vitejs/vite", "docs", "vitepress"},
	{"prometheus", "prometheus/prometheus", "docs", "mkdocs"},
	{"typeorm", "typeorm/typeorm", "docs/docs", "docusaurus"},
	{"eslint", "eslint/eslint", "docs/src", "sphinx"},
}

type question struct {
	Site, Page, Section, Ask string
	Or                       []struct{ Page, Section string }
	Hard, Aside              bool
}

type instruction struct {
	Site, Instructions string
	Pages              []string
	Aside              bool
}

func main() {
	repos := flag.String("repos", "", "folder of the repositories")
	aside := flag.Bool("aside", false, "count what is kept aside, too")
	out := flag.String("out", "", "write the report here")
	verbose := flag.Bool("v", false, "list what was missed")
	folder := flag.Bool("folder", false, "ask folders of the renderings, too")
	keep := flag.String("keep", "", "work in this folder and leave it; what an earlier run has crawled there is asked again")
	flag.Parse()
	if *repos == "" {
		fmt.Println("skipped: no -repos DIR with checkouts of", "fastify/fastify, vitejs/vite, prometheus/prometheus, typeorm/typeorm and eslint/eslint")
		return
	}
	if err := run(*repos, *keep, *aside, *verbose, *folder, *out); err != nil {
		fmt.Fprintln(os.Stderr, "web:", err)
		os.Exit(1)
	}
}

type bench struct {
	bin, scratch, work string
	env                []string
	sites              map[string]*site
	urls               map[string]string
	commits            map[string]string
}

func run(repos, keep string, aside, verbose, folder bool, out string) error {
	questions, err := lab.ReadLines[question]("bench/web/testdata/questions.jsonl")
	if err != nil {
		return err
	}
	crawls, err := lab.ReadLines[instruction]("bench/web/testdata/crawls.jsonl")
	if err != nil {
		return err
	}
	scratch := keep
	if keep == "" {
		if scratch, err = lab.Scratch("web"); err != nil {
			return err
		}
		defer os.RemoveAll(scratch)
	}
	b := &bench{scratch: scratch, bin: filepath.Join(scratch, "knowledge"), work: filepath.Join(scratch, "work"), sites: map[string]*site{}, urls: map[string]string{}, commits: map[string]string{}}
	if err := lab.Build(".", b.bin, "./cmd/knowledge"); err != nil {
		return err
	}
	if err := os.MkdirAll(b.work, 0o755); err != nil {
		return err
	}
	var hosts []string
	_, err = os.Stat(filepath.Join(scratch, "data"))
	crawled := err == nil
	for i, s := range sources {
		dir := filepath.Join(scratch, "src", s.name)
		repo, commit, err := lab.Repository(repos, s.project, "HEAD")
		if err == nil {
			err = lab.Export(repo, commit, dir, func(path string) bool { return strings.HasPrefix(path, s.dir+"/") })
		}
		if err != nil {
			fmt.Printf("skipped: %s: %v\n", s.project, err)
			continue
		}
		b.commits[s.name] = commit
		if b.sites[s.name], err = readSite(s.name, s.style, filepath.Join(dir, filepath.FromSlash(s.dir))); err != nil {
			return err
		}
		port := 0
		if keep != "" { // the same addresses next time
			port = 18800 + i
		}
		ln, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			return err
		}
		defer ln.Close()
		go func() { _ = http.Serve(ln, b.sites[s.name]) }()
		b.urls[s.name] = "http://" + ln.Addr().String()
		hosts = append(hosts, `"`+ln.Addr().String()+`"`)
	}
	if len(b.sites) == 0 {
		return nil
	}
	config := filepath.Join(scratch, "config.yaml")
	if err := os.WriteFile(config, []byte("web: {allow: ["+strings.Join(hosts, ", ")+"]}\n"), 0o600); err != nil {
		return err
	}
	b.env = lab.Env(filepath.Join(scratch, "data"), "KNOWLEDGE_CONFIG="+config, "CLAUDE_PROJECT_DIR="+b.work)

	var r lab.Report
	r.Printf("# Questions to documentation sites\n\n%s, %s.\n\nThe documentation of five public projects, rendered in the styles of five generators (navigation, breadcrumbs, lists of contents, marks beside headings, numbered lines of code), served on loopback and crawled by the program. `bench/web/testdata` holds the questions and the instructions, written from the sources before any page was read by a program.\n\n    .ci/extra web -repos DIR -aside\n\n",
		time.Now().Format(time.DateOnly), lab.Machine())
	rows := [][]string{{"site", "commit", "style", "pages", "kept", "crawl", "pages/s"}}
	for _, s := range sources {
		if b.sites[s.name] == nil || crawled {
			continue
		}
		took, kept, err := b.crawl(s.name, s.name)
		if err != nil {
			return err
		}
		n := len(b.sites[s.name].pages)
		rows = append(rows, []string{s.name, b.commits[s.name][:12], s.style, fmt.Sprint(n), fmt.Sprint(kept), lab.Ms(took), fmt.Sprintf("%.0f", float64(kept)/took.Seconds())})
		if folder {
			if err := b.folder(s.name); err != nil {
				return err
			}
		}
	}
	if !crawled {
		r.Table(rows...)
	}
	r.Printf("The bound is the right section (page and anchor) at rank ≤ 3 in 85 %% of the questions.\n\n")
	modes := []string{""}
	if folder {
		modes = append(modes, "-folder")
	}
	for _, mode := range modes {
		if mode != "" {
			r.Printf("The same questions to folders of the renderings, without a crawl:\n\n")
		}
		if err := b.questions(&r, questions, mode, aside, verbose); err != nil {
			return err
		}
	}
	if crawled {
		fmt.Print(r.String())
		return nil
	}
	if err := b.crawls(&r, crawls, aside, verbose); err != nil {
		return err
	}
	fmt.Print(r.String())
	if out != "" {
		return os.WriteFile(out, []byte(strings.TrimRight(r.String(), "\n")+"\n"), 0o644)
	}
	return nil
}

// knowledge runs the program.
func (b *bench) knowledge(args ...string) (string, error) {
	cmd := exec.Command(b.bin, args...)
	cmd.Dir, cmd.Env = b.work, b.env
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("knowledge %s: %w: %s%s", strings.Join(args, " "), err, out.String(), errs.String())
	}
	return out.String(), nil
}

// crawl makes a store of a site and waits for its index.
func (b *bench) crawl(store, name string, more ...string) (time.Duration, int, error) {
	b.sites[name].forget()
	began := time.Now()
	args := append([]string{"store:create", store, b.urls[name] + "/", "--type", "web", "--maxPages", "2000", "--headless", "never", "--json"}, more...)
	if _, err := b.knowledge(args...); err != nil {
		return 0, 0, err
	}
	if err := b.wait(); err != nil {
		return 0, 0, err
	}
	took := time.Since(began)
	text, err := b.knowledge("store:pages", store, "--json", "--limit", "1")
	if err != nil {
		return 0, 0, err
	}
	var pages struct{ Counts map[string]int }
	if err := json.Unmarshal([]byte(text), &pages); err != nil {
		return 0, 0, err
	}
	return took, pages.Counts["kept"], nil
}

// wait waits until no job runs.
func (b *bench) wait() error {
	for range 600 {
		text, err := b.knowledge("jobs", "--all", "--json")
		if err != nil {
			return err
		}
		if !strings.Contains(text, `"status":"running"`) && !strings.Contains(text, `"status":"pending"`) {
			if strings.Contains(text, `"status":"failed"`) {
				return fmt.Errorf("a job failed: %s", text)
			}
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Errorf("a job does not end")
}

// folder makes a store of the renderings of a site in a folder.
func (b *bench) folder(name string) error {
	dir := filepath.Join(b.scratch, "renderings", name)
	for at, p := range b.sites[name].pages {
		page, err := webdoc.Read(p.html, "text/html; charset=utf-8", b.urls[name]+"/"+at+".html", webdoc.Options{})
		if err != nil {
			return err
		}
		file := filepath.Join(dir, filepath.FromSlash(at)+".md")
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, page.Markdown, 0o644); err != nil {
			return err
		}
	}
	if _, err := b.knowledge("add-folder", dir, "--name", name+"-folder"); err != nil {
		return err
	}
	return b.wait()
}

type hit struct {
	At   string `json:"at"`
	URL  string `json:"url"`
	Line int    `json:"line"`
}

// place returns the page and the section of a hit.
func (b *bench) place(name string, h hit) (page, anchor string) {
	at := h.URL
	if at == "" {
		at = h.At
	}
	if rest, ok := strings.CutPrefix(at, b.urls[name]+"/"); ok {
		page, anchor = webdoc.Split(rest)
		anchor, _, _ = strings.Cut(anchor, ":L")
		page, _, _ = strings.Cut(page, ".html")
		if page == "" {
			page = "index"
		}
		return page, anchor
	}
	// A folder: the nearest heading with an anchor at or above the first line.
	file, lines, _ := strings.Cut(h.At, ".md:L")
	var first int
	_, _ = fmt.Sscanf(lines, "%d", &first)
	text, err := os.ReadFile(filepath.Join(b.scratch, "renderings", name, file+".md"))
	if err != nil {
		return file, ""
	}
	for i, line := range strings.Split(string(text), "\n") {
		if i >= first {
			break
		}
		if _, a, ok := strings.Cut(line, " {#"); ok && strings.HasPrefix(line, "#") {
			anchor = strings.TrimSuffix(a, "}")
		}
	}
	return file, anchor
}

func (b *bench) questions(r *lab.Report, questions []question, mode string, aside, verbose bool) error {
	type count struct{ n, top, page int }
	per := map[string]*count{}
	add := func(key string, rank, pageRank int) {
		c := per[key]
		if c == nil {
			c = &count{}
			per[key] = c
		}
		c.n++
		if rank <= 3 {
			c.top++
		}
		if pageRank <= 3 {
			c.page++
		}
	}
	for _, q := range questions {
		s := b.sites[q.Site]
		if s == nil || q.Aside && !aside {
			continue
		}
		type target struct{ page, anchor string }
		var want []target
		for _, t := range append([]struct{ Page, Section string }{{q.Page, q.Section}}, q.Or...) {
			p := s.pages[t.Page]
			if p == nil {
				return fmt.Errorf("%s has no page %q", q.Site, t.Page)
			}
			anchor, ok := p.sections[t.Section]
			if !ok {
				return fmt.Errorf("%s: %s has no section %q", q.Site, t.Page, t.Section)
			}
			want = append(want, target{t.Page, anchor})
		}
		text, err := b.knowledge("search", q.Ask, "--stores", q.Site+mode, "--limit", "5", "--json")
		if err != nil {
			return err
		}
		var reply struct{ Hits []hit }
		if err := json.Unmarshal([]byte(text), &reply); err != nil {
			return err
		}
		rank, pageRank := 99, 99
		var got []string
		for i, h := range reply.Hits {
			page, anchor := b.place(q.Site, h)
			got = append(got, page+"#"+anchor)
			for _, w := range want {
				if page == w.page {
					pageRank = min(pageRank, i+1)
					if anchor == w.anchor {
						rank = min(rank, i+1)
					}
				}
			}
		}
		group := "open"
		if q.Aside {
			group = "aside"
		}
		for _, key := range []string{"all", group, q.Site} {
			add(key, rank, pageRank)
		}
		if q.Hard {
			add("hard", rank, pageRank)
		}
		if verbose && !q.Aside && rank > 3 {
			fmt.Fprintf(os.Stderr, "missed: %s %q\n   want %v\n   got  %s\n", q.Site, q.Ask, want, strings.Join(got, "\n        "))
		}
	}
	rows := [][]string{{"questions", "asked", "right section at rank ≤ 3", "right page at rank ≤ 3"}}
	for _, key := range []string{"fastify", "vite", "prometheus", "typeorm", "eslint", "hard", "open", "aside", "all"} {
		if c := per[key]; c != nil {
			rows = append(rows, []string{key, fmt.Sprint(c.n), fmt.Sprintf("%d (%.1f %%)", c.top, 100*float64(c.top)/float64(c.n)), fmt.Sprintf("%d (%.1f %%)", c.page, 100*float64(c.page)/float64(c.n))})
		}
	}
	r.Table(rows...)
	return nil
}

// crawls crawls with each instruction and counts how many of the pages it
// means are among the first fifth of those asked for.
func (b *bench) crawls(r *lab.Report, crawls []instruction, aside, verbose bool) error {
	rows := [][]string{{"instruction", "site", "pages meant", "requests", "a fifth", "of the meant within it", "last at"}}
	met, meant := 0, 0
	for i, c := range crawls {
		s := b.sites[c.Site]
		if s == nil || c.Aside && !aside {
			continue
		}
		if _, _, err := b.crawl(fmt.Sprintf("crawl-%d", i), c.Site, "--crawlInstructions", c.Instructions); err != nil {
			return err
		}
		s.mu.Lock()
		asked := append([]string(nil), s.asked...)
		s.mu.Unlock()
		fifth := (len(asked) + 4) / 5
		within, last := 0, 0
		for _, want := range c.Pages {
			at := 0
			for j, a := range asked {
				if a == want {
					at = j + 1
				}
			}
			if at > 0 && at <= fifth {
				within++
			} else if verbose && !c.Aside {
				fmt.Fprintf(os.Stderr, "late: %q: %s at %d of %d\n", c.Instructions, want, at, len(asked))
			}
			last = max(last, at)
		}
		met += within
		meant += len(c.Pages)
		name := c.Instructions
		if c.Aside {
			name += " (aside)"
		}
		rows = append(rows, []string{name, c.Site, fmt.Sprint(len(c.Pages)), fmt.Sprint(len(asked)), fmt.Sprint(fifth), fmt.Sprintf("%d (%.0f %%)", within, 100*float64(within)/float64(len(c.Pages))), fmt.Sprint(last)})
	}
	r.Printf("Crawls with instructions, bound 80 %% of the pages meant within the first fifth of the requests: %d of %d (%.1f %%).\n\n", met, meant, 100*float64(met)/float64(max(meant, 1)))
	r.Table(rows...)
	return nil
}
