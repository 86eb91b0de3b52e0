package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// ourPage is a page under a policy that lets the widget load, and nothing else.
func ourPage(w http.ResponseWriter, public string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", fmt.Sprintf("default-src 'none'; script-src %[1]s; connect-src %[1]s; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'", public))
	fmt.Fprintf(w, `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>Help</title>
<script type="module" src="%s/widget.js"></script><main><h1>Help</h1><knowledge-assistant title="Ask the handbook"></knowledge-assistant></main></html>`, public)
}

// axe is the source of axe-core, from npm.
func axe(tmp string) (string, error) {
	cmd := exec.Command("npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", tmp, "axe-core@4")
	if err := cmd.Run(); err != nil {
		return "", err
	}
	raw, err := os.ReadFile(filepath.Join(tmp, "node_modules", "axe-core", "axe.min.js"))
	return string(raw), err
}

// looks are the pages on which our widget is tried.
var looks = []struct {
	name   string
	width  int64
	scheme string
}{{"wide and light", 1000, "light"}, {"wide and dark", 1000, "dark"}, {"320 pixels and light", 320, "light"}, {"320 pixels and dark", 320, "dark"}}

// ours asks our widget on wide and narrow pages, light and dark.
func ours(alloc context.Context, tmp, url, public, shots string) (string, error) {
	var b strings.Builder
	size, err := weigh(public)
	if err != nil {
		return "", err
	}
	fmt.Fprintf(&b, "- size: %d bytes compressed (widget.js and answer.js)\n", size)
	script, missing := axe(tmp)
	for _, v := range looks {
		shot := ""
		if shots != "" {
			shot = filepath.Join(shots, "ours-"+strings.ReplaceAll(v.name, " ", "-")+".png")
		}
		line, err := look(alloc, url, v.width, v.scheme, script, shot)
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
func look(alloc context.Context, url string, width int64, scheme, axe, shot string) (string, error) {
	tab, cancel := chromedp.NewContext(alloc)
	defer cancel()
	tab, done := context.WithTimeout(tab, 2*time.Minute)
	defer done()
	do := func(js string) (string, error) {
		return chromedp.Run(tab, chromedp.Evaluate[string]("(()=>{const root=document.querySelector('knowledge-assistant')?.shadowRoot;return String("+js+")})()"))
	}
	until := func(js string) (string, error) { return until(tab, do, js) }
	if err := chromedp.Do(tab, chromedp.EmulateViewport(width, 900)); err != nil {
		return "", err
	}
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
	if _, err := chromedp.Call(tab, emulation.SetEmulatedMedia, media); err != nil {
		return "", err
	}
	if err := chromedp.Do(tab, chromedp.Navigate(url)); err != nil {
		return "", err
	}
	for _, js := range []string{
		"!!root?.querySelector('form')",
		"(document.querySelector('knowledge-assistant').ask('which files are left out of the index?'),1)",
		"!!root.querySelector('.answer[aria-busy=false] .cite')",
		"(root.querySelector('.cite').click(),root.querySelector('.thumbs button').click(),1)",
		"root.querySelector('.thumbs [role=status]').textContent",
		"root.querySelector('details[open] pre').textContent",
	} {
		if _, err := until(js); err != nil {
			return "", err
		}
	}
	wide, err := do("document.documentElement.scrollWidth")
	if err != nil {
		return "", err
	}
	if wide != fmt.Sprint(width) {
		return "", fmt.Errorf("the page is %s wide", wide)
	}
	found := "not looked at"
	if axe != "" {
		if _, err := do("(()=>{" + axe + "\nwindow.axe.run().then(r=>window.found='found: '+(r.passes.length>10?'':'too little was looked at ')+r.violations.map(v=>v.id+' '+v.nodes.map(n=>n.target.join(' ')).join(', ')).join('; '),e=>window.found='failed: '+e);return 1})()"); err != nil {
			return "", err
		}
		if found, err = until("window.found"); err != nil {
			return "", err
		}
		if found != "found: " {
			return "", fmt.Errorf("axe %s", found)
		}
		found = "axe finds nothing"
	}
	if shot != "" {
		png, err := chromedp.Run(tab, chromedp.CaptureScreenshot())
		if err == nil {
			err = os.WriteFile(shot, png, 0o644)
		}
		if err != nil {
			return "", err
		}
	}
	return found + "; asked, streamed, a source opened, a thumb sent", nil
}
