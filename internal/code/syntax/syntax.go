// Package syntax reads declarations, imports and uses of names from the trees
// of package grammar. What every language has in common is done once, by the
// walk: lines, doc comments, nesting, qualified names. A language is a table
// from node types to rules, many of which are made of a few shared ones.
package syntax

import (
	"context"

	"github.com/seed-4f2d999b/knowledge/internal/code/grammar"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Decl is one declaration. Lines are 0-based.
type Decl struct {
	Name string
	Kind string   // as in kb.Symbol: "function", "method", "class", …
	Path []string // names of the enclosing declarations, outermost first
	Line int      // of the name
	// Start is its first line, with the doc comment, attributes and decorators
	// that belong to it; End its last line.
	Start, End int
	// Signature and Doc are byte ranges of the text, empty when there is none:
	// the declaration up to its body, and the comment or doc string with its marks.
	Signature, Doc [2]int
	// Inner marks a declaration that is no place to cut at: an enumerator, a
	// function inside a function.
	Inner bool
	// Body is the line on which its body begins, -1 without one.
	Body int
}

// Outline is what a text declares and uses.
type Outline struct {
	Decls []Decl // in order of their starts, enclosing ones first
	Facts kb.Facts
	// Imports are the lines, half open, on which something is imported.
	Imports [][2]int
	// Broken is the share of the text's bytes that did not parse.
	Broken float64
}

// spec is the rules of one language.
type spec struct {
	grammar string
	// rules are the node types that are looked at, and tokens the literal
	// tokens ("async") that come out of the parse at all. A test refuses types
	// that the grammar does not have.
	rules  rules
	chains chains
	// typ returns the type that a node names, use records what it uses and
	// pattern binds what it assigns to, of a type; made returns the type that an
	// expression makes a value of. See combine.go.
	typ     func(w *walk, n int32) string
	use     func(w *walk, n int32, kind kb.UseKind)
	pattern func(w *walk, n int32, typ string)
	made    func(w *walk, n int32) string
	tokens  []string
	// comments are the node types of comments; attributes those of siblings that
	// may be between a comment and its declaration ("attribute_item").
	comments   []string
	attributes []string
	// prepare, if not nil, makes the text that is parsed out of the file's: of
	// the same length, with everything of another language blanked.
	prepare func(text string) string
	// data is for formats of data: a text that is larger than maxData or
	// declares nothing is as if nothing had parsed.
	data bool
	// brittle is for a grammar that loses its way at what it does not know
	// (zsh and fish for that of bash): any error is as if nothing had parsed.
	brittle bool
}

// rule reads a node: it goes on into it with w.children or w.visit, or passes
// over what is in it. Nodes without a rule are gone into by themselves.
type rule func(w *walk, n int32)

// rules are rules by node types, several of them with blanks between.
type rules []struct {
	types string
	rule  rule
}

// The rules that many languages share.
var (
	skip   rule = func(*walk, int32) {}
	scoped rule = func(w *walk, n int32) { w.within(n, func() { w.children(n) }) }
)

// Known reports whether there are rules for a language.
func Known(language string) bool { return specOf(language) != nil }

// Wanted says which nodes the rules need out of a parse; see grammar.Set.
func Wanted(language, node string, named bool) grammar.Want {
	if named {
		return grammar.Emit
	}
	for _, s := range specs {
		if s.grammar == language {
			for _, t := range s.tokens {
				if t == node {
					return grammar.Leaf
				}
			}
		}
	}
	return grammar.Skip
}

// maxDepth is how deep rules follow nested nodes. What lies deeper is text
// like any other, only not looked at for names.
const maxDepth = 1000

// Read parses a text and reads its outline. Errors are those of
// grammar.Set.Parse, and NotFound for a language without rules.
func Read(ctx context.Context, set *grammar.Set, language, text string) (Outline, error) {
	s := specOf(language)
	if s == nil {
		return Outline{}, kb.Errorf(kb.NotFound, "there are no rules for %q", language)
	}
	if s.data && len(text) > maxData {
		return Outline{Broken: 1}, nil
	}
	if s.prepare != nil {
		text = s.prepare(text)
	}
	var out Outline
	err := set.Parse(ctx, s.grammar, text, func(t *grammar.Tree) error {
		w := newWalk(s, t)
		if len(t.Nodes) > 0 {
			w.visit(0)
		}
		out = w.finish()
		return nil
	})
	return out, err
}
