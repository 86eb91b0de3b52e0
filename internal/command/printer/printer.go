// Package printer lays results out for people at a terminal, for pipes and for
// agents. Features write their printers with it; faces hand it their output.
package printer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/seed-4f2d999b/knowledge/internal/platform/visible"
)

// Printer writes results: tables and facts, aligned on a terminal and separated by tabs in a pipe.
type Printer struct {
	Out      visible.Writer
	Stderr   io.Writer
	Terminal bool                // Out is one
	Width    int                 // columns of Out, 0 for unknown
	Words    func(string) string // a hint or note for who sits here
}

// Line prints one line, whatever l holds: a stranger's line end must not forge
// another. What else steers a terminal or is not seen is escaped by p.Out, in a
// pipe too, since most pipes end at a terminal.
func (p *Printer) Line(l string) {
	p.Out.WriteString(ends.Replace(l) + "\n") // a failure stays in the buffer until it is flushed
}

var ends = strings.NewReplacer("\r\n", `\n`, "\n", `\n`, "\r", `\r`)

// Content prints text of a document that was asked for, line by line as it
// is. Of what cannot be seen the true bytes are in --json.
func (p *Printer) Content(text string) {
	if text != "" {
		p.Out.WriteString(strings.TrimSuffix(text, "\n") + "\n")
	}
}

// Head prints what a place is in one line, its id last: on a line of its own
// where the terminal would cut it in two.
func (p *Printer) Head(indent string, parts []string, id string) {
	text := indent + strings.Join(parts, "  ")
	if w := p.Width; w > 0 && utf8.RuneCountInString(text)+2+len(id) > w {
		p.Line(text)
		p.Line(indent + "    " + id)
		return
	}
	p.Line(text + "  " + id)
}

// Remark prints what is not part of the answer: below it on a terminal, on
// standard error in a pipe.
func (p *Printer) Remark(note string) {
	if note == "" {
		return
	}
	note = p.Words(note)
	if p.Terminal {
		p.Line("note: " + note)
		return
	}
	io.WriteString(p.Stderr, "note: "+Clean(note)+"\n")
}

// Remarks prints each remark of a list.
func (p *Printer) Remarks(list []string) {
	for _, l := range list {
		p.Remark(l)
	}
}

// Nothing says on a terminal that a list is empty, unless a note does.
func (p *Printer) Nothing(n int, note, text string) {
	if n == 0 && note == "" && p.Terminal {
		p.Line(text)
	}
}

// Facts prints pairs of a name and a value, one to a line, without those that
// have no value.
func (p *Printer) Facts(pairs ...any) {
	for i := 0; i+1 < len(pairs); i += 2 {
		name, value := fmt.Sprint(pairs[i]), Field(pairs[i+1])
		switch {
		case value == "":
		case p.Terminal:
			p.Line(fmt.Sprintf("%-12s %s", name, value))
		default:
			p.Line(name + "\t" + value)
		}
	}
}

// Code prints lines with their numbers, the first being start.
func (p *Printer) Code(code string, start int, indent string) {
	lines := strings.Split(code, "\n")
	width := len(fmt.Sprint(start + len(lines) - 1))
	for i, l := range lines {
		p.Content(strings.TrimRight(fmt.Sprintf("%s%*d  %s", indent, width, start+i, strings.TrimSuffix(l, "\r")), " "))
	}
}

// Other prints a result that has no layout here: what it says of itself, or
// what its JSON holds; in a pipe that JSON, which a program reads.
func (p *Printer) Other(result any) {
	text := Render(result)
	if p.Terminal && (json.Valid([]byte(text)) || text == "") {
		p.Readable(result)
		return
	}
	for l := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		p.Line(l)
	}
}

// JSON prints a result as JSON on one line, or indented.
func (p *Printer) JSON(result any, indent bool) error {
	text := JSON(result)
	if indent {
		var b bytes.Buffer
		if err := json.Indent(&b, []byte(text), "", "  "); err == nil {
			text = b.String()
		}
	}
	_, err := p.Out.WriteString(text + "\n")
	return err
}

// Layout prints results of one type.
type Layout struct {
	Of    reflect.Type
	print func(*Printer, any)
}

// Of returns the layout that a function prints.
func Of[T any](print func(*Printer, T)) Layout {
	return Layout{reflect.TypeFor[T](), func(p *Printer, result any) { print(p, result.(T)) }}
}

// Print prints a result of the layout's type.
func (l Layout) Print(p *Printer, result any) { l.print(p, result) }
