// Package chunk turns the bytes of a document into a text in a known language
// and cuts it into chunks.
//
// Cutting has two halves. A splitter knows one family of languages and returns
// units: lines at which something begins, with the declaration or heading
// path, the kind and the symbols found there. One finishing pass, the same for
// all, makes chunks of them and alone answers for the promises:
//
//   - every line, blank ones included, lies in exactly one chunk, chunks are in
//     order, and Body[From:To] of all of them joined is Body;
//   - blank lines belong to the chunk before them, comments to what follows;
//   - a line over kb.MaxLineBytes is split at rune boundaries into chunks of at
//     most kb.MaxLineBytes bytes each, with Start == End. ColFrom and ColTo are
//     byte offsets in the line without its "\n"; the last part's [From,To)
//     holds the "\n" as well;
//   - no other chunk is over MaxLines lines or MaxBytes bytes;
//   - the same text gives the same chunks, in time linear in its length.
//
// A text has the lines that end in "\n", plus the rest after the last "\n" if
// it is not empty: "a\n" is one line, "" is none.
package chunk

import (
	"cmp"
	"context"
	"fmt"

	"github.com/seed-4f2d999b/knowledge/internal/code/grammar"
	outlines "github.com/seed-4f2d999b/knowledge/internal/code/syntax"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/text/specdoc"
)

// Version names the way of cutting. It is in every segment header and grows
// whenever the same text would be decoded, named or cut differently.
const Version = 5

// The sizes of chunks. A reader is shown whole chunks, and an embedding of more
// than about 400 tokens (1,600 bytes) blurs; so that is what text without
// structure is cut to. A declaration is worth keeping whole well beyond that,
// up to what still fits on two screens.
const (
	AimLines = 40
	AimBytes = 1600

	// Text without declarations and sections of prose are cut when they are
	// larger than this, which is one and a half times the aim, so that a cut
	// never leaves two halves that are both far too small.
	softLines = AimLines * 3 / 2
	softBytes = AimBytes * 3 / 2

	// MaxLines and MaxBytes bound every chunk. A larger declaration is cut at
	// its best inner boundaries; its parts keep its declaration path.
	MaxLines = 120
	MaxBytes = 6000

	// A piece without a name that is no longer than this joins the one before it.
	tinyLines = 3
)

// merging says how small neighbours are merged until they are worth a hit of
// their own: those below full lines and bytes are, and a declaration of real
// lines or bytes stays alone.
type merging struct{ fullLines, fullBytes, realLines, realBytes int }

// shipped is the merging of this version. With half of these figures the Go
// toolchain makes a third more chunks, and an index that, with its vectors,
// is larger than the text.
var shipped = merging{fullLines: 24, fullBytes: 1200, realLines: 20, realBytes: 1100}

// unit is a place where something begins. It reaches to the next unit's start.
type unit struct {
	start   int // index of its first line, comments and decorators included
	end     int // last line of all that it encloses, 0 when not known
	level   int // how many units enclose it
	path    []string
	kind    string
	symbols []symbol
}

// symbol is a kb.Symbol and the line (0-based) of the name, which decides the
// chunk that lists it.
type symbol struct {
	kb.Symbol
	line int
}

// outline is what a splitter found.
type outline struct {
	units []unit
	// class says what each line is, for better inner cuts; nil when the
	// splitter does not know.
	class []class
	// sections makes the finishing pass treat units as sections of prose:
	// merged only when next to empty, and cut at softLines.
	sections bool
	facts    kb.Facts
}

// splitter finds the units of a text. It reports false when it cannot make
// sense of the text; the window then takes it. Units may come in any order and
// leave gaps: the finishing pass puts them right.
type splitter func(t kb.Text, ls *lines) (outline, bool)

// splitters holds the languages that have a splitter of their own. Those that
// package syntax has rules for are cut at what its grammars find, all others
// by the window.
var splitters = map[string]splitter{
	"go":        splitGo,
	"markdown":  splitMarkdown,
	"mdx":       splitMDX,
	"rst":       splitRST,
	"gherkin":   splitSpec,
	"strictdoc": splitSpec,
	"asciidoc":  splitAsciiDoc,
	"org":       splitOrg,
	"html":      splitHTML,
	"latex":     splitLaTeX,
	"notebook":  splitNotebook,
}

// Cutter cuts texts. The zero value does without grammars. It is safe for
// concurrent use.
type Cutter struct {
	Grammars *grammar.Set
}

// Split is Cutter.Split without grammars; programs of bench use it.
func Split(t kb.Text) []kb.Chunk {
	cut, err := new(Cutter).Split(context.Background(), t)
	if err != nil {
		panic(err) // the background is never done
	}
	return cut.Chunks
}

// NewCutter returns a Cutter that keeps the machine code of its grammars in a
// folder: a few megabytes each, which may be deleted at any time.
func NewCutter(folder string) Cutter {
	return Cutter{Grammars: &grammar.Set{Folder: folder, Wanted: Wanted}}
}

// Close ends the grammars.
func (c *Cutter) Close() error { return c.Grammars.Close() }

// Wanted is what a grammar.Set for a Cutter wants.
func Wanted(language, node string, named bool) grammar.Want {
	return outlines.Wanted(language, node, named)
}

// Cut is a text taken apart.
type Cut struct {
	Chunks []kb.Chunk
	Facts  kb.Facts
	// Failed is set when a grammar could not read the text, which was then cut
	// by indentation, or a reader stumbled over it, which then is plain text: it
	// says why.
	Failed string
}

// Split cuts a text into chunks. It needs t.Body and t.Language; an unknown
// language is cut by indentation. A text without bytes has no chunks. The only
// error is that of the context: a defect of a reader is the text's own failure.
func (c *Cutter) Split(ctx context.Context, t kb.Text) (cut Cut, err error) {
	defer func() {
		if p := recover(); p != nil {
			ls := newLines(t.Body)
			cut, err = Cut{Chunks: finish(ls, splitWindow(kb.Text{Body: t.Body}, ls), shipped),
				Failed: kb.Clip(fmt.Sprintf("a defect of the reader of %s: %v", cmp.Or(t.Language, "plain text"), p), failedBytes)}, nil
		}
	}()
	return c.cut(ctx, t, shipped)
}

// failedBytes is how long the reason of Cut.Failed is for a defect.
const failedBytes = 160

func (c *Cutter) cut(ctx context.Context, t kb.Text, m merging) (Cut, error) {
	var cut Cut
	if t.Body == "" {
		return cut, nil
	}
	ls := newLines(t.Body)
	if split, ok := splitters[t.Language]; ok {
		if o, ok := split(t, ls); ok {
			cut.Chunks, cut.Facts = finish(ls, o, m), o.facts
			if cut.Facts.Spec == nil && specdoc.Reads(t.Language) {
				cut.Facts.Spec = specdoc.ParseAs(t.Language, t.Body)
			}
			if t.Language == "notebook" && c.Grammars != nil && !minified(ls) {
				// Cells that cannot be read have no facts.
				if o, err := outlines.Read(ctx, c.Grammars, "python", pythonCells(ls)); err == nil {
					cut.Facts = o.Facts
				} else if ctx.Err() != nil {
					return cut, err
				}
			}
			return cut, nil
		}
	}
	if c.Grammars != nil && outlines.Known(t.Language) && !minified(ls) {
		o, err := outlines.Read(ctx, c.Grammars, t.Language, t.Body)
		switch {
		case err == nil && o.Broken <= brokenShare:
			cut.Chunks, cut.Facts = finish(ls, fromTree(ls, &o), m), o.Facts
			return cut, nil
		case err == nil:
			cut.Facts = o.Facts
		case ctx.Err() != nil:
			return cut, err
		default:
			cut.Failed = err.Error()
		}
	}
	cut.Chunks = finish(ls, splitWindow(t, ls), m)
	return cut, nil
}

// minified reports whether a text is written for machines: its declarations
// lie on a few endless lines, where names say nothing.
func minified(ls *lines) bool {
	return len(ls.body) > 4*kb.MaxLineBytes && len(ls.body)/ls.len() > kb.MaxLineBytes/8
}
