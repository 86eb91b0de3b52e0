package apis

import (
	"context"
	"encoding/json"
	"fmt"
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
	APIs     []ListRow  `json:"apis"`
	NotReady []NotReady `json:"notReady,omitempty"`
	Note     string     `json:"note,omitempty"`
}

// ListRow is one API in an APIList.
type ListRow struct {
	API   string    `json:"api"`
	Name  string    `json:"name,omitempty"`
	Host  string    `json:"host"`
	From  string    `json:"from"` // user or project
	Tools []ToolRow `json:"tools"`
}

// ToolRow is one tool in an APIRow.
type ToolRow struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Params      string `json:"params,omitempty"` // "city, days?"
}

// NotReady says why the tools of an API are not listed.
type NotReady struct {
	API string `json:"api"`
	Why string `json:"why"`
}

// HelpReply is the reply of api:help.
type HelpReply struct {
	Name        string          `json:"name"`
	API         string          `json:"api"`
	Description string          `json:"description,omitempty"`
	Request     string          `json:"request"` // "GET https://api.weather.example/v1/forecast/{city}"
	Schema      json.RawMessage `json:"schema"`
	Example     json.RawMessage `json:"example"`
	NotReady    string          `json:"notReady,omitempty"`
	Note        string          `json:"note"`
}

// ToolList are the tools of declared APIs that can be called now.
type ToolList struct {
	Tools   []ToolDefinition
	Updated time.Time // when a definition was changed last; zero when there are none
}

// List lists the declared APIs and their tools; only one API when code is not "".
func List(ctx context.Context, a *app.App, code string) (ListReply, error) {
	d, err := declaredAPIs(ctx, a)
	if err != nil {
		return ListReply{}, err
	}
	l := ListReply{APIs: []ListRow{}}
	var codes []string
	for _, p := range d.all {
		codes = append(codes, p.Code)
		if code != "" && p.Code != code {
			continue
		}
		if err := apiReady(a, d, p); err != nil {
			l.NotReady = append(l.NotReady, NotReady{p.Code, kb.Said(err, "; ")})
			continue
		}
		row := ListRow{API: p.Code, Host: p.Host(), From: "project", Tools: []ToolRow{}}
		if slices.Contains(d.user, p) {
			row.From = "user"
		}
		if p.Name != p.Code {
			row.Name = p.Name
		}
		for i := range p.Tools {
			if t := &p.Tools[i]; t.Enabled {
				row.Tools = append(row.Tools, ToolRow{t.Code, t.Definition().Description, paramWords(t)})
			}
		}
		l.APIs = append(l.APIs, row)
	}
	if code != "" && len(l.APIs)+len(l.NotReady) == 0 {
		return l, kb.Errorf(kb.NotFound, "no API %q is declared", kb.Clip(code, 60)).WithHint("declared are: %s", orNone(codes))
	}
	if len(d.all) == 0 && len(d.notes) == 0 {
		d.notes = append(d.notes, "no APIs are declared; a person declares them in "+orNone([]string{d.path})+" or with: knowledge api import FILE")
	}
	l.Note = strings.Join(d.notes, ". ")
	return l, nil
}

func orNone(list []string) string {
	if len(list) == 0 || list[0] == "" {
		return "none"
	}
	return strings.Join(list, ", ")
}

// paramWords lists parameters as people write them: "city, days?".
func paramWords(t *restapi.Tool) string {
	var words []string
	for _, p := range t.Params {
		w := p.Name
		if !p.Required || p.Default != nil {
			w += "?"
		}
		words = append(words, w)
	}
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

// Help says how a tool is called.
func Help(ctx context.Context, a *app.App, name string) (HelpReply, error) {
	d, err := declaredAPIs(ctx, a)
	if err != nil {
		return HelpReply{}, err
	}
	p, t, err := d.find(name)
	if err != nil {
		return HelpReply{}, err
	}
	h := HelpReply{
		Name: t.Code, API: p.Code, Description: t.Definition().Description, Request: t.Method + " " + p.BaseURL + t.Path,
		Schema: t.Schema(), Example: t.Example(),
		Note: "call it with api:call; the credential, if one is needed, is added here. Save keeps the reply in a store that search looks in",
	}
	if err := apiReady(a, d, p); err != nil {
		h.NotReady = kb.Said(err, "; ")
	}
	return h, nil
}
