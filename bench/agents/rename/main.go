// Command rename rewrites a checkout in other words: the same structure, the same
// lines, the same grammar, and no name, comment or text of it that a model could
// have seen. Every word that is the project's own becomes another one, the same
// everywhere, chosen by a seed; keywords, the names of standard libraries and of
// packages from elsewhere stay, so that the code still parses.
//
//	rename -from DIR -to DIR -seed N [-all] [-set FILE -out FILE]
//
// Words that only comments and texts have stay, so that these can be read; with
// -all they go too.
//
// Only source code is written, and go.mod; documents and data are left out. The
// map of files and words goes to DIR.map.json; with -set the questions of a set
// are rewritten by it, their places following their files. A file of which the
// declarations or the errors would not be what they were is left out and named.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/bench/agents/window"
	"github.com/seed-4f2d999b/knowledge/bench/lab"
	"github.com/seed-4f2d999b/knowledge/internal/code/grammar"
	"github.com/seed-4f2d999b/knowledge/internal/code/lang"
	"github.com/seed-4f2d999b/knowledge/internal/code/syntax"
)

func main() {
	from, to := flag.String("from", "", "the checkout"), flag.String("to", "", "where the other one is written")
	seed := flag.Uint64("seed", 1, "chooses the words")
	set := flag.String("set", "", "a set of questions about the checkout")
	out := flag.String("out", "", "where it is written in the new words")
	every := flag.Bool("all", false, "also the words that no name has")
	flag.Parse()
	p := &project{grammars: &grammar.Set{Wanted: wanted}, seed: *seed, every: *every}
	if err := p.run(*from, *to, *set, *out); err != nil {
		fmt.Fprintln(os.Stderr, "rename:", err)
		os.Exit(1)
	}
}

// mostLeft: one file in so many may come out with other declarations and is left
// out; more is a fault of this program.
const mostLeft = 50

// wanted takes every node with a name out of a parse, and those that the outlines need.
func wanted(language, node string, named bool) grammar.Want {
	if named {
		return grammar.Emit
	}
	return syntax.Wanted(language, node, named)
}

// mapping is what DIR.map.json holds.
type mapping struct {
	Seed  uint64            `json:"seed"`
	Files map[string]string `json:"files"`
	Words map[string]string `json:"words"`
	Kept  []string          `json:"kept"` // names that stay, because they are from elsewhere
}

func (p *project) run(from, to, set, out string) error {
	if from == "" || to == "" {
		return fmt.Errorf("-from and -to are needed")
	}
	if _, err := os.Stat(to); err == nil {
		return fmt.Errorf("%s is there already", to)
	}
	t, err := window.ReadTree(from)
	if err != nil {
		return err
	}
	if err := p.read(context.Background(), t); err != nil {
		return err
	}
	m := mapping{Seed: p.seed, Files: map[string]string{}, Words: p.words.to, Kept: lab.Keys(p.kept)}
	left := 0
	for _, f := range p.files {
		text := p.rewrite(f)
		if err := p.same(context.Background(), f, text); err != nil {
			fmt.Printf("left out: %v\n", err)
			left++
			continue
		}
		m.Files[f.path] = p.path(f.path)
		if err := write(filepath.Join(to, filepath.FromSlash(m.Files[f.path])), text); err != nil {
			return err
		}
	}
	if err := p.goMod(t, to); err != nil {
		return err
	}
	if left*mostLeft > len(p.files) {
		return fmt.Errorf("%d of %d files came out otherwise than they were", left, len(p.files))
	}
	b, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return err
	}
	fmt.Printf("%d files of %d, %d words renamed, %d names kept\n", len(m.Files), len(t.Paths), len(m.Words), len(m.Kept))
	if err := os.WriteFile(to+".map.json", append(b, '\n'), 0o644); err != nil {
		return err
	}
	if set == "" {
		return nil
	}
	return p.questions(set, out, m)
}

func write(file, text string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	if _, err := os.Stat(file); err == nil {
		return fmt.Errorf("two files are called %s", file)
	}
	return os.WriteFile(file, []byte(text), 0o644)
}

// file is one source file.
type file struct {
	path, language, text string
	tokens               []token
}

// project is a checkout that is being rewritten.
type project struct {
	grammars  *grammar.Set
	seed      uint64
	every     bool // rename the words that only prose has
	files     []*file
	own       map[string]bool // names of its folders and files, without endings
	goModules []string        // paths of its modules
	packages  map[string]bool // first two names of its Java packages
	kept      map[string]bool
	words     *words
}

// read parses a tree and decides which word becomes which.
func (p *project) read(ctx context.Context, t *window.Tree) error {
	p.own, p.packages, p.kept = map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, at := range t.Paths {
		text := strings.Join(t.Lines[at], "\n") + "\n"
		if path.Base(at) == "go.mod" {
			if m := moduleRE.FindStringSubmatch(text); m != nil {
				p.goModules = append(p.goModules, m[1])
			}
		}
		l := lang.Of(at, []byte(text[:min(len(text), 512)]))
		if !sources[l] {
			continue
		}
		p.files = append(p.files, &file{path: at, language: l, text: text})
		if m := packageRE.FindStringSubmatch(text); m != nil {
			p.packages[m[1]] = true
		}
		for part := range strings.SplitSeq(strings.TrimSuffix(at, path.Ext(at)), "/") {
			p.own[part] = true
		}
	}
	p.files = slices.DeleteFunc(p.files, func(f *file) bool {
		err := p.tokenise(ctx, f)
		if err != nil {
			fmt.Printf("left out: %s, as it is: %v\n", f.path, err)
		}
		return err != nil && ctx.Err() == nil
	})
	p.decideKept()
	p.words = newWords(p.vocabulary(), p.seed)
	return nil
}

// vocabulary counts the words that are renamed: those of names and paths, and of
// prose those that are one of them with an ending, or every one.
func (p *project) vocabulary() map[string]int {
	count, said := map[string]int{}, map[string]int{}
	for _, f := range p.files {
		for _, part := range wordRE.FindAllString(strings.TrimSuffix(f.path, path.Ext(f.path)), -1) {
			addParts(count, part)
		}
		for _, k := range f.tokens {
			into := count
			if k.kind == prose {
				into = said
			}
			for _, name := range wordRE.FindAllString(f.text[k.from:k.to], -1) {
				if !p.kept[name] {
					addParts(into, name)
				}
			}
		}
	}
	names := maps.Clone(count)
	for w, n := range said {
		if base, _ := baseOf(w, names); p.every || base != "" || names[w] > 0 {
			count[w] += n
		}
	}
	return count
}

var (
	wordRE    = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)
	packageRE = regexp.MustCompile(`(?m)^\s*(?:package|namespace)\s+(\w+\.\w+)`)
	moduleRE  = regexp.MustCompile(`(?m)^module\s+(\S+)`)
)

// rewrite returns the text of a file in the new words.
func (p *project) rewrite(f *file) string {
	var b strings.Builder
	at := 0
	for _, k := range f.tokens {
		b.WriteString(f.text[at:k.from])
		text := f.text[k.from:k.to]
		switch k.kind {
		case name:
			if k.outside {
				b.WriteString(text)
			} else {
				b.WriteString(p.name(text))
			}
		case prose:
			b.WriteString(p.prose(text))
		}
		at = k.to
	}
	b.WriteString(f.text[at:])
	return b.String()
}

// name returns another name, its marks (@, $, :, ?, !) as they are.
func (p *project) name(s string) string {
	return wordRE.ReplaceAllStringFunc(s, func(w string) string {
		if p.kept[w] {
			return w
		}
		return p.words.identifier(w)
	})
}

// escapeRE finds what a backslash or a percent sign makes of the letter behind it.
var escapeRE = regexp.MustCompile(`\\(?:u\{[0-9A-Fa-f]+\}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|x[0-9A-Fa-f]{2}|[A-Za-z])|` +
	`%[-+#0 ]*[0-9.*]*[A-Za-z]\b`)

// prose rewrites the words of a comment or a text; escapes and verbs of formats stay.
func (p *project) prose(s string) string {
	var b strings.Builder
	at := 0
	for _, m := range escapeRE.FindAllStringIndex(s, -1) {
		b.WriteString(p.name(s[at:m[0]]))
		b.WriteString(s[m[0]:m[1]])
		at = m[1]
	}
	b.WriteString(p.name(s[at:]))
	return b.String()
}

// path is where a file goes: every word of its path changed, its ending not.
func (p *project) path(at string) string {
	ext := path.Ext(at)
	return p.words.identifierAll(strings.TrimSuffix(at, ext)) + ext
}

// goMod writes the go.mod files with their modules' new paths.
func (p *project) goMod(t *window.Tree, to string) error {
	for _, at := range t.Paths {
		if path.Base(at) != "go.mod" {
			continue
		}
		text := strings.Join(t.Lines[at], "\n") + "\n"
		text = moduleRE.ReplaceAllStringFunc(text, func(s string) string {
			return "module " + p.words.identifierAll(strings.TrimSpace(strings.TrimPrefix(s, "module")))
		})
		if err := write(filepath.Join(to, filepath.FromSlash(p.path(at))), text); err != nil {
			return err
		}
	}
	return nil
}

// same reports how the declarations of a file differ from those that it had.
func (p *project) same(ctx context.Context, f *file, text string) error {
	before, err := p.outline(ctx, f.language, f.text)
	if err != nil {
		return fmt.Errorf("%s: %w", f.path, err)
	}
	after, err := p.outline(ctx, f.language, text)
	if err != nil {
		return fmt.Errorf("%s, rewritten: %w", f.path, err)
	}
	if strings.Count(f.text, "\n") != strings.Count(text, "\n") {
		return fmt.Errorf("%s: it has other lines now", f.path)
	}
	if !slices.Equal(before.declarations, after.declarations) {
		return fmt.Errorf("%s: %s", f.path, differ(before.declarations, after.declarations))
	}
	if after.errors > before.errors {
		return fmt.Errorf("%s: %d errors became %d", f.path, before.errors, after.errors)
	}
	return nil
}

func differ(a, b []string) string {
	for i := range max(len(a), len(b)) {
		switch {
		case i >= len(a):
			return "more: " + b[i]
		case i >= len(b):
			return "lost: " + a[i]
		case a[i] != b[i]:
			return a[i] + " became " + b[i]
		}
	}
	return ""
}
