package printer

import (
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
)

// Role is what a part of a line is. On a terminal each has its colour, of the
// sixteen that every theme makes legible on its own background.
type Role uint8

// The roles of parts.
const (
	Plain  Role = iota
	Path        // where something lies
	Number      // the number of a line
	Symbol      // what a declaration or store is called
	Match       // a word that was looked for
	Score       // how good a hit is
	ID          // what a machine calls a thing
	Label       // the name of a value, the head of a table
	Note        // what introduces a remark
	Good        // a state that is well
	Bad         // a state that is not
)

// colours are parameters of Select Graphic Rendition (ECMA-48, 8.3.117). No
// yellow, cyan or blue: on the white or black of common palettes they are
// below a contrast of 2.5.
var colours = [...]string{Plain: "", Path: "35", Number: "32", Symbol: "1", Match: "1;31", Score: "32", ID: "2", Label: "2", Note: "1;35", Good: "32", Bad: "31"}

// Part is a piece of a line in its role.
type Part struct {
	Text string
	Role Role
	url  string // where it leads, "" for nowhere
}

// Text returns a text in a role.
func (r Role) Text(text string) Part { return Part{Text: text, Role: r} }

// places are how lines are written behind a path: L98-L100, L98-100, L98.
var places = lazyregexp.New(`:L(\d+)(?:-L?(\d+))?$`)

// revised is the revision at which a place is cited, behind it.
var revised = lazyregexp.New(` @ [0-9a-f]{7,40}$`)

// At is a place "path:L98-L100" of a store. On a terminal it is written as
// editors and terminals take it, path:98-100, and leads to the file.
func (p *Printer) At(store, at string) Part {
	if !p.Terminal {
		return Path.Text(string(Name(at)))
	}
	rev := ""
	if m := revised.FindString(at); m != "" {
		at, rev = strings.TrimSuffix(at, m), m
	}
	path := at
	if m := places.FindStringSubmatch(at); m != nil {
		path = strings.TrimSuffix(at, m[0])
		if at = path + ":" + m[1]; m[2] != "" && m[2] != m[1] {
			at += "-" + m[2]
		}
	}
	part := Path.Text(string(Name(at + rev)))
	if p.Color && p.Locate != nil && rev == "" { // the file may be another now, or gone
		part.url = p.Locate(store, path)
	}
	return part
}

// Clickable writes the places in a text as editors and terminals take them.
func (p *Printer) Clickable(text string) string {
	if !p.Terminal {
		return text
	}
	return within.ReplaceAllString(text, "$1:$2")
}

// within are places within a text: "order_test.go:L6".
var within = lazyregexp.New(`([\p{L}\p{N}_)])(?::L)(\d+)`)

// FileURL is the address of a file of this machine.
func FileURL(host, path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // C:/
	}
	return (&url.URL{Scheme: "file", Host: host, Path: path}).String()
}

// emit writes parts, each in its colour, where it leads as OSC 8 says. What
// steers the terminal is constant, or an address of ASCII that can be seen;
// every text goes through p.Out.
func (p *Printer) emit(parts ...Part) {
	for _, x := range parts {
		if x.Text == "" {
			continue
		}
		sgr := ""
		if p.Color {
			sgr = colours[x.Role]
		}
		linked := p.Color && x.url != "" && !strings.ContainsFunc(x.url, func(r rune) bool { return r <= ' ' || r > '~' })
		if linked {
			io.WriteString(p.Out.W, "\x1b]8;;"+x.url+"\x1b\\")
		}
		if sgr != "" {
			io.WriteString(p.Out.W, "\x1b["+sgr+"m")
		}
		p.Out.WriteString(x.Text)
		if sgr != "" {
			io.WriteString(p.Out.W, "\x1b[m")
		}
		if linked {
			io.WriteString(p.Out.W, "\x1b]8;;\x1b\\")
		}
	}
}

// Parts prints parts on one line, with space between, without those that are
// empty. Where a terminal is too narrow it goes on below, further in: a part
// without spaces is never cut in two.
func (p *Printer) Parts(indent, space string, parts ...Part) {
	type word struct {
		before string // spaces
		Part
	}
	var line []word
	for _, x := range parts {
		before := space
		if len(line) == 0 {
			before = ""
		}
		for _, atom := range atoms(Clean(ends.Replace(x.Text))) {
			text := strings.TrimRight(atom, " ")
			line = append(line, word{before, Part{text, x.Role, x.url}})
			before = atom[len(text):]
		}
	}
	hang := indent + "    "
	if len(hang) > p.room()/2 {
		hang = indent
	}
	p.emit(Part{Text: indent})
	used := Width(indent)
	for i, w := range line {
		n := Width(w.before) + Width(w.Text)
		if i > 0 && used+n > p.room() {
			p.Out.WriteString("\n")
			w.before, used, n = hang, 0, Width(hang)+Width(w.Text)
		}
		p.emit(Part{Text: w.before}, w.Part)
		used += n
	}
	p.Out.WriteString("\n")
}

// room is how many columns a line has.
func (p *Printer) room() int {
	if p.Terminal && p.Width > 0 {
		return p.Width
	}
	return 1 << 30
}

// atoms cuts a text behind spaces, where a line may end. A command at its end
// is whole, so that it can be pasted.
func atoms(text string) (out []string) {
	last := ""
	if i := strings.LastIndex(text, ": knowledge "); i >= 0 {
		text, last = text[:i+2], text[i+2:]
	}
	for begin := 0; begin < len(text); {
		end := begin + len(text[begin:]) - len(strings.TrimLeft(text[begin:], " "))
		if i := strings.IndexByte(text[end:], ' '); i < 0 {
			end = len(text)
		} else {
			for end += i; end < len(text) && text[end] == ' '; end++ {
			}
		}
		out = append(out, text[begin:end])
		begin = end
	}
	if last != "" {
		out = append(out, last)
	}
	return out
}
