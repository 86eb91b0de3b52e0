package restapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"

	yaml "github.com/oasdiff/yaml3"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
)

// MaxOpenAPI is the size in bytes of the largest OpenAPI document that is read.
const MaxOpenAPI = 32 << 20

// manyTools is the number of operations up to which lists of all tools show an
// API: a longer list costs every agent more than it is worth.
const manyTools = 60

// versioned matches the heads of OpenAPI documents, and of those of version 2,
// then called Swagger.
var versioned = lazyregexp.New(`(?m)^[\s{]*["']?(?:swagger|openapi)["']?\s*:`)

// IsOpenAPI reports whether a text seems to be an OpenAPI document.
func IsOpenAPI(text []byte) bool {
	head := string(text[:min(len(text), 4<<10)])
	return versioned.MatchString(head) || strings.Contains(head, "openapi") ||
		(strings.Contains(string(text), `"openapi"`) || strings.Contains(string(text), `"swagger"`)) && !strings.Contains(head, "baseUrl")
}

// ImportOpenAPI makes one API of an OpenAPI document of version 2.0, 3.0 or 3.1
// and one tool of each of its operations. References within the document are
// followed, others are not. What of an operation cannot be carried over is
// said in Losses, and an operation that could not be called as its document
// says is left out, which is said there too.
func ImportOpenAPI(name string, text []byte, o ImportOptions) (*Imported, error) {
	if len(text) > MaxOpenAPI {
		return nil, kb.Errorf(kb.TooLarge, "%s has more than %d MiB", name, MaxOpenAPI>>20).
			WithHint("import a part of it")
	}
	root, err := asJSON(text)
	if err != nil {
		return nil, kb.Errorf(kb.Invalid, "%s cannot be read as OpenAPI: %s", name, clip(oneLine(err.Error()), 300)).
			WithHint("check it with a validator")
	}
	d := &tree{root: root}
	version := cmp.Or(getText(root, "openapi"), getText(root, "swagger"), string(get(root, "swagger")))
	m := &maker{
		tree: d, o: o, im: &Imported{Secrets: map[string]Ref{}}, codes: map[string]bool{}, hosts: map[string]bool{},
		two: strings.HasPrefix(version, "2."), schemas: newSchemas(d, !strings.HasPrefix(version, "3.1") && !strings.HasPrefix(version, "3.2")),
	}
	if !m.two && !strings.HasPrefix(version, "3.") {
		return nil, kb.Errorf(kb.Unsupported, "%s is not OpenAPI 2 or 3", name).WithHint("name a document that begins with openapi: or swagger:")
	}
	n, code, err := m.provider(name)
	if err != nil {
		return nil, err
	}
	m.im.nodes, m.im.Codes = []*yaml.Node{n}, []string{code}
	return m.im, nil // Merge reads it as it will be read
}

// maker makes definitions of one document.
type maker struct {
	*tree
	*schemas
	o     ImportOptions
	im    *Imported
	two   bool // version 2.0
	codes map[string]bool
	auths *security
	base  string          // of the API
	hosts map[string]bool // others that operations are at
	code  string
}

// Loss is what of an operation an import could not carry over.
type Loss struct {
	Operation string `json:"operation"` // GET /goods/{id}
	LeftOut   bool   `json:"leftOut,omitempty"`
	Why       string `json:"why"`
}

func (l Loss) String() string {
	if l.LeftOut {
		return l.Operation + " is left out: " + l.Why
	}
	return l.Operation + ": " + l.Why
}

func mapping(pairs ...string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			n.Content = append(n.Content, scalar(pairs[i]), scalar(pairs[i+1]))
		}
	}
	return n
}

func boolean(b bool) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: fmt.Sprint(b)}
}

func words(list []string) *yaml.Node {
	n := sequence()
	n.Style = yaml.FlowStyle
	for _, s := range list {
		n.Content = append(n.Content, scalar(s))
	}
	return n
}

func (n *named) add(key string, v *yaml.Node) { n.Content = append(n.Content, scalar(key), v) }

// named is a mapping that grows.
type named struct{ *yaml.Node }

// unlistedNote is said of an API with many tools.
const unlistedNote = " are found with apis and called by name; lists of all tools leave them out, since so many would crowd them: listed: true shows them"

func (m *maker) provider(name string) (*yaml.Node, string, error) {
	info := m.top("info")
	title := getText(info, "title")
	m.code = cmp.Or(m.o.Code, slug(title))
	if !codeName.MatchString(m.code) {
		return nil, "", kb.Errorf(kb.Invalid, "no code for the API follows from %s", name).
			WithHint("give one: --code petstore")
	}
	servers := m.top("servers")
	if m.two {
		servers = servers2(m.root, m.o.From)
	}
	var err error
	if m.base, err = m.server(cmp.Or(m.o.BaseURL, ""), servers); err != nil {
		return nil, "", kb.Errorf(kb.Invalid, "%s names no address of its service", name).
			WithHint("give it: --baseUrl https://api.example.org/v1")
	}
	if n := len(elements(servers)); n > 1 && m.o.BaseURL == "" {
		m.im.Notes = append(m.im.Notes, fmt.Sprintf("the document names %d servers; %s was taken", n, m.base))
	}
	n := named{mapping("code", m.code, "name", clip(oneLine(title), 100), "description", firstSentence(getText(info, "description")), "baseUrl", m.base)}
	m.auths = m.security()
	list, err := m.tools()
	if err != nil {
		return nil, "", err
	}
	m.auths.declare(n, m)
	if len(m.hosts) > 0 {
		m.im.Notes = append(m.im.Notes, "some of its operations are at other hosts, to which the credential goes too: "+strings.Join(slices.Sorted(maps.Keys(m.hosts)), ", "))
	}
	if len(list.Content) > manyTools {
		n.add("listed", boolean(false))
		m.im.Notes = append(m.im.Notes, fmt.Sprintf("its %d tools", len(list.Content))+unlistedNote)
	}
	if len(m.taken) > 0 {
		defs := mapping()
		for _, k := range slices.Sorted(maps.Keys(m.taken)) {
			defs.Content = append(defs.Content, scalar(k), scalar(string(m.taken[k])))
		}
		n.add("schemas", defs)
	}
	n.add("tools", list)
	return n.Node, m.code, nil
}

// server returns the address of the first of servers, its variables filled in; one
// that is relative is so to the document.
func (m *maker) server(base string, servers json.RawMessage) (string, error) {
	if base == "" {
		base = "/"
		if list := elements(servers); len(list) > 0 {
			base = getText(list[0], "url")
			for _, v := range fields(get(list[0], "variables")) {
				base = strings.ReplaceAll(base, "{"+v.key+"}", getText(v.raw, "default"))
			}
		}
	}
	if from, err := url.Parse(m.o.From); err == nil && m.o.From != "" {
		if rel, err := from.Parse(base); err == nil && base != "" {
			base = rel.String()
		}
	}
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || strings.ContainsAny(base, "{}") {
		return "", fmt.Errorf("its server %q is no address", clip(base, 80))
	}
	return strings.TrimRight(base, "/"), nil
}

// methodNames are the members of a path item that are operations.
var methodNames = []string{"get", "put", "post", "delete", "options", "head", "patch", "trace", "query"}

func (m *maker) tools() (*yaml.Node, error) {
	list := sequence()
	total := 0
	for _, f := range fields(m.top("paths")) {
		if !strings.HasPrefix(f.key, "/") {
			continue
		}
		item, err := m.follow(f.raw)
		if err != nil {
			m.im.Losses = append(m.im.Losses, Loss{f.key, true, err.Error()})
			continue
		}
		for _, g := range fields(item) {
			if !slices.Contains(methodNames, g.key) {
				continue
			}
			total++
			if !m.wanted(f.key, g.raw) {
				continue
			}
			o := &operation{m: m, path: f.key, method: strings.ToUpper(g.key), item: item, op: g.raw, seen: map[string]bool{}}
			t, err := o.tool()
			if err != nil {
				m.im.Losses = append(m.im.Losses, Loss{o.method + " " + o.path, true, err.Error()})
				continue
			}
			list.Content = append(list.Content, t)
		}
	}
	switch k := len(list.Content); {
	case k == 0 && len(m.im.Losses) > 0:
		return nil, kb.Errorf(kb.Invalid, "none of its %d operations can be imported: %s", total, clip(m.im.Losses[0].String(), 300)).
			WithHint("see what it needs, and choose others with --operations")
	case k == 0:
		return nil, kb.Errorf(kb.Invalid, "none of its %d operations matches", total).
			WithHint("check --operations: it matches ids, paths and tags")
	case k > maxTools:
		return nil, kb.Errorf(kb.TooLarge, "%d operations are more than the %d that one API may have", k, maxTools).
			WithHint("choose some with --operations, by id, path or tag")
	}
	return list, nil
}

func (m *maker) wanted(p string, op json.RawMessage) bool {
	if len(m.o.Operations) == 0 {
		return true
	}
	of := []string{getText(op, "operationId"), p}
	for _, t := range elements(get(op, "tags")) {
		of = append(of, textOf(t))
	}
	for _, pattern := range m.o.Operations {
		for _, s := range of {
			before, begins := strings.CutSuffix(pattern, "*")
			ok, _ := path.Match(pattern, s)
			if ok || s == pattern || begins && before != "" && strings.HasPrefix(s, before) {
				return true
			}
		}
	}
	return false
}

// toolCode makes a code of an operation that no other has: stripe_GetCharges.
func (m *maker) toolCode(p, method string, op json.RawMessage) string {
	id := cmp.Or(getText(op, "operationId"), strings.ToLower(method)+"_"+p)
	id = strings.Trim(nonWord.ReplaceAllString(id, "_"), "_")
	full := m.code + "_" + id
	if len(full) > 64 {
		full = strings.TrimRight(full[:64], "_-")
	}
	for i, base := 2, full; m.codes[full]; i++ {
		tail := fmt.Sprintf("_%d", i)
		full = base[:min(len(base), 64-len(tail))] + tail
	}
	m.codes[full] = true
	return full
}

// firstSentence shortens a description for a list.
func firstSentence(s string) string {
	s = oneLine(htmlTag.ReplaceAllString(s, " "))
	if i := strings.Index(s, ". "); i > 0 && i < 200 {
		s = s[:i]
	}
	return strings.TrimSuffix(clip(s, 200), ".")
}
