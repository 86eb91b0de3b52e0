package command

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Resource is something that is read by its URI: over MCP as a resource, and
// through the commands "resources" and "resource:read" by clients that know
// none. Every resource is JSON and reads only.
type Resource struct {
	// URI is the address, "evidence://status", or a template of RFC 6570 with
	// one variable at its end, "kdd://entity/{name}".
	URI         string
	Name        string // short, for lists
	Description string // one line, no full stop
	Closed      bool   // needs the token over HTTP, whatever --open-read opens
	// Read returns the value that is shown as JSON. variable is what is
	// for the template's variable, percent-decoded; "" without one.
	Read func(ctx context.Context, a *app.App, variable string) (any, error)
}

// Template reports whether the URI has a variable.
func (r Resource) Template() bool { return strings.Contains(r.URI, "{") }

// Resources returns every resource, in order of URI.
func (t *Table) Resources() []Resource {
	var all []Resource
	for _, r := range t.rooms {
		if r.Resources != nil {
			all = append(all, r.Resources()...)
		}
	}
	kb.SortFunc(all, func(a, b Resource) int { return strings.Compare(a.URI, b.URI) })
	return all
}

// FindResource returns the resource that a URI means, and the value of its variable.
func (t *Table) FindResource(uri string) (Resource, string, error) {
	for _, r := range t.Resources() {
		if r.URI == uri {
			return r, "", nil
		}
	}
	for _, r := range t.Resources() {
		if before, _, ok := strings.Cut(r.URI, "{"); ok && strings.HasPrefix(uri, before) && len(uri) > len(before) {
			v, err := url.PathUnescape(uri[len(before):])
			if err != nil {
				return Resource{}, "", kb.Errorf(kb.Invalid, "the address %q cannot be read", clip(uri)).WithHint("percent-encode what stands after %s", before)
			}
			return r, v, nil
		}
	}
	return Resource{}, "", kb.Errorf(kb.NotFound, "no resource %q", clip(uri)).WithHint("list them with: resources")
}

// ReadResource returns what is at a URI, as JSON.
func (t *Table) ReadResource(ctx context.Context, a *app.App, uri string) (json.RawMessage, error) {
	r, v, err := t.FindResource(uri)
	if err != nil {
		return nil, err
	}
	out, err := r.Read(ctx, a, v)
	if err != nil {
		return nil, err
	}
	return json.RawMessage(printer.Render(out)), nil
}

type (
	resourceIn struct {
		URI string `json:"uri" arg:"1" help:"address of a resource, as \"resources\" lists it"`
	}
	resourceRow struct {
		URI         string `json:"uri"`
		Description string `json:"description"`
	}
	resourceList struct {
		Resources []resourceRow `json:"resources"`
	}
)

// addResources adds the twins of MCP's resources.
func (t *Table) addResources() {
	t.Add("help", New("resources", "List what can be read by address", Reads,
		func(context.Context, *app.App, struct{}) (resourceList, error) {
			l := resourceList{Resources: []resourceRow{}}
			for _, r := range t.Resources() {
				l.Resources = append(l.Resources, resourceRow{r.URI, r.Description})
			}
			return l, nil
		}).Agent(), `{}`)
	c := t.Add("help", New("resource:read", "What stands at the address of a resource", Reads,
		func(ctx context.Context, a *app.App, in resourceIn) (json.RawMessage, error) {
			return t.ReadResource(ctx, a, in.URI)
		}).Agent(), `{"uri":"evidence://status"}`)
	c.Aliases = []string{"resource"}
}
