package restapi

import (
	"encoding/json"
	"fmt"
	"strings"
)

// maxMembers is the number of members of a body up to which each is an argument
// of its own.
const maxMembers = 60

// body adds the body of the operation: as arguments for its members when it is an
// object of which nothing else is said, else as one argument.
func (o *operation) body(t named, v json.RawMessage) error {
	content := fields(get(v, "content"))
	if len(content) == 0 {
		if (&Tool{Method: o.method}).hasBody() {
			t.add("bodyFormat", scalar("NONE"))
		}
		return nil
	}
	c, err := chosen(content)
	if err != nil {
		if !isTrue(v, "required") {
			o.lose("%v, and goes without a body", err)
			t.add("bodyFormat", scalar("NONE"))
			return nil
		}
		return err
	}
	required := isTrue(v, "required")
	if !required {
		t.add("bodyOptional", boolean(true))
	}
	kind := mediaType(c.key)
	wire := c.key
	if strings.Contains(kind, "*") {
		wire = "application/json"
		if strings.HasPrefix(kind, "text/") {
			wire = "text/plain"
		} else if kind != "*/*" && kind != "application/*" {
			wire = "application/octet-stream"
		}
	}
	schema := get(c.raw, "schema")
	switch {
	case isJSONMedia(wire), mediaType(wire) == "application/x-www-form-urlencoded", mediaType(wire) == "multipart/form-data":
		t.add("bodyMedia", scalar(wire))
		return o.members(wire, c.raw, schema, required)
	}
	var all []string
	for _, f := range content {
		if mediaType(f.key) == kind || !isTextMedia(f.key) && !isTextMedia(wire) && !strings.Contains(f.key, "*") {
			all = append(all, f.key)
		}
	}
	if len(all) > 1 {
		t.add("bodyMedia", words(all))
	} else {
		t.add("bodyMedia", scalar(wire))
	}
	as, err := o.argument("body", "body")
	if err != nil {
		return err
	}
	n := named{mapping("name", as, "type", Bytes, "in", "payload", "description", "the body, "+wire)}
	if isTextMedia(wire) {
		set(n.Node, "type", String)
	}
	if required {
		n.add("required", boolean(true))
	}
	o.params = append(o.params, n.Node)
	return nil
}

// isTextMedia reports whether a body of that type is written as text.
func isTextMedia(s string) bool {
	m := mediaType(s)
	for _, end := range []string{"xml", "yaml", "json", "csv", "ndjson", "graphql", "javascript", "sql", "jsonl", "toml"} {
		if strings.HasSuffix(m, end) {
			return true
		}
	}
	return strings.HasPrefix(m, "text/")
}

// chosen returns the content that is sent: JSON before forms before others.
func chosen(content []field) (field, error) {
	rank := func(key string) int {
		switch m := mediaType(key); {
		case m == "application/json":
			return 0
		case isJSONMedia(key):
			return 1
		case m == "multipart/form-data":
			return 2
		case m == "application/x-www-form-urlencoded":
			return 3
		case m == "*/*" || m == "application/*":
			return 4
		case strings.HasPrefix(m, "multipart/"):
			return 9
		case isTextMedia(key):
			return 5
		}
		return 6
	}
	best := content[0]
	for _, f := range content[1:] {
		if rank(f.key) < rank(best.key) {
			best = f
		}
	}
	if rank(best.key) == 9 {
		return best, fmt.Errorf("its body is %s", clip(best.key, 60))
	}
	return best, nil
}

// members adds the members of a JSON body or a form as arguments, or the body as one.
func (o *operation) members(media string, content, schema json.RawMessage, required bool) error {
	props, plain := o.m.properties(schema, 0)
	for _, p := range props {
		plain = plain && p.name != "" && len(p.name) <= 120 && !strings.ContainsAny(p.name, "{}\r\n\x00")
	}
	form := !isJSONMedia(media)
	if multi := mediaType(media) == "multipart/form-data"; multi && len(props) > 0 {
		if !plain {
			o.lose("what its body says beyond its members is left out")
		}
		plain = true // each member is a part
	}
	if len(props) == 0 || !plain || len(props) > maxMembers {
		as, err := o.argument("body", "body")
		if err != nil {
			return err
		}
		n := named{mapping("name", as)}
		if err := o.describe(n, schema, "payload", "", required); err != nil {
			return err
		}
		o.params = append(o.params, n.Node)
		return nil
	}
	for _, p := range props {
		if full, err := o.m.follow(p.schema); err == nil && isTrue(full, "readOnly") {
			continue
		}
		as, err := o.argument(p.name, "body")
		if err != nil {
			return err
		}
		n := named{mapping("name", as)}
		encoding := get(get(content, "encoding"), p.name)
		if form && mediaType(media) == "multipart/form-data" && o.m.isFile(p.schema) && !styled(encoding) {
			n.add("type", scalar(Bytes))
			n.add("in", scalar("body"))
			if s := firstSentence(getText(p.schema, "description")); s != "" {
				n.add("description", scalar(s))
			}
			if p.required {
				n.add("required", boolean(true))
			}
		} else if form && mediaType(media) == "multipart/form-data" && o.m.areFiles(p.schema) && !styled(encoding) {
			n.add("type", scalar(Array))
			n.add("items", scalar(Bytes))
			n.add("in", scalar("body"))
			if p.required {
				n.add("required", boolean(true))
			}
		} else if err := o.describe(n, p.schema, "body", "", p.required); err != nil {
			return err
		}
		if as != p.name {
			n.add("sentAs", scalar(p.name))
		}
		if form {
			o.encoding(n, encoding, p.name)
		}
		o.params = append(o.params, n.Node)
	}
	return nil
}

// styled reports whether an Encoding Object lays its property out by a style.
func styled(v json.RawMessage) bool {
	return get(v, "style") != nil || get(v, "explode") != nil || get(v, "allowReserved") != nil
}

// encoding adds what an Encoding Object says of a member of a form.
func (o *operation) encoding(n named, v json.RawMessage, name string) {
	if styled(v) {
		if s := getText(v, "style"); s != "" && s != "form" && styles[strings.ToUpper(s)] != "" {
			n.add("style", scalar(s))
		}
		if e := get(v, "explode"); e != nil {
			n.add("explode", boolean(string(e) == "true"))
		} else if s := getText(v, "style"); s == "" || s == "form" {
			n.add("explode", boolean(true))
		}
		if isTrue(v, "allowReserved") {
			n.add("allowReserved", boolean(true))
		}
		return
	}
	if s := getText(v, "contentType"); s != "" {
		n.add("media", scalar(s))
	}
	if len(fields(get(v, "headers"))) > 0 {
		o.lose("the headers of its part %q are not sent", clip(name, 60))
	}
}

// isFile reports whether a part is sent as application/octet-stream (3.1.2
// Encoding Object, contentType; 3.0.4 has format binary).
func (s *schemas) isFile(v json.RawMessage) bool {
	v, err := s.follow(v)
	if err != nil {
		return false
	}
	of := s.kindsOf(v, 0)
	if s.old && (getText(v, "type") == "file" || getText(v, "format") == "binary") {
		return true
	}
	delete(of, "null")
	if s.old {
		return false
	}
	return len(of) == 0 || len(of) == 1 && of["string"] && (get(v, "contentEncoding") != nil || getText(v, "format") == "binary")
}

// areFiles reports whether a part is a list of such.
func (s *schemas) areFiles(v json.RawMessage) bool {
	v, err := s.follow(v)
	if err != nil || getText(v, "type") != "array" {
		return false
	}
	items := get(v, "items")
	return items != nil && s.isFile(items)
}
