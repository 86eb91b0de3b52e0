package restapi

import (
	"cmp"
	"slices"
	"strings"

	yaml "github.com/oasdiff/yaml3"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Merge puts imported APIs into the text of a file of definitions, replacing those
// of the same code. It returns the new text and the replaced codes. A person's
// decisions stay: references to secrets, allowed hosts, and which tools are
// enabled or open.
func Merge(name string, text []byte, im *Imported) (out []byte, replaced []string, err error) {
	doc, list, err := editable(name, text)
	if err != nil {
		return nil, nil, err
	}
	for i, n := range im.nodes {
		plain(n)
		at := slices.IndexFunc(list.Content, func(x *yaml.Node) bool { return valueOf(x, "code") == im.Codes[i] })
		if at < 0 {
			list.Content = append(list.Content, n)
			continue
		}
		replaced = append(replaced, im.Codes[i])
		keep(list.Content[at], n)
		if v := member(n, "apiKeyValue"); v != nil {
			if ref, ok := ParseRef(v.Value); ok {
				im.Secrets[im.Codes[i]] = ref
			}
		}
		list.Content[at] = n
	}
	out, err = encode(doc)
	if err != nil {
		return nil, nil, err
	}
	im.nodes = nil // of a large document they are most of what an import takes
	f, err := Parse(name, out)
	if err != nil {
		return nil, nil, err
	}
	im.Merged = f
	for _, p := range f.Problems {
		if slices.Contains(im.Codes, p.API) {
			return nil, nil, kb.Errorf(kb.Invalid, "it does not fit with what is declared already: %s", p.Text).
				WithHint("give the API another code, or remove the other one")
		}
	}
	return out, replaced, nil
}

// keep copies a person's decisions from the old definition of an API.
func keep(old, n *yaml.Node) {
	keepAuth(member(old, "schemes"), member(n, "schemes"))
	for _, key := range []string{"apiKeyValue", "clientId", "clientCertificate", "clientKey", "allowHosts", "allowFiles", "enabled", "listed", "timeoutSeconds", "maxBytes", "username"} {
		v := member(old, key)
		if v == nil || key == "apiKeyValue" && (placeholder(v.Value) || member(n, key) == nil) {
			continue
		}
		drop(n, key)
		n.Content = append(n.Content, scalar(key), v)
	}
	tools, news := member(old, "tools"), member(n, "tools")
	if tools == nil || news == nil {
		return
	}
	for _, o := range tools.Content {
		for _, t := range news.Content {
			if code := valueOf(o, "code"); code == "" || code != valueOf(t, "code") {
				continue
			}
			for _, key := range []string{"enabled", "open"} {
				if v := member(o, key); v != nil {
					drop(t, key)
					t.Content = append(t.Content, scalar(key), v)
				}
			}
		}
	}
}

// keepAuth copies a person's references from the old schemes of the same names.
func keepAuth(old, n *yaml.Node) {
	if old == nil || n == nil {
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		was := member(old, n.Content[i].Value)
		if was == nil {
			continue
		}
		for _, key := range []string{"apiKeyValue", "clientId", "username"} {
			if v := member(was, key); v != nil && !placeholder(v.Value) && member(n.Content[i+1], key) != nil {
				set(n.Content[i+1], key, v.Value)
			}
		}
	}
}

// Remove takes an API out of the text of a file of definitions.
func Remove(name string, text []byte, code string) ([]byte, error) {
	doc, list, err := editable(name, text)
	if err != nil {
		return nil, err
	}
	var codes []string
	for i, n := range list.Content {
		c := member(n, "code")
		if c == nil {
			continue
		}
		if c.Value == code {
			list.Content = slices.Delete(list.Content, i, i+1)
			return encode(doc)
		}
		codes = append(codes, c.Value)
	}
	e := kb.Errorf(kb.NotFound, "%s declares no API %q", name, clip(code, 60))
	if near := kb.Nearest(code, codes); near != "" {
		return nil, e.WithHint("did you mean %q?", near)
	}
	return nil, e.WithHint("it declares: %s", strings.Join(codes, ", "))
}

// editable returns a document and its list of APIs, made when there is none.
func editable(name string, text []byte) (doc, list *yaml.Node, err error) {
	if doc, err = Document(name, text); err != nil {
		return nil, nil, err
	}
	switch {
	case doc == nil || doc.Kind == yaml.ScalarNode:
		list = sequence()
		doc = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: []*yaml.Node{scalar("apis"), list}}
		doc.HeadComment = "APIs that agents may call; see docs/apis.md. Credentials stand in variables or\nthe keyring and are only named here."
		return doc, list, nil
	case doc.Kind == yaml.SequenceNode:
		return doc, doc, nil
	}
	list = cmp.Or(member(doc, "apis"), member(doc, "providers"))
	switch {
	case list == nil:
		list = sequence()
		doc.Content = append(doc.Content, scalar("apis"), list)
	case list.Tag == "!!null":
		*list = *sequence()
	}
	list.Style = 0
	return doc, list, nil
}

// Only leaves of imported APIs the tools that keep wants, by their codes.
func (im *Imported) Only(keep func(code string) bool) {
	for _, n := range im.nodes {
		if tools := member(n, "tools"); tools != nil {
			tools.Content = slices.DeleteFunc(tools.Content, func(t *yaml.Node) bool { return !keep(valueOf(t, "code")) })
			if len(tools.Content) <= manyTools {
				drop(n, "listed")
				im.Notes = slices.DeleteFunc(im.Notes, func(s string) bool { return strings.HasSuffix(s, unlistedNote) })
			}
		}
	}
}

// File reads what was imported as it would be read, before it is merged.
func (im *Imported) File(name string) (*File, error) {
	text, err := encode(sequence(im.nodes...))
	if err != nil {
		return nil, err
	}
	return Parse(name, text)
}
