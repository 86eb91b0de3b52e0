package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/web/browser/browsertest"
)

// button is an expression that presses the button of an element that says so, if it is there.
func button(within, says string) string {
	return fmt.Sprintf("(b=>b&&!b.disabled&&(b.focus(),b.click(),1))([...(%s?.querySelectorAll('button,a')??[])].find(b=>b.textContent.trim()===%q))", within, says)
}

// TestPageKeys: the keys that help lists work in every view at once, without
// the mouse and without a focus; a query survives them.
func TestPageKeys(t *testing.T) {
	w := newPage(t)
	b := w.tab(browsertest.Look{}, "/")
	defer b.Close()
	const field, help = "document.getElementById('q')", "document.querySelector('dialog[open]')"
	b.Until("document.activeElement?.id==='q'")
	b.Strike("/") // meant for the page, which has put the focus there by itself
	b.Strike("?")
	if said := b.Until(help + "?.textContent"); !strings.Contains(said, "goes to the search field") {
		t.Errorf("the keys are %q", said)
	}
	b.Press("\x1b")
	b.Until("!" + help)
	b.Strike("/order") // now it is a query
	if got := b.JS(field + ".value"); got != "/order" {
		t.Errorf("the query is %q", got)
	}
	b.Fill("#q", "price of an order?")
	b.Strike("?") // a letter of the query
	b.Until("document.querySelector('.hit')")
	b.Press("\x1b")
	if got := b.Until("document.activeElement===document.body && " + field + ".value"); got != "price of an order??" {
		t.Errorf("after Escape the query is %q", got)
	}
	b.Strike("j")
	b.Until("document.activeElement.closest('.hit')")
	b.Press("\x1b")
	b.Until("document.activeElement===" + field)

	for _, view := range []string{"/stores", "/jobs", "/specs", "/evidence", "/answers", "/status", "/graph/shop/order/order.go", "/read/shop/order/order.go"} {
		b.Open("http://" + w.addr + view)
		b.Until("document.querySelector('main :is(.page,.read)')")
		b.Strike("?")
		if said := b.Until(help + "?.textContent"); !strings.Contains(said, "goes to the search") {
			t.Errorf("%s: the keys are %q", view, said)
		}
		b.Press("\x1b")
		b.Until("!" + help)
		b.Strike("/")
		b.Until("location.pathname==='/' && document.activeElement?.id==='q'")
	}

	b.Open("http://" + w.addr + "/graph/shop/order/order.go")
	b.Until("document.querySelector('canvas[data-state=done]')")
	zoom := b.JS("document.querySelector('canvas').dataset.scale")
	b.Strike("+")
	b.Until("document.querySelector('canvas').dataset.scale>" + zoom)
	b.Strike("0")
	b.Until("document.querySelector('canvas').dataset.scale===" + fmt.Sprintf("%q", zoom))
	b.Strike("?")
	said := b.Until(help + "?.textContent")
	for _, does := range []string{"zooms in", "zooms out", "shows all of it", "chooses the next node", "move the picture"} {
		if !strings.Contains(said, does) {
			t.Errorf("the keys of a graph lack %q: %q", does, said)
		}
	}
	b.Press("\x1b")
	b.Until("!" + help)
	b.Strike("j")
	b.Until("document.querySelector('.node.chosen > button')?.textContent==='price.go'")
	// A neighbour is a way on.
	b.Until("(b=>b&&(b.click(),1))([...document.querySelectorAll('.relations button')].find(b=>b.textContent==='order/order.go'))")
	b.Until("document.querySelector('.node.chosen > button')?.textContent==='order.go'")
	w.quiet(b)
}

// TestPageRegex: a regular expression is looked for in every store that is in
// scope, the page says in which, and a filter leaves one.
func TestPageRegex(t *testing.T) {
	w := newPage(t)
	w.put("notes/tea.md", "# Tea\n\nThe price of green tea.\n")
	w.must(w.project, "store:create", "notes", filepath.Join(w.root, "notes"))
	w.must(w.project, "search", "tea", "--wait")
	b := w.tab(browsertest.Look{}, "/search?mode=regex&q=price+of+%28an%7Cgreen%29")
	defer b.Close()
	if said := b.Until("document.querySelector('.summary')?.textContent"); !strings.Contains(said, "in 2 of 2 stores") {
		t.Errorf("it says %q", said)
	}
	if got := fmt.Sprint(shown(b, ".line a")); !strings.Contains(got, "notes tea.md:3") || !strings.Contains(got, "shop order.go:9") {
		t.Errorf("the lines are %s", got)
	}
	b.Until("(b=>b&&(b.click(),1))([...document.querySelectorAll('.filters label')].find(e=>e.textContent.startsWith('notes')))")
	b.Until("document.querySelector('.summary')?.textContent==='1 line in notes'")
	b.Until("(b=>b&&(b.click(),1))(document.querySelector('.line a'))")
	b.Until("location.pathname==='/read/notes/tea.md' && location.hash==='#L3'")
	b.Open("http://" + w.addr + "/search?mode=regex&q=zebra")
	if said := b.Until("document.querySelector('.state h2')?.textContent"); said != "No line of 2 stores matches" {
		t.Errorf("it says %q", said)
	}
	w.quiet(b)
}

// TestPageAddresses: what is shown has an address: a long query, lines beside a
// token, a conversation after a reload; what is none is said so.
func TestPageAddresses(t *testing.T) {
	w := newPage(t)
	b := w.browser.Tab(t, browsertest.Look{Early: watched}, pagePatience)
	defer b.Close()
	b.Open("http://" + w.addr + "/read/shop/price/price.go#L8#token=" + w.token)
	b.Until("document.querySelector('.document .at')?.textContent.includes('func Sum') && location.hash==='#L8'")

	b.Open("http://" + w.addr + "/")
	b.Until("document.activeElement?.id==='q'")
	b.Fill("#q", strings.Repeat("the price of an order & more ", 700))
	b.Until("location.pathname==='/search' && location.hash.startsWith('#q=')")
	b.JS("(location.reload(),1)")
	b.Until("document.getElementById('q')?.value.length===20300 && document.querySelector('.summary,.state')")

	b.Open("http://" + w.addr + "/nonsense/at/all")
	if said := b.Until("document.querySelector('main h1')?.textContent"); said != "There is no such page" {
		t.Errorf("an address that is none shows %q", said)
	}

	b.Open("http://" + w.addr + "/ask")
	b.Until("document.activeElement?.id==='question'")
	b.Press("which files are left out of the index?\r")
	b.Until("document.querySelector('.answer')?.textContent.includes('Files over one mebibyte')")
	b.Until("[...document.querySelectorAll('p[role=status]')].every(e=>!e.textContent)")
	b.Press("how is a walrus shaved on weekends?\r")
	if said := b.Until("document.querySelector('.near')?.textContent"); !strings.Contains(said, "documents of shop were looked through") {
		t.Errorf("of a question without an answer it says %q", said)
	}
	b.Until("[...document.querySelectorAll('p[role=status]')].every(e=>!e.textContent)")
	b.JS("(location.reload(),1)")
	b.Until("document.querySelectorAll('.turn').length===2 && document.querySelector('.answer')?.textContent.includes('Files over one mebibyte') && document.querySelector('.near')")
	b.Until(button("document.querySelector('.ask form')", "Begin anew"))
	b.JS("(location.reload(),1)")
	b.Until("document.activeElement?.id==='question' && !document.querySelector('.turn')")
	w.quiet(b)
}

// TestPageFinds looks for a text in a long document, of which only what is seen
// is in the page.
func TestPageFinds(t *testing.T) {
	w := newPage(t)
	text := strings.Repeat("nothing here\n", 900)
	w.put("shop/long.txt", text+"one Walrus\n"+text+"two walruses\n"+text)
	w.must(w.project, "search", "walrus", "--wait")
	b := w.tab(browsertest.Look{}, "/read/shop/long.txt")
	defer b.Close()
	b.Until("document.querySelector('.document .row')")
	b.Strike("f")
	b.Until("document.activeElement?.id==='find'")
	b.Press("walrus")
	b.Until("document.querySelector('.find [role=status]').textContent==='1 of 2 lines' && document.querySelector('.found mark')?.textContent==='Walrus'")
	b.Press("\r")
	b.Until("document.querySelector('.find [role=status]').textContent==='2 of 2 lines' && document.querySelector('.found')?.textContent.includes('two walruses')")
	b.Press("\x1b")
	b.Until("!document.querySelector('.find') && !document.querySelector('.document mark')")
	w.quiet(b)
}

// TestPageSays: what the page says of stores, scores, tokens and what cannot be
// loaded is true and leads on.
func TestPageSays(t *testing.T) {
	w := newPage(t)
	w.put("notes/tea.md", "# Tea\n\nGreen tea is brewed at eighty degrees.\n")
	w.put("specs-reader/specs/reader.go", "package specs\n\n// ReadAllOfIt reads a specification.\nfunc ReadAllOfIt() int { return helper() }\n\nfunc helper() int { return 1 }\n")
	b := w.tab(browsertest.Look{}, "/stores")
	defer b.Close()
	add := func(source string) {
		b.Until("(b=>b&&(b.getAttribute('aria-expanded')==='true'||b.click(),1))([...document.querySelectorAll('.top button')].find(b=>b.textContent==='Add a store'))")
		b.Until("document.querySelector('input[name=source]')")
		b.Fill("input[name=source]", source)
		b.Press("\r")
	}
	said := "document.querySelector('.said')?.textContent"
	b.Until("document.querySelector('.card')")
	add(filepath.Join(w.root, "notes"))
	if got := b.Until(said); got != "notes is added, and being indexed." {
		t.Errorf("a new store: %q", got)
	}
	const card = "document.querySelector('[data-store=notes]')"
	b.Until(card + "?.querySelector('.state-ready')")
	add(filepath.Join(w.root, "notes"))
	if got := b.Until("(s=>s.includes('already')&&s)(" + said + ")"); got != "This source is here already: notes is brought up to date." {
		t.Errorf("the same once more: %q", got)
	}
	b.Until(button(card, "Delete…"))
	b.Until(button(card, "Delete it"))
	b.Until("!" + card + " && document.activeElement?.closest('.card,.top')")

	// The score of a place is what its parts give, and code about specifications
	// is no test.
	add(filepath.Join(w.root, "specs-reader"))
	b.Until("document.querySelector('[data-store=specs-reader] .state-ready')")
	b.Open("http://" + w.addr + "/search?q=ReadAllOfIt&store=specs-reader")
	b.Until("(b=>b&&(b.click(),1))(document.querySelector('.hit .score'))")
	var sum struct {
		Parts []string
		Total string
		Score string
	}
	b.Until("document.querySelector('.why .sum')")
	b.Value("({Parts:[...document.querySelectorAll('.why li:not(.sum)')].map(e=>e.textContent),Total:document.querySelector('.why .sum').textContent,Score:document.querySelector('.hit .score').textContent})", &sum)
	total, factor := 0.0, 1.0
	for _, p := range sum.Parts {
		var v float64
		switch i := strings.IndexAny(p, "+×−"); {
		case i < 0:
			t.Errorf("a part is %q", p)
		case strings.HasPrefix(p[i:], "×"):
			fmt.Sscan(strings.TrimPrefix(p[i:], "×"), &v)
			factor *= v
		default:
			fmt.Sscan(strings.TrimPrefix(p[i:], "+"), &v)
			total += v
		}
		if strings.Contains(p, "a test") {
			t.Errorf("of code that is no test it says %q", p)
		}
	}
	_, whole, _ := strings.Cut(sum.Total, "= ")
	var told float64
	if _, err := fmt.Sscan(strings.Split(whole, "×")[0], &told); err != nil || math.Abs(told-total*factor) > .01 || !strings.HasSuffix(sum.Total, sum.Score) {
		t.Errorf("the parts give %.3f, and it says %q of the score %s", total*factor, sum.Total, sum.Score)
	}

	// What the server says to do next is a way on in the page.
	b.Open("http://" + w.addr + "/read/shop/price/prices.go")
	if got := b.Until("document.querySelector('.state.failed')?.textContent"); !strings.Contains(got, "Did you mean price/price.go?") || strings.Contains(got, "{") {
		t.Errorf("of a document that is not there it says %q", got)
	}
	b.Until("(a=>a&&(a.click(),1))(document.querySelector('.state.failed a'))")
	b.Until("location.pathname==='/read/shop/price/price.go' && document.querySelector('.document .row')")
	b.Open("http://" + w.addr + "/search?q=tea&store=nowhere")
	b.Until("document.querySelector('.state.failed a')?.getAttribute('href')==='/stores'")

	// What lies outside of the project is refused with what lets it in.
	w.stop()
	w.vouched = nil
	b.Until("(b=>b&&(b.click(),1))([...document.querySelectorAll('nav a')].find(a=>a.textContent==='Evidence'))")
	b.Until("document.querySelector('.state.failed button')?.textContent==='Load the page anew'")
	w.start()
	b.Until("(b=>b&&(b.click(),1))(document.querySelector('.state.failed button'))")
	b.Until("document.querySelector('.gate h2')?.textContent==='The server does not know this page’s token'")
	b.Fill("#gate-field", "not-"+w.token)
	b.Press("\r")
	b.Until("document.querySelector('.gate h2')?.textContent==='That is not this server’s token'")
	b.Fill("#gate-field", w.token)
	b.Press("\r")
	b.Until("!document.querySelector('.gate') && document.querySelector('.verdict')")
	b.Open("http://" + w.addr + "/stores")
	b.Until("document.querySelector('.card')")
	outside := filepath.Join(w.root, "it's outside")
	if err := os.MkdirAll(outside, 0o755); err != nil {
		t.Fatal(err)
	}
	add(outside)
	if got := b.Until("document.querySelector('.did code')?.textContent"); got != "knowledge trust '"+strings.ReplaceAll(outside, "'", `'\''`)+"'" {
		t.Errorf("the cure is %q", got)
	}
	w.quiet(b)
}

// TestPageNew: in a project that nothing was indexed of, and that has neither
// evidence nor specifications, the page says what is so and contradicts itself
// nowhere.
func TestPageNew(t *testing.T) {
	w := newPage(t)
	w.stop()
	w.project = w.dir("fresh")
	w.git(w.project, "init", "-q", "-b", "work")
	w.put("fresh/docs/tea.md", "# Tea\n\nGreen tea is brewed at eighty degrees, see [cups](cups.md).\n")
	w.put("fresh/docs/cups.md", "# Cups\n\nA cup holds tea, see [tea](tea.md).\n")
	w.start()
	b := w.tab(browsertest.Look{Width: 320, Height: 800}, "/")
	defer b.Close()
	if said := b.Until("document.querySelector('.state h2')?.textContent"); said != "Nothing is indexed yet" {
		t.Errorf("at first it says %q", said)
	}
	b.Press("green tea")
	b.Until("document.querySelector('.hit')?.textContent.includes('tea.md')")
	b.Until("[...document.querySelectorAll('.filters summary')].some(e=>e.textContent==='Store')")
	b.Open("http://" + w.addr + "/read/fresh/docs/cups.md")
	if said := b.Until("document.querySelector('.title p')?.textContent.includes('line')&&document.querySelector('.title p').textContent"); !strings.Contains(said, "3 lines") && !strings.Contains(said, "4 lines") {
		t.Errorf("of three lines it says %q", said)
	}
	b.Open("http://" + w.addr + "/evidence")
	said := b.Until("document.querySelector('.verdict') && document.querySelector('.state h2') && document.querySelector('main').textContent")
	if !strings.Contains(said, "A hook or a CI job that asks at pre commit is told no") || strings.Contains(said, "nothing depends on it") || strings.Contains(said, "No: blocked") {
		t.Errorf("without evidence it says %q", said)
	}
	b.Open("http://" + w.addr + "/specs")
	said = b.Until("document.querySelector('canvas[data-state=done]') && document.querySelector('main').textContent")
	if !strings.Contains(said, "no specification; ") || strings.Contains(said, " nodes,") {
		t.Errorf("without specifications it says %q", said)
	}
	b.Open("http://" + w.addr + "/status")
	b.Until("document.querySelectorAll('.bars tr').length>2")
	if wide := b.JS("[...document.querySelectorAll('.share .bar-of')].reduce((n,e)=>n+parseFloat(e.style.width),0)>99 && [...document.querySelectorAll('.bars th')].every(e=>e.scrollWidth<=e.clientWidth)"); wide != "true" {
		t.Error("at 320 pixels the shares are not those of all, or words are cut")
	}
	w.quiet(b)
}
