package deps

import (
	"cmp"
	"context"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Holders are the dependencies of a project with what is known of each on this
// machine, to be asked which of them would answer a question. They are not
// safe for concurrent use until the last Import.
type Holders struct {
	List      []Holder
	Manifests []string // that were read
	Notes     []string // what could not be read

	match map[string]func(string) []*Dependency // by ecosystem
	at    map[*Dependency]int
}

// Holder is a dependency with the words that tell what it holds, each with its
// weight: 1 for one of its name, less for others.
type Holder struct {
	Dependency
	About string // its words as a text: name, table, summary
	words map[string]float64
}

// The weights of words, by where they stand.
const (
	inName    = 1.0
	inTopics  = 0.9 // of the table, and of the summary and keywords of an installed copy
	inReadme  = 0.45
	inCode    = 0.5 // names of it that the project uses
	maxHolder = 600 // dependencies that are looked at
)

// Gather reads the manifests and lockfiles below a folder, and what is
// installed of the packages that they name: below the folder, and in the caches
// that env names. It runs nothing and asks no network.
func Gather(ctx context.Context, root string, env func(string) string) (*Holders, error) {
	r, err := os.OpenRoot(root)
	if err != nil {
		return nil, kb.Errorf(kb.NotFound, "the folder %q cannot be read: %w", root, err).
			WithHint("name a folder that exists")
	}
	defer r.Close()
	files, err := list(ctx, r)
	if err != nil {
		return nil, err
	}
	p, found, err := read(ctx, r, files.manifests)
	if err != nil {
		return nil, err
	}
	h := &Holders{Manifests: p.manifests, Notes: p.notes, match: map[string]func(string) []*Dependency{}, at: map[*Dependency]int{}}
	kb.SortStableFunc(found, func(a, b *Dependency) int {
		return cmp.Or(boolCompare(a.Dev, b.Dev), cmp.Compare(a.Ecosystem, b.Ecosystem), cmp.Compare(a.Name, b.Name))
	})
	found = append(found, p.along(found)...)
	found = found[:min(len(found), maxHolder)]
	in := newInstalls(r, env)
	defer in.close()
	for i, d := range found {
		if err := stopped(ctx); err != nil {
			return nil, err
		}
		h.at[d] = i
		x := Holder{words: map[string]float64{}}
		said := in.describe(d)
		x.About = strings.Join(strings.Fields(nameWords(d.Ecosystem, d.Name)+" "+topicOf(d.Ecosystem, d.Name)+" "+said.summary), " ")
		x.add(nameWords(d.Ecosystem, d.Name), inName)
		x.add(topicOf(d.Ecosystem, d.Name)+" "+said.summary, inTopics)
		x.add(said.readme, inReadme)
		p.locate(d)
		x.Dependency = *d
		h.List = append(h.List, x)
	}
	for _, e := range ecosystems {
		mine := slices.DeleteFunc(slices.Clone(found), func(d *Dependency) bool { return d.Ecosystem != e.name })
		if len(mine) > 0 {
			h.match[e.name] = e.matcher(p, mine)
		}
	}
	return h, nil
}

// read reads manifests, and returns what they name.
func read(ctx context.Context, r *os.Root, manifests []manifestFile) (*collector, []*Dependency, error) {
	p := newCollector(r)
	for _, f := range manifests {
		if err := stopped(ctx); err != nil {
			return nil, nil, err
		}
		data, err := readSome(r, f.path, maxManifest)
		if err != nil {
			p.note("%s cannot be read: %v", f.path, err)
			continue
		}
		p.manifests = append(p.manifests, f.path)
		f.parse(p, f.path, data)
	}
	return p, p.resolve(), nil
}

func (x *Holder) add(text string, weight float64) {
	for r := range roots(text) {
		x.words[r] = max(x.words[r], weight)
	}
}

// Import returns the dependencies, by their places in List, that an import of a
// document means; name is what it takes out of the module, if anything.
func (h *Holders) Import(document, module, name string) (out []int) {
	eco := ecosystemOf(document)
	match := h.match[eco]
	if match == nil || module == "" || module[0] == '.' {
		return nil
	}
	found := match(module)
	if len(found) == 0 && eco == python.name && name != "" {
		found = match(module + "." + name)
	}
	for _, d := range found {
		out = append(out, h.at[d])
	}
	return out
}

// Uses adds names of a dependency that the project's code uses to what is known
// of it.
func (h *Holders) Uses(i, files int, names []string) {
	x := &h.List[i]
	x.Files = files
	x.add(strings.Join(names, " "), inCode)
}

// IsSource reports whether a document is a source file whose imports are read.
func IsSource(document string) bool { return ecosystemOf(document) != "" }

// ecosystemOf returns the ecosystem of a source file, "" of another file.
func ecosystemOf(document string) string {
	ext := path.Ext(document)
	for _, e := range ecosystems {
		if slices.Contains(e.exts, ext) {
			return e.name
		}
	}
	return ""
}

// Asking are the words of a question, taken apart once for all dependencies.
type Asking struct {
	words []askedWord
	all   float64 // what their rarities come to
}

// askedWord is a word with its roots that no word before it has.
type askedWord struct {
	word   string
	roots  []string
	rarity []float64
}

// Asked takes the words of a question apart.
func Asked(words []string) *Asking {
	t := topics()
	a := &Asking{}
	seen := map[string]bool{}
	for _, w := range words {
		x := askedWord{word: w}
		most := 0.0
		for r := range roots(w) {
			if !seen[r] {
				seen[r] = true
				rare := t.rarity(r)
				most = max(most, rare)
				x.roots, x.rarity = append(x.roots, r), append(x.rarity, rare)
			}
		}
		if x.roots != nil {
			a.words, a.all = append(a.words, x), a.all+most
		}
	}
	return a
}

// Share is how much of what the words of a question tell a dependency has to do
// with, in [0,1], and those words as they were given, the rarest first:
//
//	Σ rarity·weight / Σ rarity
func (h *Holders) Share(i int, asked *Asking) (share float64, has []string) {
	type told struct {
		word   string
		rarity float64
	}
	var found []told
	for k := range asked.words {
		w := &asked.words[k]
		best := 0.0
		for n, r := range w.roots {
			best = max(best, w.rarity[n]*h.List[i].words[r])
		}
		if best > 0 {
			found = append(found, told{w.word, best})
			share += best
		}
	}
	slices.SortStableFunc(found, func(a, b told) int { return cmp.Compare(b.rarity, a.rarity) })
	for _, f := range found {
		has = append(has, f.word)
	}
	if asked.all == 0 {
		return 0, nil
	}
	return share / asked.all, has
}

// Ordinary are texts on well-known packages, every n-th of the table, to which
// the meaning of a question can be compared: what is no nearer than these tells
// nothing.
func Ordinary(n int) (out []string) {
	i := 0
	for line := range strings.Lines(topicsText) {
		if line == "\n" || line[0] == '#' {
			continue
		}
		if i++; i%n == 0 {
			_, words, _ := strings.Cut(strings.TrimSpace(line), " ")
			out = append(out, strings.NewReplacer("/", " ", "-", " ", "@", " ").Replace(words))
		}
	}
	return out
}
