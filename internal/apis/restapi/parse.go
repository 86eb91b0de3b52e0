package restapi

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	yaml "github.com/oasdiff/yaml3"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/secret"
)

// MaxFile is the size in bytes of the largest file of definitions.
const MaxFile = 16 << 20

// File is one file of definitions. Providers lacks what Problems name: a single
// tool where only the tool is wrong, else the whole API.
type File struct {
	Providers []*Provider
	Problems  []Problem
}

// Problem is one fault of a file, at a line.
type Problem struct {
	File string `json:"file"`
	Line int    `json:"line"`
	API  string `json:"api,omitempty"`
	Text string `json:"problem"`
	Hint string `json:"hint,omitempty"`
}

func (p Problem) String() string {
	s := fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Text)
	if p.Hint != "" {
		s += " (" + p.Hint + ")"
	}
	return s
}

// Parse reads a file of definitions, YAML or the JSON of a recipe; name is its
// name in messages. It returns an error when nothing of the file can be read.
//
// A credential in the file itself is a problem, and no problem quotes it.
func Parse(name string, text []byte) (*File, error) {
	doc, err := Document(name, text)
	if err != nil {
		return nil, err
	}
	f := &File{}
	if doc == nil {
		return f, nil
	}
	list, err := providersNode(name, doc)
	if err != nil {
		return nil, err
	}
	r := &reader{file: name, out: f, codes: map[string]bool{}, tools: map[string]int{}}
	for _, n := range list {
		r.provider(n)
	}
	return f, nil
}

// providersNode returns the nodes of the APIs of a document: {apis: […]}, a
// bare list, or one API by itself.
func providersNode(name string, doc *yaml.Node) ([]*yaml.Node, error) {
	switch doc.Kind {
	case yaml.SequenceNode:
		return doc.Content, nil
	case yaml.MappingNode:
		if member(doc, "baseUrl") != nil {
			return []*yaml.Node{doc}, nil
		}
		var list []*yaml.Node
		for i := 0; i+1 < len(doc.Content); i += 2 {
			key, v := doc.Content[i], doc.Content[i+1]
			switch key.Value {
			case "version":
				if v.Value != "1" {
					return nil, kb.Errorf(kb.Unsupported, "%s:%d: this program knows version 1 of such files", name, v.Line).
						WithHint("update the program")
				}
			case "apis", "providers":
				if v.Kind != yaml.SequenceNode && v.Tag != "!!null" {
					return nil, kb.Errorf(kb.Invalid, "%s:%d: %s must be a list", name, v.Line, key.Value).
						WithHint(seeDocs)
				}
				list = v.Content
			default:
				e := kb.Errorf(kb.Invalid, "%s:%d: there is no key %q", name, key.Line, clip(key.Value, 60))
				if near := kb.Nearest(key.Value, []string{"apis", "version"}); near != "" {
					return nil, e.WithHint("did you mean %q?", near)
				}
				return nil, e.WithHint(seeDocs)
			}
		}
		return list, nil
	case yaml.ScalarNode:
		if doc.Tag == "!!null" {
			return nil, nil
		}
	}
	return nil, kb.Errorf(kb.Invalid, "%s: this is no list of APIs", name).WithHint(seeDocs)
}

const seeDocs = "docs/apis.md shows what such a file looks like"

func member(n *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// reader reads the APIs of one file.
type reader struct {
	file  string
	out   *File
	codes map[string]bool
	tools map[string]int // line of each code

	api string // that is read just now
	bad int    // problems of it so far
}

func (r *reader) wrong(n *yaml.Node, format string, args ...any) *Problem {
	r.bad++
	r.out.Problems = append(r.out.Problems, Problem{File: r.file, Line: n.Line, API: r.api, Text: fmt.Sprintf(format, args...)})
	return &r.out.Problems[len(r.out.Problems)-1]
}

func (p *Problem) hint(format string, args ...any) { p.Hint = fmt.Sprintf(format, args...) }

// fields calls the function of each key of a mapping and reports others.
func (r *reader) fields(n *yaml.Node, what string, table map[string]func(*yaml.Node)) {
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, v := n.Content[i], n.Content[i+1]
		f := table[key.Value]
		switch {
		case f == nil:
			names := slices.Sorted(maps.Keys(table))
			p := r.wrong(key, "%s has no key %q", what, clip(key.Value, 60))
			p.hint("it has %s", strings.Join(names, ", "))
			if near := kb.Nearest(key.Value, names); near != "" {
				p.hint("did you mean %q?", near)
			}
		case seen[key.Value]:
			r.wrong(key, "the key %q stands there twice", key.Value).hint("keep one of them")
		default:
			seen[key.Value] = true
			if v.Kind == yaml.AliasNode {
				v = v.Alias
			}
			if v.Tag != "!!null" {
				f(v)
			}
		}
	}
}

func (r *reader) text(n *yaml.Node, into *string, what string) {
	if n.Kind != yaml.ScalarNode {
		r.wrong(n, "%s must be a text", what)
		return
	}
	*into = strings.TrimSpace(n.Value)
}

// about reads a description. Those of imported documents may quote a credential.
func (r *reader) about(n *yaml.Node, into *string) {
	r.text(n, into, "description")
	*into, _ = secret.Mask("", *into)
}

func (r *reader) flag(n *yaml.Node, into *bool, what string) {
	v, err := strconv.ParseBool(strings.ToLower(n.Value))
	if n.Kind != yaml.ScalarNode || err != nil {
		r.wrong(n, "%s must be true or false", what)
		return
	}
	*into = v
}

// file1 reads the name of a file, which must be whole: it is read wherever this
// program starts.
func (r *reader) file1(n *yaml.Node, into *string, what string) {
	if r.text(n, into, what); !filepath.IsAbs(*into) {
		r.wrong(n, "%s must be the whole path of a file", what)
	}
}

// not reads a flag whose opposite is kept.
func (r *reader) not(n *yaml.Node, into *bool, what string) {
	listed := true
	r.flag(n, &listed, what)
	*into = !listed
}

// choice reads one of a few words. spellings maps what is accepted to what is kept.
func (r *reader) choice(n *yaml.Node, into *string, what string, spellings map[string]string, show ...string) {
	v, ok := spellings[strings.ToUpper(strings.TrimSpace(n.Value))]
	if n.Kind != yaml.ScalarNode || !ok {
		p := r.wrong(n, "%s must be one of %s", what, strings.Join(show, ", "))
		if near := kb.Nearest(n.Value, show); near != "" {
			p.hint("did you mean %s?", near)
		}
		return
	}
	*into = v
}

var (
	authSpellings = map[string]string{
		"MUTUAL_TLS": AuthTLS, "AWS_SIGV4": AuthAWS, "OAUTH2": AuthOAuth, "OAUTH": AuthOAuth, "NONE": AuthNone, "API_KEY": AuthKey, "APIKEY": AuthKey, "BEARER": AuthBearer, "BEARER_TOKEN": AuthBearer,
		"BASIC": AuthBasic, "BASIC_AUTH": AuthBasic,
	}
	placeSpellings = map[string]string{
		"COOKIE": InCookie, "NONE": "", "HEADER": InHeader, "QUERY": InQuery, "QUERY_PARAMETER": InQuery, "BODY": InBody, "IN_BODY": InBody,
	}
	methods = map[string]string{"GET": "GET", "HEAD": "HEAD", "OPTIONS": "OPTIONS", "POST": "POST", "PUT": "PUT", "PATCH": "PATCH", "DELETE": "DELETE"}
	types   = map[string]string{
		"STRING": String, "NUMBER": Number, "INTEGER": Integer, "BOOLEAN": Boolean, "OBJECT": Object, "ARRAY": Array,
		"ANY": Any, "FILE": Bytes,
	}
	placeNames = map[string]string{"PATH": "path", "QUERY": "query", "BODY": "body", "HEADER": "header", "COOKIE": "cookie", "PAYLOAD": "payload", "SELECTION": selectPlace}
)

func (r *reader) provider(n *yaml.Node) {
	r.api, r.bad = "", 0
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind != yaml.MappingNode {
		r.wrong(n, "an API must have keys and values").hint(seeDocs)
		return
	}
	if c := member(n, "code"); c != nil && codeName.MatchString(c.Value) {
		r.api = c.Value
	}
	p := &Provider{
		Auth: Auth{Type: AuthNone}, Timeout: DefaultTimeout, MaxBytes: DefaultMaxBytes, Enabled: true, File: r.file, Line: n.Line,
	}
	var tools []*yaml.Node
	read, table := r.authFields(&p.Auth)
	maps.Copy(table, map[string]func(*yaml.Node){
		"code":              func(v *yaml.Node) { r.text(v, &p.Code, "code") },
		"name":              func(v *yaml.Node) { r.text(v, &p.Name, "name") },
		"description":       func(v *yaml.Node) { r.about(v, &p.Description) },
		"baseUrl":           func(v *yaml.Node) { p.BaseURL = r.base(v) },
		"schemes":           func(v *yaml.Node) { r.schemes(v, p) },
		"security":          func(v *yaml.Node) { p.Security = r.security(v) },
		"schemas":           func(v *yaml.Node) { r.schemas(v, p) },
		"clientCertificate": func(v *yaml.Node) { r.file1(v, &p.CertFile, "clientCertificate") },
		"clientKey":         func(v *yaml.Node) { r.file1(v, &p.KeyFile, "clientKey") },
		"allowFiles":        func(v *yaml.Node) { p.FileDirs = r.texts(v, "allowFiles") },
		"listed":            func(v *yaml.Node) { r.not(v, &p.Unlisted, "listed") },
		"customHeaders": func(v *yaml.Node) {
			p.Headers = r.headers(v, "customHeaders", "header", func(name string) bool { return headerName.MatchString(name) && !reserved(name) })
		},
		"mcp":        func(v *yaml.Node) { r.mcp(v, p) },
		"allowHosts": func(v *yaml.Node) { p.AllowHosts = r.texts(v, "allowHosts") },
		"enabled":    func(v *yaml.Node) { r.flag(v, &p.Enabled, "enabled") },
		"tools": func(v *yaml.Node) {
			if tools = v.Content; v.Kind != yaml.SequenceNode {
				r.wrong(v, "tools must be a list")
			}
		},
	})
	maps.Copy(table, r.limits(p))
	r.fields(n, "an API", table)
	switch {
	case p.Code == "":
		r.wrong(n, "this API has no code").hint("give it a short name of letters and digits, as in code: weather")
	case !codeName.MatchString(p.Code):
		r.wrong(n, "%q is no code for an API", clip(p.Code, 60)).hint("use letters, digits, _ and -")
	case r.codes[p.Code]:
		r.wrong(n, "the code %q is used twice", p.Code).hint("give each API a code of its own")
	}
	if p.Server != nil && len(tools) > 0 {
		r.wrong(n, "a server lists its tools itself").hint("leave tools out")
	}
	if b := member(n, "baseUrl"); p.Server != nil && b != nil {
		r.wrong(b, "baseUrl and mcp do not go together").hint("give mcp the address")
	} else if p.Server == nil && p.BaseURL == "" && (b == nil || b.Tag == "!!null") {
		r.wrong(n, "this API has no baseUrl").hint("write it like https://api.example.org/v1")
	}
	read(n)
	if (p.CertFile == "") != (p.KeyFile == "") {
		r.wrong(n, "clientCertificate and clientKey go together")
	}
	r.named(n, p.Security, p)
	p.Name = cmp.Or(p.Name, p.Code)
	usable := r.bad == 0
	for _, t := range tools {
		r.tool(t, p)
	}
	if usable {
		r.codes[p.Code] = true
		r.out.Providers = append(r.out.Providers, p)
	}
}

// limits reads the bounds of calls.
func (r *reader) limits(p *Provider) map[string]func(*yaml.Node) {
	return map[string]func(*yaml.Node){
		"timeoutSeconds": func(v *yaml.Node) {
			s, err := strconv.ParseFloat(v.Value, 64)
			if d := time.Duration(s * float64(time.Second)); err != nil || d <= 0 || d > maxTimeout {
				r.wrong(v, "timeoutSeconds must be a number up to %d", int(maxTimeout.Seconds()))
			} else {
				p.Timeout = d
			}
		},
		"maxBytes": func(v *yaml.Node) {
			if b, err := strconv.ParseInt(v.Value, 10, 64); err != nil || b < 1 || b > maxMaxBytes {
				r.wrong(v, "maxBytes must be a whole number from 1 to %d", maxMaxBytes)
			} else {
				p.MaxBytes = b
			}
		},
	}
}

// base reads a base address.
func (r *reader) base(n *yaml.Node) string {
	raw := strings.TrimSpace(n.Value)
	u, err := url.Parse(raw)
	switch {
	case n.Kind != yaml.ScalarNode || err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		r.wrong(n, "baseUrl must be an address of http or https").hint("write it like https://api.example.org/v1")
	case u.User != nil:
		r.wrong(n, "baseUrl has a user name or password in it").hint("use authenticationType: BASIC_AUTH and a variable")
	case u.RawQuery != "" || u.Fragment != "":
		r.wrong(n, "baseUrl has a query or fragment").hint("give it to the tools: endpointPath may have a query")
	case strings.ContainsAny(raw, "{}$"):
		r.wrong(n, "baseUrl has variables in it").hint("write the address out")
	default:
		return strings.TrimRight(raw, "/")
	}
	return ""
}

func (r *reader) texts(n *yaml.Node, what string) []string {
	if n.Kind != yaml.SequenceNode {
		r.wrong(n, "%s must be a list", what)
		return nil
	}
	var out []string
	for _, c := range n.Content {
		var s string
		if r.text(c, &s, what); s != "" {
			out = append(out, s)
		}
	}
	return out
}
