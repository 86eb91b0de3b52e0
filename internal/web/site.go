package web

import (
	"context"
	"strings"
	"sync"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search"
	"github.com/seed-4f2d999b/knowledge/internal/source"
	"github.com/seed-4f2d999b/knowledge/internal/web/pages"
)

// siteMap describes the pages of one generation of a web store.
type siteMap struct {
	manifest string
	pages    map[string]search.Page // by path
	paths    map[string]string      // by URL, see plainURL
}

// sitePageOf returns a function that describes the pages of a store; nil when
// its documents are none. The kept pages are read at the first question.
func sitePageOf(c *app.Core, st kb.Store) func(path string) (search.Page, bool) {
	if _, pkg := source.PackageOf(st.Spec.Source); pkg || !source.TraitsOf(st.Spec.Kind).Gathered {
		return nil
	}
	return func(path string) (search.Page, bool) {
		if p, ok := siteOf(c, st).pages[path]; ok {
			return p, true
		}
		return search.Page{URL: "https://" + path}, true // kept no more, and indexed still
	}
}

func siteOf(c *app.Core, st kb.Store) *siteMap {
	manifest := ""
	if st.Head != nil {
		manifest = st.Head.Manifest
	}
	l := siteMapsOf(c)
	l.mu.Lock()
	s := l.of[st.ID]
	l.mu.Unlock()
	if s != nil && s.manifest == manifest {
		return s
	}
	s = &siteMap{manifest: manifest, pages: map[string]search.Page{}, paths: map[string]string{}}
	if set, err := pages.View(c.Opener.PagesDir(st.Spec)); err == nil {
		for _, k := range set.Pages {
			s.pages[k.Path] = search.Page{URL: k.URL, Title: k.Title, Version: k.Version, Breadcrumbs: k.Breadcrumbs, Modified: k.Modified}
			s.paths[plainURL(k.URL)] = k.Path
		}
		_ = set.Close()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of == nil {
		l.of = map[kb.StoreID]*siteMap{}
	}
	l.of[st.ID] = s
	return s
}

// plainURL writes a URL so that spellings of one page are the same: without
// scheme, fragment and a slash at the end.
func plainURL(u string) string {
	u, _, _ = strings.Cut(u, "#")
	_, rest, _ := strings.Cut(u, "://")
	return strings.TrimRight(rest, "/")
}

// sitePagePath returns the path of a page that is named by its URL, and the
// fragment; what is no URL of a page of the store comes back as it is.
func sitePagePath(c *app.Core, st kb.Store, path string) (string, string) {
	if !strings.Contains(path, "://") || !source.TraitsOf(st.Spec.Kind).Gathered {
		return path, ""
	}
	_, fragment, _ := strings.Cut(path, "#")
	if p, ok := siteOf(c, st).paths[plainURL(path)]; ok {
		return p, fragment
	}
	return path, ""
}

// PageRow is what became of one address of a site.
type PageRow struct {
	URL     string `json:"url"`
	State   string `json:"state"` // kept, folded, noindex, empty, redirect, failed, left out
	Path    string `json:"path,omitempty"`
	Reason  string `json:"reason,omitempty"` // why it was taken, or was not
	Target  string `json:"target,omitempty"` // where a redirect leads, or the page it is the same as
	Depth   int    `json:"depth,omitempty"`
	Version string `json:"version,omitempty"`
}

// PageList is the reply of store:pages.
type PageList struct {
	Store  string         `json:"store"`
	Counts map[string]int `json:"counts"` // addresses by state
	Pages  []PageRow      `json:"pages"`
	Total  int            `json:"total"` // how many match; Pages may hold fewer
	Note   string         `json:"note,omitempty"`
}

// Pages lists what became of the addresses of a web store: those in one
// state, or whose address holds a text.
func Pages(ctx context.Context, a *app.App, store, state, text string, limit int) (PageList, error) {
	if limit == 0 {
		limit = defaultPages
	}
	limit, err := app.CheckLimit(limit, defaultPages)
	if err != nil {
		return PageList{}, err
	}
	c, st, err := a.Lookup(ctx, store)
	if err != nil {
		return PageList{}, err
	}
	out := PageList{Store: st.Label(), Counts: map[string]int{}, Pages: []PageRow{}}
	if !source.TraitsOf(st.Spec.Kind).Gathered {
		return out, kb.Errorf(kb.Invalid, "%q is no web store", st.Label()).WithHint("list its documents with: files {\"store\":%q}", st.Label())
	}
	visits, partial, err := pages.Visits(c.Opener.PagesDir(st.Spec))
	if err != nil {
		if kb.CodeOf(err) == kb.NotFound {
			return out, kb.Errorf(kb.NotFound, "store %q has not been crawled yet", st.Label()).WithHint("see its job with: store:info")
		}
		return out, err
	}
	for _, v := range visits {
		if v.Outcome == pages.OutAside {
			continue
		}
		out.Counts[string(v.Outcome)]++
		address := v.URL
		if address == "" {
			address = v.Key
		}
		if state != "" && string(v.Outcome) != strings.ReplaceAll(state, "-", " ") || !strings.Contains(address, text) {
			continue
		}
		if out.Total++; len(out.Pages) >= limit {
			continue
		}
		row := PageRow{URL: address, State: string(v.Outcome), Path: v.Path, Reason: v.Reason, Target: v.Target, Depth: v.Depth, Version: v.Version}
		switch {
		case v.Cause != "" && v.Detail != "":
			row.Reason = v.Cause + ": " + v.Detail
		case v.Cause != "":
			row.Reason = v.Cause
		}
		out.Pages = append(out.Pages, row)
	}
	switch {
	case partial:
		out.Note = "the first crawl has not ended: this is what it has done so far"
	case out.Total > len(out.Pages):
		out.Note = "there are more; narrow state or text, or raise limit"
	}
	return out, nil
}

// defaultPages keeps a reply small.
const defaultPages = 50

// siteMaps are those of a process.
type siteMaps struct {
	mu sync.Mutex
	of map[kb.StoreID]*siteMap
}

func siteMapsOf(c *app.Core) *siteMaps { return app.State(c, func() *siteMaps { return &siteMaps{} }) }

func (m *siteMaps) forget(id kb.StoreID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.of, id)
}

func hooks() app.Room {
	return app.Room{
		Needs: func(c *app.Core, spec kb.Spec) []string { return siteNeeds(c, spec) },
		Gather: func(ctx context.Context, c *app.Core, j kb.Job, st kb.Store, args app.IndexArgs, died bool, details map[string]any) ([]string, error) {
			return gather(ctx, c, j, st, args, died, details)
		},
		Sweep: sweepPages,
		Leftovers: func(ctx context.Context, c *app.Core) (string, []string, error) {
			paths, err := unneededPages(ctx, c)
			return "pages of a store that is no more", paths, err
		},
		Forget:   func(c *app.Core, id kb.StoreID) { siteMapsOf(c).forget(id) },
		PageOf:   func(c *app.Core, st kb.Store) func(string) (search.Page, bool) { return sitePageOf(c, st) },
		PagePath: func(c *app.Core, st kb.Store, path string) (string, string) { return sitePagePath(c, st, path) },
	}
}
