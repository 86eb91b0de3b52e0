package syntax

import (
	"slices"
	"strings"
)

// link says how to read a node as part of a chain of names ("a.b.c").
type link struct {
	// name is the field of the node's own name, and on that of the part
	// before it; "1" is the first child. A name "=x" is the word x, "" the
	// node's text, and "-" none: the node stands for what is in on. Without on
	// the chain begins here.
	name, on string
	// read, if not nil, returns both instead; noChain is no chain.
	read func(w *walk, n int32) (name string, on int32)
}

// chains are links by node types, several of them with blanks between.
type chains []struct {
	types string
	link  link
}

// noChain is the chain of what is not made of names alone.
const noChain = "()"

// The links that many languages share.
var (
	itself   = link{}
	unticked = link{read: func(w *walk, n int32) (string, int32) { return strings.Trim(w.text(n), "`"), -1 }}
)

func meaning(word string) link { return link{name: "=" + word} }
func inside(on string) link    { return link{name: "-", on: on} }

// chain returns a plain chain of names joined with ".", noChain for anything else.
func (w *walk) chain(n int32) string {
	var room [8]string
	parts := room[:0]
	for range maxDepth {
		l, ok := w.links[w.typ(n)]
		if !ok {
			return noChain
		}
		var name string
		on := int32(-1)
		switch {
		case l.read != nil:
			name, on = l.read(w, n)
		case l.name == "":
			name = w.text(n)
		case l.name[0] == '=':
			name = l.name[1:]
		case l.name == "-":
			if n = w.part(n, l.on); n < 0 {
				return noChain
			}
			continue
		default:
			x := w.part(n, l.name)
			name, on = w.text(x), w.part(n, l.on)
			if m := w.links[w.typ(x)].name; m != "" && m[0] == '=' { // Outer.this
				name, on = m[1:], -1
			}
		}
		if name == noChain || name == "" { // one that the parser put in
			return noChain
		}
		if parts = append(parts, name); on < 0 {
			slices.Reverse(parts)
			return strings.Join(parts, ".")
		}
		n = on
	}
	return noChain
}
