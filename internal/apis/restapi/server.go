package restapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	yaml "github.com/oasdiff/yaml3"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/secret"
)

// Server is another server of the Model Context Protocol: a program that is started
// when it is needed, or what answers at the API's BaseURL. Its tools are not
// declared, it lists them itself.
type Server struct {
	Command []string // program and arguments; nil is at BaseURL
	Dir     string   // in which the program runs; "" is the caller's choice
	Env     []Header // what its environment has beyond what every program needs
	Idle    time.Duration
}

// The methods of a server's tools: what reads may be asked again.
const (
	MethodRead = "READ"
	MethodCall = "CALL"
)

// programs is the scheme of the address that stands for a program.
const programs = "program"

// DefaultIdle is how long a server that nothing asks is kept.
const DefaultIdle = 5 * time.Minute

// mcp reads what another server is: an address, or a program with what it needs.
func (r *reader) mcp(n *yaml.Node, p *Provider) {
	s := &Server{Idle: DefaultIdle}
	switch n.Kind {
	case yaml.ScalarNode:
		p.BaseURL = r.base(n)
	case yaml.SequenceNode:
		s.Command = r.texts(n, "mcp")
	case yaml.MappingNode:
		r.fields(n, "a server", map[string]func(*yaml.Node){
			"command": func(v *yaml.Node) { s.Command = r.texts(v, "command") },
			"url":     func(v *yaml.Node) { p.BaseURL = r.base(v) },
			"environment": func(v *yaml.Node) {
				s.Env = r.headers(v, "environment", "variable", func(name string) bool { return envName.MatchString(name) })
			},
			"directory": func(v *yaml.Node) {
				if r.text(v, &s.Dir, "directory"); !filepath.IsAbs(s.Dir) {
					r.wrong(v, "directory must be a whole path")
				}
			},
			"idleSeconds": func(v *yaml.Node) {
				f, err := strconv.ParseFloat(v.Value, 64)
				if s.Idle = time.Duration(f * float64(time.Second)); err != nil || f <= 0 || f > 24*3600 {
					r.wrong(v, "idleSeconds must be a number up to a day")
				}
			},
		})
	}
	switch {
	case (len(s.Command) > 0) == (p.BaseURL != "") || len(s.Command) > 0 && s.Command[0] == "":
		r.wrong(n, "mcp must be the address of a server, or the command that starts one").
			hint("write it like https://mcp.example.org/mcp, or like {command: [npx, -y, some-server]}")
	case len(s.Command) > 0:
		p.BaseURL = programs + "://" + strings.ToLower(nonWord.ReplaceAllString(filepath.Base(s.Command[0]), "-"))
	}
	p.Server = s
}

// Program reports whether the API is a program that is started here.
func (p *Provider) Program() bool { return p.Server != nil && len(p.Server.Command) > 0 }

// serverCode is the name by which a server's tool is called.
func (p *Provider) serverCode(name string, taken map[string]bool) string {
	word := strings.Trim(nonWord.ReplaceAllString(name, "_"), "_")
	code := p.Code + "_" + word
	code = code[:min(len(code), 60)]
	for i := 2; taken[code]; i++ {
		code = code[:min(len(code), 60)] + "_" + strconv.Itoa(i)
	}
	taken[code] = true
	return code
}

// Offer is a tool or resource as a server lists it. A tool has a schema; a resource
// has an address, in which {names} may stand.
type Offer struct {
	Name        string
	Title       string
	Description string
	Schema      json.RawMessage
	URI         string
	Holes       []string
	Reads       bool // it changes nothing, by the server's own account
	Destroys    bool
}

// The bounds of what a server may say of one tool.
const (
	maxOfferSchema = 64 << 10
	maxOfferAbout  = 2000
)

// Offered makes tools of what a server lists, as far as that can be called. left
// says what cannot.
func (p *Provider) Offered(list []Offer) (tools []Tool, left []string) {
	taken := map[string]bool{}
	for _, o := range list[:min(len(list), maxTools)] {
		name := clip(oneLine(o.Name), 120)
		if name == "" || len(o.Name) > 256 || len(o.Schema) > maxOfferSchema {
			left = append(left, name)
			continue
		}
		t := Tool{
			Code: p.serverCode(name, taken), Name: told(o.Title, 120), Description: told(o.Description, maxOfferAbout),
			Method: MethodCall, Path: "/" + name, Wire: o.Name, Enabled: true,
		}
		if o.Reads {
			t.Method = MethodRead
		}
		if o.URI != "" {
			t.Path, t.Wire, t.Resource = "/"+clip(o.URI, 200), o.URI, true
		}
		if t.Name == "" {
			t.Name = name
		}
		if t.Description == "" {
			t.Description = t.Name
		}
		for _, h := range o.Holes {
			t.Params = append(t.Params, Param{Name: h, Type: String, Required: true})
		}
		if !o.Reads && o.Destroys {
			t.Tags = []string{"destroys"}
		}
		if o.URI == "" {
			t.offered(o.Schema)
		}
		tools = append(tools, t)
	}
	if n := len(list) - maxTools; n > 0 {
		left = append(left, kb.Count(n, "more tool"))
	}
	return tools, left
}

// told is what a server says of itself, fit to be shown.
func told(s string, most int) string {
	s, _ = toText([]byte(clip(strings.ToValidUTF8(s, ""), most)), "text/plain", "")
	s, _ = secret.Mask("", oneLine(s))
	return s
}

// offered reads the schema of a server's tool: its members are arguments of their
// own, or one argument is all of them where it says more than that.
func (t *Tool) offered(schema json.RawMessage) {
	whole := Param{Name: "arguments", Type: Object, In: "payload", Description: "all arguments, as the schema has them"}
	if !json.Valid(schema) || kindOf(schema) != '{' {
		t.Params = []Param{whole}
		return
	}
	s := newSchemas(&tree{root: schema}, false)
	s.left = mostSteps
	props, plain := s.properties(schema, 0)
	made := make([]Param, 0, len(props))
	for _, f := range props {
		q := Param{Name: f.name, Required: f.required, In: "body"}
		q.Type, q.Nullable = s.typeOf(f.schema)
		q.Description = told(getText(f.schema, "description"), 300)
		full, err := s.take(f.schema)
		if q.Name == "" || len(q.Name) > 128 || strings.ContainsAny(q.Name, "\r\n\x00{}") || err != nil || len(made) == maxParams {
			plain = false
			break
		}
		if q.Type == Array {
			if q.Items, _ = s.typeOf(get(f.schema, "items")); q.Items == Array {
				q.Items = Any
			}
		}
		for _, x := range elements(get(f.schema, "enum")) {
			if q.Type == String && kindOf(x) == '"' && len(q.Enum) < 50 {
				q.Enum = append(q.Enum, textOf(x))
			}
		}
		if !simple(f.schema) && kindOf(full) == '{' {
			q.Schema = full
		}
		made = append(made, q)
	}
	if !plain {
		made = []Param{whole}
		if full, err := s.take(schema); err == nil && len(full) <= 4*maxOfferSchema {
			made[0].Schema, made[0].Required = full, len(elements(get(schema, "required"))) > 0
		}
	}
	t.Params, t.defs = made, s.taken
}

// Same reports whether two tools are described the same, so that a call that was
// made for one does what was meant for the other.
func (t *Tool) Same(u *Tool) bool {
	return t.Description == u.Description && t.Method == u.Method && string(t.Schema()) == string(u.Schema())
}

// Answer is what a server answered: JSON, or else text.
type Answer struct {
	JSON   json.RawMessage
	Text   string
	Failed bool // the tool says that it failed, in Text
	Tries  int
}

// Servers speaks with servers of the Model Context Protocol.
type Servers interface {
	// Call calls a tool, or reads a resource, within the Timeout of the API once the
	// server runs; beyond it the error is context.DeadlineExceeded. Others may quote the server.
	Call(ctx context.Context, l Link, t *Tool, args json.RawMessage) (Answer, error)
}

// Link is how a server is reached, with the secrets of its API.
type Link struct {
	*Provider
	// Environment returns what the environment of a program has of its definition, as NAME=value.
	Environment func(context.Context) ([]string, error)
	// HTTP adds the credentials to requests and sends them through the guard.
	HTTP http.RoundTripper
	// Clean takes the secrets out of a text.
	Clean func(context.Context, string) string
}

// Link returns how the server that an API is can be reached.
func (c *Caller) Link(p *Provider) Link {
	return Link{
		Provider: p, HTTP: guarded{c, p},
		Environment: func(ctx context.Context) ([]string, error) {
			cred, err := c.Secrets.resolve(ctx, p, nil, c.Tokens)
			if err != nil {
				return nil, err
			}
			var env []string
			for _, e := range p.Server.Env {
				v := e.Value
				if e.Secret.Set() {
					v = cred.refs[e.Secret]
				}
				env = append(env, e.Name+"="+v)
			}
			return env, nil
		},
		Clean: func(ctx context.Context, s string) string {
			cred, err := c.Secrets.resolve(ctx, p, nil, c.Tokens)
			if err != nil {
				return ""
			}
			s, _ = secret.Mask("", newRedactor(p, cred).Text(s))
			return s
		},
	}
}

// guarded sends the requests to a server at an address.
type guarded struct {
	c *Caller
	p *Provider
}

// RoundTrip adds the credentials of the API. A token that is refused is asked for
// anew once.
func (g guarded) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	client, err := g.c.Client(g.p)
	if err != nil {
		return nil, err
	}
	for again := false; ; again = true {
		cred, err := g.c.Secrets.resolve(ctx, g.p, nil, g.c.Tokens)
		if err != nil {
			return nil, err
		}
		d := draft{header: req.Header.Clone()}
		for _, h := range g.p.Headers {
			v := h.Value
			if h.Secret.Set() {
				v = cred.refs[h.Secret]
			}
			d.header.Set(h.Name, v)
		}
		for _, a := range cred.auths {
			if _, err := d.authorise(g.p, &Tool{Method: "GET"}, a, cred.of(a), nil); err != nil {
				return nil, err
			}
		}
		if len(d.cookies) > 0 {
			d.header.Set("Cookie", strings.Join(d.cookies, "; "))
		}
		out := req.Clone(ctx)
		out.Header = d.header
		if len(d.raw) > 0 {
			out.URL.RawQuery = strings.Join(d.raw, "&")
		}
		if req.GetBody != nil {
			if out.Body, err = req.GetBody(); err != nil {
				return nil, err
			}
		}
		resp, err := client.Once(ctx, out)
		if err != nil || resp.StatusCode != http.StatusUnauthorized || again || req.GetBody == nil || !g.c.dropped(g.p, cred) {
			return resp, err
		}
		resp.Body.Close()
	}
}

// served calls a tool of another server.
func (c *Caller) served(ctx context.Context, p *Provider, t *Tool, values []value, red *Redactor, reply *Reply) error {
	if c.Servers == nil {
		return kb.Errorf(kb.Unsupported, "servers of the Model Context Protocol are not asked here")
	}
	args := objectOf(values)
	if len(values) == 1 && values[0].param.In == "payload" {
		args = values[0].json
	}
	got, err := c.Servers.Call(ctx, c.Link(p), t, args)
	reply.Tries = got.Tries
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return kb.Errorf(kb.Away, "%s did not answer within %s", p.Code, p.Timeout).
			WithHint("try again later, or ask it for less; a person may raise timeoutSeconds of %s", p.Code)
	case err != nil:
		return err
	}
	body, media := []byte(got.JSON), "application/json"
	if got.JSON == nil {
		body, media = []byte(got.Text), "text/plain"
	}
	if int64(len(body)) > p.MaxBytes {
		return kb.Errorf(kb.TooLarge, "the reply of %s has more than %d bytes", t.Code, p.MaxBytes).
			WithHint("ask it for less; a person may raise maxBytes of %s", p.Code)
	}
	if err := reply.read(media, body, red); err != nil || !got.Failed {
		return err
	}
	said := reply.Text
	if reply.JSON != nil {
		said = string(reply.JSON)
	}
	reply.JSON, reply.Text = nil, ""
	return kb.Errorf(kb.Invalid, "%s says that it failed: %s", t.Code, clip(oneLine(credential.ReplaceAllString(said, Redacted)), 400)).
		WithHint("see what it takes: api:help {\"name\":%q}", t.Code)
}
