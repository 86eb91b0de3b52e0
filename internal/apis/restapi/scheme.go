package restapi

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	yaml "github.com/oasdiff/yaml3"
)

// security is what a document says of credentials.
type security struct {
	names  []string              // of the schemes, in their order
	nodes  map[string]*yaml.Node // of those that can be used
	why    map[string]string     // others cannot
	places map[string][2]string  // name and place of keys
	used   map[string]bool       // by some operation that was taken
	all    [][]string            // of the API; nil when the document says nothing
	own    bool                  // some operation has its own
}

// security reads the schemes of the document and its requirement.
func (m *maker) security() *security {
	s := &security{
		nodes: map[string]*yaml.Node{}, why: map[string]string{}, places: map[string][2]string{}, used: map[string]bool{},
	}
	list := fields(get(m.top("components"), "securitySchemes"))
	if m.two {
		list = fields(get(m.root, "securityDefinitions"))
	}
	for _, f := range list {
		v, err := m.follow(f.raw)
		if err != nil {
			s.why[f.key] = err.Error()
			continue
		}
		s.names = append(s.names, f.key)
		n, why := m.scheme(v)
		if why != "" {
			s.why[f.key] = why
			continue
		}
		s.nodes[f.key] = n
		if getText(v, "type") == "apiKey" {
			s.places[f.key] = [2]string{getText(v, "name"), getText(v, "in")}
		}
	}
	if v := m.top("security"); v != nil {
		s.all = requirement(v)
	}
	return s
}

// requirement reads alternatives.
func requirement(v json.RawMessage) [][]string {
	out := [][]string{}
	for _, x := range elements(v) {
		names := []string{}
		for _, f := range fields(x) {
			names = append(names, f.key)
		}
		out = append(out, names)
	}
	return out
}

// scheme makes the definition of one scheme, or says why it cannot be used. What
// refers to secrets is filled in by declare.
func (m *maker) scheme(v json.RawMessage) (*yaml.Node, string) {
	kind, in, name := getText(v, "type"), getText(v, "in"), getText(v, "name")
	if kind == "http" && m.two {
		kind = ""
	}
	switch kind {
	case "apiKey":
		place := placeSpellings[strings.ToUpper(in)]
		if place == "" || place == InBody || name == "" || place != InQuery && !headerName.MatchString(name) || place == InHeader && reserved(name) {
			return nil, fmt.Sprintf("its key in %q cannot be set", clip(in+" "+name, 60))
		}
		return mapping("authenticationType", AuthKey, "apiKeyLocation", place, "apiKeyName", name), ""
	case "basic":
		return mapping("authenticationType", AuthBasic), ""
	case "http":
		switch s := strings.ToLower(getText(v, "scheme")); s {
		case "basic":
			return mapping("authenticationType", AuthBasic), ""
		case "bearer":
			return mapping("authenticationType", AuthBearer), ""
		default:
			return nil, fmt.Sprintf("its authentication is HTTP's %q, which is not spoken here", clip(s, 30))
		}
	case "openIdConnect":
		n := mapping("authenticationType", AuthOAuth, "flow", "authorizationCode", "openIdUrl", m.absolute(getText(v, "openIdConnectUrl")))
		return n, ""
	case "oauth2":
		return m.oauthScheme(v), ""
	case "mutualTLS":
		return mapping("authenticationType", AuthTLS), ""
	}
	return nil, fmt.Sprintf("its authentication %q is not known", clip(kind, 30))
}

func (m *maker) absolute(s string) string {
	if made, err := m.server(s, nil); err == nil && s != "" {
		return made
	}
	return s
}

// oauthScheme makes the definition of OAuth: of its flows the one that needs no
// person, else the one with PKCE. The token of a flow of which neither can be had
// is one that a person puts into a variable.
func (m *maker) oauthScheme(v json.RawMessage) *yaml.Node {
	flows := get(v, "flows")
	pick := func(names ...string) (string, json.RawMessage) {
		for _, name := range names {
			if f := get(flows, name); f != nil {
				return name, f
			}
		}
		if m.two && slices.Contains(names, getText(v, "flow")) {
			return getText(v, "flow"), v
		}
		return "", nil
	}
	name, f := pick("clientCredentials", "application")
	flow := "clientCredentials"
	if f == nil {
		name, f = pick("authorizationCode", "accessCode")
		flow = "authorizationCode"
	}
	if f == nil {
		name, f = pick("deviceAuthorization")
		flow = "deviceCode"
	}
	if f == nil || getText(f, "tokenUrl") == "" {
		if name == "" {
			name = "neither client credentials nor authorization code"
		}
		m.im.Notes = append(m.im.Notes, "its OAuth flow is "+name+": put a token that you got elsewhere into the variable; it is sent as bearer, and is not renewed here")
		return mapping("authenticationType", AuthBearer)
	}
	n := named{mapping("authenticationType", AuthOAuth, "flow", flow, "tokenUrl", m.absolute(getText(f, "tokenUrl")),
		"authorizationUrl", m.absolute(getText(f, "authorizationUrl")), "deviceUrl", m.absolute(getText(f, "deviceAuthorizationUrl")))}
	return n.Node
}

// replaces reports whether a credential takes the place of a parameter.
func (s *security) replaces(name, in string) bool {
	for k, at := range s.places {
		if at[0] == name && at[1] == in && in != "header" && s.nodes[k] != nil {
			return true
		}
	}
	return false
}

// of returns the alternatives that can be used, and why others cannot.
func (s *security) of(all [][]string) (usable [][]string, why string) {
	usable = [][]string{}
	for _, names := range all {
		ok := true
		for _, name := range names {
			if s.nodes[name] == nil {
				ok = false
				why = fmt.Sprintf("scheme %q: %s", clip(name, 60), s.why[name])
				if s.why[name] == "" {
					why = fmt.Sprintf("its security names %q, which is no scheme of the document", clip(name, 60))
				}
			}
		}
		if ok {
			usable = append(usable, names)
		}
	}
	return usable, why
}

// security adds the requirement of the operation, where it has its own.
func (o *operation) security(t named) error {
	s := o.m.auths
	all, own := s.all, false
	if v := get(o.op, "security"); v != nil {
		all, own = requirement(v), true
	}
	usable, why := s.of(all)
	if len(all) > 0 && len(usable) == 0 {
		return fmt.Errorf("%s", why)
	}
	for _, names := range usable {
		for _, name := range names {
			s.used[name] = true
			o.scopes(name)
		}
	}
	if own && !sameNeeds(usable, s.all) {
		s.own = true
		t.add("security", needs(usable))
	}
	return nil
}

// scopes adds the scopes that an operation asks for to those of its scheme.
func (o *operation) scopes(name string) {
	v := get(o.op, "security")
	if v == nil {
		v = o.m.top("security")
	}
	n := o.m.auths.nodes[name]
	if valueOf(n, "authenticationType") != AuthOAuth {
		return
	}
	list := member(n, "scopes")
	for _, x := range elements(v) {
		for _, scope := range elements(get(x, name)) {
			word := textOf(scope)
			if word == "" || list != nil && slices.ContainsFunc(list.Content, func(c *yaml.Node) bool { return c.Value == word }) {
				continue
			}
			if list == nil {
				list = words(nil)
				n.Content = append(n.Content, scalar("scopes"), list)
			}
			list.Content = append(list.Content, scalar(word))
		}
	}
}

func needs(all [][]string) *yaml.Node {
	list := sequence()
	list.Style = yaml.FlowStyle
	for _, names := range all {
		list.Content = append(list.Content, words(names))
	}
	return list
}

func sameNeeds(a, b [][]string) bool {
	return b != nil && slices.EqualFunc(a, b, func(x, y []string) bool { return slices.Equal(x, y) })
}

// declare adds the schemes that are used to the definition of the API: one alone
// as the API's own, else all by their names.
func (s *security) declare(n named, m *maker) {
	usable, _ := s.of(s.all)
	for _, names := range usable {
		for _, name := range names {
			s.used[name] = s.used[name] || s.own
		}
	}
	var used []string
	for _, name := range s.names {
		if s.used[name] {
			used = append(used, name)
		}
	}
	if len(used) == 0 && s.all == nil && !s.own {
		i := slices.IndexFunc(s.names, func(name string) bool { return s.nodes[name] != nil })
		switch {
		case i >= 0 && m.o.Secret != "":
			used = s.names[i : i+1]
		case i >= 0:
			m.im.Notes = append(m.im.Notes, fmt.Sprintf("the document declares the scheme %q and requires it nowhere, so nothing is sent: "+
				"import it with --secret to send it with every call", s.names[i]))
		}
	}
	if len(used) == 0 {
		return
	}
	if len(used) == 1 && !s.own && (s.all == nil || sameNeeds([][]string{used}, s.all)) {
		name := used[0]
		m.secret(s.nodes[name], m.code, "API_KEY", m.code, m.o.Secret)
		n.Content = append(n.Content, s.nodes[name].Content...)
		return
	}
	all := mapping()
	for _, name := range used {
		what := strings.Trim(strings.ToUpper(nonWord.ReplaceAllString(name, "_")), "_")
		secret := ""
		if len(used) == 1 {
			what, secret = "API_KEY", m.o.Secret
		}
		m.secret(s.nodes[name], m.code, what, m.code+", scheme "+name, secret)
		all.Content = append(all.Content, scalar(name), s.nodes[name])
	}
	n.add("schemes", all)
	n.add("security", needs(usable))
	if m.o.Secret != "" && len(used) > 1 {
		m.im.Notes = append(m.im.Notes, "the document has "+fmt.Sprint(len(used))+" schemes, so --secret was not used: each names its own variable")
	}
}

// secret gives a scheme the references to its secrets.
func (m *maker) secret(n *yaml.Node, code, what, who, given string) {
	if valueOf(n, "authenticationType") == AuthTLS {
		m.im.Notes = append(m.im.Notes, "the service wants a certificate of its client: add clientCertificate and clientKey, paths of PEM files, to "+code)
		return
	}
	want := Ref{Env: envFor(code, what)}
	if ref, ok := ParseRef(given); ok {
		want = ref
	}
	if valueOf(n, "authenticationType") == AuthOAuth {
		id := Ref{Env: envFor(code, strings.TrimSuffix(what, "API_KEY")+"CLIENT_ID")}
		set(n, "clientId", id.String())
		m.im.Secrets[who+", id of the client"] = id
		if valueOf(n, "flow") != "clientCredentials" {
			return // a public client has no secret
		}
	}
	set(n, "apiKeyValue", want.String())
	m.im.Secrets[who] = want
}
