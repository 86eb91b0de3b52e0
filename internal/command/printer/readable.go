package printer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Readable prints a result that has no layout of its own for a person: a line
// for each value, a table for each list of objects, remarks at the end. It
// goes by the JSON of the result, so that it shows what a program would get.
func (p *Printer) Readable(result any) {
	n, err := parseNode([]byte(JSON(result)))
	if err != nil {
		p.Line(JSON(result))
		return
	}
	var notes []string
	if i := p.only(n); i >= 0 { // a list under a heading: the heading says nothing
		if len(n.items[i].items) == 0 {
			p.Line("no " + keyWords(n.keys[i]))
		} else {
			p.list(n.items[i], "", &notes)
		}
		n.items[i] = node{}
	}
	p.node(n, "", &notes)
	for _, n := range notes {
		p.Remark(n)
	}
}

// node is a JSON value whose members keep their order.
type node struct {
	keys   []string // of an object
	items  []node   // of an object or list
	list   bool
	scalar string // of anything else, as it is shown
}

func (n node) isObject() bool { return n.keys != nil }

func (n node) isScalar() bool { return !n.list && n.keys == nil }

func parseNode(text []byte) (node, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	return readNode(dec)
}

func readNode(dec *json.Decoder) (n node, err error) {
	t, err := dec.Token()
	if err != nil {
		return n, err
	}
	switch t := t.(type) {
	case json.Delim:
		n.list = t == '['
		if !n.list {
			n.keys = []string{}
		}
		for dec.More() {
			if !n.list {
				key, err := dec.Token()
				if err != nil {
					return n, err
				}
				n.keys = append(n.keys, fmt.Sprint(key))
			}
			item, err := readNode(dec)
			if err != nil {
				return n, err
			}
			n.items = append(n.items, item)
		}
		_, err = dec.Token()
	case bool:
		n.scalar = map[bool]string{true: "yes", false: "no"}[t]
	case nil:
	default:
		n.scalar = fmt.Sprint(t)
	}
	return n, err
}

// only returns the index of an object's one member that says something: a
// list, beside remarks and how long it is; else -1.
func (p *Printer) only(n node) int {
	at := -1
	for i, k := range n.keys {
		switch {
		case n.items[i].list && at < 0 && !slices.Contains(remarkKeys, k):
			at = i
		case k == "count" && n.items[i].isScalar():
			n.items[i].scalar = ""
		case n.items[i].isScalar() && n.items[i].scalar == "":
		case !slices.Contains(remarkKeys, k):
			return -1
		}
	}
	return at
}

// remarkKeys are members that say something about the rest.
var remarkKeys = []string{"note", "notes", "message", "hint", "warnings"}

func (p *Printer) node(n node, indent string, notes *[]string) {
	if n.isScalar() {
		p.paragraph(n.scalar, indent)
		return
	}
	if n.list {
		p.list(n, indent, notes)
		return
	}
	width := 0
	for i, k := range n.keys {
		if n.items[i].isScalar() && n.items[i].scalar != "" || flat(n.items[i]) || indent == "" && n.items[i].list && len(n.items[i].items) == 0 {
			width = max(width, len(keyWords(k)))
		}
	}
	for i, k := range n.keys {
		v := n.items[i]
		name := keyWords(k)
		switch {
		case indent == "" && slices.Contains(remarkKeys, k) && (v.isScalar() || !slices.ContainsFunc(v.items, func(x node) bool { return !x.isScalar() })):
			if v.isScalar() && v.scalar != "" {
				*notes = append(*notes, v.scalar)
			}
			for _, x := range v.items {
				*notes = append(*notes, x.scalar)
			}
		case v.isScalar() && strings.Contains(v.scalar, "\n"):
			p.Parts(indent, "", Symbol.Text(name))
			p.paragraph(v.scalar, indent+"  ")
		case v.isScalar():
			if v.scalar != "" {
				p.pair(indent, width, "  ", name, v.scalar, role(name, v.scalar))
			}
		case len(v.items) == 0:
			if v.list && indent == "" {
				p.pair("", width, "  ", name, "none", Plain)
			}
		case flat(v) && inline(v) == "":
		case flat(v):
			p.pair(indent, width, "  ", name, inline(v), Plain)
		default:
			p.Parts(indent, "", Symbol.Text(name))
			p.node(v, indent+"  ", notes)
		}
	}
}

// list prints objects as a table, anything else one a line.
func (p *Printer) list(n node, indent string, notes *[]string) {
	if len(n.items) == 0 {
		p.Line(indent + "none")
		return
	}
	var head []string
	table := true
	for _, x := range n.items {
		table = table && x.isObject()
		for i, k := range x.keys {
			table = table && (x.items[i].isScalar() && len(x.items[i].scalar) <= 200 || flat(x.items[i]) || len(x.items[i].items) == 0)
			if !slices.Contains(head, k) {
				head = append(head, k)
			}
		}
	}
	if !table || indent != "" && len(head) > 8 {
		for i, x := range n.items {
			if x.isObject() && i > 0 {
				p.Line("")
			}
			p.node(x, indent, notes)
		}
		return
	}
	names := make([]string, len(head))
	for i, k := range head {
		names[i] = keyWords(k)
	}
	t := p.Table(names...)
	t.indent = indent
	for _, x := range n.items {
		row := make([]any, len(head))
		for i, k := range head {
			row[i] = ""
			if j := slices.Index(x.keys, k); j >= 0 {
				row[i] = inline(x.items[j])
			}
		}
		t.Row(row...)
	}
	t.Flush()
}

// paragraph prints a text of one line or more.
func (p *Printer) paragraph(text, indent string) {
	for l := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		p.Line(strings.TrimRight(indent+l, " "))
	}
}

// flat reports whether a value fits on a line: a list or object of scalars.
func flat(n node) bool {
	if n.isScalar() || len(n.items) == 0 {
		return false
	}
	return !slices.ContainsFunc(n.items, func(x node) bool { return !x.isScalar() }) && len(inline(n)) <= 100
}

// inline is a flat value on a line.
func inline(n node) string {
	if n.isScalar() {
		return n.scalar
	}
	var parts []string
	for i, x := range n.items {
		switch text := inline(x); {
		case n.keys != nil && text == "":
		case n.keys != nil:
			parts = append(parts, keyWords(n.keys[i])+" "+text)
		default:
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, ", ")
}

// keyWords writes the name of a member as words: totalDirectly is "total directly".
func keyWords(key string) string {
	if strings.ContainsAny(key, " ./:-") || strings.ToUpper(key) == key {
		return key // no name of ours
	}
	return strings.ReplaceAll(kb.Kebab(key), "-", " ")
}
