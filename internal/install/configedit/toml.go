package configedit

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// TOML is TOML 1.0. An entry is a table of its own at the end of the file.
type TOML struct{}

func decodeTOML(body []byte) (map[string]any, error) {
	var m map[string]any
	err := toml.Unmarshal(body, &m)
	var at *toml.DecodeError
	if errors.As(err, &at) {
		line, column := at.Position()
		return nil, kb.Errorf(kb.Invalid, "it is no TOML: line %d, column %d: %s", line, column, strings.TrimPrefix(at.Error(), "toml: "))
	}
	if err != nil {
		return nil, kb.Errorf(kb.Invalid, "it is no TOML: %s", strings.TrimPrefix(err.Error(), "toml: "))
	}
	return m, nil
}

// expression is a table header or a key with its value; both take whole lines.
type expression struct {
	path       []string // of the table, or of the key in its table
	table      bool
	list       bool // of tables
	start, end int  // of its lines, the last line end included
	value      int  // where the value of a key begins,
	valueEnd   int  // and ends
}

// expressions lists those of a document that decodes.
func expressions(body []byte) ([]expression, error) {
	var p unstable.Parser
	p.Reset(body)
	var all []expression
	var table []string
	for p.NextExpression() {
		n := p.Expression()
		var e expression
		first, last := -1, 0
		for it := n.Key(); it.Next(); {
			k := it.Node()
			e.path = append(e.path, string(k.Data))
			if first < 0 {
				first = int(k.Raw.Offset)
			}
			last = int(k.Raw.Offset + k.Raw.Length)
		}
		e.start = bytes.LastIndexByte(body[:first], '\n') + 1
		if n.Kind == unstable.KeyValue {
			e.path = append(slices.Clone(table), e.path...)
			e.value = last + bytes.IndexByte(body[last:], '=') + 1
			for body[e.value] == ' ' || body[e.value] == '\t' {
				e.value++
			}
			last = int(n.Raw.Offset + n.Raw.Length)
			e.valueEnd = last
		} else {
			e.table, table = true, e.path
			e.list = n.Kind == unstable.ArrayTable
		}
		e.end = len(body)
		if i := bytes.IndexByte(body[last:], '\n'); i >= 0 {
			e.end = last + i + 1
		}
		all = append(all, e)
	}
	return all, p.Error()
}

func below(path, prefix []string) bool {
	return len(path) >= len(prefix) && slices.Equal(path[:len(prefix)], prefix)
}

// Get implements Format.
func (TOML) Get(doc []byte, path []string) (any, bool, error) {
	_, body := cutBOM(doc)
	m, err := decodeTOML(body)
	if err != nil {
		return nil, false, err
	}
	var v any = m
	for _, name := range path {
		t, ok := v.(map[string]any)
		if !ok {
			return nil, false, nil
		}
		if v, ok = t[name]; !ok {
			return nil, false, nil
		}
	}
	return v, true, nil
}

// Set implements Format.
func (f TOML) Set(doc []byte, path []string, e Entry) ([]byte, int, error) {
	mark, body := cutBOM(doc)
	before, err := decodeTOML(body)
	if err != nil {
		return nil, 0, err
	}
	_, there, _ := f.Get(body, path)
	out := body
	if there {
		if out, err = updateTOML(body, path, e); err != nil {
			return nil, 0, err
		}
	} else {
		eol := lineEnd(body)
		var b strings.Builder
		if len(body) > 0 {
			if body[len(body)-1] != '\n' {
				b.WriteString(eol)
			}
			b.WriteString(eol)
		}
		b.WriteString("[" + strings.Join(path, ".") + "]" + eol)
		for _, x := range e {
			b.WriteString(x.Key + " = " + formatJSON(x.Value, "", "", "") + eol)
		}
		out = splice(body, len(body), len(body), b.String())
	}
	after, err := decodeTOML(out)
	if err != nil || !sameBut(asAny(before), asAny(after), path, len(path)) || !holds(after, path, e) {
		return nil, 0, noRoom(body, path)
	}
	return append(bytes.Clone(mark), out...), len(path) - 1, nil
}

func asAny(m map[string]any) any {
	if m == nil {
		return nil
	}
	return m
}

// updateTOML sets the keys of a table that differ.
func updateTOML(body []byte, path []string, e Entry) ([]byte, error) {
	for _, x := range e {
		all, err := expressions(body)
		if err != nil {
			return nil, err
		}
		value, at := formatJSON(x.Value, "", "", ""), -1
		done := false
		for _, have := range all {
			if have.table && slices.Equal(have.path, path) || !have.table && at >= 0 && len(have.path) == len(path)+1 && below(have.path, path) {
				at = have.end
			}
			if !have.table && slices.Equal(have.path, append(slices.Clone(path), x.Key)) {
				if old, ok, _ := (TOML{}).Get(body, have.path); !ok || !Same(old, x.Value) {
					body = splice(body, have.value, have.valueEnd, value)
				}
				done = true
				break
			}
		}
		if done {
			continue
		}
		if at < 0 {
			return nil, noRoom(body, path) // an inline table, or dotted keys
		}
		eol := lineEnd(body)
		text := x.Key + " = " + value + eol
		if body[at-1] != '\n' {
			text = eol + strings.TrimSuffix(text, eol)
		}
		body = splice(body, at, at, text)
	}
	return body, nil
}

// Remove implements Format. Tables below the entry go with it; comments and
// blank lines between its lines too.
func (f TOML) Remove(doc []byte, path []string, _ int) ([]byte, error) {
	mark, body := cutBOM(doc)
	before, err := decodeTOML(body)
	if err != nil {
		return nil, err
	}
	out := body
	for {
		all, err := expressions(out)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(all, func(e expression) bool { return below(e.path, path) })
		if i < 0 {
			break
		}
		j := i
		for j+1 < len(all) && below(all[j+1].path, path) {
			j++
		}
		start, end := all[i].start, all[j].end
		if rest := bytes.TrimLeft(out[end:], "\r\n"); all[i].table && (len(rest) == 0 || len(rest) < len(out)-end) {
			start = blankLineBefore(out, start)
		}
		out = splice(out, start, end, "")
	}
	after, err := decodeTOML(out)
	if _, there, _ := f.Get(out, path); err != nil || there || !sameBut(asAny(before), asAny(after), path, len(path)) {
		return nil, noRoom(body, path)
	}
	return append(bytes.Clone(mark), out...), nil
}

// noRoom names the line that holds path, or a part of it, in a form that cannot
// be edited: TOML does not allow additions to an inline table.
func noRoom(body []byte, path []string) error {
	all, _ := expressions(body)
	for _, e := range all {
		if e.table && !e.list || !below(e.path, path) && !below(path, e.path) {
			continue // tables can be added to
		}
		line, name := bytes.Count(body[:e.start], []byte("\n"))+1, strings.Join(e.path, ".")
		switch {
		case e.list:
			return kb.Errorf(kb.Unsupported, "line %d makes a list of %q; write there a table: [%s]", line, name, name)
		case body[e.value] == '{' && e.value+1 < e.valueEnd && len(bytes.TrimSpace(body[e.value+1:e.valueEnd-1])) == 0:
			return kb.Errorf(kb.Unsupported, "line %d, an empty inline table, lets nothing be added to %q; write there: [%s]", line, name, name)
		case body[e.value] == '{':
			return kb.Errorf(kb.Unsupported, "line %d, an inline table, lets nothing be added to %q; write there [%s], and below it a line for each of what is between the braces", line, name, name)
		default:
			return kb.Errorf(kb.Unsupported, "line %d sets %q; write there instead: [%s]", line, name, strings.Join(path, "."))
		}
	}
	return errChanged()
}

// blankLineBefore returns start, or the start of the blank line that ends there.
func blankLineBefore(body []byte, start int) int {
	head := body[:start]
	for _, eol := range []string{"\r\n", "\n"} {
		if bytes.HasSuffix(head, []byte("\n"+eol)) || string(head) == eol {
			return start - len(eol)
		}
	}
	return start
}
