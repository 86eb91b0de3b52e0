package restapi

import (
	"cmp"
	"slices"
	"strings"

	yaml "github.com/oasdiff/yaml3"
)

// auth reads the credential once type and place are known.
func (r *reader) auth(n, place, value *yaml.Node, p *Provider) {
	a := &p.Auth
	if a.Type == AuthNone {
		if value != nil && strings.TrimSpace(value.Value) != "" && !placeholder(value.Value) {
			r.wrong(value, "there is an apiKeyValue and authenticationType is NONE").
				hint("say how it is sent: API_KEY, BEARER_TOKEN or BASIC_AUTH")
		}
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
	case a.In == InHeader && (!headerName.MatchString(a.Name) || reserved(a.Name)):
		r.wrong(n, "%q is no name for this header", clip(a.Name, 60))
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

func (r *reader) headers(n *yaml.Node, p *Provider) {
	if n.Kind != yaml.MappingNode {
		r.wrong(n, "customHeaders must hold names with values")
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, v := n.Content[i], n.Content[i+1]
		h := Header{Name: key.Value, Value: strings.TrimSpace(v.Value)}
		ref, isRef := ParseRef(h.Value)
		switch {
		case !headerName.MatchString(h.Name) || reserved(h.Name):
			r.wrong(key, "%q cannot be set by a definition", clip(h.Name, 60)).hint("leave it out")
			continue
		case v.Kind != yaml.ScalarNode || strings.ContainsAny(h.Value, "\r\n\x00"):
			r.wrong(v, "the header %q must be one line of text", h.Name)
			continue
		case isRef:
			h.Value, h.Secret = "", ref
		case secretName(h.Name) || credential.MatchString(h.Value):
			r.wrong(v, "the header %q seems to hold a credential", h.Name).hint("put it into a variable and write ${NAME} here")
			continue
		}
		p.Headers = append(p.Headers, h)
	}
}
