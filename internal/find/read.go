package find

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/visible"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// readBytes bounds one reply of read.
const readBytes = 40_000

// Read returns lines of one document of a store; lines is "", "12", "12-40",
// "12-" or "-40". A path with " @ abc1234" behind it is read as it was at that revision.
func Read(ctx context.Context, a *app.App, store, path, lines string, w app.Waiting) (FileText, error) {
	if _, _, err := parseLines(lines); err != nil {
		return FileText{}, err
	}
	if then, rev, ok := search.CutRevision(path); ok {
		return readAt(ctx, a, then, lines, app.Scope{At: rev, Stores: []string{store}, Waiting: w})
	}
	s, err := a.One(ctx, store, w)
	if err != nil {
		return FileText{}, err
	}
	defer s.Release()
	return read(ctx, s, path, lines, func(path string) search.Asked { return search.Asked{Path: app.PlainPath(path)} })
}

// ReadHere is Read for a document of the folder of the work tree that asks,
// else of the other stores in scope.
func ReadHere(ctx context.Context, a *app.App, path, lines string, w app.Waiting) (FileText, error) {
	if _, _, err := parseLines(lines); err != nil {
		return FileText{}, err
	}
	if then, rev, ok := search.CutRevision(path); ok {
		return readAt(ctx, a, then, lines, app.Scope{At: rev, Waiting: w})
	}
	s, err := a.ScopeFromHere(ctx, w)
	if err != nil {
		return FileText{}, err
	}
	defer s.Release()
	return read(ctx, s, path, lines, func(path string) search.Asked { return a.Asked(path, w.Person) })
}

// read finds a document and returns its lines.
func read(ctx context.Context, s *app.Shelves, written, lines string, asked func(string) search.Asked) (FileText, error) {
	at, fragment, err := find(ctx, s, asked(written))
	if err != nil {
		// A place, as hits and compilers write it.
		file, _, isPlace := search.ParsePlace(written)
		if kb.CodeOf(err) != kb.NotFound || !isPlace || lines != "" {
			return FileText{}, err
		}
		if whole, quoted := visible.Unquote(strings.TrimSpace(written)); quoted {
			written = whole
		}
		lines = strings.ReplaceAll(strings.TrimPrefix(strings.TrimPrefix(written, file), ":"), "L", "")
		lines, _, _ = strings.Cut(lines, ":")
		if at, fragment, err = find(ctx, s, asked(file)); err != nil {
			return FileText{}, err
		}
	}
	from, to, err := parseLines(lines)
	if err != nil {
		return FileText{}, err
	}
	t := &s.Targets[at.Target]
	d, err := t.Index.Document(ctx, at.Path)
	if err == nil && fragment != "" && lines == "" {
		from, to, err = section(&d, fragment)
	}
	if err != nil {
		return FileText{}, err
	}
	all := strings.Split(strings.TrimSuffix(d.Body, "\n"), "\n")
	r := FileText{Store: t.Label, Path: d.Path, Lines: len(all)}
	if t.Store.Head != nil {
		r.Commit = t.Store.Head.Commit
	}
	if from == 0 {
		from = 1
	}
	if to == 0 || to > len(all) {
		to = len(all)
	}
	if from > len(all) {
		return FileText{}, kb.Errorf(kb.Invalid, "%q has %d lines; line %d is beyond its end", d.Path, len(all), from).WithHint("ask for lines 1-%d", len(all))
	}
	n, size := from-1, 0
	for n < to && (n == from-1 || size+len(all[n]) < readBytes) {
		size += len(all[n]) + 1
		n++
	}
	r.Start, r.End, r.Text = from, n, strings.Join(all[from-1:n], "\n")
	notes := s.Notes
	if n < to {
		notes = append(notes, fmt.Sprintf("cut here; go on with lines %d-%d", n+1, to))
	}
	if t.Fresh != nil {
		if s := t.Fresh(d.Path, d.Stamp); s != "" {
			notes = append(notes, s)
		}
	}
	if t.Page != nil {
		if page, ok := t.Page(d.Path); ok {
			r.URL = page.URL
			notes = append(notes, search.Untrusted)
		}
	}
	r.Note = t.Mark(strings.Join(notes, "; "), d.Path, r.Text)
	return r, nil
}

// find returns the document that a written path means: a path in
// any of its spellings, or the address of a page.
func find(ctx context.Context, s *app.Shelves, asked search.Asked) (search.Located, string, error) {
	for i := range s.Targets {
		if p, fragment := s.Core.PagePath(s.Targets[i].Store, asked.Path); p != asked.Path || fragment != "" {
			at, err := s.Targets[i].Index.Documents(ctx, p)
			if err != nil {
				return search.Located{}, "", err
			}
			if len(at) == 1 && at[0] == p {
				return search.Located{Target: i, Path: p}, fragment, nil
			}
		}
	}
	found, err := search.Locate(ctx, s.Targets, asked)
	if err != nil {
		return search.Located{}, "", err
	}
	return found[0], "", nil
}

// section returns the lines of the section that a fragment names.
func section(d *kb.DocumentText, fragment string) (from, to int, err error) {
	names := []string{"#" + fragment}
	if plain, err := url.PathUnescape(fragment); err == nil {
		names = append(names, "#"+plain)
	}
	var all []string
	for i := range d.Chunks {
		for j := range d.Chunks[i].Symbols {
			if s := &d.Chunks[i].Symbols[j]; slices.Contains(names, s.Signature) {
				return s.Start, s.End, nil
			} else if strings.HasPrefix(s.Signature, "#") {
				all = append(all, s.Signature)
			}
		}
	}
	e := kb.Errorf(kb.NotFound, "the page has no section #%s", fragment)
	if len(all) == 0 {
		return 0, 0, e.WithHint("leave the fragment out to read the whole page")
	}
	return 0, 0, e.WithHint("there are: %s", strings.Join(all[:min(len(all), 20)], " "))
}

// parseLines reads a range; 0 is an open end.
func parseLines(s string) (from, to int, err error) {
	bad := kb.Errorf(kb.Invalid, "%q is no range of lines", s).WithHint("write 12, 12-40, 12- or -40")
	s = strings.TrimSpace(s)
	if s == "" {
		return 0, 0, nil
	}
	number := func(s string) int {
		n, e := strconv.Atoi(strings.TrimPrefix(strings.TrimSpace(s), "L"))
		if e != nil || n < 1 {
			err = bad
		}
		return n
	}
	a, b, isRange := strings.Cut(s, "-")
	switch {
	case !isRange:
		from = number(s)
		to = from
	case a == "" && b == "":
		return 0, 0, bad
	default:
		if a != "" {
			from = number(a)
		}
		if b != "" {
			to = number(b)
		}
	}
	if err == nil && to > 0 && from > to {
		err = bad
	}
	return from, to, err
}
