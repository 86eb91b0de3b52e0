package mcpsource

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/yosida95/uritemplate/v3"

	"github.com/seed-4f2d999b/knowledge/internal/apis/restapi"
	"github.com/seed-4f2d999b/knowledge/internal/data/atomicfile"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// The bounds of what is kept of a server's lists.
const (
	mostOffers    = 2000
	mostResources = 300
	mostListed    = 8 << 20 // bytes
	mostKept      = 64      // servers in the file
)

// learn reads the lists of a server.
func (c *conn) learn(ctx context.Context, s *Pool, l restapi.Link) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	c.changed.Store(false)
	made := &Listing{At: time.Now().UTC().Truncate(time.Second)}
	has := c.client.GetServerCapabilities()
	size := 0
	add := func(o restapi.Offer) {
		size += len(o.Schema) + len(o.Description) + len(o.URI) + len(o.Name)
		if len(made.Offers) < mostOffers && size < mostListed {
			made.Offers = append(made.Offers, o)
		} else {
			made.Left = append(made.Left, kb.Clip(o.Name, 60))
		}
	}
	if err := c.tools(ctx, add); err != nil {
		return err
	}
	if has.Resources != nil { // what cannot list them has none
		err := errors.Join(c.resources(ctx, add), c.templates(ctx, add))
		if ctx.Err() != nil || c.dead() {
			return errors.Join(err, ctx.Err())
		}
	}
	made.Tools, _ = l.Offered(made.Offers)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.load()
	if s.lists == nil {
		s.lists = map[string]*Listing{}
	}
	s.lists[c.key] = made
	s.save()
	return nil
}

// wireTool is a tool as a server lists it.
type wireTool struct {
	Name, Title, Description string
	InputSchema              json.RawMessage
	Annotations              struct {
		Title                         string
		ReadOnlyHint, DestructiveHint *bool
	}
}

func (c *conn) tools(ctx context.Context, add func(restapi.Offer)) error {
	return pages(func(cursor mcp.Cursor) (mcp.Cursor, error) {
		var raw json.RawMessage
		err := c.ask(ctx, &raw, func(ctx context.Context) error {
			req := mcp.ListToolsRequest{}
			req.Params.Cursor = cursor
			_, err := c.client.ListToolsByPage(ctx, req)
			return err
		})
		if raw == nil {
			return "", err
		}
		var page struct {
			Tools      []json.RawMessage
			NextCursor mcp.Cursor
		}
		if err := json.Unmarshal(raw, &page); err != nil {
			return "", err
		}
		for _, one := range page.Tools {
			var t wireTool
			if json.Unmarshal(one, &t) != nil { // one that is none does not hide the others
				continue
			}
			o := restapi.Offer{Name: t.Name, Title: t.Title, Description: t.Description, Schema: t.InputSchema}
			if o.Title == "" {
				o.Title = t.Annotations.Title
			}
			o.Reads = t.Annotations.ReadOnlyHint != nil && *t.Annotations.ReadOnlyHint
			o.Destroys = t.Annotations.DestructiveHint != nil && *t.Annotations.DestructiveHint
			add(o)
		}
		return page.NextCursor, nil
	})
}

// resources lists what can be read; tools have the same name now and then.
func (c *conn) resources(ctx context.Context, add func(restapi.Offer)) error {
	n := 0
	return pages(func(cursor mcp.Cursor) (mcp.Cursor, error) {
		var page *mcp.ListResourcesResult
		err := c.ask(ctx, nil, func(ctx context.Context) (err error) {
			req := mcp.ListResourcesRequest{}
			req.Params.Cursor = cursor
			page, err = c.client.ListResourcesByPage(ctx, req)
			return err
		})
		if err != nil {
			return "", err
		}
		for _, r := range page.Resources {
			if n++; n > mostResources {
				return "", nil
			}
			add(restapi.Offer{Name: "read " + r.Name, Title: r.Name, Description: about(r.Description, r.URI), URI: r.URI, Reads: true})
		}
		return page.NextCursor, nil
	})
}

// templates lists addresses with {names}. Those that only some of RFC 6570 fills in
// are filled in by all of it.
func (c *conn) templates(ctx context.Context, add func(restapi.Offer)) error {
	return pages(func(cursor mcp.Cursor) (mcp.Cursor, error) {
		var page *mcp.ListResourceTemplatesResult
		err := c.ask(ctx, nil, func(ctx context.Context) (err error) {
			req := mcp.ListResourceTemplatesRequest{}
			req.Params.Cursor = cursor
			page, err = c.client.ListResourceTemplatesByPage(ctx, req)
			return err
		})
		if err != nil {
			return "", err
		}
		for _, r := range page.ResourceTemplates {
			if r.URITemplate == nil || r.URITemplate.Template == nil {
				continue
			}
			raw := r.URITemplate.Raw()
			add(restapi.Offer{
				Name: "read " + r.Name, Title: r.Name, Description: about(r.Description, raw), URI: raw, Holes: r.URITemplate.Varnames(), Reads: true,
			})
		}
		return page.NextCursor, nil
	})
}

func about(said, uri string) string {
	if said == "" {
		return "reads " + uri
	}
	return said + " (reads " + uri + ")"
}

// fillIn puts arguments into the address of a resource.
func fillIn(raw string, args json.RawMessage) string {
	t, err := uritemplate.New(raw)
	if err != nil {
		return raw
	}
	var given map[string]string
	if json.Unmarshal(args, &given) != nil || len(given) == 0 {
		return raw
	}
	values := uritemplate.Values{}
	for k, v := range given {
		values.Set(k, uritemplate.String(v))
	}
	made, err := t.Expand(values)
	if err != nil {
		return raw
	}
	return made
}

// wireContent is a part of what a tool or a resource has to say.
type wireContent struct {
	Type, Text, MIMEType, Data, Blob, URI, Name string
	Resource                                    *wireContent
}

// answer reads what a server answered: of several parts the texts one below the
// other; of one text that is JSON, or else of a structured result, JSON.
func answer(t *restapi.Tool, raw json.RawMessage) (restapi.Answer, error) {
	var r struct {
		Content           []wireContent
		Contents          []wireContent // of a resource
		StructuredContent json.RawMessage
		IsError           bool
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return restapi.Answer{}, kb.Errorf(kb.Away, "%s answered what is no reply of a tool", t.Code).WithHint("the fault is the server's")
	}
	var texts []string
	plain := true
	for _, c := range append(r.Content, r.Contents...) {
		text, ok := c.text()
		plain = plain && ok
		texts = append(texts, text)
	}
	a := restapi.Answer{Text: strings.Join(texts, "\n"), Failed: r.IsError}
	if v := json.RawMessage(strings.TrimSpace(a.Text)); plain && len(texts) == 1 && len(v) > 0 && (v[0] == '{' || v[0] == '[') && json.Valid(v) {
		a.JSON = v
	} else if s := strings.TrimSpace(string(r.StructuredContent)); s != "" && s != "null" && plain && !onlySays(r.StructuredContent, a.Text) {
		a.JSON = json.RawMessage(s)
	}
	return a, nil
}

// onlySays reports whether a structured result is an object of one member, which is
// the text.
func onlySays(v json.RawMessage, text string) bool {
	var m map[string]string
	if json.Unmarshal(v, &m) != nil || len(m) != 1 {
		return false
	}
	for _, s := range m {
		return s == text
	}
	return false
}

// text returns a part as text, and whether it is one.
func (c *wireContent) text() (string, bool) {
	switch {
	case c.Resource != nil:
		return c.Resource.text()
	case c.Type == "resource_link":
		return "[a resource: " + kb.Clip(c.Name+" "+c.URI, 200) + "]", false
	case c.Data != "" || c.Blob != "":
		b := c.Data + c.Blob
		if dec, err := base64.StdEncoding.DecodeString(b); err == nil {
			return "[" + kb.Clip(c.MIMEType, 60) + ", " + kb.Count(len(dec), "byte") + ", not shown]", false
		}
		return "[" + kb.Clip(c.MIMEType, 60) + ", not shown]", false
	}
	return c.Text, true
}

// load reads the file of lists once; one that cannot be read is made anew.
func (s *Pool) load() {
	if s.loaded {
		return
	}
	s.loaded = true
	raw, err := os.ReadFile(s.File)
	if s.File == "" || errors.Is(err, fs.ErrNotExist) || err != nil || len(raw) > mostKept*mostListed {
		return
	}
	var kept map[string]*Listing
	if json.Unmarshal(raw, &kept) != nil {
		return
	}
	for k, l := range kept {
		if l == nil {
			delete(kept, k)
		}
	}
	s.lists = kept
}

// save writes the lists; that they cannot be kept costs another start, no call.
func (s *Pool) save() {
	if s.File == "" {
		return
	}
	if len(s.lists) > mostKept {
		byAge := slices.SortedFunc(maps.Keys(s.lists), func(a, b string) int { return s.lists[a].At.Compare(s.lists[b].At) })
		for _, k := range byAge[:len(byAge)-mostKept] {
			delete(s.lists, k)
		}
	}
	if b, err := json.Marshal(s.lists); err == nil {
		_ = atomicfile.Write(s.File, b)
	}
}
