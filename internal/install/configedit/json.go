package configedit

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// JSON is JSON with comments and trailing commas, as hujson reads it.
type JSON struct{}

// parseJSON reads body, which may be blank.
func parseJSON(body []byte) (hujson.Value, error) {
	if len(bytes.TrimSpace(body)) == 0 {
		return hujson.Value{}, nil
	}
	v, err := hujson.Parse(ended(body))
	if err != nil {
		if _, e := hujson.Parse(bytes.Clone(body)); e != nil {
			err = e // with the true line of an early end
		}
		return v, kb.Errorf(kb.Invalid, "it is no JSON: %s", strings.TrimPrefix(err.Error(), "hujson: "))
	}
	if _, ok := v.Value.(*hujson.Object); !ok {
		return v, kb.Errorf(kb.Invalid, "it holds no JSON object")
	}
	return v, nil
}

// ended returns a copy with a last newline, which hujson wants after a comment.
func ended(body []byte) []byte { return append(bytes.Clone(body), '\n') }

func decodeJSON(body []byte) (any, error) {
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, nil
	}
	std, err := hujson.Standardize(ended(body))
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(std))
	dec.UseNumber()
	var v any
	err = dec.Decode(&v)
	return v, err
}

// find returns the last member of that name: readers of JSON take the last.
func find(o *hujson.Object, name string) int {
	for i, m := range slices.Backward(o.Members) {
		if m.Name.Value.(hujson.Literal).String() == name {
			return i
		}
	}
	return -1
}

// Get implements Format.
func (JSON) Get(doc []byte, path []string) (any, bool, error) {
	_, body := cutBOM(doc)
	v, err := parseJSON(body)
	if err != nil {
		return nil, false, err
	}
	for _, name := range path {
		o, ok := v.Value.(*hujson.Object)
		if !ok {
			return nil, false, nil
		}
		i := find(o, name)
		if i < 0 {
			return nil, false, nil
		}
		v = o.Members[i].Value
	}
	out, err := decodeJSON(v.Pack())
	return out, err == nil, err
}

// Set implements Format.
func (JSON) Set(doc []byte, path []string, e Entry) ([]byte, int, error) {
	mark, body := cutBOM(doc)
	if len(bytes.TrimSpace(body)) == 0 {
		eol := lineEnd(body)
		return append(bytes.Clone(mark), formatJSON(nest(path, e), "", "  ", eol)+eol...), len(path), nil
	}
	v, err := parseJSON(body)
	if err != nil {
		return nil, 0, err
	}
	before, err := decodeJSON(body)
	if err != nil {
		return nil, 0, kb.Errorf(kb.Invalid, "it is no JSON: %w", err)
	}
	s := styleOf(body, v)
	out, made, there := body, 0, true
	for i, name := range path {
		o, ok := v.Value.(*hujson.Object)
		if !ok {
			return nil, 0, kb.Errorf(kb.Invalid, "%q in it is no object", strings.Join(path[:i], "."))
		}
		at := find(o, name)
		if at < 0 {
			made, there = len(path)-1-i, false
			out = s.insert(body, v, o, name, nest(path[i+1:], e))
			break
		}
		v = o.Members[at].Value
	}
	if _, ok := v.Value.(*hujson.Object); there && ok {
		out, err = s.update(body, path, e)
	} else if there {
		out = splice(body, v.StartOffset, v.EndOffset, formatJSON(e, lineIndent(body, v.StartOffset), s.unit, s.eol))
	}
	if err != nil {
		return nil, 0, err
	}
	after, err := decodeJSON(out)
	if err != nil || !sameBut(before, after, path, made) || !holds(after, path, e) {
		return nil, 0, errChanged()
	}
	return append(bytes.Clone(mark), out...), made, nil
}

// update sets the keys of an entry that differ.
func (s style) update(body []byte, path []string, e Entry) ([]byte, error) {
	for _, f := range e {
		v, err := parseJSON(body)
		if err != nil {
			return nil, err
		}
		for _, name := range path {
			o := v.Value.(*hujson.Object)
			v = o.Members[find(o, name)].Value
		}
		o := v.Value.(*hujson.Object)
		at := find(o, f.Key)
		if at < 0 {
			body = s.insert(body, v, o, f.Key, f.Value)
			continue
		}
		old := o.Members[at].Value
		if have, err := decodeJSON(old.Pack()); err == nil && Same(have, f.Value) {
			continue
		}
		body = splice(body, old.StartOffset, old.EndOffset, formatJSON(f.Value, "", "", ""))
	}
	return body, nil
}

// Remove implements Format.
func (JSON) Remove(doc []byte, path []string, containers int) ([]byte, error) {
	mark, body := cutBOM(doc)
	before, err := decodeJSON(body)
	if err != nil {
		return nil, kb.Errorf(kb.Invalid, "it is no JSON: %s", strings.TrimPrefix(err.Error(), "hujson: "))
	}
	out := body
	for rest := path; len(rest) > 0; rest = rest[:len(rest)-1] {
		v, err := parseJSON(out)
		if err != nil {
			return nil, err
		}
		for _, name := range rest[:len(rest)-1] {
			o, ok := v.Value.(*hujson.Object)
			if !ok || find(o, name) < 0 {
				return doc, nil
			}
			v = o.Members[find(o, name)].Value
		}
		o, ok := v.Value.(*hujson.Object)
		if !ok {
			return doc, nil
		}
		at := find(o, rest[len(rest)-1])
		if at < 0 {
			return doc, nil
		}
		var left bool
		out, left = cut(out, v, o, at)
		if depth := len(path) - len(rest); left || depth >= containers {
			break
		}
	}
	after, err := decodeJSON(out)
	if err != nil || !sameBut(before, after, path, containers) {
		return nil, errChanged()
	}
	return append(bytes.Clone(mark), out...), nil
}

// nest wraps an entry into objects, one for each name.
func nest(path []string, e Entry) any {
	if len(path) == 0 {
		return e
	}
	return Entry{{path[0], nest(path[1:], e)}}
}

// style is how a file is written.
type style struct{ unit, eol string }

func styleOf(body []byte, root hujson.Value) style {
	s := style{"  ", lineEnd(body)}
	if o, ok := root.Value.(*hujson.Object); ok {
		for _, m := range o.Members {
			if ownLine(body, m.Name.StartOffset) {
				if in := lineIndent(body, m.Name.StartOffset); in != "" {
					s.unit = in
				}
				break
			}
		}
	}
	return s
}

// ownLine reports whether only white space precedes at in its line.
func ownLine(body []byte, at int) bool {
	start := bytes.LastIndexByte(body[:at], '\n') + 1
	return start > 0 && len(bytes.TrimSpace(body[start:at])) == 0
}

// insert puts a member at the end of an object.
func (s style) insert(body []byte, v hujson.Value, o *hujson.Object, name string, value any) []byte {
	closing := v.EndOffset - 1
	key := quoteJSON(name) + ": "
	if len(o.Members) == 0 {
		_, at := afterExtra(body, v.StartOffset+1, closing)
		outer := lineIndent(body, v.StartOffset)
		text := s.eol + outer + s.unit + key + formatJSON(value, outer+s.unit, s.unit, s.eol)
		if bytes.IndexByte(body[at:closing], '\n') >= 0 {
			return splice(body, at, at, text)
		}
		return splice(body, at, closing, text+s.eol+outer)
	}
	last := o.Members[len(o.Members)-1]
	end := last.Value.EndOffset
	comma, at := afterExtra(body, end, closing)
	var text string
	if ownLine(body, last.Name.StartOffset) {
		in := lineIndent(body, last.Name.StartOffset)
		text = s.eol + in + key + formatJSON(value, in, s.unit, s.eol)
	} else { // all in one line, spaced as its last member is
		text = key + formatJSON(value, "", "", "")
		if body[last.Value.StartOffset-1] == ':' {
			text = quoteJSON(name) + ":" + string(compact(formatJSON(value, "", "", "")))
		} else {
			text = " " + text
		}
		if isLineComment(body[end:at]) {
			text = s.eol + text
		}
	}
	if comma >= 0 {
		return splice(body, at, at, text+",")
	}
	return splice(splice(body, at, at, text), end, end, ",")
}

func compact(text string) []byte {
	var b bytes.Buffer
	if json.Compact(&b, []byte(text)) != nil {
		return []byte(text)
	}
	return b.Bytes()
}

// afterExtra scans white space, comments and a comma from start to end. It
// returns where the comma is, -1 for none, and the place after the last thing
// that is not white space.
func afterExtra(body []byte, start, end int) (comma, at int) {
	comma, at = -1, start
	for i := start; i < end; {
		switch rest := body[i:end]; {
		case body[i] == ',':
			comma = i
			i++
			at = i
		case bytes.HasPrefix(rest, []byte("//")):
			n := bytes.IndexByte(rest, '\n')
			if n < 0 {
				n = len(rest)
			}
			at = i + len(bytes.TrimRight(rest[:n], "\r"))
			i += n
		case bytes.HasPrefix(rest, []byte("/*")):
			i += bytes.Index(rest, []byte("*/")) + 2
			at = i
		default:
			i++
		}
	}
	return comma, at
}

// cut takes member i out of an object, with its comma and the white space
// before it. left reports whether the object holds anything else, a comment say.
func cut(body []byte, v hujson.Value, o *hujson.Object, i int) (out []byte, left bool) {
	m := o.Members[i]
	closing := v.EndOffset - 1
	start, end := m.Name.StartOffset, m.Value.EndOffset
	for start > 0 && strings.IndexByte(" \t\r\n", body[start-1]) >= 0 {
		start--
	}
	next := closing
	if i+1 < len(o.Members) {
		next = o.Members[i+1].Name.StartOffset
	}
	before := v.StartOffset + 1
	if i > 0 {
		before = o.Members[i-1].Value.EndOffset
	}
	prior, lastExtra := afterExtra(body, before, m.Name.StartOffset)
	// What follows a line comment must not become part of it.
	tail := end
	if comma, _ := afterExtra(body, end, next); comma >= 0 {
		tail = comma + 1
		prior = -1
	}
	if lastExtra > before && isLineComment(body[before:lastExtra]) && (tail >= len(body) || body[tail] != '\n' && body[tail] != '\r') {
		start = m.Name.StartOffset
	}
	out = splice(body, start, tail, "")
	if prior >= 0 { // it was the last: the comma before it goes too
		out = splice(out, prior, prior+1, "")
	}
	if len(o.Members) > 1 {
		return out, true
	}
	inner := out[v.StartOffset+1 : closing-(len(body)-len(out))]
	if len(bytes.TrimSpace(inner)) > 0 {
		return out, true
	}
	return splice(out, v.StartOffset+1, v.StartOffset+1+len(inner), ""), false
}

func isLineComment(extra []byte) bool {
	i := bytes.LastIndexByte(extra, '\n') + 1
	line := extra[i:]
	return bytes.Contains(line, []byte("//")) && !bytes.HasSuffix(line, []byte("*/"))
}

// formatJSON writes a value: an object over several lines when there is a line
// end, a list in one.
func formatJSON(v any, indent, unit, eol string) string {
	e, ok := v.(Entry)
	if !ok {
		if list, ok := v.([]string); ok {
			words := make([]string, len(list))
			for i, w := range list {
				words[i] = quoteJSON(w)
			}
			return "[" + strings.Join(words, ", ") + "]"
		}
		return quoteJSON(v)
	}
	var b strings.Builder
	b.WriteByte('{')
	for i, f := range e {
		if i > 0 {
			b.WriteByte(',')
		}
		if eol != "" {
			b.WriteString(eol + indent + unit)
		} else if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(quoteJSON(f.Key) + ": " + formatJSON(f.Value, indent+unit, unit, eol))
	}
	if eol != "" {
		b.WriteString(eol + indent)
	}
	b.WriteByte('}')
	return b.String()
}

func quoteJSON(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return "null"
	}
	return strings.TrimSuffix(b.String(), "\n")
}
