package restapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	yaml "github.com/oasdiff/yaml3"
)

// A document is read as the JSON text that it is: an object is cut into its
// members when it is looked into and at no other time, and what nobody looks
// into, most of a large document, costs nothing.

// field is one member of an object. raw is a part of the document.
type field struct {
	key string
	raw json.RawMessage
}

// fields cuts an object of valid JSON into its members, in their order; nil
// for anything else.
func fields(v json.RawMessage) []field {
	var out []field
	cut(v, '{', func(key string, raw json.RawMessage) { out = append(out, field{key, raw}) })
	return out
}

// object makes an object of members, in their order.
func object(members []field) json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, f := range members {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(mustJSON(f.key))
		b.WriteByte(':')
		b.Write(f.raw)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// elements cuts an array of valid JSON into its elements; nil for anything else.
func elements(v json.RawMessage) []json.RawMessage {
	var out []json.RawMessage
	cut(v, '[', func(_ string, raw json.RawMessage) { out = append(out, raw) })
	return out
}

func cut(v json.RawMessage, open byte, each func(string, json.RawMessage)) {
	v = bytes.TrimSpace(v)
	if len(v) < 2 || v[0] != open {
		return
	}
	for i := 1; i < len(v)-1; {
		for i < len(v)-1 && (v[i] <= ' ' || v[i] == ',' || v[i] == ':') {
			i++
		}
		if i >= len(v)-1 {
			return
		}
		key := ""
		if open == '{' {
			end := stringEnd(v, i)
			key = textOf(v[i:end])
			for i = end; i < len(v)-1 && (v[i] <= ' ' || v[i] == ':'); i++ {
			}
		}
		end := valueEnd(v, i)
		each(key, v[i:end])
		i = end
	}
}

// valueEnd returns where the value of valid JSON that begins at i ends.
func valueEnd(v []byte, i int) int {
	depth := 0
	for ; i < len(v); i++ {
		switch v[i] {
		case '"':
			i = stringEnd(v, i) - 1
		case '{', '[':
			depth++
			continue
		case '}', ']':
			depth--
		case ',', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return i
			}
			continue
		default:
			if depth > 0 {
				continue
			}
			for i+1 < len(v) && strings.IndexByte(",]} \t\r\n", v[i+1]) < 0 {
				i++
			}
		}
		if depth == 0 {
			return i + 1
		}
	}
	return len(v)
}

// get returns a member of an object, the last of that name; nil when there is none.
func get(v json.RawMessage, key string) json.RawMessage {
	var out json.RawMessage
	cut(v, '{', func(k string, raw json.RawMessage) {
		if k == key {
			out = raw
		}
	})
	return out
}

// textOf returns a string of JSON, "" for anything else.
func textOf(v json.RawMessage) string {
	if len(v) < 2 || v[0] != '"' {
		return ""
	}
	if in := v[1 : len(v)-1]; bytes.IndexByte(in, '\\') < 0 {
		return string(in)
	}
	var s string
	if json.Unmarshal(v, &s) != nil {
		return ""
	}
	return s
}

// getText returns a member that is a string.
func getText(v json.RawMessage, key string) string { return textOf(get(v, key)) }

// isTrue reports whether a member is true.
func isTrue(v json.RawMessage, key string) bool { return string(get(v, key)) == "true" }

// tree is one document.
type tree struct {
	root  json.RawMessage
	cache map[string]map[string]json.RawMessage // objects above what references name, by pointer
}

// maxPointer is the depth below which a reference may not point.
const maxPointer = 32

// at returns what a reference within the document names.
func (d *tree) at(ref string) (json.RawMessage, error) {
	path, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil, fmt.Errorf("%q is in another document, which is not read", clip(ref, 120))
	}
	if path, ok = strings.CutPrefix(path, "/"); !ok && path != "" {
		return nil, fmt.Errorf("the reference %q names no place of the document", clip(ref, 120))
	}
	v, at := d.root, ""
	steps := strings.Split(path, "/")
	if len(steps) > maxPointer {
		return nil, fmt.Errorf("the reference %q is too long", clip(ref, 120))
	}
	for i, step := range steps {
		if un, err := url.PathUnescape(step); err == nil {
			step = un
		}
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		if n, err := strconv.Atoi(step); err == nil && len(v) > 0 && v[0] == '[' {
			list := elements(v)
			if n < 0 || n >= len(list) {
				v = nil
			} else {
				v = list[n]
			}
		} else if i < 3 {
			v = d.members(at, v)[step]
		} else {
			v = get(v, step)
		}
		if v == nil {
			return nil, fmt.Errorf("the reference %q names nothing", clip(ref, 120))
		}
		at += "/" + step
	}
	return v, nil
}

// members returns an object as a map, remembered by where it stands.
func (d *tree) members(at string, v json.RawMessage) map[string]json.RawMessage {
	if m, ok := d.cache[at]; ok {
		return m
	}
	m := map[string]json.RawMessage{}
	for _, f := range fields(v) {
		m[f.key] = f.raw
	}
	if d.cache == nil {
		d.cache = map[string]map[string]json.RawMessage{}
	}
	d.cache[at] = m
	return m
}

// maxRefs is how many references in a row are followed.
const maxRefs = 16

// follow returns what an object is once its reference, if it is one, is followed.
func (d *tree) follow(v json.RawMessage) (json.RawMessage, error) {
	for range maxRefs {
		ref := get(v, "$ref")
		if ref == nil {
			return v, nil
		}
		next, err := d.at(textOf(ref))
		if err != nil {
			return nil, err
		}
		v = next
	}
	return nil, fmt.Errorf("its references go in a circle")
}

// asJSON returns a document, which may be YAML, as JSON.
func asJSON(text []byte) (json.RawMessage, error) {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	if t := bytes.TrimSpace(text); len(t) > 0 && t[0] == '{' && json.Valid(t) {
		return t, nil
	}
	var doc yaml.Node
	if err := yaml.NewDecoder(bytes.NewReader(text)).Decode(&doc); err != nil {
		return nil, fmt.Errorf("%s", yamlFault(err))
	}
	w := &yamlWriter{left: 4*len(text) + 1<<16}
	if len(doc.Content) == 1 {
		w.write(doc.Content[0], 0)
	}
	if w.err != nil {
		return nil, w.err
	}
	if w.out.Len() == 0 || w.out.Bytes()[0] != '{' {
		return nil, fmt.Errorf("it is no object")
	}
	return w.out.Bytes(), nil
}

// yamlWriter writes YAML as JSON, within bounds: aliases may multiply.
type yamlWriter struct {
	out  bytes.Buffer
	left int
	err  error
}

func (w *yamlWriter) write(n *yaml.Node, depth int) {
	if w.err != nil {
		return
	}
	if depth > 200 || w.out.Len() > w.left {
		w.err = fmt.Errorf("it is nested too deep or its aliases multiply")
		return
	}
	switch n.Kind {
	case yaml.AliasNode:
		w.write(n.Alias, depth+1)
	case yaml.SequenceNode:
		w.out.WriteByte('[')
		for i, c := range n.Content {
			if i > 0 {
				w.out.WriteByte(',')
			}
			w.write(c, depth+1)
		}
		w.out.WriteByte(']')
	case yaml.MappingNode:
		w.out.WriteByte('{')
		w.pairs(n, depth, 0)
		w.out.WriteByte('}')
	default:
		w.scalar(n)
	}
}

// pairs writes the members of a mapping, those that << merges into it first, and
// returns how many.
func (w *yamlWriter) pairs(n *yaml.Node, depth, count int) int {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	for i := 0; i+1 < len(n.Content) && w.err == nil; i += 2 {
		if n.Content[i].Tag == "!!merge" && depth < 200 {
			count = w.pairs(n.Content[i+1], depth+1, count)
		}
	}
	for i := 0; i+1 < len(n.Content) && w.err == nil; i += 2 {
		if n.Content[i].Tag == "!!merge" {
			continue
		}
		if count++; count > 1 {
			w.out.WriteByte(',')
		}
		w.out.Write(mustJSON(n.Content[i].Value))
		w.out.WriteByte(':')
		w.write(n.Content[i+1], depth+1)
	}
	return count
}

func (w *yamlWriter) scalar(n *yaml.Node) {
	switch n.ShortTag() {
	case "!!null":
		w.out.WriteString("null")
		return
	case "!!bool":
		var b bool
		if n.Decode(&b) == nil {
			w.out.WriteString(strconv.FormatBool(b))
			return
		}
	case "!!int", "!!float":
		if json.Valid([]byte(n.Value)) {
			w.out.WriteString(n.Value)
			return
		}
		var f float64
		if n.Decode(&f) == nil {
			if b, err := json.Marshal(f); err == nil {
				w.out.Write(b)
				return
			}
		}
	}
	w.out.Write(mustJSON(n.Value))
}

// top returns a member of the document.
func (d *tree) top(key string) json.RawMessage { return d.members("", d.root)[key] }
