package deps

import (
	_ "embed"
	"math"
	"strings"
	"sync"

	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
	"github.com/seed-4f2d999b/knowledge/internal/text/terms"
)

// topicsText says what well-known packages are about; its head says how it was
// made.
//
//go:embed topics.txt
var topicsText string

// topicTable is topics.txt, read.
type topicTable struct {
	words map[string]string // "npm:debug" → "debugging"
	seen  map[string]int    // root of a word → packages that have it
}

var topics = sync.OnceValue(func() topicTable {
	t := topicTable{words: make(map[string]string, 5000), seen: make(map[string]int, 8000)}
	for line := range strings.Lines(topicsText) {
		if line == "\n" || line[0] == '#' {
			continue
		}
		eco, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		name, words, ok := strings.Cut(rest, " ")
		if !ok {
			continue
		}
		t.words[eco+":"+name] = words
		for r := range roots(nameWords(eco, name) + " " + words) {
			t.seen[r]++
		}
	}
	return t
})

// topicOf returns the words of a package, "" of one that is not in the table. A
// Go module goes by that which it lies below.
func topicOf(eco, name string) string {
	t := topics()
	if eco != golang.name {
		return t.words[eco+":"+name]
	}
	name = majorRE.ReplaceAllString(name, "")
	for {
		if w := t.words["go:"+name]; w != "" {
			return w
		}
		i := strings.LastIndexByte(name, '/')
		if i < 0 || strings.Count(name, "/") < 2 {
			return ""
		}
		name = name[:i]
	}
}

var majorRE = lazyregexp.New(`/v[0-9]+$`)

// rarity is what a word tells, in nats: the logarithm of how many of the packages
// in the table there are to one that has it.
func (t topicTable) rarity(root string) float64 {
	return math.Log(float64(len(t.words)+1) / (float64(t.seen[root]) + 0.5))
}

// nameWords are the words of a package's name: of a Go module without its host,
// of a scoped package of npm with the scope.
func nameWords(eco, name string) string {
	if eco == golang.name {
		name = majorRE.ReplaceAllString(name, "")
		if _, rest, ok := strings.Cut(name, "/"); ok {
			if _, own, ok := strings.Cut(rest, "/"); ok {
				rest = own // the owner says who, not what
			}
			name = rest
		}
	}
	return strings.NewReplacer("/", " ", "-", " ", ".", " ", "@", " ", "_", " ", ":", " ").Replace(name)
}

// roots are the words of a text without endings, each once: "compress" of
// compression, compressor and compressed.
func roots(text string) map[string]bool {
	out := map[string]bool{}
	for _, w := range terms.Words(text) {
		if r := root(w); len(r) > 1 {
			out[r] = true
		}
	}
	return out
}

// endings make words of one kind into those of another; the longest come first.
var endings = []string{"ization", "isation", "ation", "ition", "ement", "ment", "tion", "able", "ible", "ator", "izer", "iser", "ion", "ive", "ity", "ist", "al", "er", "or", "ly", "y", "e"}

// root takes the ending off a stem that stays long enough to mean something.
func root(w string) string {
	const least = 4
	for _, e := range endings {
		if r, ok := strings.CutSuffix(w, e); ok && len(r) >= least {
			if e == "tion" || e == "ion" {
				return strings.TrimSuffix(r, "t")
			}
			return r
		}
	}
	if len(w) > 5 {
		return strings.TrimSuffix(w, "t") // connect, as connection
	}
	return w
}
