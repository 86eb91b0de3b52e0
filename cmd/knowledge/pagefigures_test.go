package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/web/browser/browsertest"
)

// ready notes when the search field can be typed into, and what is long.
const readyMark = `;(()=>{const look=()=>{if(document.activeElement?.id==='q'){window.ready=performance.now();return}requestAnimationFrame(look)};look()})();`

// pageFigure is one line of the report.
type pageFigure struct{ line, figure, bound string }

// TestPageFigures measures the page on a store of 100,000 chunks, where
// KNOWLEDGE_PAGE_OUT names the folder for the report: .ci/extra page. Times are
// those of this machine, with all that runs beside.
func TestPageFigures(t *testing.T) {
	if pageOut == "" {
		t.Skip("measures for minutes: .ci/extra page")
	}
	w := newPage(t)
	chunks := w.large()
	for i := range 2000 {
		w.put(fmt.Sprintf("shop/specs/many/E-%04d.md", i), fmt.Sprintf("---\nid: E-%04d\nkind: entity\nstatus: approved\n---\n# E-%04d\n\n## Description\n\nIt needs [[E-%04d]] and [[E-%04d]].\n", i, i, (i*7+1)%2000, (i/3)%2000))
	}
	w.put("shop/many.txt", strings.Repeat("one of ten thousand lines that match\n", 10_000))
	w.must(w.project, "search", "order", "--wait")
	var out []pageFigure
	add := func(line, bound, format string, args ...any) {
		out = append(out, pageFigure{line, fmt.Sprintf(format, args...), bound})
	}
	bytes, ready := w.firstView()
	add("first view, bytes transferred", "120 kB", "%.1f kB", float64(bytes)/1000)
	add("interactive", "0.8 s", "%.2f s median, %.2f s slowest of %d", ready[len(ready)/2]/1000, ready[len(ready)-1]/1000, len(ready))
	before := w.busy()
	typed, long := w.typing()
	each := (w.busy() - before) / float64(len(typed))
	add(fmt.Sprintf("typing to results, p95 of %d, at %d chunks", len(typed), chunks), "60 ms", "%.0f ms (median %.0f, slowest %.0f)", at(typed, .95), at(typed, .5), typed[len(typed)-1])
	task := func(line string, l browsertest.Longest) {
		add(line, "100 ms", "%d ms of processor time, %d ms by the clock", l.CPU.Milliseconds(), l.Wall.Milliseconds())
	}
	if each > 0 {
		add("processor time of the server for each key", "", "%.0f ms", each)
	}
	task("longest task while typing", long)
	hits, long := w.manyHits()
	task(fmt.Sprintf("longest task with %d hits, scrolled through", hits), long)
	nodes, long := w.manyNodes()
	task(fmt.Sprintf("longest task with a graph of %d nodes, laid out, zoomed and chosen in", nodes), long)
	var b strings.Builder
	fmt.Fprintf(&b, "# The page\n\n%s, %d processors (%s/%s), load %s, %s.\n\n| what | figure | bound |\n|---|---|---|\n", time.Now().UTC().Format("2006-01-02 15:04"), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, load(), browsertest.Version(browsertest.Find()))
	for _, f := range out {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", f.line, f.figure, f.bound)
	}
	t.Log("\n" + b.String())
	if err := os.WriteFile(filepath.Join(pageOut, "page.md"), []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

func at(sorted []float64, p float64) float64 {
	return sorted[min(len(sorted)-1, int(p*float64(len(sorted))))]
}

// busy is the processor time that the server has had, in ms, where that can be
// read: on a machine that does much beside it says more than a clock.
func (w *pageWorld) busy() float64 {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", w.served.Process.Pid))
	_, rest, ok := strings.Cut(string(raw), ") ")
	if f := strings.Fields(rest); err == nil && ok && len(f) > 12 {
		var user, system float64
		fmt.Sscan(f[11], &user)
		fmt.Sscan(f[12], &system)
		return (user + system) * 10 // a tick is a hundredth of a second
	}
	return 0
}

// load is how busy the machine is, where that can be read.
func load() string {
	raw, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	one, _, _ := strings.Cut(string(raw), " ")
	return one
}

// large makes stores of 100,000 chunks: Go's own sources, and texts made to
// fill up what they lack. It returns how many there are.
func (w *pageWorld) large() int {
	w.t.Helper()
	w.must(w.project, "store:create", "go", filepath.Join(goroot, "src"), "--type", "folder", "--scope", "user", "--yes")
	count := func() (n int) {
		var list app.StoreList
		w.decode(&list, w.project, "stores", "--all")
		for _, s := range list.Stores {
			n += s.Chunks
		}
		return n
	}
	if n := count(); n < 100_000 {
		for i := 0; i < 2*(100_000-n); i += 100 { // of short functions a chunk has more than one
			var b strings.Builder
			for k := range 100 {
				fmt.Fprintf(&b, "// step%d%d handles part %d of request %d.\nfunc step%d%d(a, b int) int {\n\tif a > %d {\n\t\treturn b * %d\n\t}\n\treturn a - b\n}\n\n", i, k, k, i, i, k, k, i)
			}
			w.put(fmt.Sprintf("made/f%06d.go", i), "package made\n\n"+b.String())
		}
		w.must(w.project, "store:create", "made", filepath.Join(w.root, "made"), "--type", "folder", "--scope", "user", "--yes")
	}
	return count()
}

// firstView returns the bytes that a new browser loads until one can search,
// and when that is, in ms, of several.
func (w *pageWorld) firstView() (bytes int, ready []float64) {
	w.t.Helper()
	for i := range 7 {
		browser, err := browsertest.Start(w.t.(*testing.T).Context(), browsertest.Find(), w.t.TempDir())
		if err != nil {
			w.t.Fatal(err)
		}
		b := browser.Tab(w.t.(*testing.T), browsertest.Look{Early: watched + readyMark}, pagePatience)
		b.Open("http://" + w.addr + "/#token=" + w.token)
		var at float64
		b.Until("window.ready")
		b.Value("ready", &at)
		if i > 0 { // the first one warms the server up
			ready = append(ready, at)
		}
		b.Until("document.querySelector('.start p')")
		b.Value("[...performance.getEntriesByType('navigation'),...performance.getEntriesByType('resource')].reduce((n,e)=>n+e.transferSize,0)", &bytes)
		browser.Close()
	}
	slices.Sort(ready)
	return bytes, ready
}

// typing types questions letter by letter, at the pace of a quick typist, and
// returns how long each of their results took to be seen after the key, in ms,
// and the longest task.
func (w *pageWorld) typing() (took []float64, long browsertest.Longest) {
	w.t.Helper()
	b := w.tab(browsertest.Look{}, "/")
	defer b.Close()
	b.Until("document.activeElement?.id==='q'")
	// What is shown answers the newest text when results are not busy: the time
	// from the key to the frame that shows it.
	b.JS(`(()=>{window.took=[];let key=0,text='';const field=document.getElementById('q');
		field.addEventListener('input',()=>{key=performance.now();text=field.value},true);
		new MutationObserver(()=>{if(!key)return;const r=document.querySelector('.results');
			if(r&&r.getAttribute('aria-busy')==='false'&&r.querySelector('.summary,.state')&&field.value===text){const k=key;key=0;requestAnimationFrame(()=>setTimeout(()=>took.push(performance.now()-k)))}
		}).observe(document.body,{subtree:true,childList:true,attributes:true,characterData:true});return 1})()`)
	long = b.Tasks(func() { w.type8(b) })
	b.Value("took", &took)
	if len(took) < 50 {
		w.t.Fatalf("%d keys were measured", len(took))
	}
	slices.Sort(took)
	return took, long
}

// type8 types eight questions, letter by letter.
func (w *pageWorld) type8(b *browsertest.Tab) {
	for _, q := range []string{"retry with backoff", "Server.Shutdown", "parse a duration", "http handler timeout", "read all of a file", "compress gzip writer", "sort a slice", "lock a mutex"} {
		for _, r := range q {
			before := b.JS("took.length")
			b.Press(string(r))
			b.Until("took.length>" + before + "||!document.getElementById('q').value.trim()")
		}
		b.JS("(e=>(e.value='',e.dispatchEvent(new Event('input',{bubbles:true})),1))(document.getElementById('q'))")
		time.Sleep(200 * time.Millisecond)
	}
}

// manyHits scrolls through ten thousand lines.
func (w *pageWorld) manyHits() (n int, long browsertest.Longest) {
	w.t.Helper()
	b := w.tab(browsertest.Look{}, "/")
	defer b.Close()
	b.Until("document.querySelector('.start p')")
	long = b.Tasks(func() {
		b.Open("http://" + w.addr + "/search?mode=regex&q=ten+thousand")
		b.Until("document.querySelectorAll('.line').length>10")
		b.Value("Number(document.querySelector('.list li').getAttribute('aria-setsize'))", &n)
		b.JS("(async()=>{for(let y=0;y<document.documentElement.scrollHeight;y+=4000){scrollTo(0,y);await new Promise(requestAnimationFrame)}scrollTo(0,document.documentElement.scrollHeight);window.over=1})()")
		b.Until("window.over")
		b.Press("jjjj")
	})
	w.shot(b, "many-hits")
	return n, long
}

// manyNodes lays out the specification graph, zooms and chooses.
func (w *pageWorld) manyNodes() (n int, long browsertest.Longest) {
	w.t.Helper()
	b := w.tab(browsertest.Look{}, "/")
	defer b.Close()
	b.Until("document.querySelector('.start p')")
	long = b.Tasks(func() {
		b.Open("http://" + w.addr + "/specs")
		b.Until("document.querySelector('canvas[data-state=done]')")
		w.shot(b, "many-nodes")
		for range 5 {
			b.JS("(c=>(c.dispatchEvent(new WheelEvent('wheel',{deltaY:-200,clientX:500,clientY:500,bubbles:true,cancelable:true})),1))(document.querySelector('canvas'))")
			time.Sleep(50 * time.Millisecond)
		}
		b.Click(".node > button")
		b.Fill("#node-filter", "12")
		time.Sleep(200 * time.Millisecond)
	})
	w.shot(b, "many-nodes-chosen")
	var said string
	b.Value("document.querySelector('.top [role=status]').textContent.replace(/,/,'')", &said)
	if _, err := fmt.Sscanf(said, "%d", &n); err != nil {
		w.t.Errorf("%q: %v", said, err)
	}
	return n, long
}
