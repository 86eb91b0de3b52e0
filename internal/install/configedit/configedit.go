// Package configedit changes one entry of a configuration file that belongs to
// another program and leaves every other byte as it is: comments, trailing
// commas, indentation, line ends, byte order mark, a missing last newline.
//
// Files are JSON with comments (JSONC), of which plain JSON is a part, TOML, or
// Markdown with a fenced block. Edits go by the positions of a parser; each
// result is parsed again and compared with what was there, so that an edit that
// would change anything else is refused and not written.
package configedit

import (
	"bytes"
	"math"
	"reflect"
	"slices"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Field is one key of an entry with its value: a string, bool or []string.
type Field struct {
	Key   string
	Value any
}

// Entry is what is written below a path, in this order.
type Entry []Field

// Format is a kind of file. Doc is the whole file, nil for one that there is not.
type Format interface {
	// Get returns the value below path as decoded JSON would be, and whether
	// there is one.
	Get(doc []byte, path []string) (value any, ok bool, err error)
	// Set puts an entry below path. An entry that is there keeps the keys that
	// the new one does not have. Containers is how many tables or objects on
	// the way had to be made.
	Set(doc []byte, path []string, e Entry) (out []byte, containers int, err error)
	// Remove takes the entry below path away, and up to containers of the
	// objects around it that are empty then.
	Remove(doc []byte, path []string, containers int) ([]byte, error)
}

var bom = []byte("\xef\xbb\xbf")

// cutBOM splits a byte order mark off.
func cutBOM(doc []byte) (mark, body []byte) {
	if bytes.HasPrefix(doc, bom) {
		return doc[:len(bom)], doc[len(bom):]
	}
	return nil, doc
}

// lineEnd returns how the lines of a file end: as its first does.
func lineEnd(doc []byte) string {
	if i := bytes.IndexByte(doc, '\n'); i > 0 && doc[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// lineIndent returns the white space that begins the line of position at.
func lineIndent(doc []byte, at int) string {
	start := bytes.LastIndexByte(doc[:at], '\n') + 1
	end := start
	for end < at && (doc[end] == ' ' || doc[end] == '\t') {
		end++
	}
	return string(doc[start:end])
}

// splice returns doc with the bytes from start to end replaced.
func splice(doc []byte, start, end int, text string) []byte {
	out := make([]byte, 0, len(doc)+len(text))
	out = append(out, doc[:start]...)
	out = append(out, text...)
	return append(out, doc[end:]...)
}

// sameBut reports whether two decoded documents are equal once path is taken
// out of both, and with it up to containers empty objects around it.
func sameBut(a, b any, path []string, containers int) bool {
	return equal(without(a, path, containers), without(b, path, containers))
}

// equal is reflect.DeepEqual for decoded documents, in which nan of TOML is
// equal to itself.
func equal(a, b any) bool {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for k, v := range x {
			if w, ok := y[k]; !ok || !equal(v, w) {
				return false
			}
		}
		return true
	case []any:
		y, ok := b.([]any)
		return ok && slices.EqualFunc(x, y, equal)
	case float64:
		y, ok := b.(float64)
		return ok && (x == y || math.IsNaN(x) && math.IsNaN(y))
	}
	return reflect.DeepEqual(a, b)
}

func without(doc any, path []string, containers int) any {
	m, ok := doc.(map[string]any)
	if !ok {
		if doc == nil {
			return map[string]any{}
		}
		return doc
	}
	out := make(map[string]any, len(m))
	for k, v := range m {
		if k != path[0] {
			out[k] = v
			continue
		}
		if len(path) == 1 {
			continue
		}
		sub := without(v, path[1:], containers)
		if s, ok := sub.(map[string]any); ok && len(s) == 0 && containers >= len(path)-1 {
			continue
		}
		out[k] = sub
	}
	return out
}

// holds reports whether a decoded document has an entry.
func holds(doc any, path []string, e Entry) bool {
	for _, name := range path {
		m, _ := doc.(map[string]any)
		doc = m[name]
	}
	m, _ := doc.(map[string]any)
	for _, f := range e {
		if !Same(m[f.Key], f.Value) {
			return false
		}
	}
	return true
}

// Same reports whether a decoded value is what a field says.
func Same(have, want any) bool {
	if list, ok := want.([]string); ok {
		h, ok := have.([]any)
		if !ok || len(h) != len(list) {
			return false
		}
		for i := range list {
			if h[i] != list[i] {
				return false
			}
		}
		return true
	}
	return have == want
}

func errChanged() error {
	return kb.Errorf(kb.Unsupported, "the file is laid out in a way in which the entry cannot be changed without touching the rest")
}
