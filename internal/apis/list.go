package apis

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/apis/restapi"
	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// The words of declared APIs that faces need.
type (
	ToolDefinition = restapi.Definition
	ArgumentError  = restapi.ArgumentError
	LogEntry       = restapi.Entry
)

// ListReply is the reply of apis.
type ListReply struct {
	APIs     []ListRow  `json:"apis,omitzero"`   // nil with a query
	Found    []ToolRow  `json:"found,omitempty"` // with a query: best first
	NotReady []NotReady `json:"notReady,omitempty"`
	Note     string     `json:"note,omitempty"`
}

// ListRow is one API in a ListReply.
type ListRow struct {
	API   string    `json:"api"`
	Name  string    `json:"name,omitempty"`
	Host  string    `json:"host"`
	From  string    `json:"from"` // user or project
	Tools []ToolRow `json:"tools"`
	Count int       `json:"count,omitempty"` // of tools that are too many to list
	Tags  []string  `json:"tags,omitempty"`  // of those: "issues 54"
}

// ToolRow is one tool in a ListRow.
type ToolRow struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Params      string `json:"params,omitempty"` // "city, days?"
}

// Which says which tools are listed: all, or those of an API, a tag, or found by
// words.
type Which struct{ API, Query, Tag string }

// NotReady says why the tools of an API are not listed.
type NotReady struct {
	API string `json:"api"`
	Why string `json:"why"`
}

// ToolList are the tools of declared APIs that can be called now.
type ToolList struct {
	Tools   []ToolDefinition
	Updated time.Time // when a definition was changed last; zero when there are none
}

// manyTools is the number of tools up to which an API is listed whole.
const manyTools = 60

// List lists the declared APIs and their tools, or finds tools.
func List(ctx context.Context, a *app.App, w Which) (ListReply, error) {
	d, err := declaredAPIs(ctx, a)
	if err != nil {
		return ListReply{}, err
	}
	if d, err = learn(ctx, a, d, w.API, false); err != nil {
		return ListReply{}, err
	}
	l := ListReply{}
	if w.Query == "" {
		l.APIs = []ListRow{}
	}
	var codes []string
	var ready []*restapi.Provider
	for _, p := range d.all {
		codes = append(codes, p.Code)
		if w.API != "" && p.Code != w.API {
			continue
		}
		if err := apiReady(a, d, p); err != nil {
			l.NotReady = append(l.NotReady, NotReady{p.Code, kb.Said(err, "; ")})
			continue
		}
		ready = append(ready, p)
		if w.Query == "" {
			l.APIs = append(l.APIs, d.row(p, w.Tag))
		}
	}
	if w.API != "" && len(ready)+len(l.NotReady) == 0 {
		return l, kb.Errorf(kb.NotFound, "no API %q is declared", kb.Clip(w.API, 60)).WithHint("declared are: %s", orNone(codes))
	}
	if len(d.all) == 0 && len(d.notes) == 0 {
		d.notes = append(d.notes, "no APIs are declared; a person declares them in "+orNone([]string{d.path})+" or with: knowledge api import FILE")
	}
	if w.Query != "" {
		if l.Found, err = findTools(ctx, a, d, ready, w); err != nil {
			return l, err
		}
		if len(l.Found) == 0 && len(ready) > 0 {
			d.notes = append(d.notes, "no tool has anything of these words: try others, or list tags with apis {}")
		}
	}
	l.Note = strings.Join(d.notes, ". ")
	return l, nil
}

// row is an API with its tools, or with their number and tags when they are many.
func (d *declared) row(p *restapi.Provider, tag string) ListRow {
	row := ListRow{API: p.Code, Host: p.Host(), From: "project", Tools: []ToolRow{}}
	if slices.Contains(d.user, p) {
		row.From = "user"
	}
	if p.Name != p.Code {
		row.Name = p.Name
	}
	tags := map[string]int{}
	var list []ToolRow
	for i := range p.Tools {
		t := &p.Tools[i]
		if !t.Enabled || tag != "" && !slices.Contains(t.Tags, tag) {
			continue
		}
		about := t.Definition().Description
		if p.Server != nil {
			about = kb.Clip(about, 160)
		}
		list = append(list, ToolRow{t.Code, about, paramWords(t)})
		for _, tag := range t.Tags[:min(len(t.Tags), 1)] {
			tags[tag]++
		}
	}
	if tag != "" { // names are enough to choose from
		for i := range list {
			list[i].Params, list[i].Description = "", kb.Clip(list[i].Description, 60)
		}
	}
	if len(list) <= manyTools || tag != "" {
		row.Tools = append(row.Tools, list...)
		return row
	}
	row.Count = len(list)
	byCount := slices.SortedFunc(maps.Keys(tags), func(a, b string) int {
		return cmp.Or(cmp.Compare(tags[b], tags[a]), cmp.Compare(a, b))
	})
	for _, tag := range byCount[:min(len(byCount), 40)] {
		row.Tags = append(row.Tags, fmt.Sprintf("%s %d", tag, tags[tag]))
	}
	return row
}

// Bounds of what is found: rows, and tokens of all of them.
const (
	mostFound   = 20
	foundTokens = 1100
)

// findTools returns the tools that fit words, as many as cost little.
func findTools(ctx context.Context, a *app.App, d *declared, ready []*restapi.Provider, w Which) ([]ToolRow, error) {
	c, err := a.Open(ctx)
	if err != nil {
		return nil, err
	}
	hits, err := apisOf(a).finder(d).Find(ctx, c.Embedder, w.Query)
	if err != nil {
		return nil, err
	}
	var out []ToolRow
	cost := 0
	for _, h := range hits {
		if !slices.Contains(ready, h.API) || w.Tag != "" && !slices.Contains(h.Tool.Tags, w.Tag) {
			continue
		}
		row := ToolRow{h.Tool.Code, kb.Clip(h.Tool.Definition().Description, 64), paramWords(h.Tool)}
		cost += restapi.Cost(row.Name+row.Description+row.Params) + 16
		if len(out) == mostFound || cost > foundTokens {
			break
		}
		out = append(out, row)
	}
	return out, nil
}

func orNone(list []string) string {
	if len(list) == 0 || list[0] == "" {
		return "none"
	}
	return strings.Join(list, ", ")
}

// paramWords lists parameters as people write them, those that are needed first:
// "city, days?, tags[]?".
func paramWords(t *restapi.Tool) string {
	var words, more []string
	for _, p := range t.Params {
		w := p.Name
		if p.Type == restapi.Array {
			w += "[]"
		}
		if p.Required && p.Default == nil {
			words = append(words, w)
		} else {
			more = append(more, w+"?")
		}
	}
	words = append(words, more...)
	if len(words) > 12 {
		words = append(words[:12], fmt.Sprintf("and %d more", len(words)-12))
	}
	return strings.Join(words, ", ")
}

// Tools returns the tools of declared APIs that are enabled and ready.
func Tools(ctx context.Context, a *app.App) (ToolList, error) {
	d, err := declaredAPIs(ctx, a)
	if err != nil {
		return ToolList{}, err
	}
	out := ToolList{Updated: d.updated}
	for _, p := range d.all {
		if p.Unlisted || apiReady(a, d, p) != nil {
			continue
		}
		for i := range p.Tools {
			if t := &p.Tools[i]; t.Enabled {
				out.Tools = append(out.Tools, t.Definition())
			}
		}
	}
	return out, nil
}

// ToolNamed reports whether a name means a tool that can be called, and whether
// it may be called over HTTP without the token.
func ToolNamed(ctx context.Context, a *app.App, name string) (open bool, err error) {
	d, err := declaredAPIs(ctx, a)
	if err != nil {
		return false, err
	}
	_, t, err := d.find(name)
	if err != nil {
		return false, err
	}
	return t.Open, nil
}

// Exposed returns the names of our own commands that lists over HTTP show.
func Exposed(ctx context.Context, a *app.App) ([]string, error) {
	d, err := declaredAPIs(ctx, a)
	if err != nil {
		return nil, err
	}
	if d.cfg.Expose != nil {
		return d.cfg.Expose, nil
	}
	return []string{"search", "kdd_search", "kdd_related", "kdd_list", "generate_rag_answer"}, nil
}

// find returns the tool that a name means, if it may be called at all.
func (d *declared) find(name string) (*restapi.Provider, *restapi.Tool, error) {
	p, t, err := restapi.Find(d.all, name)
	if err != nil {
		if len(d.notes) > 0 {
			err = kb.Errorf(kb.NotFound, "%s", err.Error()).WithHint("%s. %s", kb.HintOf(err), strings.Join(d.notes, ". "))
		}
		return nil, nil, err
	}
	if !p.Enabled || !t.Enabled {
		return nil, nil, kb.Errorf(kb.NotFound, "the tool %q is disabled", t.Code).WithHint("a person may set enabled: true in %s", p.File)
	}
	return p, t, nil
}

// Named returns the name of the tool that has a method and a path.
func Named(ctx context.Context, a *app.App, method, path string) (string, error) {
	d, err := declaredAPIs(ctx, a)
	if err != nil {
		return "", err
	}
	for _, p := range d.all {
		for i := range p.Tools {
			if t := &p.Tools[i]; t.Method == method && t.Path == path {
				return t.Code, nil
			}
		}
	}
	return "", kb.Errorf(kb.NotFound, "no tool does %s %s", method, path)
}

// Operation is a tool as clients of the Model Context Protocol are offered it.
type Operation struct {
	ToolDefinition
	Method string
}

// effect is the method of a tool, or READ where it only reads by another one.
func effect(t *restapi.Tool) string {
	if t.Reads() {
		return restapi.MethodRead
	}
	return t.Method
}

// Operations returns the enabled tools of one API.
func Operations(ctx context.Context, a *app.App, code string) ([]Operation, error) {
	d, err := declaredAPIs(ctx, a)
	if err != nil {
		return nil, err
	}
	if d, err = learn(ctx, a, d, code, false); err != nil {
		return nil, err
	}
	var codes []string
	for _, p := range d.all {
		codes = append(codes, p.Code)
		if p.Code != code {
			continue
		}
		var list []Operation
		for i := range p.Tools {
			if t := &p.Tools[i]; t.Enabled && p.Enabled {
				list = append(list, Operation{t.Definition(), effect(t)})
			}
		}
		if len(list) == 0 {
			return nil, kb.Errorf(kb.Invalid, "%s has no tool that is enabled", code).WithHint("enable some in %s", p.File)
		}
		return list, nil
	}
	return nil, kb.Errorf(kb.NotFound, "no API %q is declared", kb.Clip(code, 60)).WithHint("declared are: %s", orNone(codes))
}
