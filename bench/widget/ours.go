package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/web/browser/browsertest"
)

// ourPage is a page under a policy that lets the widget load, and nothing else.
func ourPage(w http.ResponseWriter, public string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", fmt.Sprintf("default-src 'none'; script-src %[1]s; connect-src %[1]s; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'", public))
	fmt.Fprintf(w, `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>Help</title>
<script type="module" src="%s/widget.js"></script><main><h1>Help</h1><knowledge-assistant title="Ask the handbook"></knowledge-assistant></main></html>`, public)
}

// looks are the pages on which our widget is tried.
var looks = []struct {
	name   string
	width  int64
	scheme string
}{{"wide and light", 1000, "light"}, {"wide and dark", 1000, "dark"}, {"320 pixels and light", 320, "light"}, {"320 pixels and dark", 320, "dark"}}

// ours asks our widget on wide and narrow pages, light and dark.
func ours(browser *browsertest.Browser, tmp, url, public, shots string) (string, error) {
	var b strings.Builder
	size, err := weigh(public)
	if err != nil {
		return "", err
	}
	fmt.Fprintf(&b, "- size: %d bytes compressed (widget.js and answer.js)\n", size)
	script, missing := browsertest.Axe(tmp)
	for _, v := range looks {
		shot := ""
		if shots != "" {
			shot = filepath.Join(shots, "ours-"+strings.ReplaceAll(v.name, " ", "-")+".png")
		}
		line, err := look(browser, url, v.width, v.scheme, script, shot)
		if err != nil {
			return "", fmt.Errorf("%s: %w", v.name, err)
		}
		fmt.Fprintf(&b, "- %s: %s\n", v.name, line)
	}
	if missing != nil {
		b.WriteString("- without axe-core, which npm could not give\n")
	}
	return b.String(), nil
}

// weigh returns how many bytes the widget has, compressed.
func weigh(public string) (int, error) {
	var all bytes.Buffer
	z := gzip.NewWriter(&all)
	for _, name := range []string{"/widget.js", "/answer.js"} {
		resp, err := http.Get(public + name)
		if err != nil {
			return 0, err
		}
		_, err = io.Copy(z, resp.Body)
		resp.Body.Close()
		if err != nil {
			return 0, err
		}
	}
	err := z.Close()
	return all.Len(), err
}

// look asks, opens a source, rates, and has axe look at what is there.
func look(b *browsertest.Browser, url string, width int64, scheme, axe, shot string) (line string, err error) {
	defer caught(&err)
	tab := b.Tab(failure(""), browsertest.Look{Width: width, Scheme: scheme}, 2*time.Minute)
	defer tab.Close()
	tab.Root = "const root=document.querySelector('knowledge-assistant')?.shadowRoot;"
	tab.Open(url)
	for _, js := range []string{
		"!!root?.querySelector('form')",
		"(document.querySelector('knowledge-assistant').ask('which files are left out of the index?'),1)",
		"!!root.querySelector('.answer[aria-busy=false] .cite')",
		"(root.querySelector('.cite').click(),root.querySelector('.thumbs button').click(),1)",
		"root.querySelector('.thumbs [role=status]').textContent",
		"root.querySelector('details[open] pre').textContent",
	} {
		tab.Until(js)
	}
	if wide := tab.JS("document.documentElement.scrollWidth"); wide != fmt.Sprint(width) {
		return "", fmt.Errorf("the page is %s wide", wide)
	}
	found := "not looked at"
	if axe != "" {
		if said := tab.Axe(axe); said != "" {
			return "", fmt.Errorf("axe found: %s", said)
		}
		found = "axe finds nothing"
	}
	if shot != "" {
		tab.Shot(shot)
	}
	return found + "; asked, streamed, a source opened, a thumb sent", nil
}

// failure ends a look.
type failure string

func (f failure) Error() string { return string(f) }

// Helper is there for browsertest.Failing.
func (f failure) Helper() {}

// Fatalf panics with a failure, which look returns.
func (f failure) Fatalf(format string, args ...any) { panic(failure(fmt.Sprintf(format, args...))) }

// caught makes an error of what Fatalf panics with.
func caught(err *error) {
	switch p := recover().(type) {
	case nil:
	case failure:
		*err = p
	default:
		panic(p)
	}
}
