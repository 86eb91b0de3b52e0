// Package browsertest drives an installed Chromium for tests and measurements
// of our own pages: tabs, expressions, keys, pictures, and what axe-core says.
package browsertest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// Failing is what a tab says its failures to: a *testing.T, or what stops a program.
type Failing interface {
	Helper()
	Fatalf(format string, args ...any)
}

// Missing is why nothing can be tried where Find returns "".
const Missing = "there is no Chromium on the PATH; Debian's package chromium has it"

// Find returns the program, "" where none is installed.
func Find() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			return p
		}
	}
	return ""
}

// Version returns what the program calls itself.
func Version(program string) string {
	out, err := exec.Command(program, "--version").Output()
	if err != nil {
		return "Chromium"
	}
	return strings.TrimSpace(string(out))
}

// Browser is a running Chromium with a profile of its own.
type Browser struct {
	ctx  context.Context // of the allocator, and of the first tab, which holds the process
	stop []context.CancelFunc
}

// Start starts a program with a new profile in dir.
func Start(ctx context.Context, program, dir string) (*Browser, error) {
	alloc, stop := chromedp.NewExecAllocator(ctx, append(chromedp.DefaultExecAllocatorOptions[:], chromedp.UserDataDir(dir),
		chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.WindowSize(1280, 900))...)
	first, done := chromedp.NewContext(alloc)
	b := &Browser{ctx: first, stop: []context.CancelFunc{done, stop}}
	if err := chromedp.Do(first); err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

// Close ends it.
func (b *Browser) Close() {
	for _, f := range b.stop {
		f()
	}
}

// Look is how a page is looked at. Zero values are 1280 by 900, light.
type Look struct {
	Width, Height int64
	Scheme        string // light or dark
	// Early is a script that runs in each document before its own.
	Early string
}

// Tab is one page. An expression or step that cannot be done fails its test.
type Tab struct {
	t   Failing
	ctx context.Context
	// Root is put before every expression: "const root=…;".
	Root  string
	close context.CancelFunc
}

// Tab opens a tab, which gives up after patience.
func (b *Browser) Tab(t Failing, l Look, patience time.Duration) *Tab {
	t.Helper()
	ctx, done := chromedp.NewContext(b.ctx)
	ctx, over := context.WithTimeout(ctx, patience)
	tab := &Tab{t: t, ctx: ctx, close: func() { over(); done() }}
	if l.Width == 0 {
		l.Width = 1280
	}
	if l.Height == 0 {
		l.Height = 900
	}
	tab.Resize(l.Width, l.Height)
	if l.Scheme != "" {
		tab.Scheme(l.Scheme)
	}
	if l.Early != "" {
		_, err := chromedp.Call(ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: l.Early})
		tab.must(err)
	}
	return tab
}

// Close closes the tab.
func (b *Tab) Close() { b.close() }

func (b *Tab) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatalf("%v", err)
	}
}

// Resize gives the page another size in CSS pixels.
func (b *Tab) Resize(width, height int64) {
	b.t.Helper()
	b.must(chromedp.Do(b.ctx, chromedp.EmulateViewport(width, height)))
}

// Scheme has the system prefer light or dark colours.
func (b *Tab) Scheme(scheme string) {
	b.t.Helper()
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	b.must(err)
}

// Open goes to an address.
func (b *Tab) Open(url string) {
	b.t.Helper()
	b.must(chromedp.Do(b.ctx, chromedp.Navigate(url)))
}

// JS evaluates an expression and returns it as a string.
func (b *Tab) JS(expr string) string {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[string]("(()=>{"+b.Root+"return String("+expr+")})()"))
	if err != nil {
		b.t.Fatalf("%s: %v", clip(expr), err)
	}
	return v
}

// Value evaluates an expression and decodes it into v.
func (b *Tab) Value(expr string, v any) {
	b.t.Helper()
	b.must(json.Unmarshal([]byte(b.JS("JSON.stringify("+expr+")")), v))
}

// Until waits until an expression says something, and returns that. In the
// meantime the page may go to another document.
func (b *Tab) Until(expr string) string {
	b.t.Helper()
	for {
		v, err := chromedp.Run(b.ctx, chromedp.Evaluate[string]("(()=>{"+b.Root+"return String("+expr+")})()"))
		switch {
		case err != nil && !leaving(err):
			b.t.Fatalf("waited in vain for %s: %v", clip(expr), err)
		case err != nil || v == "" || v == "false" || v == "undefined" || v == "null" || v == "0":
		default:
			return v
		}
		select {
		case <-b.ctx.Done():
			b.t.Fatalf("waited in vain for %s", clip(expr))
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// leaving reports whether the page went to another document meanwhile.
func leaving(err error) bool {
	said := err.Error()
	return strings.Contains(said, "context was destroyed") || strings.Contains(said, "Cannot find context") || strings.Contains(said, "target navigated")
}

// Press presses keys as a person does; "\r" is Enter, "\t" Tab, "\x1b" Escape.
func (b *Tab) Press(keys string) {
	b.t.Helper()
	for before, rest, enter := strings.Cut(keys, "\r"); ; before, rest, enter = strings.Cut(rest, "\r") {
		if before != "" {
			b.must(chromedp.Do(b.ctx, chromedp.KeyEvent(before)))
		}
		if !enter {
			return
		}
		b.enter()
	}
}

// enter presses Enter as one event: of the two that chromedp makes of it, the
// letter comes although a page took the key.
func (b *Tab) enter() {
	b.t.Helper()
	b.strike("Enter", "\r")
}

// Strike presses the keys of letters, each as one event, so that a letter whose
// key the page takes is typed nowhere.
func (b *Tab) Strike(letters string) {
	b.t.Helper()
	for _, r := range letters {
		b.strike(string(r), string(r))
	}
}

func (b *Tab) strike(key, text string) {
	b.t.Helper()
	for _, typ := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeKeyDown, input.DispatchKeyEventTypeKeyUp} {
		p := input.DispatchKeyEventParams{Type: typ, Key: key}
		if key == "Enter" {
			p.Code, p.WindowsVirtualKeyCode = key, 13
		}
		if typ == input.DispatchKeyEventTypeKeyDown {
			p.Text = text
		}
		_, err := chromedp.Call(b.ctx, input.DispatchKeyEvent, p)
		b.must(err)
	}
}

// Click clicks the first element of a selector, when there is one.
func (b *Tab) Click(selector string) {
	b.t.Helper()
	quoted, err := json.Marshal(selector)
	b.must(err)
	b.Until(fmt.Sprintf("(e=>e&&!e.disabled&&(e.click(),true))(document.querySelector(%s))", quoted))
}

// Fill puts a text into a field as if it were typed.
func (b *Tab) Fill(selector, text string) {
	b.t.Helper()
	s, err := json.Marshal(selector)
	b.must(err)
	v, err := json.Marshal(text)
	b.must(err)
	b.Until(fmt.Sprintf("(e=>e&&(e.focus(),e.value=%s,e.dispatchEvent(new Event('input',{bubbles:true})),e.dispatchEvent(new Event('change',{bubbles:true})),true))(document.querySelector(%s))", v, s))
}

// Text returns what the page shows as text.
func (b *Tab) Text() string {
	b.t.Helper()
	return b.JS("document.body.innerText")
}

// Shot writes what is seen into a file as PNG.
func (b *Tab) Shot(file string) {
	b.t.Helper()
	png, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	b.must(err)
	b.must(os.WriteFile(file, png, 0o644))
}

// Axe has the source of axe-core look at the page and returns what it finds,
// "" for nothing.
func (b *Tab) Axe(source string) string {
	b.t.Helper()
	b.JS("(()=>{if(!window.axe){" + source + "\n}delete window.axeFound;window.axe.run().then(r=>window.axeFound='found: '+(r.passes.length>10?'':'too little was looked at ')+" +
		"r.violations.map(v=>v.id+' '+v.nodes.map(n=>n.target.join(' ')+(n.any[0]?' ('+n.any[0].message+')':'')).join(', ')).join('; '),e=>window.axeFound='failed: '+e);return 1})()")
	return strings.TrimPrefix(b.Until("window.axeFound"), "found: ")
}

// Axe returns the source of axe-core, which npm puts below dir.
func Axe(dir string) (string, error) {
	cmd := exec.Command("npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", dir, "axe-core@4")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("npm gives no axe-core: %w %s", err, out)
	}
	raw, err := os.ReadFile(filepath.Join(dir, "node_modules", "axe-core", "axe.min.js"))
	return string(raw), err
}

func clip(s string) string {
	if len(s) > 300 {
		return s[:300] + "…"
	}
	return s
}
