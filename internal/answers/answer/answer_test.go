package answer

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// unit is a sentence as tests compare it.
type unit struct {
	Text       string
	Start, End int
}

func units(language, text string) []unit {
	p := &kb.Passage{Language: language, Text: text, Chunk: kb.Chunk{Start: 10, Kind: "section"}}
	var out []unit
	for _, s := range sentences(p) {
		out = append(out, unit{s.text, s.start, s.end})
	}
	return out
}

func TestSentences(t *testing.T) {
	for _, c := range []struct {
		name, language, text string
		want                 []unit
	}{
		{"prose over lines", "markdown", "One sentence that goes\nover two lines. Another one.\n\nA third.",
			[]unit{{"One sentence that goes over two lines.", 10, 11}, {"Another one.", 11, 11}, {"A third.", 13, 13}}},
		{"abbreviations end nothing", "text", "Use a tool, e.g. Make, in sec. 3. Then go on. See p. ej. la sección 4.",
			[]unit{{"Use a tool, e.g. Make, in sec. 3.", 10, 10}, {"Then go on.", 10, 10}, {"See p. ej. la sección 4.", 10, 10}}},
		{"versions and names", "text", "Go 1.23 came. It has net/http.Server too. ok?",
			[]unit{{"Go 1.23 came.", 10, 10}, {"It has net/http.Server too. ok?", 10, 10}}},
		{"spanish", "markdown", "¿Cómo se hace? Así se hace. ¡Listo ya!",
			[]unit{{"¿Cómo se hace?", 10, 10}, {"Así se hace.", 10, 10}, {"¡Listo ya!", 10, 10}}},
		{"headings, items, tables and code", "markdown", "# Title\n\n- first item\n- second item\n\n| a | b |\n|---|---|\n| one | two |\n\n```sh\nrun this\n```\n\n    indented code\n",
			[]unit{{"first item", 12, 12}, {"second item", 13, 13}, {"| one | two |", 17, 17}, {"run this", 20, 20}, {"indented code", 23, 23}}},
		{"a lead of a word or two stays with what it leads", "markdown", "*SQLite.* One file and transactions. No more.",
			[]unit{{"*SQLite.* One file and transactions.", 10, 10}, {"No more.", 10, 10}}},
		{"comments of code", "go", "// Serve answers requests until\n// the end. It blocks.\n//\n//\tgo srv.Serve()\nfunc Serve() {\n}",
			[]unit{{"Serve answers requests until the end.", 10, 11}, {"It blocks.", 11, 11}, {"go srv.Serve()", 13, 13}}},
		{"comments for tools are none", "go", "//go:embed x.txt\nvar x string\n// X is it.", []unit{{"X is it.", 12, 12}}},
		{"python", "python", "def f():\n    \"\"\"Return the thing.\n\n    It is cheap.\n    \"\"\"\n    return 1  # no",
			[]unit{{"Return the thing.", 11, 11}, {"It is cheap.", 13, 13}}},
		{"html", "html", "<h2>Send</h2>\n<p>\nA send on a <code>nil</code>\nchannel blocks &amp; waits.\n</p>\n<script>alert(1)</script>\n<pre>\nch &lt;- 3\n</pre>",
			[]unit{{"A send on a nil channel blocks & waits.", 12, 13}, {"ch <- 3", 17, 17}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(c.want, units(c.language, c.text)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func FuzzSentences(f *testing.F) {
	for _, l := range []string{"markdown", "html", "go", "python", "c", "yaml"} {
		f.Add(l, "# a\n- b. C\n\n```\nx\n```\n<pre>\n/* y\n*/ // z. \"\"\"q\n| a | b |")
	}
	f.Fuzz(func(t *testing.T, language, text string) {
		lines := strings.Count(text, "\n") + 1
		p := &kb.Passage{Language: language, Text: text, Chunk: kb.Chunk{Start: 1}}
		for _, s := range sentences(p) {
			if s.start < 1 || s.end < s.start || s.end > lines || strings.Contains(s.text, "\n") {
				t.Fatalf("%+v in %d lines", s, lines)
			}
		}
	})
}

// active holds what a page may not get from a document.
var active = []string{
	`<script>alert(1)</script>`, `<img src=x onerror=alert(1)>`, "[click](javascript:alert(1))", "![x](javascript:alert(1))",
	"[a]: javascript:alert(1)", "<javascript:alert(1)>", "[x][y]", "`<b>`", "``` <img src=x onerror=alert(1)>", "`a` <svg/onload=alert(1)>` b",
	"# Heading", "## Respuesta", "- item", "1. item", "> quote", "---", "&lt;script&gt;", "&#60;script&#62;", "<a href='data:text/html,x'>", "\\<script>",
	"text `unclosed <script>", "](javascript:alert(1))", "[x](\njavascript:alert(1))", "<!-- x --><script>",
}

func TestInert(t *testing.T) {
	for _, s := range active {
		for name, f := range map[string]func(string) string{"Inert": Inert, "InertBlock": InertBlock, "InertTitle": InertTitle, "InertLine": InertLine} {
			got := f(s)
			if strings.ContainsAny(got, "<>") {
				t.Errorf("%s(%q) = %q holds an angle", name, s, got)
			}
			if strings.Contains(got, "](") || strings.Contains(got, "][") && name != "InertLine" && name != "InertTitle" {
				t.Errorf("%s(%q) = %q holds a link", name, s, got)
			}
			if name == "Inert" && (strings.HasPrefix(got, "#") || strings.HasPrefix(got, "- ") || strings.HasPrefix(got, "1.")) {
				t.Errorf("%s(%q) = %q begins a block", name, s, got)
			}
		}
	}
	// What does no harm stays as it is.
	for _, s := range []string{"A `nil` slice encodes as null.", "[]byte becomes a string, doesn't it?", "a && b", "use *this* one"} {
		if got := Inert(s); got != s {
			t.Errorf("Inert(%q) = %q", s, got)
		}
	}
}

func FuzzInert(f *testing.F) {
	for _, s := range active {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got := Markdown([]Part{{Text: plain(s), Source: 1}}); strings.ContainsAny(got, "<>") || strings.Contains(got, "](") {
			t.Fatalf("%q became %q", s, got)
		}
	})
}

func TestPlain(t *testing.T) {
	for in, want := range map[string]string{
		"See [the page](/doc/x) and `a[b](c)`.":  "See the page and `a[b](c)`.",
		"A **bold** and *soft* [Builder.Write].": "A bold and soft Builder.Write.",
		"a * b * c, x[i] and []byte":             "a * b * c, x[i] and []byte",
	} {
		if got := plain(in); got != want {
			t.Errorf("plain(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestSpanish(t *testing.T) {
	for q, want := range map[string]bool{
		"¿qué es un segmento?": true, "como se configura el servidor": true, "what is a segment": false, "os.Rename": false, "el": false,
	} {
		if isSpanish(q) != want {
			t.Errorf("isSpanish(%q) is not %v", q, want)
		}
	}
	for w, want := range map[string]string{"eliminar": "remove", "eliminados": "remove", "fichero": "file", "ficheros": "file", "motor": "engine", "valores": "value"} {
		if got := english(w); !strings.Contains(" "+strings.Join(got, " ")+" ", " "+want+" ") {
			t.Errorf("english(%q) = %v, want %s among them", w, got, want)
		}
	}
	for w, want := range map[string]string{"usarlo": "usar", "eliminarse": "eliminar", "solo": "solo", "modelo": "modelo"} {
		if got := bare(w); got != want {
			t.Errorf("bare(%q) = %q, want %q", w, got, want)
		}
	}
}

func TestLean(t *testing.T) {
	first := []Turn{{Question: "What is maxFileBytes?"}}
	for _, c := range []struct {
		question string
		turns    []Turn
		want     []string
	}{
		{"And how is it configured?", nil, nil},
		{"And how is it configured?", first, []string{"maxFileBytes"}},
		{"what is its default?", first, []string{"maxFileBytes"}},
		{"¿y cómo se desactiva?", []Turn{{Question: "¿Qué es HTTP/2?"}}, []string{"HTTP/2"}},
		{"What is sync.Pool good for?", first, nil},
		{"what is a segment?", first, nil},
		{"¿qué es un segmento?", first, nil},
		{"why?", first, []string{"maxFileBytes"}},
		{"Which functions sort a slice of strings?", first, nil},
		{"and how can that be unlimited?", []Turn{{Question: "since which version is it there?", Topic: []string{"httpcookiemaxnum"}}}, []string{"version", "httpcookiemaxnum"}},
	} {
		if d := cmp.Diff(c.want, Lean(c.question, c.turns)); d != "" {
			t.Errorf("Lean(%q) (-want +got):\n%s", c.question, d)
		}
	}
}

// TestSessionsNeverLeak drives random sessions side by side and holds each
// against one that is alone in the world.
func TestSessionsNeverLeak(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	now := time.Unix(0, 0)
	clock := func() time.Time { return now }
	all := &Sessions{now: clock}
	alone := map[Key]*Sessions{}
	asked := 0
	for range 20_000 {
		k := Key{Owner: fmt.Sprint(rng.IntN(8)), ID: fmt.Sprint("s", rng.IntN(6))}
		if alone[k] == nil {
			alone[k] = &Sessions{now: clock}
		}
		switch rng.IntN(20) {
		case 0:
			now = now.Add(time.Duration(rng.IntN(20)) * time.Minute)
		case 1:
			all.Forget(k.ID)
			for o, s := range alone {
				if o.ID == k.ID {
					s.Forget(k.ID)
				}
			}
		default:
			asked++
			turn := Turn{Question: fmt.Sprintf("secret-%s-%s-%d and its default?", k.Owner, k.ID, asked)}
			turn.Topic = Lean(turn.Question, all.Turns(k))
			all.Add(k, turn)
			alone[k].Add(k, turn)
		}
		got, want := all.Turns(k), alone[k].Turns(k)
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("session %v has\n%+v\nalone it would have\n%+v", k, got, want)
		}
		for _, turn := range got {
			for _, s := range append([]string{turn.Question}, turn.Topic...) {
				if strings.HasPrefix(s, "secret-") && !strings.HasPrefix(s, "secret-"+k.Owner+"-"+k.ID+"-") {
					t.Fatalf("session %v holds %q", k, s)
				}
			}
		}
	}
}

// TestSessionsBelongToWhoBeganThem: the secret leads to a session from
// anywhere, and once it was shown nothing else does.
func TestSessionsBelongToWhoBeganThem(t *testing.T) {
	s := &Sessions{}
	widget := Key{Owner: "browser", ID: "web", Client: "127.0.0.1"}
	s.Add(widget, Turn{Question: "one"})
	secret := s.Secret(widget)
	if len(secret) < 26 {
		t.Fatalf("secret %q", secret)
	}
	elsewhere := Key{Owner: "other browser", ID: "web", Client: "127.0.0.1"}
	for name, wrong := range map[string]string{"none": "", "wrong": "x" + secret[1:]} {
		if k := s.Mine(elsewhere, wrong); len(s.Turns(k)) != 0 {
			t.Errorf("%s: a foreign session is had", name)
		}
		if _, ok := s.OfSecret("web", wrong); ok || s.ForgetOfSecret("web", wrong) {
			t.Errorf("%s: a foreign session is read or forgotten", name)
		}
	}
	if _, ok := s.OfSecret("other", secret); ok {
		t.Error("the secret of another id")
	}
	if k := s.Mine(widget, ""); len(s.Turns(k)) != 1 {
		t.Error("a client that keeps no secret has lost its session")
	}
	if k := s.Mine(elsewhere, secret); len(s.Turns(k)) != 1 {
		t.Error("the secret does not lead to the session")
	}
	if k := s.Mine(widget, ""); len(s.Turns(k)) != 0 {
		t.Error("who looks like the owner has the session without its secret")
	}
	if turns, ok := s.OfSecret("web", secret); !ok || len(turns) != 1 {
		t.Errorf("%v, %v", turns, ok)
	}
	if !s.ForgetOfSecret("web", secret) || len(s.all) != 0 || s.size != 0 {
		t.Errorf("%d sessions of %d bytes are left", len(s.all), s.size)
	}
}

// TestSessionsOfAClientAreBounded: who begins many loses the own ones, and
// nobody else's.
func TestSessionsOfAClientAreBounded(t *testing.T) {
	s := &Sessions{}
	mine := Key{Owner: "me", ID: "web", Client: "192.0.2.1"}
	s.Add(mine, Turn{Question: "q"})
	for i := range 3 * MostOfClient {
		s.Add(Key{Owner: fmt.Sprint(i), ID: "web", Client: "192.0.2.2"}, Turn{Question: "q"})
	}
	if len(s.all) != MostOfClient+1 || len(s.Turns(mine)) != 1 {
		t.Errorf("%d sessions; mine has %d turns", len(s.all), len(s.Turns(mine)))
	}
	long := strings.Repeat("x", turnBytes)
	for i := range MostSessions {
		for range MostTurns {
			s.Add(Key{ID: fmt.Sprint(i)}, Turn{Question: long, Answer: long})
		}
	}
	sum := 0
	for _, c := range s.all {
		for i := range c.turns {
			sum += c.turns[i].size()
		}
	}
	if s.size > mostBytes || s.size != sum {
		t.Errorf("%d bytes are kept, counted as %d, of at most %d", sum, s.size, mostBytes)
	}
}

func TestSessionsAreBounded(t *testing.T) {
	now := time.Unix(0, 0)
	s := &Sessions{now: func() time.Time { return now }}
	long := strings.Repeat("x", 100_000)
	for i := range MostSessions + 50 {
		for range 2 {
			s.Add(Key{ID: fmt.Sprint(i)}, Turn{Question: long, Answer: long})
		}
	}
	if len(s.all) != MostSessions {
		t.Errorf("%d sessions", len(s.all))
	}
	if s.Turns(Key{ID: "0"}) != nil || s.Turns(Key{ID: fmt.Sprint(MostSessions + 49)}) == nil {
		t.Error("not the one asked least lately was forgotten")
	}
	k := Key{ID: "many"}
	for i := range 100 {
		s.Add(k, Turn{Question: fmt.Sprint(i)})
	}
	turns := s.Turns(k)
	if len(turns) != MostTurns || turns[MostTurns-1].Question != "99" {
		t.Errorf("%d turns, the last %q", len(turns), turns[len(turns)-1].Question)
	}
	if got := s.Turns(Key{ID: fmt.Sprint(MostSessions)})[0]; len(got.Question) > turnBytes+3 {
		t.Errorf("a turn keeps %d bytes", len(got.Question))
	}
	now = now.Add(SessionLife + time.Second)
	if s.Turns(k) != nil || len(s.Named("many")) != 0 {
		t.Error("it has not expired")
	}
	s.Add(Key{}, Turn{Question: "x"})
	if s.Turns(Key{}) != nil {
		t.Error("a session without id keeps something")
	}
}

func TestCache(t *testing.T) {
	ctx := context.Background()
	var c Cache
	v := []float32{1, 0, 0}
	c.Put(ctx, "g1", "how is a file deleted", nil, v, Reply{Answer: "A"})
	for _, x := range []struct {
		scope, q string
		topic    []string
		v        []float32
		want     bool
	}{
		{"g1", "How is a  FILE deleted", nil, nil, true},             // as it is
		{"g1", "deleted files: how", nil, v, true},                   // the same words
		{"g1", "how is a folder deleted", nil, v, false},             // another word
		{"g1", "why is a file deleted", nil, v, false},               // another question
		{"g1", "deleted files: how", nil, []float32{0, 1, 0}, false}, // another meaning
		{"g1", "how is a file deleted", []string{"topic"}, v, false}, // leans on something
		{"g2", "how is a file deleted", nil, v, false},               // another generation
	} {
		if _, ok := c.Get(ctx, x.scope, x.q, x.topic, x.v); ok != x.want {
			t.Errorf("Get(%q, %q, %v) found: %v", x.scope, x.q, x.topic, ok)
		}
	}
	for i := range 2 * mostCached {
		c.Put(ctx, fmt.Sprint("s", i%20), fmt.Sprint("question ", i), nil, v, Reply{})
	}
	if len(c.byKey) != mostCached || c.order.Len() != mostCached || len(c.scopes) > mostScopes {
		t.Errorf("%d answers, %d in order, %d scopes", len(c.byKey), c.order.Len(), len(c.scopes))
	}
	if _, ok := c.Get(ctx, "g1", "how is a file deleted", nil, nil); ok {
		t.Error("the oldest is still there")
	}
}
