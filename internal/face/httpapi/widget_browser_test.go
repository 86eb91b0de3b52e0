package httpapi

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/answers"
	"github.com/seed-4f2d999b/knowledge/internal/platform/config"
	"github.com/seed-4f2d999b/knowledge/internal/web/browser/browsertest"
)

// tab is a page with the widget.
type tab struct {
	*browsertest.Tab
	t *testing.T
}

// browse opens a browser of a width; the test is skipped where there is none.
func browse(t *testing.T, width int64) *tab {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a browser")
	}
	program := browsertest.Find()
	if program == "" {
		t.Skip(browsertest.Missing)
	}
	b, err := browsertest.Start(t.Context(), program, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	x := b.Tab(t, browsertest.Look{Width: width}, 90*time.Second)
	x.Root = "const root=document.querySelector('knowledge-assistant')?.shadowRoot;"
	return &tab{x, t}
}

func (b *tab) open(url string) {
	b.t.Helper()
	b.Open(url)
	b.Until("!!root")
}

// ask types a question and sends it with the Enter key.
func (b *tab) ask(question string) {
	b.t.Helper()
	q, _ := json.Marshal(question)
	b.JS(fmt.Sprintf(`(()=>{const t=root.querySelector('textarea');t.focus();t.value=%s;
		t.dispatchEvent(new KeyboardEvent('keydown',{key:'Enter',bubbles:true,cancelable:true}));return 1})()`, q))
}

// ended waits for the n-th answer and returns its text.
func (b *tab) ended(n int) string {
	b.t.Helper()
	return b.Until(fmt.Sprintf("root.querySelectorAll('.answer[aria-busy=false], .answer.failed')[%d]?.textContent", n-1))
}

// site serves a page that shows the widget of an API of another origin, under a
// policy that lets nothing else load.
func site(t *testing.T, api func() string, element string) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", fmt.Sprintf("default-src 'none'; script-src %[1]s 'nonce-x'; connect-src %[1]s; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'", api()))
		fmt.Fprintf(w, `<!doctype html><html lang="es"><meta name="viewport" content="width=device-width"><title>A page</title>
<script nonce="x">window.hits=[];window.alert=m=>window.hits.push(m);addEventListener('securitypolicyviolation',e=>hits.push(e.violatedDirective+' '+e.blockedURI))</script>
<script type="module" src="%s/widget.js"></script><main><h1>Ayuda</h1>%s</main></html>`, api(), element)
	}))
	t.Cleanup(srv.Close)
	return srv
}

// TestWidget asks in a browser: on a page of another origin with a strict
// policy, in the language of the page, by keyboard.
func TestWidget(t *testing.T) {
	b := browse(t, 320)
	s := answering(t, true)
	var h http.Handler
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.ServeHTTP(w, r) }))
	defer api.Close()
	page := site(t, func() string { return api.URL }, `<knowledge-assistant title="Pregunta al manual" session-id="web"></knowledge-assistant>`)
	h = PublicHandler(s.app, strings.TrimPrefix(api.URL, "http://"), config.Public{}, []string{page.URL}, Options{Log: io.Discard})
	b.open(page.URL)
	if got := b.JS("root.querySelector('h2').textContent+'|'+root.querySelector('button').textContent+'|'+root.querySelector('textarea').placeholder"); got != "Pregunta al manual|Preguntar|Haz una pregunta…" {
		t.Errorf("the widget says %q", got)
	}
	b.ask("which files are left out of the index?")
	if got := b.ended(1); !strings.Contains(got, "Files over one mebibyte are left out of the index.") || !strings.Contains(got, "Fuentes") {
		t.Fatalf("the answer: %q", got)
	}
	// A number opens its source at its lines; nothing needs a mouse.
	b.JS("root.querySelector('.cite').click()")
	if got := b.Until("root.querySelector('details[open] pre').textContent"); !strings.Contains(got, "Files over one mebibyte") {
		t.Errorf("the source shows %q", got)
	}
	if got := b.JS("root.activeElement.tagName"); got != "SUMMARY" {
		t.Errorf("the focus is on %s", got)
	}
	if got := b.JS("root.querySelector('details a').href"); !strings.HasPrefix(got, api.URL+"/api/v1/chunks/") || !strings.Contains(got, "#:~:text=") {
		t.Errorf("the source leads to %s", got)
	}
	b.JS("root.querySelector('.thumbs button').click()")
	b.Until("root.querySelector('.thumbs [aria-pressed=true]') && root.querySelector('.thumbs [role=status]').textContent")
	if stats, err := answers.StatsOfFeedback(t.Context(), s.app); err != nil || stats.Pending != 1 {
		t.Errorf("%+v, %v: the thumb did not arrive", stats, err)
	}
	b.ask("What is maxFileBytes?")
	b.ended(2)
	b.ask("and what is its default?")
	if got := b.ended(3); !strings.Contains(got, "1048576") {
		t.Errorf("the follow-up: %q", got)
	}
	if got := b.JS("document.documentElement.scrollWidth"); got != "320" && got != b.JS("document.documentElement.clientWidth") {
		t.Errorf("the page is %s wide on 320", got)
	}
	if got := b.JS("hits.join()"); got != "" {
		t.Errorf("the page met %s", got)
	}
	api.CloseClientConnections()
	api.Close()
	b.ask("is anybody there?")
	if got := b.ended(4); !strings.Contains(got, "No se puede llegar al servidor.") || !strings.Contains(got, "Reintentar") {
		t.Errorf("without a server: %q", got)
	}
}

// TestWidgetStreams shows sentences before the answer has ended.
func TestWidgetStreams(t *testing.T) {
	b := browse(t, 800)
	more := make(chan bool)
	files := http.NewServeMux()
	widgetRoutes(files, func(http.ResponseWriter, *http.Request) bool { return true })
	files.HandleFunc("POST /api/v1/mcp/tools/call", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "event: start\ndata: {}\n\nevent: sentence\ndata: {\"delta\":\"The first. [1]\"}\n\n")
		_ = http.NewResponseController(w).Flush()
		select {
		case <-more:
		case <-r.Context().Done():
			return
		}
		fmt.Fprint(w, "event: sentence\ndata: {\"delta\":\" The second.\"}\n\nevent: done\ndata: {\"success\":true,\"result\":\"The first. [1] The second.\",\"sources\":[]}\n\n")
	})
	files.HandleFunc("OPTIONS /", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Header().Set("Access-Control-Allow-Headers", "Content-Type")
	})
	api := httptest.NewServer(files)
	defer api.Close()
	page := site(t, func() string { return api.URL }, `<knowledge-assistant></knowledge-assistant>`)
	b.open(page.URL)
	b.ask("what?")
	b.Until("root.querySelector('.answer[aria-busy=true] p')?.textContent.includes('The first.')")
	if got := b.JS("root.querySelector('form button').textContent"); got != "Parar" {
		t.Errorf("the button says %q", got)
	}
	more <- true
	if got := b.ended(1); !strings.Contains(got, "The second.") {
		t.Errorf("%q", got)
	}
	b.ask("and?")
	b.Until("root.querySelectorAll('.answer p').length > 1")
	b.JS("root.querySelector('form').requestSubmit()") // stops it
	if got := b.ended(2); !strings.Contains(got, "The first.") {
		t.Errorf("stopped: %q", got)
	}
}

// TestHostileReplies: whatever a reply holds, in its text, titles, addresses and
// snippets, the widget shows characters.
func TestHostileReplies(t *testing.T) {
	b := browse(t, 800)
	var at atomic.Int64
	files := http.NewServeMux()
	widgetRoutes(files, func(http.ResponseWriter, *http.Request) bool { return true })
	files.HandleFunc("POST /api/v1/mcp/tools/call", func(w http.ResponseWriter, _ *http.Request) {
		bad := browsertest.Hostile[at.Load()]
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Header().Set("Content-Type", "application/json")
		raw, _ := json.Marshal(map[string]any{"success": true, "result": bad + " [1]\n\n- " + bad, "confidence": 0.9, "sources": []any{
			map[string]any{"title": bad, "url": "javascript:alert(1)//" + bad, "snippet": bad},
			map[string]any{"title": bad, "url": "data:text/html,<script>alert(1)</script>", "snippet": bad},
			map[string]any{"title": bad, "url": "https://example.org/" + bad, "snippet": bad},
		}})
		w.Write(raw)
	})
	files.HandleFunc("OPTIONS /", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Header().Set("Access-Control-Allow-Headers", "Content-Type")
	})
	api := httptest.NewServer(files)
	defer api.Close()
	// Without a policy, which would hide what the widget lets through.
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, `<!doctype html><html lang="en"><title>A page</title><script>window.hits=[];window.alert=m=>hits.push(m)</script>
<script type="module" src="%s/widget.js"></script><knowledge-assistant></knowledge-assistant></html>`, api.URL)
	}))
	defer page.Close()
	b.open(page.URL)
	for i := range browsertest.Hostile {
		at.Store(int64(i))
		b.ask("what?")
		b.ended(i + 1)
		b.JS("[...root.querySelectorAll('details')].forEach(d=>d.open=true)")
	}
	if got := b.JS("[...new Set([...root.querySelectorAll('*')].map(e=>e.tagName.toLowerCase()))].sort().join(' ')"); got != "a article button code details div form h2 li ol p path pre span summary svg textarea ul" {
		t.Errorf("the widget has grown elements: %s", got)
	}
	if got := b.JS("[...root.querySelectorAll('*')].flatMap(e=>[...e.attributes].map(a=>a.name)).filter(n=>n.startsWith('on')||n==='style'||n==='src').join()"); got != "" {
		t.Errorf("it has the attributes %s", got)
	}
	if got := b.JS("[...root.querySelectorAll('a')].map(a=>a.protocol).filter(p=>p!=='https:').join()"); got != "" {
		t.Errorf("it leads to %s", got)
	}
	time.Sleep(300 * time.Millisecond) // for what a text might have begun
	if got := b.JS("hits.join()+performance.getEntriesByType('resource').map(e=>e.name).filter(n=>n.includes('evil')).join()"); got != "" {
		t.Errorf("something happened: %s", got)
	}
}
