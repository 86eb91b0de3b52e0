package traces

import (
	"context"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search"
	"github.com/seed-4f2d999b/knowledge/internal/search/rank"
)

// place is a declaration of a target: a function where there is one around a
// line. There is one value of each, so that pointers compare.
type place struct {
	target           int
	path             string
	name             string // qualified; "" for what is in no declaration
	kind             string
	line, start, end int // of the name, first, last
	test             bool
}

func (p *place) spot() kb.Spot { return kb.Spot{Path: p.path, Line: p.line, Decl: p.name} }

// last is the last part of its name.
func (p *place) last() string { return p.name[strings.LastIndexByte(p.name, '.')+1:] }

// file is a document of a target.
type file struct {
	lines   []string
	symbols []kb.Symbol
	code    [][]string // names on each line, made at first use
}

// line returns a line, from 1; "" outside.
func (f *file) line(n int) string {
	if n < 1 || n > len(f.lines) {
		return ""
	}
	return f.lines[n-1]
}

// words returns the names on a line, without those in quotes.
func (f *file) words(n int) []string {
	if n < 1 || n > len(f.lines) {
		return nil
	}
	if f.code == nil {
		f.code = make([][]string, len(f.lines))
	}
	if f.code[n-1] == nil {
		f.code[n-1] = wordsOf(unquoted(f.lines[n-1]))
	}
	return f.code[n-1]
}

type fileKey struct {
	target int
	path   string
}

type placeKey struct {
	fileKey
	start int
	name  string
}

// sources reads declarations, texts and calls of targets, each once.
type sources struct {
	ctx     context.Context
	targets []search.Target
	t       *Tuning
	files   map[fileKey]*file
	places  map[placeKey]*place
	calls   map[*place][]call
	named   map[string][]*place
	read    int // files
}

func newSources(ctx context.Context, targets []search.Target, t *Tuning) *sources {
	return &sources{
		ctx: ctx, targets: targets, t: t, files: map[fileKey]*file{}, places: map[placeKey]*place{},
		calls: map[*place][]call{}, named: map[string][]*place{},
	}
}

// mostFiles is how many documents one question reads.
const mostFiles = 1500

// file returns a document, an empty one where it cannot be had any more.
func (s *sources) file(target int, path string) (*file, error) {
	k := fileKey{target, path}
	if f := s.files[k]; f != nil {
		return f, nil
	}
	f := &file{}
	if s.read++; s.read <= mostFiles {
		idx := s.targets[target].Index
		d, err := idx.Document(s.ctx, path)
		if err != nil && kb.CodeOf(err) != kb.NotFound {
			return nil, &search.TargetError{Target: target, Err: err}
		}
		if err == nil {
			f.lines = strings.Split(d.Body, "\n")
			list, err := idx.Outlines(s.ctx, []string{path})
			if err != nil {
				return nil, &search.TargetError{Target: target, Err: err}
			}
			if len(list) > 0 {
				f.symbols = list[0].Symbols
			}
		}
	}
	s.files[k] = f
	return f, nil
}

// callable are the kinds of declarations that run.
var callable = []string{"function", "method", "constructor", "func", "macro", "getter", "setter", "accessor", "closure", "task", "destructor", "operator"}

// types are the kinds of declarations that are made by calling them.
var types = []string{"class", "struct", "record", "type", "object", "enum", "module", "interface", "trait"}

// around returns the function around a line, or else whatever is declared
// around it, or what is in no declaration of the document.
func (s *sources) around(target int, path string, line int) (*place, error) {
	f, err := s.file(target, path)
	if err != nil {
		return nil, err
	}
	best := -1
	runs := func(y *kb.Symbol) bool { return slices.Contains(callable, y.Kind) }
	for i := range f.symbols {
		y := &f.symbols[i]
		if !y.Declares() || y.Start > line || y.End < line {
			continue
		}
		if best < 0 || runs(y) && !runs(&f.symbols[best]) ||
			runs(y) == runs(&f.symbols[best]) && y.End-y.Start <= f.symbols[best].End-f.symbols[best].Start {
			best = i
		}
	}
	if best < 0 {
		return s.intern(&place{target: target, path: path, line: line, start: 1, end: len(f.lines), test: rank.IsTest(path)}), nil
	}
	return s.symbol(target, path, &f.symbols[best]), nil
}

func (s *sources) symbol(target int, path string, y *kb.Symbol) *place {
	return s.intern(&place{
		target: target, path: path, name: y.Qualified(), kind: y.Kind, line: max(y.Line, y.Start), start: y.Start, end: y.End,
		test: rank.IsTest(path) || rank.InTests(y.Path),
	})
}

func (s *sources) intern(p *place) *place {
	k := placeKey{fileKey{p.target, p.path}, p.start, p.name}
	if have := s.places[k]; have != nil {
		return have
	}
	s.places[k] = p
	return p
}

// called returns the declarations of a name, "parse" or "json.parse", in all
// targets; none where more have it than tell anything.
func (s *sources) called(name string) ([]*place, error) {
	if list, ok := s.named[name]; ok {
		return list, nil
	}
	var out []*place
	for t := range s.targets {
		v := s.targets[t].View
		if v == nil {
			continue
		}
		decls, err := v.Find(name)
		if err != nil {
			return nil, &search.TargetError{Target: t, Err: err}
		}
		if len(decls) > 40 {
			out = nil
			break
		}
		for _, d := range decls {
			if slices.Contains(callable, d.Kind) || slices.Contains(types, d.Kind) {
				out = append(out, s.intern(&place{
					target: t, path: d.Path, name: d.Qualified, kind: d.Kind, line: d.Line, start: d.Start, end: d.End, test: rank.IsTest(d.Path),
				}))
			}
		}
	}
	s.named[name] = out
	return out, nil
}

// constructors returns what runs when a type is made.
func (s *sources) constructors(p *place) ([]*place, error) {
	f, err := s.file(p.target, p.path)
	if err != nil {
		return nil, err
	}
	var out []*place
	for i := range f.symbols {
		y := &f.symbols[i]
		if len(y.Path) == 0 || y.Path[len(y.Path)-1] != p.last() || y.Start < p.start || y.End > p.end {
			continue
		}
		switch y.Name {
		case "__init__", "__new__", "__post_init__", "constructor", "initialize", "__construct", p.last():
			out = append(out, s.symbol(p.target, p.path, y))
		}
	}
	return out, nil
}
