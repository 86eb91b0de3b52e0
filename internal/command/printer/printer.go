// Package printer lays results out for people at a terminal, for pipes and for
// agents. Features write their printers with it; faces hand it their output.
package printer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/clipperhouse/displaywidth"

	"github.com/seed-4f2d999b/knowledge/internal/platform/visible"
)

// Printer writes results: tables and facts, aligned on a terminal and separated by tabs in a pipe.
type Printer struct {
	Out      visible.Writer
	Aside    *Printer            // prints to standard error
	Terminal bool                // Out is one
	Width    int                 // columns of Out, 0 for unknown
	Color    bool                // Out shows colours and links
	Words    func(string) string // a hint or note for who sits here
	Mark     Marker              // what is looked for, nil for nothing
	// Locate is the address of a document, "" where it has none; nil makes no links.
	Locate func(store, path string) string
}

// Line prints one line, whatever l holds: a stranger's line end must not forge
// another. What else steers a terminal or is not seen is escaped by p.Out, in a
// pipe too, since most pipes end at a terminal.
//
// A terminal that is too narrow gets it on several lines, broken between words.
func (p *Printer) Line(l string) {
	if p.room() < Width(l) {
		text := strings.TrimLeft(l, " ")
		p.Parts(l[:len(l)-len(text)], "", Plain.Text(text))
		return
	}
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

// Head prints what a place is in one line, its id last.
func (p *Printer) Head(indent string, id string, parts ...Part) {
	p.Parts(indent, "  ", append(parts, ID.Text(id))...)
}

// Labelled prints a label and its text, nothing where there is none.
func (p *Printer) Labelled(indent, label, text string) {
	if text != "" {
		p.Parts(indent, " ", Label.Text(label), Plain.Text(p.Clickable(text)))
	}
}

// Match prints a line of a document behind its place, cut at the edge.
func (p *Printer) Match(at Part, line string) {
	line = Clean(ends.Replace(strings.TrimRight(line, "\r\n")))
	if p.room() == p.Width {
		line = expand(strings.TrimSpace(line))
		if edge := p.Width - Width(at.Text) - 2; edge >= 16 {
			line = Cut(line, edge)
		} else { // the path is all there is room for
			p.emit(at, Part{Text: ":\n"})
			p.emit(append([]Part{{Text: "    "}}, p.marked(Cut(line, max(p.Width-4, 8)), Plain)...)...)
			p.Out.WriteString("\n")
			return
		}
	}
	p.emit(append([]Part{at, {Text: ": "}}, p.marked(line, Plain)...)...)
	p.Out.WriteString("\n")
}

// Snippet prints one line of code, cut at the edge.
func (p *Printer) Snippet(indent, line string) {
	line = Clean(ends.Replace(line))
	if p.room() == p.Width {
		line = Cut(expand(line), max(p.Width-len(indent), 16))
	}
	p.emit(append([]Part{{Text: indent}}, p.marked(line, Plain)...)...)
	p.Out.WriteString("\n")
}

// Remark prints what is not part of the answer: below it on a terminal, on
// standard error in a pipe.
func (p *Printer) Remark(note string) {
	if note == "" {
		return
	}
	note = p.Words(note)
	if p.Terminal {
		p.Parts("", " ", Note.Text("note:"), Plain.Text(note))
		return
	}
	p.Aside.Parts("", " ", Note.Text("note:"), Plain.Text(note))
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
			p.pair("", 12, " ", name, Field(pairs[i+1]), role(name, value))
		default:
			p.Line(name + "\t" + value)
		}
	}
}

// pair prints a name and its value, which goes on below itself.
func (p *Printer) pair(indent string, width int, space, name, value string, role Role) {
	at := Width(indent) + width + len(space)
	lines := []string{value}
	if room := p.room(); at+Width(value) > room && room-at >= 16 {
		lines = wrap(value, room-at)
	}
	for i, l := range lines {
		if i > 0 {
			name = ""
		}
		p.emit(Part{Text: indent}, Label.Text(pad(name, width)), Part{Text: space})
		p.emit(role.Text(ends.Replace(l)))
		p.Out.WriteString("\n")
	}
}

// Hang prints a text behind a head, and what there is no room for below itself.
func (p *Printer) Hang(head, text string) {
	for _, l := range wrap(text, max(p.room()-Width(head), 16)) {
		p.Out.WriteString(head + l + "\n")
		head = strings.Repeat(" ", Width(head))
	}
}

// Code prints lines with their numbers, the first being start; on a terminal
// each is cut at the edge.
func (p *Printer) Code(code string, start int, indent string) { p.numbered(code, start, indent, false) }

// Whole is Code without a cut: what is longer goes on below.
func (p *Printer) Whole(code string, start int, indent string) { p.numbered(code, start, indent, true) }

func (p *Printer) numbered(code string, start int, indent string, whole bool) {
	lines := strings.Split(code, "\n")
	width := len(fmt.Sprint(start + len(lines) - 1))
	edge := p.room() - len(indent) - width - 2
	for i, l := range lines {
		l = Clean(strings.TrimRight(strings.TrimSuffix(l, "\r"), " "))
		number := fmt.Sprintf("%s%*d", indent, width, start+i)
		if p.room() == p.Width {
			l = expand(l)
		}
		for first := true; first || l != ""; first = false {
			here := l
			if edge >= 16 {
				here = Cut(l, edge)
			}
			rest := ""
			if whole && here != l {
				here = displaywidth.TruncateString(l, edge, "")
				if i := strings.LastIndexByte(here, ' ') + 1; i > len(here)*2/3 {
					here = l[:i] // between words, where there are some
				}
				rest = l[len(here):]
			}
			p.emit(Number.Text(number))
			if here != "" {
				p.emit(append([]Part{{Text: "  "}}, p.marked(here, Plain)...)...)
			}
			p.Out.WriteString("\n")
			if number = strings.Repeat(" ", len(number)); rest == "" {
				break
			}
			l = rest
		}
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
