package follow

import (
	"context"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/source"
)

// defaultStores are repositories that many projects want, narrowed to what is
// read: documentation and specifications first.
var defaultStores = []app.CreateStore{
	{Name: "mcp-spec", Source: "https://github.com/modelcontextprotocol/modelcontextprotocol", Paths: []string{"docs", "schema"}, Description: "Model Context Protocol: specification and guides"},
	{Name: "claude-code", Source: "https://github.com/anthropics/claude-code", Description: "Claude Code: plugins, examples and changes"},
	{Name: "go-doc", Source: "https://github.com/golang/website", Paths: []string{"_content/doc", "_content/blog", "_content/ref"}, Description: "Go: documentation and blog"},
	{Name: "python-doc", Source: "https://github.com/python/cpython", Paths: []string{"Doc"}, Description: "Python: documentation"},
	{Name: "node-doc", Source: "https://github.com/nodejs/node", Paths: []string{"doc"}, Description: "Node.js: documentation of the API"},
	{Name: "typescript-doc", Source: "https://github.com/microsoft/TypeScript-Website", Paths: []string{"packages/documentation/copy/en"}, Description: "TypeScript: handbook"},
	{Name: "react-doc", Source: "https://github.com/reactjs/react.dev", Paths: []string{"src/content"}, Description: "React: documentation"},
	{Name: "rust-book", Source: "https://github.com/rust-lang/book", Paths: []string{"src"}, Description: "The Rust Programming Language"},
	{Name: "git-doc", Source: "https://github.com/git/git", Paths: []string{"Documentation"}, Description: "Git: manual pages and technical notes"},
	{Name: "docker-doc", Source: "https://github.com/docker/docs", Paths: []string{"content"}, Description: "Docker: documentation"},
}

// Default is one of the default repositories.
type Default struct {
	Name        string   `json:"name"`
	Source      string   `json:"source"`
	Paths       []string `json:"paths,omitempty"`
	Description string   `json:"description"`
	Store       string   `json:"store,omitempty"` // the store that exists of it already
}

// Defaults is the reply of stores:defaults.
type Defaults struct {
	Defaults []Default     `json:"defaults"`
	Added    []app.Started `json:"added,omitempty"`
	Failed   []Failed      `json:"failed,omitempty"`
}

// Started returns the jobs that were started.
func (d Defaults) Started() []app.Started { return d.Added }

// ListDefaults lists the default repositories, or those of the names given, and
// creates the stores that there are not yet when add is set: for the user, or
// for the project.
func ListDefaults(ctx context.Context, a *app.App, add bool, only []string, user bool) (Defaults, error) {
	out := Defaults{Defaults: []Default{}}
	var names []string
	for _, d := range defaultStores {
		names = append(names, d.Name)
	}
	for _, n := range only {
		if !slices.Contains(names, n) {
			return out, kb.Errorf(kb.NotFound, "no default repository is named %q", n).WithHint("there are: %s", strings.Join(names, ", "))
		}
	}
	c, err := a.Open(ctx)
	if err != nil {
		return out, err
	}
	entries, err := a.Scope(ctx, c, false)
	if err != nil {
		return out, err
	}
	for _, r := range defaultStores {
		if len(only) > 0 && !slices.Contains(only, r.Name) {
			continue
		}
		d := Default{Name: r.Name, Source: r.Source, Paths: r.Paths, Description: r.Description}
		r.Kind, r.User = kb.KindRepo, user
		_, src, err := source.Canonical(ctx, r.Kind, r.Source, a.Config.Dir)
		if err != nil {
			return out, err
		}
		for _, e := range entries {
			if e.Spec.Source == src {
				d.Store = e.Label()
			}
		}
		if add && d.Store == "" {
			if s, err := a.CreateStore(ctx, r); err != nil {
				out.Failed = append(out.Failed, Failed{Name: r.Name, Error: err.Error(), Hint: kb.HintOf(err)})
			} else {
				d.Store = r.Name
				out.Added = append(out.Added, s)
			}
		}
		out.Defaults = append(out.Defaults, d)
	}
	return out, nil
}
