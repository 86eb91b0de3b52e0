package embed

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Config chooses an embedder and says what it needs. The zero value is the default.
type Config struct {
	Backend string // a name in Backends; "" is "static"
	Model   string // path of a model file; "" is the model in the program
}

// Backends is the table of embedders by name.
var Backends = map[string]func(Config) (kb.Embedder, error){
	"static": newStatic,
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
		return nil, kb.Errorf(code, "cannot read the embedding model: %w", err).WithHint("check the path of the model file")
	}
	return Load(b)
}

// Default returns the embedder of the model in the program. The first call
// makes it, in a few milliseconds.
func Default() kb.Embedder { return builtin() }

var builtin = sync.OnceValue(func() *Static {
	s, err := Load(Untrained())
	if err != nil {
		panic(err) // everything in it is ours
	}
	return s
})
