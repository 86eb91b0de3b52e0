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
//	    authenticationType: API_KEY         # NONE, API_KEY, BEARER_TOKEN, BASIC_AUTH, OAUTH2
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
	AuthOAuth  = "OAUTH2"
	AuthAWS    = "AWS_SIGV4"  // every request is signed
	AuthTLS    = "MUTUAL_TLS" // the client's certificate, which the API has
)

// The places of a credential.
const (
	InHeader = "HEADER"
	InQuery  = "QUERY_PARAMETER"
	InBody   = "IN_BODY"
	InCookie = "COOKIE"
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
	Schemes     []Auth     // those with names, of which Security speaks
	Security    [][]string // alternatives, each all the schemes that it needs; nil is Auth
	Headers     []Header
	AllowHosts  []string // as outbound.Policy.Allow
	Timeout     time.Duration
	MaxBytes    int64 // of a reply
	Enabled     bool
	Unlisted    bool   // found by search and called by name; the lists of all tools leave it out
	CertFile    string // the client's certificate and its key, as PEM
	KeyFile     string
	FileDirs    []string // folders whose files may be sent
	Server      *Server  // another server of the Model Context Protocol; nil is a plain API
	Tools       []Tool
	Schemas     map[string]json.RawMessage // that those of parameters refer to as #/$defs/NAME

	File string // where it is defined, for messages
	Line int
}

// Auth says which credential goes where.
type Auth struct {
	Scheme string // its name, "" for the one that has none
	Type   string // one of those above
	In     string // one of the four; "" for AuthNone
	Name   string // of the header, query parameter, cookie or member
	User   string // of AuthBasic; "" when the secret is user:password
	Secret Ref    // of AuthOAuth the secret of the client; a public client has none
	OAuth  *OAuth // of AuthOAuth
	AWS    *AWS   // of AuthAWS
}

// OAuth says where tokens come from.
type OAuth struct {
	Flow      string // clientCredentials, authorizationCode, deviceCode
	TokenURL  string
	AuthURL   string
	DeviceURL string
	RevokeURL string
	Discovery string // address of an OpenID configuration that says the rest; "" needs none
	ClientID  string // itself, or a reference
	Scopes    []string
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
	Method      string   // GET, HEAD, OPTIONS, POST, PUT, PATCH or DELETE; READ or CALL of a server
	Path        string   // begins with "/"; {param} is a parameter
	BaseURL     string   // instead of the API's; "" is that
	Template    string   // JSON with {{param}}; "" puts what is left into an object
	GraphQL     string   // the document of one operation; arguments are its variables
	Form        bool     // the body is application/x-www-form-urlencoded, nested values as a[b]=c
	Media       []string // media types of the body, the first is meant; none is what Form says
	Bare        bool     // no body at all
	Optional    bool     // no body when no argument is in it
	Comma       bool     // arrays in the query as a,b instead of p=a&p=b
	Enabled     bool
	Open        bool // GET only: over HTTP it may be called without the token
	Deprecated  bool
	Tags        []string
	Returns     string     // what a reply holds, in a line
	Security    [][]string // as Provider.Security; nil is the API's
	Params      []Param
	Wire        string // what a server calls it
	Resource    bool   // of a server: it is read, at the address Wire

	Line int
	defs map[string]json.RawMessage // the API's Schemas
}

// The types of parameters. INTEGER is ours: OpenAPI distinguishes it from NUMBER.
const (
	String  = "STRING"
	Number  = "NUMBER"
	Integer = "INTEGER"
	Boolean = "BOOLEAN"
	Object  = "OBJECT"
	Array   = "ARRAY"
	Any     = "ANY"  // whatever JSON there is
	Bytes   = "FILE" // a text, or an object that says where its bytes are
)

// Param is one parameter of a tool.
type Param struct {
	Name        string
	Wire        string // what the service calls it; "" is Name
	Type        string
	In          string // path, query, body, header, cookie, payload (the whole body); "" follows from the method
	Description string
	Required    bool
	Nullable    bool    // null is a value of it, in a body
	AllowEmpty  bool    // "" is a value of it, whatever its type
	Default     *string // as text, as recipes have it
	Enum        []string
	Items       string          // type of an array's elements; String when the definition is silent
	Style       string          // of OpenAPI; "" is that of its place
	Explode     *bool           // nil is the style's
	Reserved    bool            // reserved characters pass unencoded
	Media       string          // of its content, or of its part of a body; "" is by its type
	Schema      json.RawMessage // whole, when Type does not say it all

	Line int
}

// wire returns the name that the service knows.
func (p *Param) wire() string { return cmp.Or(p.Wire, p.Name) }

// exploded reports whether lists and objects are taken apart, as 3.1.2 Parameter
// Object has it where a definition is silent.
func (p *Param) exploded() bool {
	if p.Explode != nil {
		return *p.Explode
	}
	return p.Style == "" && p.In != "path" && p.In != "header" || p.Style == "form" || p.Style == "cookie"
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
	return t.Reads() || slices.Contains([]string{"GET", "HEAD", "OPTIONS", "PUT", "DELETE"}, t.Method)
}

// hasBody reports whether requests of the tool carry a body.
func (t *Tool) hasBody() bool {
	return !t.Bare && (len(t.Media) > 0 || t.Method == "POST" || t.Method == "PUT" || t.Method == "PATCH")
}

// base returns the address that the tool's path is appended to.
func (t *Tool) base(p *Provider) string { return cmp.Or(t.BaseURL, p.BaseURL) }

// Host returns the host and port that requests go to, "" when the base
// address does not parse.
func (p *Provider) Host() string {
	u, err := url.Parse(p.BaseURL)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Host)
}

// SameHost reports whether an address is at the host of the API, by the same scheme.
func (p *Provider) SameHost(addr string) bool {
	a, err1 := url.Parse(p.BaseURL)
	b, err2 := url.Parse(addr)
	return err1 == nil && err2 == nil && a.Scheme == b.Scheme && strings.EqualFold(a.Host, b.Host)
}

// AtTokenServer reports whether a secret is sent to a token server.
func (p *Provider) AtTokenServer(r Ref) bool {
	for _, a := range append(p.Named(), &p.Auth) {
		if a.Type == AuthOAuth && (a.Secret == r || a.client() == r) {
			return true
		}
	}
	return false
}

// Secrets returns the references that calling p may resolve, each once.
func (p *Provider) Secrets() []Ref {
	var all []Ref
	add := func(r Ref) {
		if r.Set() && !slices.Contains(all, r) {
			all = append(all, r)
		}
	}
	add(p.Auth.Secret)
	for i := range p.Schemes {
		add(p.Schemes[i].Secret)
		for _, r := range p.Schemes[i].others() {
			add(r)
		}
	}
	for _, r := range p.Auth.others() {
		add(r)
	}
	for _, h := range p.carried() {
		add(h.Secret)
	}
	return all
}

// carried returns the headers of every request, and the environment of a program.
func (p *Provider) carried() []Header {
	if p.Server == nil {
		return p.Headers
	}
	return slices.Concat(p.Headers, p.Server.Env)
}

// Named returns the schemes that have names.
func (p *Provider) Named() []*Auth {
	var all []*Auth
	for i := range p.Schemes {
		all = append(all, &p.Schemes[i])
	}
	return all
}

// client returns the reference that is the id of the client, if it is one.
func (a *Auth) client() Ref {
	if a.OAuth == nil {
		return Ref{}
	}
	r, ok := ParseRef(a.OAuth.ClientID)
	if !ok {
		return Ref{}
	}
	return r
}

// alternatives returns the ways to be authorised for a tool, or for the API
// when t is nil: of each, all schemes are needed.
func (p *Provider) alternatives(t *Tool) [][]*Auth {
	named := p.Security
	if t != nil && t.Security != nil {
		named = t.Security
	}
	if named == nil {
		if p.Auth.Type == AuthNone || p.Auth.Type == "" {
			return [][]*Auth{nil}
		}
		return [][]*Auth{{&p.Auth}}
	}
	out := [][]*Auth{}
	for _, names := range named {
		all := []*Auth{}
		for _, name := range names {
			if i := slices.IndexFunc(p.Schemes, func(a Auth) bool { return a.Scheme == name }); i >= 0 {
				all = append(all, &p.Schemes[i])
			}
		}
		if len(all) == len(names) {
			out = append(out, all)
		}
	}
	if len(named) == 0 {
		return [][]*Auth{nil}
	}
	return out
}

// Definition is a tool as lists show it: the shape of seed 002.
type Definition struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Type        string          `json:"type"`       // api_tool, system_tool
	Parameters  json.RawMessage `json:"parameters"` // a JSON schema of type object
}

// Definition returns the tool as lists show it.
func (t *Tool) Definition() Definition {
	return Definition{Name: t.Code, Description: cmp.Or(t.Description, t.Name), Type: "api_tool", Parameters: t.Schema()}
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
