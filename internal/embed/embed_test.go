package embed

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

func embed(t testing.TB, e kb.Embedder, texts ...string) [][]float32 {
	t.Helper()
	vs, err := e.Embed(context.Background(), texts)
	if err != nil {
		t.Fatal(err)
	}
	return vs
}

func cosine(a, b []float32) float64 {
	s := 0.0
	for i := range a {
		s += float64(a[i]) * float64(b[i])
	}
	return s
}

// Vectors of an index on disk are compared with vectors of a query made by
// another build on another machine: they may only change together with the ID.
func TestGolden(t *testing.T) {
	file := sha256.Sum256(trained)
	h := sha256.New()
	for _, v := range embed(t, Default(), "", "tokenize", "func (s *HTTPServer) Close() error { return nil }",
		"Größe der Straße in URLs, 世界 und Ωmega", strings.Repeat("a long text of words ", 500)) {
		for _, x := range v {
			b := math.Float32bits(x)
			h.Write([]byte{byte(b), byte(b >> 8), byte(b >> 16), byte(b >> 24)})
		}
	}
	got := []string{Default().ID(), hex.EncodeToString(file[:8]), hex.EncodeToString(h.Sum(nil)[:8])}
	want := []string{"static-code-3-192", "758a0f5ea5661043", "ec93ca05ed1a1c07"}
	if d := gocmp.Diff(want, got); d != "" {
		t.Errorf("the model changed; give it another version:\n%s", d)
	}
}

func TestUnitLengthOrZero(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	texts := []string{"x", "the", "a b c", "世", strings.Repeat("word ", 100000), strings.Repeat("x", 1000000)}
	for range 300 {
		b := make([]byte, r.IntN(200))
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		texts = append(texts, string(b))
	}
	for i, v := range embed(t, Default(), texts...) {
		want := 1.0
		if len(Split(texts[i])) == 0 {
			want = 0
		}
		if got := math.Sqrt(cosine(v, v)); math.Abs(got-want) > 1e-6 {
			t.Errorf("%.40q: length %v, want %v", texts[i], got, want)
		}
	}
	for _, text := range []string{"", " \n\t", "(){};:,.!?", "\xff\xfe", "→ … ✓"} {
		if v := embed(t, Default(), text)[0]; cosine(v, v) != 0 {
			t.Errorf("%q has a vector", text)
		}
	}
}

func TestOrderOfWordsIsIrrelevant(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 1))
	words := strings.Fields("open the file and read every line of it then close the file 12 世界 HTTPServer parse_config")
	want := embed(t, Default(), strings.Join(words, " "))[0]
	for range 20 {
		r.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
		if got := embed(t, Default(), strings.Join(words, "\n"))[0]; !slices.Equal(want, got) {
			t.Fatalf("%v has another vector", words)
		}
	}
}

// Questions are nearer to what answers them than to anything else that is
// like it, in English and in Spanish.
func TestNear(t *testing.T) {
	codes := []string{
		"func parseConfigFile(path string) (*Config, error) { b, err := os.ReadFile(path); return decode(b) }",
		"func renderTemplate(w io.Writer, t *Template, data any) error { return t.Execute(w, data) }",
		"class ConnectionPool: def acquire(self): conn = self.idle.pop() if self.idle else self.connect()",
		"def retry(fn, attempts, backoff): for i in range(attempts): try: return fn() except: time.sleep(backoff * 2 ** i)",
		"const token = jwt.sign({ sub: user.id }, secret); if (!verifyPassword(user, password)) throw new Unauthorized()",
		"fn tokenize(input: &str) -> Vec<Token> { let mut lexer = Lexer::new(input); while let Some(t) = lexer.next() { out.push(t) } }",
		"public void quickSort(int[] a, int lo, int hi) { if (lo < hi) { int p = partition(a, lo, hi); quickSort(a, lo, p); } }",
		"CREATE INDEX users_email ON users (email); ALTER TABLE users ADD COLUMN name text; -- migration",
	}
	vs := embed(t, Default(), codes...)
	for q, want := range map[string]int{
		"reading the settings of the program":              0,
		"leer el archivo de configuración":                 0,
		"cómo se analiza el fichero de configuracion":      0,
		"HTML template rendering":                          1,
		"mostrar una plantilla con sus datos":              1,
		"how are connections reused":                       2,
		"grupo de conexiones a la base de datos":           2,
		"try again with exponential backoff after failure": 3,
		"reintentar con espera exponencial cuando falla":   3,
		"how do users sign in with a password":             4,
		"autenticación de usuarios con contraseña":         4,
		"lexer": 5,
		"analizador léxico que divide la entrada en tokens": 5,
		"sorting an array":                                       6,
		"ordenar un vector de enteros":                           6,
		"schema changes of the database":                         7,
		"migración que añade una columna a la tabla de usuarios": 7,
	} {
		v := embed(t, Default(), q)[0]
		best := 0
		for i := range vs {
			if cosine(v, vs[i]) > cosine(v, vs[best]) {
				best = i
			}
		}
		if best != want {
			t.Errorf("%q: %.40q %.2f before %.40q %.2f", q, codes[best], cosine(v, vs[best]), codes[want], cosine(v, vs[want]))
		}
	}
}

// Forms of one word, known or not, are near each other.
func TestForms(t *testing.T) {
	for _, c := range [][3]string{ // the second is nearer to the first than the third
		{"tokenize", "tokenizer", "database"},
		{"HTTPServer", "http_server", "tcp_client"},
		{"archivo", "file", "network"},
		{"conexiones", "connection", "template"},
		{"zyxomorphic", "zyxomorphics", "quubalating"},
	} {
		v := embed(t, Default(), c[:]...)
		if near, far := cosine(v[0], v[1]), cosine(v[0], v[2]); near < far+0.2 {
			t.Errorf("%q: %q %.2f, %q %.2f", c[0], c[1], near, c[2], far)
		}
	}
	v := embed(t, Default(), "how do I open the socket", "socket", "the")
	if c := cosine(v[0], v[1]); c < 0.5 {
		t.Errorf("words of a question outweigh its subject: cosine %.2f", c)
	}
}

func TestConcurrent(t *testing.T) {
	e := Default()
	texts := []string{"one text", "another text of more words", strings.Repeat("x1 y2 z3 ", 3000), ""}
	want := embed(t, e, texts...)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				if got, err := e.Embed(context.Background(), texts); err != nil || !gocmp.Equal(want, got) {
					t.Error("vectors differ", err)
				}
			}
		})
	}
	wg.Wait()
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Default().Embed(ctx, []string{"x"}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if v, err := Default().Embed(context.Background(), nil); err != nil || len(v) != 0 {
		t.Error(v, err)
	}
}

func TestNew(t *testing.T) {
	if e, err := New(Config{}); err != nil || e != Default() {
		t.Error(e, err)
	}
	if _, err := New(Config{Backend: "statik"}); kb.CodeOf(err) != kb.Invalid || !strings.Contains(kb.HintOf(err), "static") {
		t.Error(err)
	}
	path := filepath.Join(t.TempDir(), "model")
	if _, err := New(Config{Model: path}); kb.CodeOf(err) != kb.NotFound || kb.HintOf(err) == "" {
		t.Error(err)
	}
	if err := os.WriteFile(path, small(t), 0o600); err != nil {
		t.Fatal(err)
	}
	if e, err := New(Config{Backend: "static", Model: path}); err != nil || e.ID() != "static-small-7-6" || e.Dims() != 6 {
		t.Error(e, err)
	}
}

func TestDimsAndNoAllocationPerWord(t *testing.T) {
	e := Default()
	text := []string{strings.Repeat("some words of an ordinary text, fooBar(baz) ", 100)}
	embed(t, e, text...)
	if n := testing.AllocsPerRun(100, func() { embed(t, e, text...) }); n > 10 {
		t.Errorf("%v allocations for 700 words", n)
	}
	if v := embed(t, e, text...); len(v[0]) != e.Dims() {
		t.Errorf("%d dimensions, not %d", len(v[0]), e.Dims())
	}
}
