package restapi

import (
	"bytes"
	"encoding/json"
	"strings"

	yaml "github.com/oasdiff/yaml3"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// hole is one {{param}} of a template.
type hole struct {
	start, end int // of the braces
	name       string
	inString   bool // within a string of the JSON around it
}

// holes finds the {{param}} of a template and whether each lies in a string.
func holes(s string) []hole {
	var out []hole
	inString := false
	for i := 0; i < len(s); i++ {
		switch {
		case strings.HasPrefix(s[i:], "{{"):
			n := strings.Index(s[i:], "}}")
			if n < 0 {
				return out
			}
			name := strings.TrimSpace(s[i+2 : i+n])
			if name == "" || strings.ContainsAny(name, "{}\":,\n") {
				continue // {"a":{"b":1}} written without spaces
			}
			out = append(out, hole{i, i + n + 2, name, inString})
			i += n + 1
		case s[i] == '"':
			inString = !inString
		case s[i] == '\\' && inString:
			i++
		}
	}
	return out
}

// fill puts arguments into the template: in a string as escaped text, bare as
// JSON. An argument left out is "" in a string and null bare. Arguments without
// a hole become members of the object, as without a template.
func (t *Tool) fill(values []value) ([]byte, error) {
	byName := map[string]json.RawMessage{}
	for _, v := range values {
		byName[v.param.Name] = v.json
	}
	var b bytes.Buffer
	at := 0
	used := map[string]bool{}
	for _, h := range holes(t.Template) {
		b.WriteString(t.Template[at:h.start])
		at = h.end
		v, ok := byName[h.name]
		used[h.name] = true
		switch {
		case h.inString && ok:
			q := mustJSON(text(v))
			b.Write(q[1 : len(q)-1])
		case h.inString:
		case ok:
			b.Write(v)
		default:
			b.WriteString("null")
		}
	}
	b.WriteString(t.Template[at:])
	if !json.Valid(b.Bytes()) {
		return nil, kb.Errorf(kb.Invalid, "the arguments of %s do not fit the template of its body", t.Code).
			WithHint("a person must mend its definition: bodyPayloadTemplate")
	}
	var m map[string]json.RawMessage
	var rest []value
	for _, v := range values {
		if !used[v.param.Name] {
			rest = append(rest, v)
		}
	}
	if len(rest) == 0 || json.Unmarshal(b.Bytes(), &m) != nil {
		return b.Bytes(), nil
	}
	for _, v := range rest {
		m[v.param.Name] = v.json
	}
	return mustJSON(m), nil
}

// template checks a template when it is read.
func (r *reader) template(n *yaml.Node, t *Tool) {
	if t.Template == "" {
		return
	}
	if !t.hasBody() {
		r.wrong(n, "a %s has no body, and this has a bodyPayloadTemplate", t.Method).hint("leave it out")
		return
	}
	if t.Form {
		r.wrong(n, "a template is JSON, and bodyFormat is FORM").hint("leave one of them out")
		return
	}
	for _, h := range holes(t.Template) {
		if t.Param(h.name) == nil {
			r.wrong(n, "bodyPayloadTemplate names {{%s}}, which is no parameter", clip(h.name, 60)).
				hint("declare it below parameters")
			return
		}
	}
	if _, err := t.fill(nil); err != nil {
		r.wrong(n, "bodyPayloadTemplate is not JSON").hint("it must be JSON once each {{param}} is filled in")
	}
}
