package search

import (
	"context"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
	"github.com/seed-4f2d999b/knowledge/internal/search/rank"
	"github.com/seed-4f2d999b/knowledge/internal/text/terms"
)

// declaredOnce returns the place of the one declaration that a query which is
// a name means: by the symbols of the documents found or, of what they do not
// list, such as fields in some languages, by lines that look like a declaration.
func declaredOnce(ctx context.Context, targets []Target, q *question, found []rank.Evidence) (spot, bool, error) {
	if q.Unwritten() { // as most beginnings of a name are while one types
		return spot{}, false, nil
	}
	name := strings.NewReplacer("::", ".", "#", ".", "->", ".", "()", "").Replace(strings.TrimSpace(q.Text))
	meant := ""
	if len(q.Words) == 1 && q.Words[0].Meant != "" {
		meant = terms.Exact(q.Words[0].Meant)
	}
	var all, bodies []spot
	for t := range targets {
		var paths []string
		for i := range found {
			if e := &found[i]; e.Store == t && q.Defined(e.Defines) && !rank.IsTest(e.Path) && !slices.Contains(paths, e.Path) {
				paths = append(paths, e.Path)
			}
		}
		outlines, err := targets[t].Index.Texts(ctx, paths, false)
		if err != nil {
			return spot{}, false, of(t, err)
		}
		for _, o := range outlines {
			for s := range symbolsOf(&o) {
				switch {
				case !s.Declares():
					continue
				case meant != "" && terms.Exact(s.Name) == meant:
				case s.Name == name, strings.HasSuffix("."+s.Qualified(), "."+name):
				case strings.ToLower(s.Name) == name: // a word, which may mean that one
					return spot{}, false, nil
				default:
					continue
				}
				at := spot{target: t, path: o.Path, line: max(s.Line, s.Start), value: 1}
				all = append(all, at)
				if s.End > s.Start { // a prototype has one line
					bodies = append(bodies, at)
				}
			}
		}
	}
	switch {
	case len(all) == 1:
		return all[0], true, nil
	case len(bodies) == 1:
		return bodies[0], true, nil
	case len(all) > 0 || len(q.Words) != 1:
		return spot{}, false, nil
	}
	return declaredInText(ctx, targets, q.Words[0].Text, found)
}

// symbolsOf are the symbols of a document, in the order of its chunks.
func symbolsOf(d *kb.DocumentText) iter.Seq[*kb.Symbol] {
	return func(yield func(*kb.Symbol) bool) {
		for i := range d.Chunks {
			for j := range d.Chunks[i].Symbols {
				if !yield(&d.Chunks[i].Symbols[j]) {
					return
				}
			}
		}
	}
}

// declarationForms are how lines declare a name, %s, the surest first: after a
// type or a modifier, before a type or as what is read, by a first value.
var declarationForms = []string{
	`^\s*(?:[A-Za-z_][\w.<>\[\],?*&|:]*\s+)+[*&$@]*%s\s*(?:[;,\[:]|=[^=>]|$)`,
	`^\s*["']?%s["']?\??\s*:(?:[^:=]|$)|^\s*[a-z]*attr_(?:reader|accessor)\b.*[\s,(]:%[1]s\b`,
	`^\s*(?:(?:self|this)\.|@)?%s\s*(?:=[^=>]|,?$)|^\s*\w+ :%[1]s\b`,
}

// goField is how a line of Go declares a name, %s, before its type.
const goField = `^\s+%s\s+[*\[(<A-Za-z_]`

// statement are lines that begin like a declaration and are none.
var statement = lazyregexp.New(`^\s*(?://|#|\*|--|(?:return|if|in|and|or|not|else|elsif|elif|when|while|new|throw|await|case|import|from|use|using|del|delete|yield|typeof|goto|raise|is|as|echo|print|package|export \{)\b)`)

// declaredInText finds the one document in which a line declares a name in the
// surest form there is, and the first such line of it.
func declaredInText(ctx context.Context, targets []Target, name string,
	found []rank.Evidence) (best spot, ok bool, err error) {
	forms := make([]*regexp.Regexp, len(declarationForms))
	for i, f := range declarationForms {
		if forms[i], err = regexp.Compile(fmt.Sprintf(f, regexp.QuoteMeta(name))); err != nil {
			return best, false, err
		}
	}
	field, err := regexp.Compile(fmt.Sprintf(goField, regexp.QuoteMeta(name)))
	if err != nil {
		return best, false, err
	}
	const elsewhere = 1 << 20 // times, of a name that several documents declare
	form, times := len(forms), 0
	var at []int
	for i := range found {
		if e := &found[i]; e.Lexical > 0 && e.Flags&kb.FlagProse == 0 && !rank.IsTest(e.Path) {
			at = append(at, i)
		}
	}
	err = eachPassage(ctx, targets, kb.Index.Excerpts, len(at), func(k int) (int, kb.Place) {
		return found[at[k]].Store, found[at[k]].Place
	}, func(k int, p *kb.Passage) error {
		t := found[at[k]].Store
		line := p.Chunk.Start - 1
		for text := range strings.Lines(p.Text) {
			line++
			if !strings.Contains(text, name) || statement.MatchString(text) {
				continue
			}
			text = strings.TrimRight(text, "\r\n")
			for k := range forms[:min(form+1, len(forms))] {
				if !forms[k].MatchString(text) && (k > 0 || p.Language != "go" || !field.MatchString(text)) {
					continue
				}
				if k < form {
					form, times = k, 0
				}
				if times++; times == 1 {
					best = spot{target: t, path: p.Path, line: line, value: 1}
				} else if best.target == t && best.path == p.Path && line < best.line {
					best.line = line
				} else if best.target != t || best.path != p.Path {
					times = elsewhere
				}
				break
			}
		}
		return nil
	})
	if err != nil {
		return best, false, err
	}
	return best, times > 0 && times < elsewhere, nil
}

// DeclaredAs returns the places, path:line, at which a name is declared for
// certain, those in tests only where there are no others.
func DeclaredAs(ctx context.Context, targets []Target, name string) ([]string, error) {
	var out, tests []string
	for i := range targets {
		if targets[i].View == nil {
			continue
		}
		decls, err := targets[i].View.Find(name)
		if err != nil {
			return nil, of(i, err)
		}
		for _, d := range decls {
			at := fmt.Sprintf("%s:%d", d.Path, d.Line)
			if !targets[i].Own {
				at = targets[i].Store.Label() + ":" + at
			}
			if rank.IsTest(d.Path) {
				tests = append(tests, at)
			} else {
				out = append(out, at)
			}
		}
	}
	if out == nil {
		return tests, nil
	}
	return out, nil
}
