package restapi

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"

	yaml "github.com/oasdiff/yaml3"

	"github.com/seed-4f2d999b/knowledge/internal/platform/secret"
)

// authFields returns the keys that say how a is used, and what is to be called
// when they have been read.
func (r *reader) authFields(a *Auth) (func(n *yaml.Node), map[string]func(*yaml.Node)) {
	var place, value *yaml.Node
	o, w := &OAuth{}, &AWS{}
	address := func(key string, into *string) func(*yaml.Node) {
		return func(v *yaml.Node) {
			r.text(v, into, key)
			if u, err := url.Parse(*into); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
				r.wrong(v, "%s must be an address of http or https", key)
			}
		}
	}
	table := map[string]func(*yaml.Node){
		"authenticationType": func(v *yaml.Node) {
			r.choice(v, &a.Type, "authenticationType", authSpellings, AuthNone, AuthKey, AuthBearer, AuthBasic, AuthOAuth, AuthAWS, AuthTLS)
		},
		"apiKeyLocation": func(v *yaml.Node) {
			place = v
			r.choice(v, &a.In, "apiKeyLocation", placeSpellings, "NONE", InHeader, InQuery, InCookie, InBody)
		},
		"apiKeyName":       func(v *yaml.Node) { r.text(v, &a.Name, "apiKeyName") },
		"apiKeyValue":      func(v *yaml.Node) { value = v },
		"username":         func(v *yaml.Node) { r.text(v, &a.User, "username") },
		"tokenUrl":         address("tokenUrl", &o.TokenURL),
		"authorizationUrl": address("authorizationUrl", &o.AuthURL),
		"deviceUrl":        address("deviceUrl", &o.DeviceURL),
		"revokeUrl":        address("revokeUrl", &o.RevokeURL),
		"openIdUrl":        address("openIdUrl", &o.Discovery),
		"clientId":         func(v *yaml.Node) { r.text(v, &o.ClientID, "clientId") },
		"scopes":           func(v *yaml.Node) { o.Scopes = r.texts(v, "scopes") },
		"flow": func(v *yaml.Node) {
			r.choice(v, &o.Flow, "flow", flows, "clientCredentials", "authorizationCode", "deviceCode")
		},
	}
	maps.Copy(table, r.awsFields(w))
	return func(n *yaml.Node) {
		switch a.Type {
		case AuthOAuth:
			a.OAuth = o
		case AuthAWS:
			a.AWS = w
			r.aws(n, a)
		}
		r.auth(n, place, value, a)
	}, table
}

var flows = map[string]string{
	"CLIENTCREDENTIALS": "clientCredentials", "AUTHORIZATIONCODE": "authorizationCode", "DEVICECODE": "deviceCode",
}

// schemes reads the ways to authenticate that have names.
func (r *reader) schemes(n *yaml.Node, p *Provider) {
	if n.Kind != yaml.MappingNode {
		r.wrong(n, "schemes must hold names with values")
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		a := Auth{Scheme: n.Content[i].Value, Type: AuthNone}
		read, table := r.authFields(&a)
		r.fields(n.Content[i+1], "a scheme", table)
		read(n.Content[i+1])
		p.Schemes = append(p.Schemes, a)
	}
}

// security reads alternatives: [[a, b], [c]] is both of a and b, or c.
func (r *reader) security(n *yaml.Node) [][]string {
	out := [][]string{}
	if n.Kind != yaml.SequenceNode {
		r.wrong(n, "security must be a list of lists of names of schemes")
		return nil
	}
	for _, c := range n.Content {
		out = append(out, append([]string{}, r.texts(c, "security")...))
	}
	return out
}

// named reports names of schemes that the API has not.
func (r *reader) named(n *yaml.Node, security [][]string, p *Provider) {
	for _, all := range security {
		for _, name := range all {
			if !slices.ContainsFunc(p.Schemes, func(a Auth) bool { return a.Scheme == name }) {
				r.wrong(n, "security names %q, which is none of the schemes", clip(name, 60)).hint("declare it below schemes")
			}
		}
	}
}

// schemas reads what schemas of parameters refer to.
func (r *reader) schemas(n *yaml.Node, p *Provider) {
	if n.Kind != yaml.MappingNode {
		r.wrong(n, "schemas must hold names with values")
		return
	}
	p.Schemas = map[string]json.RawMessage{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		var s json.RawMessage
		r.schema(n.Content[i+1], &s, "schemas")
		p.Schemas[n.Content[i].Value] = s
	}
}

// schema reads a JSON schema: as a text that is JSON, or written out.
func (r *reader) schema(n *yaml.Node, into *json.RawMessage, what string) {
	text := n.Value
	if n.Kind != yaml.ScalarNode {
		text = nodeJSON(n)
	}
	if !json.Valid([]byte(text)) {
		r.wrong(n, "%s must be a JSON schema", what)
		return
	}
	masked, _ := secret.Mask("", text)
	if !json.Valid([]byte(masked)) {
		masked = text
	}
	*into = json.RawMessage(masked)
}

// auth judges a credential once all of it has been read.
func (r *reader) auth(n, place, value *yaml.Node, a *Auth) {
	if a.Type == AuthNone {
		if value != nil && strings.TrimSpace(value.Value) != "" && !placeholder(value.Value) {
			r.wrong(value, "there is an apiKeyValue and authenticationType is NONE").
				hint("say how it is sent: API_KEY, BEARER_TOKEN, BASIC_AUTH or OAUTH2")
		}
		a.In, a.Name = "", ""
		return
	}
	if a.Type == AuthTLS {
		a.In, a.Name = "", ""
		return
	}
	a.In = cmp.Or(a.In, InHeader)
	switch {
	case a.Type == AuthBasic && a.In != InHeader:
		r.wrong(place, "BASIC_AUTH goes into a header").hint("leave apiKeyLocation out")
	case a.Name == "" && a.Type == AuthKey:
		r.wrong(n, "API_KEY needs apiKeyName").hint("the header or parameter that the service wants, as in apiKeyName: X-Api-Key")
	case a.Name == "" && a.In == InHeader:
		a.Name = "Authorization"
	case a.Name == "":
		a.Name = "access_token"
	case (a.In == InHeader || a.In == InCookie) && (!headerName.MatchString(a.Name) || a.In == InHeader && reserved(a.Name)):
		r.wrong(n, "%q is no name for this %s", clip(a.Name, 60), strings.ToLower(a.In))
	}
	if a.Type == AuthOAuth {
		r.oauth(n, a)
		if value == nil {
			return // a public client has no secret
		}
	}
	if value == nil {
		r.wrong(n, "this API has no apiKeyValue").hint("write apiKeyValue: ${NAME} with the variable that holds the credential")
		return
	}
	ref, ok := ParseRef(value.Value)
	switch {
	case value.Kind != yaml.ScalarNode || placeholder(value.Value):
		r.wrong(value, "apiKeyValue still is a placeholder").hint("write ${NAME} with the variable that holds the credential")
	case !ok:
		// Not repeated: it may be the credential itself.
		r.wrong(value, "apiKeyValue is not a reference to a secret").
			hint("put the credential into an environment variable and write ${NAME} here, or into the keyring and write keyring:NAME")
	default:
		a.Secret = ref
	}
}

// oauth judges where tokens come from.
func (r *reader) oauth(n *yaml.Node, a *Auth) {
	o := a.OAuth
	o.Flow = cmp.Or(o.Flow, "clientCredentials")
	switch {
	case o.ClientID == "":
		r.wrong(n, "OAUTH2 needs clientId").hint("the id that the service gave your application, or ${NAME}")
	case o.TokenURL == "" && o.Discovery == "":
		r.wrong(n, "OAUTH2 needs tokenUrl or openIdUrl").hint("the service's documentation has it")
	case o.Flow == "authorizationCode" && o.AuthURL == "" && o.Discovery == "":
		r.wrong(n, "the flow authorizationCode needs authorizationUrl or openIdUrl").hint("the service's documentation has it")
	case o.Flow == "deviceCode" && o.DeviceURL == "" && o.Discovery == "":
		r.wrong(n, "the flow deviceCode needs deviceUrl or openIdUrl").hint("the service's documentation has it")
	}
}

// ParseRef reads a reference to a secret: ${NAME}, $NAME, env:NAME or keyring:NAME.
func ParseRef(s string) (Ref, bool) {
	s = strings.TrimSpace(s)
	if name, ok := strings.CutPrefix(s, "keyring:"); ok {
		return Ref{Keyring: name}, entryName.MatchString(name)
	}
	name, ok := strings.CutPrefix(s, "env:")
	if !ok {
		if name, ok = strings.CutPrefix(s, "${"); ok {
			name, ok = strings.CutSuffix(name, "}")
		} else {
			name, ok = strings.CutPrefix(s, "$")
		}
	}
	return Ref{Env: name}, ok && envName.MatchString(name)
}

// placeholder reports whether a value is still to be filled in: <YOUR_API_KEY>.
func placeholder(s string) bool {
	s = strings.TrimSpace(s)
	return s == "" || strings.HasPrefix(s, "<") && strings.HasSuffix(s, ">") || strings.Trim(s, "*•xX.") == "" ||
		strings.HasPrefix(strings.ToUpper(s), "YOUR_")
}

// reserved are headers that the client itself sets.
func reserved(name string) bool {
	switch strings.ToLower(name) {
	case "host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer", "accept-encoding",
		"proxy-authorization", "proxy-connection", "keep-alive":
		return true
	}
	return false
}

// secretEnds are the endings of names of credentials.
var secretEnds = strings.Fields(`apikey token secret password passwd accesskey privatekey credential authorization authkey`)

// joined writes a name's words as one.
var joined = strings.NewReplacer("-", "", "_", "", ".", "")

// secretName reports whether a header or parameter of that name usually holds a credential.
func secretName(name string) bool {
	low := joined.Replace(strings.ToLower(name))
	switch low {
	case "key", "auth", "authorization", "cookie", "pwd", "sig", "signature":
		return true
	}
	return slices.ContainsFunc(secretEnds, func(w string) bool { return strings.HasSuffix(low, w) })
}

// headers reads names with values, of which those that seem to be credentials must be
// references.
func (r *reader) headers(n *yaml.Node, what, one string, may func(string) bool) []Header {
	var all []Header
	if n.Kind != yaml.MappingNode {
		r.wrong(n, "%s must hold names with values", what)
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, v := n.Content[i], n.Content[i+1]
		h := Header{Name: key.Value, Value: strings.TrimSpace(v.Value)}
		ref, isRef := ParseRef(h.Value)
		switch {
		case !may(h.Name):
			r.wrong(key, "%q cannot be set by a definition", clip(h.Name, 60)).hint("leave it out")
			continue
		case v.Kind != yaml.ScalarNode || strings.ContainsAny(h.Value, "\r\n\x00"):
			r.wrong(v, "the %s %q must be one line of text", one, h.Name)
			continue
		case isRef:
			h.Value, h.Secret = "", ref
		case secretName(h.Name) || credential.MatchString(h.Value):
			r.wrong(v, "the %s %q seems to hold a credential", one, h.Name).hint("put it into a variable and write ${NAME} here")
			continue
		}
		all = append(all, h)
	}
	return all
}
