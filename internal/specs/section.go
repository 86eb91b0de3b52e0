package specs

import (
	"context"
	"fmt"
	"net/url"
	"path"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search"
	"github.com/seed-4f2d999b/knowledge/internal/source"
	"github.com/seed-4f2d999b/knowledge/internal/specs/kdd"
	"github.com/seed-4f2d999b/knowledge/internal/specs/lint"
	"github.com/seed-4f2d999b/knowledge/internal/text/specdoc"
)

// SectionReply is the reply of kdd:section: Markdown as it was indexed, from a
// heading to the next of the same or a higher level.
type SectionReply struct {
	URL     string `json:"url"`
	Store   string `json:"store"`
	Path    string `json:"path"`
	Title   string `json:"title"`
	Section string `json:"section"`
	Anchor  string `json:"anchor"`
	Start   int    `json:"start"` // lines, 1-based, inclusive
	End     int    `json:"end"`
	Content string `json:"content"`
	Note    string `json:"note,omitempty"`
}

// sectionBytes is the most text that one reply holds.
const sectionBytes = 40_000

// Section returns a section of a Markdown document of a store in scope. file
// is an address as kdd:search gives it, with or without a fragment, or a path
// in a store; without an anchor it is the whole document.
func Section(ctx context.Context, a *app.App, file, anchor string, scope Scope) (SectionReply, error) {
	file = strings.TrimSpace(file)
	if file == "" {
		return SectionReply{}, kb.Errorf(kb.Invalid, "no file is named").WithHint("pass the url of a result of kdd:search, or a path of kdd:list")
	}
	if len(file) > 8<<10 || len(anchor) > 8<<10 {
		return SectionReply{}, kb.Errorf(kb.TooLarge, "the address is longer than 8 KiB").WithHint("pass the url of a result of kdd:search")
	}
	address, fragment, _ := strings.Cut(file, "#")
	if anchor == "" {
		anchor = fragment
	}
	anchor = strings.TrimPrefix(strings.TrimSpace(anchor), "#")
	if a, err := url.PathUnescape(anchor); err == nil {
		anchor = a
	}
	scope.Statuses = []string{"all"} // who names a document means it
	s, err := open(ctx, a, scope)
	if err != nil {
		return SectionReply{}, err
	}
	defer s.Release()
	var out SectionReply
	err = s.ask(ctx, func(targets []search.Target) error {
		d, err := s.document(targets, address)
		if err != nil {
			return err
		}
		out, err = s.section(ctx, targets, d, anchor)
		return err
	})
	if err == nil && len(s.Targets) == 0 {
		return SectionReply{}, kb.Errorf(kb.NotFound, "%s", strings.Join(s.Notes, "; ")).WithHint("ask again when it is indexed; see: jobs")
	}
	return out, err
}

// document returns the document that an address or a path means.
func (s *specs) document(targets []search.Target, file string) (*kdd.Doc, error) {
	var found []*kdd.Doc
	for i := range targets {
		st := targets[i].Store
		paths := []string{path.Clean(strings.TrimPrefix(strings.ReplaceAll(file, `\`, "/"), "/"))}
		if strings.Contains(file, "://") {
			page, _ := s.Core.PagePath(st, file)
			paths = append(source.Cited(st, file), page)
		} else if strings.HasPrefix(file, "/") || len(file) > 2 && file[1] == ':' {
			paths = append(source.Cited(st, "file:///"+strings.TrimPrefix(strings.ReplaceAll(file, `\`, "/"), "/")), paths...)
		}
		for _, p := range paths {
			if d := s.graph.Doc(st.ID, p); d != nil {
				found = append(found, d)
				break
			}
		}
	}
	if len(found) == 0 && !strings.Contains(file, "://") {
		// The end of a path, where it says which: "entities/Order.md", "Order".
		suffix := "/" + strings.Trim(path.Clean("/"+strings.ReplaceAll(file, `\`, "/")), "/")
		for _, d := range s.graph.Docs() {
			if strings.HasSuffix("/"+d.Path, suffix) || !strings.Contains(suffix[1:], "/") && specdoc.Stem(d.Path) == suffix[1:] {
				found = append(found, d)
			}
		}
	}
	switch {
	case len(found) == 1, len(found) > 1 && found[0].Path == file:
		return found[0], nil
	case len(found) > 1:
		var where []string
		for i, d := range found {
			if i == 5 {
				where = append(where, "…")
				break
			}
			where = append(where, d.Label+": "+d.Path)
		}
		return nil, kb.Errorf(kb.Invalid, "%q is more than one document", app.ClipRunes(file, 100)).WithHint("there are %s", strings.Join(where, ", "))
	}
	e := kb.Errorf(kb.NotFound, "no Markdown document %q in the stores in scope", app.ClipRunes(file, 200))
	if _, near := s.graph.Find(specdoc.Stem(strings.ReplaceAll(file, `\`, "/")), kdd.Filter{Seen: kdd.Seen{All: true}}); len(near) > 0 {
		return nil, e.WithHint("did you mean %s? kdd:list shows the paths", near[0].Name)
	}
	return nil, e.WithHint("kdd:list shows the paths; name other stores with stores")
}

// section cuts a section out of a document.
func (s *specs) section(ctx context.Context, targets []search.Target, d *kdd.Doc, anchor string) (SectionReply, error) {
	t := &targets[d.Source]
	doc, err := t.Index.Document(ctx, d.Path)
	if err != nil {
		return SectionReply{}, &search.TargetError{Target: d.Source, Err: err}
	}
	lines := strings.SplitAfter(doc.Body, "\n")
	if n := len(lines); n > 0 && lines[n-1] == "" {
		lines = lines[:n-1]
	}
	out := SectionReply{URL: s.urlOf(d, -1), Store: t.Label, Path: d.Path, Title: d.Title, Start: 1, End: len(lines)}
	if anchor != "" {
		i := d.Section(anchor, s.place(d).Forge)
		if i < 0 {
			return SectionReply{}, kb.Errorf(kb.NotFound, "%s has no heading %q", d.Path, app.ClipRunes(anchor, 100)).WithHint("its headings: %s", lint.Headings(d))
		}
		out.URL, out.Section, out.Anchor = s.urlOf(d, i), heading(d, i), d.Sections[i].Anchor
		out.Start, out.End = d.Sections[i].Start, min(d.Until(i), len(lines))
	}
	n, size := out.Start-1, 0
	for n < out.End && (n == out.Start-1 || size+len(lines[n]) <= sectionBytes) {
		size += len(lines[n])
		n++
	}
	out.Content = strings.Join(lines[max(0, out.Start-1):n], "")
	var notes []string
	if n < out.End {
		notes = append(notes, fmt.Sprintf("cut at line %d of %d; go on with: read {\"store\":%q,\"path\":%q,\"lines\":\"%d-%d\"}", n, out.End, t.Store.Label(), d.Path, n+1, out.End))
		out.End = n
	}
	if t.Fresh != nil {
		if f := t.Fresh(d.Path, doc.Stamp); f != "" {
			notes = append(notes, f)
		}
	}
	if st := s.standing(d); st != "" {
		notes = append(notes, "the document is "+st)
	}
	out.Note = strings.Join(notes, "; ")
	return out, nil
}
