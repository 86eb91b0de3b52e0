package embed

import (
	"context"
	_ "embed" // the model is a part of the program
	"errors"
	"io/fs"
	"maps"
	"math"
	"os"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/outbound"
)

// Config chooses an embedder and holds its settings. The zero value is the default.
type Config struct {
	Backend string // a name in Backends; "" is "static"
	Model   string // path of a model file, "" is the model in the program; of a provider its name there

	// Of providers alone:
	Endpoint  string // "" is the provider's own
	Key       string // sent as bearer token; "" sends none
	KeyName   string // of the variable that it comes from, for messages
	Dims      int
	Version   int    // 1 for 0; another makes all vectors anew, as when a provider changes a model
	PerMinute int    // requests; 0 is as fast as the provider lets
	Dir       string // where the journal is kept
	Network   outbound.Policy
}

// Backends is the table of embedders by name.
var Backends = func() map[string]func(Config) (kb.Embedder, error) {
	all := map[string]func(Config) (kb.Embedder, error){"static": newStatic}
	for name := range providers {
		all[name] = newRemote
	}
	return all
}()

// Query returns the vector of a question, of which some embedders make another
// vector than of a document that says the same.
func Query(ctx context.Context, e kb.Embedder, text string) ([]float32, error) {
	if q, ok := e.(interface {
		EmbedQuery(ctx context.Context, text string) ([]float32, error)
	}); ok {
		return q.EmbedQuery(ctx, text)
	}
	vectors, err := e.Embed(ctx, []string{text})
	if err != nil {
		return nil, err
	}
	return vectors[0], nil
}

// New returns the embedder that c describes.
func New(c Config) (kb.Embedder, error) {
	if c.Backend == "" {
		c.Backend = "static"
	}
	f, ok := Backends[c.Backend]
	if !ok {
		return nil, kb.Errorf(kb.Invalid, "no embedder named %q", c.Backend).
			WithHint("use one of: %s", strings.Join(slices.Sorted(maps.Keys(Backends)), ", "))
	}
	return f(c)
}

func newStatic(c Config) (kb.Embedder, error) {
	if c.Model == "" {
		return Default(), nil
	}
	b, err := os.ReadFile(c.Model)
	if err != nil {
		code := kb.Invalid
		if errors.Is(err, fs.ErrNotExist) {
			code = kb.NotFound
		}
		return nil, kb.Errorf(code, "cannot read the embedding model: %w", err).
			WithHint("check the path of the model file")
	}
	return Load(b)
}

// Default returns the embedder of the model in the program. It costs nothing
// until the first text: the model is then indexed in a few milliseconds, and
// its rows are read in place, where the program file is mapped.
func Default() kb.Embedder { return &builtin }

//go:embed code.kembmodl
var trained []byte

var builtin lazy

// lazy is the model in the program. Its id is in the file's header, so
// that it can be named without being loaded.
type lazy struct {
	once sync.Once
	s    *Static
}

func (l *lazy) ID() string { return headerID(trained) }
func (l *lazy) Dims() int  { return headerDims(trained) }

func (l *lazy) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	return l.load().Embed(ctx, texts)
}

// Knows reports whether the model in the program has a row for a word in lower
// case: it is one that programs and their documentation use.
func Knows(word string) bool { return builtin.load().find(hashWord([]byte(word)), []byte(word)) >= 0 }

func (l *lazy) load() *Static {
	l.once.Do(func() {
		// The program's own bytes need no checksum, which would touch every
		// page of them; a test loads the file with it.
		s, err := load(trained, false)
		if err != nil {
			panic(err)
		}
		l.s = s
	})
	return l.s
}

// Text returns what is embedded of a chunk: the names of what encloses it,
// which its own lines do not repeat, and its lines. It is the one place that
// says so; the model is trained and measured on the same.
func Text(body string, c *kb.Chunk) string {
	if len(c.Decl) == 0 {
		return body[c.From:c.To]
	}
	return strings.Join(c.Decl, " ") + "\n" + body[c.From:c.To]
}

// PathText returns what is embedded of a path, for the vector of a whole file:
// the path relative to its store without the extension.
func PathText(p string) string { return strings.TrimSuffix(p, path.Ext(p)) }

// Same reports whether two vectors are the same but for how they are stored.
func Same(a, b []float32) bool {
	var ab, aa, bb float64
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		ab += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	if aa == 0 || bb == 0 {
		return aa == bb
	}
	return ab/math.Sqrt(aa*bb) > 0.995
}
