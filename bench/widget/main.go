// Widget shows in a real Chromium that our widget works on a page of another
// origin with a strict policy, with what axe finds in it, and that a page's
// original chat widget works against this program: the JavaScript of a public
// repository asks, shows the answer and its sources, and sends a thumb up.
// Nothing of that repository is kept.
//
//	.ci/extra widget [-repo DIR|URL] [-out FILE] [-shots DIR]
//
// It is skipped, with the reason, where there is no Chromium or the
// repository cannot be had.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/web/browser/browsertest"
)

const source = "https://github.com/SM23-EOD/eod-web-rag-service"

// skip is why nothing was tried.
type skip string

func (s skip) Error() string { return string(s) }

func main() {
	repo := flag.String("repo", source, "the widget's repository: a URL, a checkout or a bare repository")
	out := flag.String("out", "", "write the report to this file, too")
	shots := flag.String("shots", "", "keep screenshots in this folder")
	flag.Parse()
	report, err := run(*repo, *shots)
	var s skip
	switch {
	case errors.As(err, &s):
		fmt.Println("skipped:", s)
		return
	case err != nil:
		fmt.Fprintln(os.Stderr, "widget:", err)
		os.Exit(1)
	}
	fmt.Print(report)
	if *out != "" {
		if err := os.WriteFile(*out, []byte(report), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, "widget:", err)
			os.Exit(1)
		}
	}
}

// widgets are the two of the repository, with the buttons of each. The second
// names a variable that does not exist since the commit after the one given,
// and shows nothing wherever it stands.
var widgets = []struct {
	name, commit, file, element, thumb, skip string
}{
	{"v1", "HEAD", "src/assistant-widget.js", "rag-assistant", ".feedback-btn.positive", "[data-skip-feedback]"},
	{"v2", "3809dda", "src/assistant-widget-v2.js", "rag-assistant-v2", ".feedback-button.positive", ""},
}

func run(repo, shots string) (string, error) {
	browser := browsertest.Find()
	if browser == "" {
		return "", skip(browsertest.Missing)
	}
	tmp, err := os.MkdirTemp("", "widget")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tmp)
	scripts := map[string][]byte{}
	git, commit, missing := repository(repo, tmp)
	for _, w := range widgets {
		if missing != nil {
			break
		}
		if scripts["/"+w.name+".js"], err = exec.Command("git", "--git-dir", git, "show", w.commit+":"+w.file).Output(); err != nil {
			return "", fmt.Errorf("%s: %w", w.file, err)
		}
	}
	markedNote := "without marked, which npm could not give: the widget escapes then"
	if js, err := marked(tmp); err == nil {
		scripts["/marked.js"] = js
		markedNote = "with marked, which does not clean what it renders"
	}
	var page http.HandlerFunc
	pages := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { page(w, r) }))
	defer pages.Close()
	endpoint, public, token, stop, err := serve(tmp, pages.URL)
	if err != nil {
		return "", err
	}
	defer stop()
	page = func(w http.ResponseWriter, r *http.Request) {
		if js, ok := scripts[r.URL.Path]; ok {
			w.Header().Set("Content-Type", "text/javascript")
			w.Write(js)
			return
		}
		if r.URL.Path == "/ours" {
			ourPage(w, public)
			return
		}
		for _, x := range widgets {
			if r.URL.Path == "/"+x.name {
				w.Header().Set("Content-Type", "text/html; charset=utf-8")
				fmt.Fprintf(w, `<!doctype html><title>Widget</title><script>window.hits=[];window.alert=m=>window.hits.push(m)</script>
<script src="/marked.js"></script><script src="/%s.js"></script><h1>A page of another origin</h1>
<%s endpoint="%s/api/v1/mcp/tools/call" title="Asistente" session-id="web"></%s>`, x.name, x.element, endpoint, x.element)
				return
			}
		}
		http.NotFound(w, r)
	}
	chromium, err := browsertest.Start(context.Background(), browser, filepath.Join(tmp, "profile"))
	if err != nil {
		return "", err
	}
	defer chromium.Close()
	var b strings.Builder
	lines, err := ours(chromium, tmp, pages.URL+"/ours", public, shots)
	if err != nil {
		return "", fmt.Errorf("our widget: %w", err)
	}
	fmt.Fprintf(&b, "# Our widget\n\nIn %s, on a page of another origin with a strict policy.\n\n%s\n", browsertest.Version(browser), lines)
	if missing != nil {
		fmt.Fprintf(&b, "The original widget was not tried, since its repository cannot be had.\n")
		return b.String(), nil
	}
	fmt.Fprintf(&b, "# The original widget\n\n%s at commit %s, in %s, %s.\n\n", source, commit, browsertest.Version(browser), markedNote)
	for _, w := range widgets {
		lines, err := drive(chromium, pages.URL+"/"+w.name, w.element, w.thumb, w.skip, filepath.Join(shots, w.name), shots != "")
		if err != nil {
			return "", fmt.Errorf("%s: %w", w.name, err)
		}
		fmt.Fprintf(&b, "## %s, at %s\n\n%s\n", w.name, w.commit, lines)
	}
	var stats map[string]any
	req, err := http.NewRequest(http.MethodGet, endpoint+"/api/v1/feedback/stats", nil)
	if err != nil {
		return "", err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	if resp, err := http.DefaultClient.Do(req); err == nil {
		err = json.NewDecoder(resp.Body).Decode(&stats)
		resp.Body.Close()
		if err != nil || stats["pending_count"] != float64(len(widgets)+len(looks)) {
			return "", fmt.Errorf("the thumbs did not all arrive: %v, %v", stats, err)
		}
	}
	fmt.Fprintf(&b, "Feedback that arrived and waits for the owner: %v.\n", stats["pending_count"])
	return b.String(), nil
}

// repository returns a git directory of the widget's repository and its commit.
func repository(repo, tmp string) (dir, commit string, err error) {
	dir = repo
	if strings.Contains(repo, "://") {
		dir = filepath.Join(tmp, "widget.git")
		if out, err := exec.Command("git", "clone", "--quiet", "--bare", repo, dir).CombinedOutput(); err != nil {
			return "", "", errors.New(strings.TrimSpace(string(out)))
		}
	} else if _, err := os.Stat(filepath.Join(repo, ".git")); err == nil {
		dir = filepath.Join(repo, ".git")
	}
	out, err := exec.Command("git", "--git-dir", dir, "rev-parse", "--short=12", "HEAD").Output()
	return dir, strings.TrimSpace(string(out)), err
}

// marked is the renderer that the widget's pages load, from npm.
func marked(tmp string) ([]byte, error) {
	cmd := exec.Command("npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", tmp, "marked@12")
	if err := cmd.Run(); err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(tmp, "node_modules", "marked", "marked.min.js"))
}

// documents are what the widget is asked about; one of them tries to get into the page.
var documents = map[string]string{
	"limits.md": "# Limits\n\nFiles over one mebibyte are left out of the index. The limit is set with the key maxFileBytes in the configuration.\n\n## maxFileBytes\n\n- default: 1048576\n",
	"evil.md": "# Banner\n\nThe colour of the <script>alert('script')</script> banner is [blue](javascript:alert('link')) by <img src=x onerror=alert('image')> default, " +
		"and `<svg onload=alert('code')>` stands in code.\n",
}

// serve builds and starts the program over the documents and returns its address.
func serve(tmp, origin string) (endpoint, public, token string, stop func(), err error) {
	bin := filepath.Join(tmp, "knowledge")
	if out, err := exec.Command("go", "build", "-o", bin, "./cmd/knowledge").CombinedOutput(); err != nil {
		return "", "", "", nil, fmt.Errorf("%s", out)
	}
	docs := filepath.Join(tmp, "docs")
	config := filepath.Join(tmp, "config.yaml")
	if err := os.MkdirAll(docs, 0o755); err != nil {
		return "", "", "", nil, err
	}
	for name, text := range documents {
		if err := os.WriteFile(filepath.Join(docs, name), []byte(text), 0o644); err != nil {
			return "", "", "", nil, err
		}
	}
	if err := os.WriteFile(config, []byte("answer:\n  origins: [\""+origin+"\"]\n"), 0o600); err != nil {
		return "", "", "", nil, err
	}
	env := append(os.Environ(), "KNOWLEDGE_DATA_DIR="+filepath.Join(tmp, "data"), "KNOWLEDGE_CONFIG="+config)
	for _, args := range [][]string{{"store:create", "handbook", docs, "--scope", "user"}, {"store:public", "handbook"}} {
		cmd := exec.Command(bin, args...)
		cmd.Env, cmd.Dir = env, tmp
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", "", "", nil, fmt.Errorf("%v: %s", args, out)
		}
	}
	var free [2]string
	for i := range free {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return "", "", "", nil, err
		}
		free[i] = ln.Addr().String()
		ln.Close()
	}
	addr := free[0]
	public = "http://" + free[1]
	cmd := exec.Command(bin, "serve", "--addr", addr, "--public", free[1])
	cmd.Env, cmd.Dir = env, tmp
	printed, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return "", "", "", nil, err
	}
	stop = func() { _ = cmd.Process.Signal(os.Interrupt); _ = cmd.Wait() }
	lines := bufio.NewScanner(printed)
	for lines.Scan() {
		if _, t, ok := strings.Cut(lines.Text(), "#token="); ok {
			token = t
		}
		if strings.HasPrefix(lines.Text(), "public: ") { // the last to listen
			go io.Copy(io.Discard, printed)
			return "http://" + addr, public, token, stop, nil
		}
	}
	stop()
	return "", "", "", nil, errors.New("the server did not start")
}

// drive asks the widget of a page two questions, gives a thumb up, and
// returns what was seen.
func drive(b *browsertest.Browser, url, element, thumb, skip, shot string, keep bool) (report string, err error) {
	defer caught(&err)
	tab := b.Tab(failure(""), browsertest.Look{Width: 1000}, 4*time.Minute)
	defer tab.Close()
	tab.Root = fmt.Sprintf("const root=document.querySelector(%q)?.shadowRoot;", element)
	answer := func(n int) string { // the text of the n-th
		return tab.Until(fmt.Sprintf(`(()=>{const all=[...root.querySelectorAll(".message-container.assistant,.message-container.error")].map(e=>e.textContent.replace(/\s+/g,' ').trim())`+
			`.filter(t=>/\[1\]/.test(t)||/No se pudo/.test(t));const l=[...new Set(all)].filter((t,i,s)=>!s.some((o,j)=>j!=i&&t.includes(o)&&t.length<o.length+60&&j<i));`+
			`const mine=l.filter(t=>%d==1||/banner|No se pudo/.test(t));return mine.length?mine[0]:''})()`, n))
	}
	ask := func(question string) {
		q, _ := json.Marshal(question)
		tab.JS(fmt.Sprintf(`(()=>{const t=root.querySelector('textarea');t.value=%s;root.querySelector('form').requestSubmit();return true})()`, q))
	}
	click := func(selector string) {
		tab.Until(fmt.Sprintf("(e=>e&&(e.click(),1))(root?.querySelector(%q))", selector))
	}
	if keep {
		defer tab.Shot(shot + ".png")
	}
	tab.Open(url)
	click("[class^=launcher]")
	began := time.Now()
	ask("¿Qué archivos quedan fuera del índice?")
	first := answer(1)
	took := time.Since(began)
	click(thumb)
	if skip != "" {
		click(skip) // the comment
	}
	thanks := tab.Until("root.querySelector('.feedback-thanks')?.textContent.trim()||''")
	ask("what is the colour of the banner?")
	second := answer(2)
	time.Sleep(500 * time.Millisecond) // for what a document might have begun
	hits, html := tab.JS("window.hits.join(', ')"), tab.JS("root.innerHTML")
	switch {
	case !strings.Contains(first, "Files over one mebibyte are left out"):
		return "", fmt.Errorf("the answer is %q", first)
	case !strings.Contains(first, "limits.md"):
		return "", fmt.Errorf("no source is shown: %q", first)
	case !strings.Contains(second, "banner is blue"):
		return "", fmt.Errorf("the second answer is %q", second)
	case hits != "" || activeRE.MatchString(html):
		return "", fmt.Errorf("a document got into the page: %s", hits)
	}
	return fmt.Sprintf("- asked in Spanish, answered in %d ms: %s\n- thumb up: %s\n- a document with scripts: %s\n- scripts of documents that ran: none\n", took.Milliseconds(), first, thanks, second), nil
}

var activeRE = regexp.MustCompile(`(?i)<(?:script|img[^>]*onerror|svg[^>]*onload)|href="javascript:`)
