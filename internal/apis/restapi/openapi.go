package restapi

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	yaml "github.com/oasdiff/yaml3"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
)

// MaxOpenAPI is the size in bytes of the largest OpenAPI document that is read.
const MaxOpenAPI = 32 << 20

// manyTools is the number of operations of a document that are enabled at once: a
// longer list costs every agent more than it is worth.
const manyTools = 60

// swagger2 matches the heads of documents of OpenAPI 2, then called Swagger.
var swagger2 = lazyregexp.New(`(?m)^[\s{]*["']?swagger["']?\s*:\s*["']?2`)

// IsOpenAPI reports whether a text seems to be an OpenAPI document.
func IsOpenAPI(text []byte) bool {
	head := string(text[:min(len(text), 4<<10)])
	return swagger2.MatchString(head) || strings.Contains(head, "openapi") ||
		strings.Contains(string(text), `"openapi"`) && !strings.Contains(head, "baseUrl")
}

// ImportOpenAPI makes one API of an OpenAPI document of version 3.0 or 3.1
// and one tool of each of its operations. References within the document are
// followed, others are not.
func ImportOpenAPI(name string, text []byte, o ImportOptions) (im *Imported, err error) {
	if len(text) > MaxOpenAPI {
		return nil, kb.Errorf(kb.TooLarge, "%s has more than %d MiB", name, MaxOpenAPI>>20).
			WithHint("import a part of it")
	}
	defer func() {
		if v := recover(); v != nil { // the library's, on an odd document
			im, err = nil, kb.Errorf(kb.Invalid, "%s cannot be read as OpenAPI 3", name).WithHint("check it with a validator")
		}
	}()
	if swagger2.MatchString(string(text[:min(len(text), 4<<10)])) {
		return nil, kb.Errorf(kb.Unsupported, "%s is OpenAPI 2 (Swagger), and only version 3 is read", name).
			WithHint("convert it to version 3 first")
	}
	loader := openapi3.NewLoader()
	loader.IsExternalRefsAllowed = false
	doc, err := loader.LoadFromData(text)
	if err != nil {
		return nil, kb.Errorf(kb.Invalid, "%s cannot be read as OpenAPI 3: %s", name, clip(oneLine(err.Error()), 300)).
			WithHint("check it with a validator; references to other files are not followed: bundle them into one")
	}
	if !strings.HasPrefix(doc.OpenAPI, "3.") {
		return nil, kb.Errorf(kb.Unsupported, "%s is not OpenAPI 3", name).WithHint("convert it to version 3 first")
	}
	im = &Imported{Secrets: map[string]Ref{}}
	m := &maker{doc: doc, o: o, im: im, codes: map[string]bool{}}
	n, code, err := m.provider(name)
	if err != nil {
		return nil, err
	}
	if err := m.tools(n, code); err != nil {
		return nil, err
	}
	im.nodes, im.Codes = []*yaml.Node{n}, []string{code}
	return im, im.check(name)
}

// maker makes definitions of one document.
type maker struct {
	doc   *openapi3.T
	o     ImportOptions
	im    *Imported
	codes map[string]bool
	key   string // parameter that the credential replaces
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

func (m *maker) provider(name string) (*yaml.Node, string, error) {
	title, about := "", ""
	if m.doc.Info != nil {
		title, about = m.doc.Info.Title, m.doc.Info.Description
	}
	code := cmp.Or(m.o.Code, slug(title))
	if !codeName.MatchString(code) {
		return nil, "", kb.Errorf(kb.Invalid, "no code for the API follows from %s", name).
			WithHint("give one: --code petstore")
	}
	base, err := m.base(name)
	if err != nil {
		return nil, "", err
	}
	n := mapping("code", code, "name", clip(oneLine(title), 100), "description", firstSentence(about), "baseUrl", base)
	m.auth(n, code)
	return n, code, nil
}

// base returns the address of the first server, its variables filled in.
func (m *maker) base(name string) (string, error) {
	base := m.o.BaseURL
	if base == "" && len(m.doc.Servers) > 0 && m.doc.Servers[0] != nil {
		s := m.doc.Servers[0]
		base = s.URL
		for k, v := range s.Variables {
			if v != nil {
				base = strings.ReplaceAll(base, "{"+k+"}", v.Default)
			}
		}
	}
	// Servers may be written relative to the document.
	if from, err := url.Parse(m.o.From); err == nil && m.o.From != "" {
		if rel, err := from.Parse(base); err == nil && base != "" {
			base = rel.String()
		}
	}
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", kb.Errorf(kb.Invalid, "%s names no address of its service", name).
			WithHint("give it: --baseUrl https://api.example.org/v1")
	}
	if len(m.doc.Servers) > 1 && m.o.BaseURL == "" {
		m.im.Notes = append(m.im.Notes, fmt.Sprintf("the document names %d servers; %s was taken", len(m.doc.Servers), base))
	}
	return base, nil
}

// auth takes the first security scheme of the document that we support.
func (m *maker) auth(n *yaml.Node, code string) {
	if m.doc.Components == nil || len(m.doc.Components.SecuritySchemes) == 0 {
		return
	}
	schemes := m.doc.Components.SecuritySchemes
	var order []string
	for _, req := range m.doc.Security {
		order = append(order, slices.Sorted(maps.Keys(req))...)
	}
	order = append(order, slices.Sorted(maps.Keys(schemes))...)
	for _, name := range order {
		ref := schemes[name]
		if ref == nil || ref.Value == nil {
			continue
		}
		s := ref.Value
		var fields []string
		switch {
		case s.Type == "apiKey" && (s.In == "query" || s.In == "header" && headerName.MatchString(s.Name) && !reserved(s.Name)):
			in := placeSpellings[strings.ToUpper(s.In)]
			fields, m.key = []string{"authenticationType", AuthKey, "apiKeyLocation", in, "apiKeyName", s.Name}, s.Name
		case s.Type == "http" && strings.EqualFold(s.Scheme, "bearer"), s.Type == "oauth2", s.Type == "openIdConnect":
			fields = []string{"authenticationType", AuthBearer}
			if s.Type != "http" {
				m.im.Notes = append(m.im.Notes, "the service uses "+s.Type+
					"; its access token is sent as bearer, and is not renewed here")
			}
		case s.Type == "http" && strings.EqualFold(s.Scheme, "basic"):
			fields = []string{"authenticationType", AuthBasic}
		default:
			continue
		}
		n.Content = append(n.Content, mapping(fields...).Content...)
		want := Ref{Env: envFor(code, "API_KEY")}
		if ref, ok := ParseRef(m.o.Secret); ok {
			want = ref
		}
		set(n, "apiKeyValue", want.String())
		m.im.Secrets[code] = want
		return
	}
}

func (m *maker) tools(n *yaml.Node, code string) error {
	list := sequence()
	total, left := 0, map[string]int{}
	for _, p := range m.doc.Paths.InMatchingOrder() {
		item := m.doc.Paths.Value(p)
		if item == nil {
			continue
		}
		ops := item.Operations()
		for _, method := range slices.Sorted(maps.Keys(ops)) {
			op := ops[method]
			total++
			if op == nil || !m.wanted(p, op) {
				continue
			}
			t, why := m.tool(code, p, method, item, op)
			if why != "" {
				left[why]++
				continue
			}
			list.Content = append(list.Content, t)
		}
	}
	for _, why := range slices.Sorted(maps.Keys(left)) {
		m.im.Notes = append(m.im.Notes, fmt.Sprintf("%d operations were left out: %s", left[why], why))
	}
	switch k := len(list.Content); {
	case k == 0:
		return kb.Errorf(kb.Invalid, "none of its %d operations can be imported or matches", total).
			WithHint("check --operations: it matches ids, paths and tags")
	case k > maxTools:
		return kb.Errorf(kb.TooLarge, "%d operations are more than the %d that one API may have", k, maxTools).
			WithHint("choose some with --operations, by id, path or tag")
	case k > manyTools:
		for _, t := range list.Content {
			t.Content = append(t.Content, scalar("enabled"), &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: "false"})
		}
		m.im.Notes = append(m.im.Notes, fmt.Sprintf("all %d tools are disabled, since so many would crowd every list: "+
			"set enabled: true on those that agents need, or import fewer with --operations", k))
	}
	n.Content = append(n.Content, scalar("tools"), list)
	return nil
}

func (m *maker) wanted(p string, op *openapi3.Operation) bool {
	if len(m.o.Operations) == 0 {
		return true
	}
	for _, pattern := range m.o.Operations {
		for _, s := range append([]string{op.OperationID, p}, op.Tags...) {
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
func (m *maker) toolCode(code, p, method string, op *openapi3.Operation) string {
	id := cmp.Or(op.OperationID, strings.ToLower(method)+"_"+p)
	id = strings.Trim(nonWord.ReplaceAllString(id, "_"), "_")
	full := code + "_" + id
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

// ownHeader reports whether a header is set by build.
func ownHeader(name string) bool {
	switch strings.ToLower(name) {
	case "authorization", "accept", "content-type":
		return true
	}
	return false
}

func (m *maker) tool(code, p, method string, item *openapi3.PathItem, op *openapi3.Operation) (*yaml.Node, string) {
	if methods[method] == "" {
		return nil, "their method is " + method
	}
	var params []*yaml.Node
	seen := map[string]bool{}
	add := func(n *yaml.Node, name string) bool {
		if seen[name] || name == "" || strings.ContainsAny(name, "{}\r\n") || len(name) > 128 {
			return false
		}
		seen[name] = true
		params = append(params, n)
		return true
	}
	comma := false
	for _, ref := range slices.Concat(op.Parameters, item.Parameters) {
		if ref == nil || ref.Value == nil {
			continue
		}
		q := ref.Value
		switch q.In {
		case "path", "query":
			if q.In == "query" && q.Explode != nil && !*q.Explode {
				comma = true
			}
		case "header":
			if !headerName.MatchString(q.Name) || reserved(q.Name) || ownHeader(q.Name) {
				continue
			}
		default:
			if q.Required {
				return nil, "they need a cookie"
			}
			continue
		}
		if q.Name == m.key && q.In != "path" {
			continue // the credential takes its place
		}
		add(m.param(q.Name, q.In, q.Description, q.Required, q.Schema), q.Name)
	}
	// A path of which a part is declared nowhere still needs it.
	for _, hole := range pathParam.FindAllStringSubmatch(p, -1) {
		if !seen[hole[1]] {
			add(m.param(hole[1], "path", "", true, nil), hole[1])
		}
	}
	form := false
	if op.RequestBody != nil && op.RequestBody.Value != nil && (&Tool{Method: method}).hasBody() {
		why := ""
		if form, why = m.body(op.RequestBody.Value, add); why != "" {
			return nil, why
		}
	}
	if len(params) > maxParams {
		params = params[:maxParams]
	}
	about := cmp.Or(op.Summary, firstSentence(op.Description))
	t := mapping("code", m.toolCode(code, p, method, op), "name", clip(oneLine(op.Summary), 100),
		"description", clip(oneLine(about), 300), "httpMethod", method, "endpointPath", p,
		"bodyFormat", map[bool]string{true: "FORM"}[form], "arrays", map[bool]string{true: "COMMA"}[comma])
	if len(params) > 0 {
		t.Content = append(t.Content, scalar("parameters"), sequence(params...))
	}
	return t, ""
}

// body makes parameters of the members of a request's body, or one of the
// whole when it is no object.
func (m *maker) body(b *openapi3.RequestBody, add func(*yaml.Node, string) bool) (form bool, why string) {
	media := b.Content.Get("application/json")
	if media == nil {
		for _, k := range slices.Sorted(maps.Keys(b.Content)) {
			if strings.HasSuffix(k, "+json") {
				media = b.Content[k]
			}
		}
	}
	if media == nil {
		media = b.Content["application/x-www-form-urlencoded"]
		form = media != nil
	}
	if media == nil || media.Schema == nil || media.Schema.Value == nil {
		if b.Required && len(b.Content) > 0 {
			return false, "their body is neither JSON nor a form"
		}
		return false, ""
	}
	props, required := members(media.Schema.Value, 0)
	if len(props) == 0 {
		if form {
			return true, ""
		}
		add(m.param("body", "payload", cmp.Or(b.Description, "the whole body"), b.Required, media.Schema), "body")
		return false, ""
	}
	names := slices.SortedFunc(maps.Keys(props), func(a, b string) int {
		if required[a] != required[b] { // required ones come first, so that they are never cut off
			return map[bool]int{true: -1, false: 1}[required[a]]
		}
		return strings.Compare(a, b)
	})
	for _, name := range names {
		s := props[name]
		if s != nil && s.Value != nil && s.Value.ReadOnly {
			continue
		}
		if !add(m.param(name, "body", "", required[name] && b.Required, s), name) && required[name] {
			return false, "a member of their body is called like a parameter"
		}
	}
	return form, ""
}

// firstSentence shortens a description for a list.
func firstSentence(s string) string {
	s = oneLine(htmlTag.ReplaceAllString(s, " "))
	if i := strings.Index(s, ". "); i > 0 && i < 200 {
		s = s[:i]
	}
	return strings.TrimSuffix(clip(s, 200), ".")
}
