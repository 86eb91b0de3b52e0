package restapi

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
)

// Redacted replaces what is kept back.
const Redacted = "[REDACTED_SECRET]"

// credential matches what looks like a credential: JSON web tokens, private keys,
// the text after "Bearer" or "Basic", and the tokens of large services.
var credential = lazyregexp.New(
	`eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?` +
		`|-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----(?:[\s\S]*?-----END [A-Z0-9 ]*PRIVATE KEY-----|[\s\S]*)` +
		`|(?i:\b(?:bearer|basic)\s+)[A-Za-z0-9._~+/=-]{12,}` +
		`|\bgh[a-z]_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,}|\bglpat-[A-Za-z0-9_-]{16,}` +
		`|\bsk-[A-Za-z0-9_-]{16,}|\b[rsp]k_(?:live|test)_[A-Za-z0-9]{10,}|\bwhsec_[A-Za-z0-9]{16,}` +
		`|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bAIza[0-9A-Za-z_-]{30,}|\bya29\.[A-Za-z0-9_-]{20,}` +
		`|\bxox[a-z]-[A-Za-z0-9-]{10,}|\bxapp-[A-Za-z0-9-]{10,}|\bnpm_[A-Za-z0-9]{30,}|\bpypi-[A-Za-z0-9_-]{30,}` +
		`|\bhf_[A-Za-z0-9]{20,}|\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|\bdop_v1_[a-f0-9]{40,}|\bshp[a-z]{2}_[a-fA-F0-9]{20,}` +
		`|\bAGE-SECRET-KEY-1[A-Z0-9]{20,}`)

// Redactor takes secrets out of text. The zero value takes none.
type Redactor struct {
	forms []string // longest first
	plain []string
}

// newRedactor returns a redactor of the secrets of a call, in every form that a
// request carries or a server may return.
func newRedactor(p *Provider, cred credentials) *Redactor {
	r := &Redactor{}
	seen := map[string]bool{}
	add := func(s string) {
		if len(s) >= minSecret && !seen[s] {
			seen[s] = true
			r.forms = append(r.forms, s)
		}
	}
	secrets := slices.Concat(slices.Collect(maps.Values(cred.refs)), slices.Collect(maps.Values(cred.tokens)))
	for _, a := range cred.auths {
		if v := cred.of(a); a.Type == AuthBasic {
			secrets = append(secrets, a.User+":"+v)
			if _, pass, ok := strings.Cut(v, ":"); ok && a.User == "" {
				secrets = append(secrets, pass)
			}
		}
	}
	for _, v := range secrets {
		r.plain = append(r.plain, v)
		all := []string{v}
		for _, s := range all {
			add(s)
			add(url.QueryEscape(s))
			add(url.PathEscape(s))
			for _, quoted := range [][]byte{mustJSON(s), escaped(s)} {
				add(string(quoted[1 : len(quoted)-1]))
			}
			for _, e := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding, base64.RawURLEncoding} {
				add(e.EncodeToString([]byte(s)))
			}
			add(hex.EncodeToString([]byte(s)))
			add(strings.ToUpper(hex.EncodeToString([]byte(s))))
		}
	}
	kb.SortFunc(r.forms, func(a, b string) int { return len(b) - len(a) })
	return r
}

func escaped(s string) []byte {
	b, err := json.Marshal(s) // with \u003c for <
	if err != nil {
		return []byte(`""`)
	}
	return b
}

// Text takes the secrets out of a text.
func (r *Redactor) Text(s string) string {
	if r == nil {
		return s
	}
	for _, f := range r.forms {
		if strings.Contains(s, f) {
			s = strings.ReplaceAll(s, f, Redacted)
		}
	}
	return s
}

// JSON takes the secrets out of valid JSON, also where a string spells them with
// escapes. It stays valid: a number that holds one becomes a string.
func (r *Redactor) JSON(v json.RawMessage) json.RawMessage {
	if r == nil || len(r.forms) == 0 {
		return v
	}
	touched := bytes.IndexByte(v, '\\') >= 0
	for _, f := range r.forms {
		touched = touched || bytes.Contains(v, []byte(f))
	}
	if !touched {
		return v
	}
	number := func(s string) string {
		if r.Text(s) == s {
			return s
		}
		return Redacted
	}
	clean, _ := rewrite(v, r.Text, number)
	return clean
}

// rewrite passes the strings of valid JSON, names of members included, and its
// numbers through functions. It returns the JSON, in which a changed number is a
// string, and how many values changed.
func rewrite(v json.RawMessage, str, number func(string) string) (json.RawMessage, int) {
	n := 0
	var out bytes.Buffer
	for i, end := 0, 0; i < len(v); i = end {
		old, clean := "", ""
		end = i + 1
		switch c := v[i]; {
		case c == '"':
			end = stringEnd(v, i)
			if json.Unmarshal(v[i:end], &old) == nil {
				clean = str(old)
			}
		case c == '-' || c >= '0' && c <= '9':
			for end < len(v) && strings.IndexByte("0123456789.eE+-", v[end]) >= 0 {
				end++
			}
			old = string(v[i:end])
			clean = number(old)
		}
		if clean == old {
			out.Write(v[i:end])
			continue
		}
		out.Write(mustJSON(clean))
		n++
	}
	return out.Bytes(), n
}

// Error takes the secrets out of an error, and drops the wrapped one: its words
// may hold anything.
func (r *Redactor) Error(err error) error {
	if err == nil {
		return nil
	}
	e := kb.Errorf(kb.CodeOf(err), "%s", clip(r.Text(oneLine(err.Error())), 600))
	if h := kb.HintOf(err); h != "" {
		e = e.WithHint("%s", clip(r.Text(oneLine(h)), 600))
	}
	return e
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// scrub takes credentials out of the arguments: those that look like one, and
// ours, which an agent may have read elsewhere. It returns the names of the
// parameters that held one.
func scrub(values []value, own *Redactor) []string {
	var found []string
	clean := func(s string) string { return credential.ReplaceAllString(own.Text(s), Redacted) }
	same := func(s string) string { return s }
	for i := range values {
		clean, n := rewrite(values[i].json, clean, same)
		if n > 0 {
			values[i].json = clean
			found = append(found, values[i].param.Name)
		}
	}
	return found
}

// stringEnd returns where the JSON string that begins at i ends.
func stringEnd(v []byte, i int) int {
	end := i + 1
	for end < len(v) && v[end] != '"' {
		if v[end] == '\\' {
			end++
		}
		end++
	}
	return min(end+1, len(v))
}
