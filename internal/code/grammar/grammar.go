// Package grammar parses source code with tree-sitter grammars. Each grammar
// is a WebAssembly module of its own, built from the C sources of tree-sitter
// and of the grammar by build/build.sh, compressed into the binary, and run by
// wazero: no C compiler, no shared library, and a grammar that misbehaves
// costs the file it misbehaved at.
//
// A module is compiled at the first file of its language and kept, as machine
// code, in a folder for later processes (see kept.go). An instance parses one file at a
// time; instances are pooled. What a module may do is bounded three ways: by
// the parser's own steps, so that the same text gives the same tree on every
// machine; by memory; and by the context.
package grammar

import (
	"context"
	"embed"
	"errors"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

//go:embed wasm/*.wasm.zst
var modules embed.FS

const (
	// memoryPages of 64 KiB are what one instance may have. A file of a
	// megabyte, the largest that is indexed by default, takes up to 60 MB.
	memoryPages = 160 << 20 / (64 << 10)
	// keepBytes is the memory above which an instance is given up after use:
	// the memory of a module never shrinks.
	keepBytes = 24 << 20
	// firstBytes is what an instance has room for at once; see room.
	firstBytes = 4 << 20
	// A parse may take stepsLeast hundreds of the parser's steps, and one more
	// for every bytesPerStep bytes. Real code takes a third of a step a byte.
	bytesPerStep = 8
	stepsLeast   = 4_000
)

// Node is one node of a tree, as a module writes it.
type Node struct {
	Symbol     uint16 // index into Language.Symbols; ErrorSymbol for an error
	Field      uint8  // index into Language.Fields, 0 for none
	Flags      Flags
	Start, End uint32 // bytes of the text, half open
	Next       uint32 // index of the first node behind its subtree
}

// ErrorSymbol is the symbol of what does not parse.
const ErrorSymbol = 0xffff

// Flags are facts about a node.
type Flags uint8

// The flags of a node.
const (
	Named    Flags = 1 << iota // a rule of the grammar rather than a literal token
	IsError                    // a piece that does not parse
	Missing                    // put in by the parser to go on
	HasError                   // something in it does not parse
)

// Language is what a grammar calls things.
type Language struct {
	Name    string
	Symbols []string // types of nodes by number: "call_expression", "+"
	Named   []bool   // by the same number
	Fields  []string // by number; [0] is ""
}

// Symbol returns the numbers of the named node types called name; a grammar
// may have several for aliases.
func (l *Language) Symbol(name string) []uint16 {
	var out []uint16
	for i, s := range l.Symbols {
		if s == name && l.Named[i] {
			out = append(out, uint16(i))
		}
	}
	return out
}

// Field returns the number of a field, 0 when the grammar has none of that name.
func (l *Language) Field(name string) uint8 {
	return uint8(max(0, slices.Index(l.Fields, name)))
}

// Want says what of a node comes out of a parse.
type Want = byte

// The values of Want. The children of a node that is passed over come out as
// if they were its parent's.
const (
	Skip Want = iota // pass over it
	Emit             // it and what is in it
	Leaf             // it, without what is in it
)

// Tree is the outcome of a parse: the wanted nodes in document order, parents
// before children. Nodes is only valid while the function it was given to runs.
type Tree struct {
	*Language
	Source string
	Nodes  []Node
}

// Text returns the bytes of a node.
func (t *Tree) Text(n *Node) string { return t.Source[n.Start:n.End] }

// Set holds the grammars. The zero value works, without keeping machine code.
// It is safe for concurrent use.
type Set struct {
	// Folder keeps compiled modules for later processes; "" does not.
	Folder string
	// Wanted says which nodes of a language come out; nil is all named ones.
	Wanted func(language, node string, named bool) Want

	mu    sync.Mutex
	langs map[string]*module
}

// Languages lists what there is a grammar for.
func Languages() []string {
	entries, err := modules.ReadDir("wasm")
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		out = append(out, strings.TrimSuffix(e.Name(), ".wasm.zst"))
	}
	return out
}

// Has reports whether there is a grammar for a language.
func Has(language string) bool {
	f, err := modules.Open(path.Join("wasm", language+".wasm.zst"))
	if err == nil {
		f.Close()
	}
	return err == nil
}

// Language returns what a grammar calls things. The first call compiles it.
func (s *Set) Language(ctx context.Context, language string) (*Language, error) {
	m, err := s.module(ctx, language)
	if err != nil {
		return nil, err
	}
	return m.lang, nil
}

// Parse parses a text and calls f with its tree. The errors: NotFound when
// there is no grammar; Unsupported when this text is too much for it (steps,
// memory, a trap), which says nothing about other texts; the context's own;
// and what f returns.
func (s *Set) Parse(ctx context.Context, language, text string, f func(*Tree) error) error {
	m, err := s.module(ctx, language)
	if err != nil {
		return err
	}
	in, err := s.instance(ctx, m)
	if err != nil {
		return err
	}
	nodes, err := in.run(ctx, text)
	if err != nil {
		in.mod.Close(context.WithoutCancel(ctx))
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return kb.Errorf(kb.Unsupported, "the grammar of %s cannot read this text: %v", language, trapped(err))
	}
	defer func() { // when f panics too
		if in.mod.Memory().Size() > keepBytes {
			in.mod.Close(ctx)
			return
		}
		m.mu.Lock()
		m.rest = append(m.rest, in)
		m.mu.Unlock()
	}()
	return f(&Tree{Language: m.lang, Source: text, Nodes: nodes})
}

// Close gives up everything.
func (s *Set) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	for _, m := range s.langs {
		select {
		case <-m.ready:
			err = errors.Join(err, m.close())
		default: // it takes seconds, which a caller that was cancelled does not have
			go func() {
				<-m.ready
				_ = m.close()
			}()
		}
	}
	s.langs = nil
	return err
}
