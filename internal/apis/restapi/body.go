package restapi

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/textproto"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/project"
)

// MaxSent is the size in bytes of the largest file that is sent.
const MaxSent = 32 << 20

// mediaType is a media type without its parameters.
func mediaType(s string) string {
	m, _, err := mime.ParseMediaType(s)
	if err != nil {
		return strings.ToLower(strings.TrimSpace(s))
	}
	return m
}

func isJSONMedia(s string) bool {
	m := mediaType(s)
	return m == "application/json" || m == "text/json" || strings.HasSuffix(m, "+json")
}

// body returns the body of a request, nil for none.
func (c *Caller) body(ctx context.Context, p *Provider, t *Tool, d *draft, cred credentials) ([]byte, error) {
	if !t.hasBody() || t.Optional && d.payload == nil && len(d.members) == 0 {
		return nil, nil
	}
	if t.GraphQL != "" {
		return t.graphBody(d.members)
	}
	if len(t.Media) == 0 {
		return d.recipeBody(t)
	}
	media := t.Media[0]
	if t.Template == "" {
		d.header.Set("Content-Type", media)
	}
	switch m := mediaType(media); {
	case t.Template != "":
		return t.fill(d.members)
	case isJSONMedia(media):
		if d.payload != nil {
			return d.payload, nil
		}
		return objectOf(inOrder(d.members)), nil
	case m == "application/x-www-form-urlencoded":
		return []byte(d.form()), nil
	case m == "multipart/form-data":
		return c.multipart(ctx, p, d)
	case d.payload != nil && slices.ContainsFunc(t.Params, func(q Param) bool { return q.In == "payload" && q.Type == Bytes }):
		f, err := c.file(ctx, p, "body", d.payload)
		if err != nil {
			return nil, err
		}
		if f.media != "" && slices.ContainsFunc(t.Media, func(m string) bool { return mediaType(m) == mediaType(f.media) }) {
			d.header.Set("Content-Type", f.media)
		}
		return f.bytes, nil
	case d.payload != nil:
		return []byte(text(d.payload)), nil
	}
	return nil, nil
}

// recipeBody makes the body that a recipe means.
func (d *draft) recipeBody(t *Tool) ([]byte, error) {
	switch {
	case d.payload != nil:
		return d.payload, nil
	case t.Template != "":
		return t.fill(d.members)
	case !t.Form:
		return objectOf(d.members), nil
	}
	form := url.Values{}
	for _, v := range d.members {
		addForm(form, v.param.wire(), v.json)
	}
	return []byte(form.Encode()), nil
}

// inOrder sorts arguments as the caller wrote them.
func inOrder(values []value) []value {
	out := slices.Clone(values)
	slices.SortStableFunc(out, func(a, b value) int { return cmp.Compare(a.at, b.at) })
	return out
}

// form writes a form: members with a style as queries have them, others by the
// media type of their content (3.1.2 Encoding Object).
func (d *draft) form() string {
	var words []string
	for _, v := range d.members {
		p := v.param
		if p.Style != "" || p.Explode != nil || p.Reserved {
			for _, q := range pairs(p.Style, p.exploded(), p.wire(), v.json) {
				words = append(words, q.query(p.Reserved))
			}
			continue
		}
		for _, x := range parts(v.json) {
			words = append(words, url.QueryEscape(p.wire())+"="+url.QueryEscape(p.part(x)))
		}
	}
	for _, f := range fields(d.payload) {
		for _, x := range parts(f.raw) {
			words = append(words, url.QueryEscape(f.key)+"="+url.QueryEscape(member1(x)))
		}
	}
	return strings.Join(words, "&")
}

// parts are what a member is sent as: each element of a list, nothing for null.
func parts(v json.RawMessage) []json.RawMessage {
	switch kindOf(v) {
	case 'n':
		return nil
	case '[':
		return elements(v)
	}
	return []json.RawMessage{v}
}

// part writes one part of a form by its media type.
func (p *Param) part(v json.RawMessage) string {
	if isJSONMedia(p.Media) {
		return compact(v)
	}
	return member1(v)
}

// multipart writes a body of multipart/form-data.
func (c *Caller) multipart(ctx context.Context, p *Provider, d *draft) ([]byte, error) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	write := func(name, file, media string, body []byte) error {
		h := textproto.MIMEHeader{}
		disposition := `form-data; name="` + quoted(name) + `"`
		if file != "" {
			disposition += `; filename="` + quoted(file) + `"`
		}
		h.Set("Content-Disposition", disposition)
		if media != "" {
			h.Set("Content-Type", media)
		}
		part, err := w.CreatePart(h)
		if err == nil {
			_, err = part.Write(body)
		}
		return err
	}
	for _, v := range d.members {
		q := v.param
		if q.Style != "" || q.Explode != nil {
			for _, x := range pairs(q.Style, q.exploded(), q.wire(), v.json) {
				if err := write(x.key, "", "", []byte(strings.Join(x.atoms, x.sep))); err != nil {
					return nil, err
				}
			}
			continue
		}
		for _, x := range parts(v.json) {
			media, _, _ := strings.Cut(q.Media, ",")
			name, body := "", []byte(q.part(x))
			if q.Type == Bytes || q.Items == Bytes {
				f, err := c.file(ctx, p, q.Name, x)
				if err != nil {
					return nil, err
				}
				name, body, media = cmp.Or(f.name, q.wire()), f.bytes, cmp.Or(f.media, media, "application/octet-stream")
			} else if k := kindOf(x); media == "" && (k == '{' || k == '[') {
				media = "application/json"
			}
			if err := write(q.wire(), name, strings.TrimSpace(media), body); err != nil {
				return nil, err
			}
		}
	}
	for _, f := range fields(d.payload) {
		for _, x := range parts(f.raw) {
			media := ""
			if kindOf(x) == '{' || kindOf(x) == '[' {
				media = "application/json"
			}
			if err := write(f.key, "", media, []byte(member1(x))); err != nil {
				return nil, err
			}
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	d.header.Set("Content-Type", w.FormDataContentType())
	return b.Bytes(), nil
}

// quoted escapes the name of a part or file as WHATWG's multipart/form-data has it.
func quoted(s string) string {
	return strings.NewReplacer(`"`, "%22", "\r", "%0D", "\n", "%0A").Replace(s)
}

// sent is a file that goes into a request.
type sent struct {
	name, media string
	bytes       []byte
}

// file reads the argument that is a file: a text, or an object with base64,
// text or path, and with filename and type.
func (c *Caller) file(ctx context.Context, p *Provider, param string, v json.RawMessage) (sent, error) {
	if kindOf(v) != '{' {
		return sent{bytes: []byte(member1(v))}, nil
	}
	f := sent{name: getText(v, "filename"), media: getText(v, "type")}
	if strings.ContainsAny(f.media, "\r\n") || f.media != "" && !strings.Contains(f.media, "/") {
		return f, badArgument(param, "type of %q is no media type", param)
	}
	switch {
	case get(v, "base64") != nil:
		s := getText(v, "base64")
		b, err := base64.StdEncoding.DecodeString(s)
		if err != nil {
			if b, err = base64.RawURLEncoding.DecodeString(strings.TrimRight(s, "=")); err != nil {
				return f, badArgument(param, "parameter %q holds no base64", param)
			}
		}
		f.bytes = b
	case get(v, "text") != nil:
		f.bytes = []byte(getText(v, "text"))
	case get(v, "path") != nil:
		path := getText(v, "path")
		b, err := p.fileAt(path)
		if err != nil {
			return f, err
		}
		f.bytes, f.name = b, cmp.Or(f.name, filepath.Base(path))
	default:
		e := badArgument(param, "parameter %q says not what to send", param)
		e.Err = e.Err.WithHint(`send a text, or {"base64":…}, {"text":…} or {"path":…} with filename and type`)
		return f, e
	}
	return f, nil
}

// fileAt reads a file below one of the folders whose files may be sent. A link
// leads nowhere else.
func (p *Provider) fileAt(path string) ([]byte, error) {
	refused := kb.Errorf(kb.Denied, "the file %q may not be sent to %s", clip(path, 80), p.Code).
		WithHint("a person allows a folder with allowFiles of that API, in %s", p.File)
	for _, dir := range p.FileDirs {
		name := path
		if filepath.IsAbs(path) {
			if !project.Within(dir, path) {
				continue
			}
			rel, err := filepath.Rel(dir, path)
			if err != nil {
				continue
			}
			name = rel
		}
		f, err := os.OpenInRoot(dir, filepath.FromSlash(name))
		if err != nil {
			continue
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil || !info.Mode().IsRegular() {
			return nil, refused
		}
		b, err := io.ReadAll(io.LimitReader(f, MaxSent+1))
		if err != nil {
			return nil, kb.Errorf(kb.Denied, "%q cannot be read: %w", clip(path, 80), err).WithHint("check its permissions")
		}
		if len(b) > MaxSent {
			return nil, kb.Errorf(kb.TooLarge, "%q has more than %d MiB", clip(path, 80), MaxSent>>20).WithHint("send a smaller file")
		}
		return b, nil
	}
	return nil, refused
}

// addForm adds a value to a form as most services read nesting: a[b]=c, a[0]=c.
func addForm(form url.Values, name string, v json.RawMessage) {
	switch kindOf(v) {
	case '[':
		for i, x := range elements(v) {
			addForm(form, name+"["+strconv.Itoa(i)+"]", x)
		}
	case '{':
		for _, f := range fields(v) {
			addForm(form, fmt.Sprintf("%s[%s]", name, f.key), f.raw)
		}
	case 'n':
	default:
		form.Set(name, text(v))
	}
}

// objectOf makes a JSON object of arguments, in their order.
func objectOf(values []value) []byte {
	members := make([]field, len(values))
	for i, v := range values {
		members[i] = field{v.param.wire(), v.json}
	}
	return object(members)
}
