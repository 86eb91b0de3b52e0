package cli

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// page prints where on a site a page of the web stands, on one line.
func (s *session) page(c app.Context) {
	if c.Page == nil {
		return
	}
	parts := []string{"page: " + strings.Join(append(slices.Clone(c.Breadcrumbs), cmp.Or(c.Title, c.URL)), " › ")}
	if c.Version != "" {
		parts = append(parts, "version "+c.Version)
	}
	if !c.Modified.IsZero() {
		parts = append(parts, "modified "+c.Modified.Format("2006-01-02"))
	}
	s.line(strings.Join(parts, ", "))
}

// narrowed writes what narrows the pages of a site; "" for nothing.
func narrowed(w *kb.Web) string {
	if w == nil {
		return ""
	}
	var parts []string
	add := func(name, value string) {
		if value != "" && value != "0" {
			parts = append(parts, name+" "+value)
		}
	}
	add("depth", fmt.Sprint(w.Depth))
	add("max pages", fmt.Sprint(w.MaxPages))
	add("include", strings.Join(w.Include, " "))
	add("exclude", strings.Join(w.Exclude, " "))
	add("hosts", strings.Join(w.Hosts, " "))
	add("headless", w.Headless)
	add("pages wanted:", w.Crawl)
	add("sections wanted:", w.Extract)
	return strings.Join(parts, ", ")
}

// pages prints what became of the addresses of a site.
func (s *session) pages(r app.PageList) {
	t := s.table("state", "address", "why", "leads to")
	for _, p := range r.Pages {
		t.row(p.State, p.URL, p.Reason, p.Target)
	}
	t.flush()
	var counts []string
	for _, k := range slices.Sorted(maps.Keys(r.Counts)) {
		counts = append(counts, fmt.Sprintf("%s %d", k, r.Counts[k]))
	}
	s.remark(strings.Join(counts, ", "))
	s.remark(r.Note)
}
