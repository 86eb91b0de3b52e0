// Package restapi turns declared HTTP APIs into tools: it reads their
// definitions, checks arguments against them, sends the request with the
// credential in its place, and returns the reply as JSON or text.
//
// A definition has the shape of the recipes of seed 002, written in YAML:
//
//	apis:
//	  - code: weather                       # letters, digits, "_" and "-"
//	    name: Weather service
//	    baseUrl: https://api.weather.example/v1
//	    authenticationType: API_KEY         # NONE, API_KEY, BEARER_TOKEN, BASIC_AUTH
//	    apiKeyLocation: HEADER              # HEADER, QUERY_PARAMETER, IN_BODY
//	    apiKeyName: X-Api-Key
//	    apiKeyValue: ${WEATHER_KEY}         # or keyring:NAME; never the value itself
//	    tools:
//	      - code: forecast
//	        description: Forecast of a city by day
//	        httpMethod: GET
//	        endpointPath: /forecast/{city}
//	        parameters:
//	          - {name: city, type: STRING, description: its name, required: true}
//	          - {name: days, type: NUMBER, defaultValue: "3"}
//
// A credential exists in this process between the moment a request is built
// and the moment its reply has been cleaned; Redactor takes it out of
// everything that leaves: replies, errors, the log. Package outbound, whose client
// the caller passes in, decides which hosts a request may reach.
package restapi

import (
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
)

// The ways to authenticate.
const (
	AuthNone   = "NONE"
	AuthKey    = "API_KEY"
	AuthBearer = "BEARER_TOKEN"
	AuthBasic  = "BASIC_AUTH"
)

// The places of a credential.
const (
	InHeader = "HEADER"
	InQuery  = "QUERY_PARAMETER"
	InBody   = "IN_BODY"
)

// The limits that hold where a definition is silent.
const (
	DefaultTimeout  = 30 * time.Second
	DefaultMaxBytes = 1 << 20
	maxTimeout      = 5 * time.Minute
	maxMaxBytes     = 10 << 20
)

// Provider is one API: a base address, a credential and tools.
type Provider struct {
	Code        string
	Name        string // for readers; the code when the definition has none
	Description string
	BaseURL     string // http or https, without a slash at its end
	Auth        Auth
	Headers     []Header
	AllowHosts  []string // as outbound.Policy.Allow
	Timeout     time.Duration
	MaxBytes    int64 // of a reply
	Enabled     bool
	Tools       []Tool

	File string // where it is defined, for messages
	Line int
}

// Auth says which credential goes where.
type Auth struct {
	Type   string // one of the four
	In     string // one of the three; "" for AuthNone
	Name   string // of the header, query parameter or member
	User   string // of AuthBasic; "" when the secret is user:password
	Secret Ref
}

// Header is one that every request carries.
type Header struct {
	Name  string
	Value string // "" when Secret is set
	Secret
}

// Secret is a header's value that is a reference.
type Secret = Ref

// Ref names a secret: an environment variable or an entry of the keyring.
type Ref struct {
	Env     string
	Keyring string
}

// Set reports whether the reference names anything.
func (r Ref) Set() bool { return r != Ref{} }

// String writes the reference as definitions have it.
func (r Ref) String() string {
	switch {
	case r.Env != "":
		return "${" + r.Env + "}"
	case r.Keyring != "":
		return "keyring:" + r.Keyring
	}
	return ""
}

// Tool is one operation of an API.
type Tool struct {
	Code        string // unique among all APIs: its name in calls
	Name        string // for readers
	Description string
	Method      string // GET, HEAD, POST, PUT, PATCH or DELETE
	Path        string // begins with "/"; {param} is a parameter
	Template    string // JSON with {{param}}; "" puts what is left into an object
	Form        bool   // the body is application/x-www-form-urlencoded
	Comma       bool   // arrays in the query as a,b instead of p=a&p=b
	Enabled     bool
	Open        bool // GET only: over HTTP it may be called without the token
	Params      []Param

	Line int
}

// The types of parameters. INTEGER is ours: OpenAPI distinguishes it from NUMBER.
const (
	String  = "STRING"
	Number  = "NUMBER"
	Integer = "INTEGER"
	Boolean = "BOOLEAN"
	Object  = "OBJECT"
	Array   = "ARRAY"
)

// Param is one parameter of a tool.
type Param struct {
	Name        string
	Type        string
	In          string // path, query, body, header, payload (the whole body); "" follows from the method
	Description string
	Required    bool
	Default     *string // as text, as recipes have it
	Enum        []string
	Items       string // type of an array's elements; String when the definition is silent

	Line int
}

// Param returns the tool's parameter of that name, or nil.
func (t *Tool) Param(name string) *Param {
	for i := range t.Params {
		if t.Params[i].Name == name {
			return &t.Params[i]
		}
	}
	return nil
}

// Idempotent reports whether a request may be sent again when its reply was lost.
func (t *Tool) Idempotent() bool {
	return slices.Contains([]string{"GET", "HEAD", "PUT", "DELETE"}, t.Method)
}

// hasBody reports whether requests of the tool carry a body.
func (t *Tool) hasBody() bool { return t.Method == "POST" || t.Method == "PUT" || t.Method == "PATCH" }

// Host returns the host and port that requests go to, "" when the base
// address does not parse.
func (p *Provider) Host() string {
	u, err := url.Parse(p.BaseURL)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Host)
}

// Secrets returns the references that calling p resolves, each once.
func (p *Provider) Secrets() []Ref {
	var all []Ref
	add := func(r Ref) {
		if r.Set() && !slices.Contains(all, r) {
			all = append(all, r)
		}
	}
	add(p.Auth.Secret)
	for _, h := range p.Headers {
		add(h.Secret)
	}
	return all
}

// Definition is a tool as lists show it: the shape of seed 002.
type Definition struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Type        string          `json:"type"`       // api_tool, system_tool
	Parameters  json.RawMessage `json:"parameters"` // a JSON schema of type object
}

// schemaTypes are the names of our types in JSON schema.
var schemaTypes = map[string]string{
	String: "string", Number: "number", Integer: "integer", Boolean: "boolean", Object: "object", Array: "array",
}

// Definition returns the tool as lists show it.
func (t *Tool) Definition() Definition {
	return Definition{Name: t.Code, Description: cmp.Or(t.Description, t.Name), Type: "api_tool", Parameters: t.Schema()}
}

// Schema returns the JSON schema of the tool's arguments.
func (t *Tool) Schema() json.RawMessage {
	type property struct {
		Type        string   `json:"type"`
		Description string   `json:"description,omitempty"`
		Enum        []string `json:"enum,omitempty"`
		Default     any      `json:"default,omitempty"`
		Items       any      `json:"items,omitempty"`
	}
	var b strings.Builder
	b.WriteString(`{"type":"object","properties":{`)
	required := []string{}
	for i, p := range t.Params {
		if i > 0 {
			b.WriteByte(',')
		}
		prop := property{Type: schemaTypes[p.Type], Description: p.Description}
		if p.Type == String {
			prop.Enum = p.Enum
		}
		if p.Type == Array {
			prop.Items = map[string]string{"type": schemaTypes[cmp.Or(p.Items, String)]}
		}
		if p.Default != nil {
			if v, err := p.convert(mustJSON(*p.Default)); err == nil {
				prop.Default = v
			}
		}
		b.Write(mustJSON(p.Name))
		b.WriteByte(':')
		b.Write(mustJSON(prop))
		if p.Required && p.Default == nil {
			required = append(required, p.Name)
		}
	}
	b.WriteString(`},"required":`)
	b.Write(mustJSON(required))
	b.WriteByte('}')
	return json.RawMessage(b.String())
}

// mustJSON marshals what cannot fail: strings, lists of them, our structs. It
// does not escape <, > and &.
func mustJSON(v any) json.RawMessage {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return json.RawMessage("null")
	}
	return json.RawMessage(strings.TrimRight(b.String(), "\n"))
}

// Find returns the tool that a name means among the providers: its code, or
// its display name when no other tool has that. The hint of the error names
// the nearest code.
func Find(all []*Provider, name string) (*Provider, *Tool, error) {
	var codes []string
	var of *Provider
	var byName []*Tool
	for _, p := range all {
		for j := range p.Tools {
			t := &p.Tools[j]
			if t.Code == name {
				return p, t, nil
			}
			codes = append(codes, t.Code)
			if strings.EqualFold(t.Name, name) {
				of, byName = p, append(byName, t)
			}
		}
	}
	if len(byName) == 1 {
		return of, byName[0], nil
	}
	err := kb.Errorf(kb.NotFound, "no declared API has a tool %q", clip(name, 60))
	if near := kb.Nearest(name, codes); near != "" {
		return nil, nil, err.WithHint("did you mean %q? \"apis\" lists them all", near)
	}
	return nil, nil, err.WithHint("\"apis\" lists them all")
}

var (
	codeName   = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)
	envName    = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)
	entryName  = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)
	headerName = lazyregexp.New("^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$")
)

// clip shortens foreign text for a message.
func clip(s string, most int) string {
	return kb.Clip(strings.ToValidUTF8(s, ""), most)
}
