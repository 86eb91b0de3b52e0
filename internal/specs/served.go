package specs

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search"
	"github.com/seed-4f2d999b/knowledge/internal/specs/kdd"
	"github.com/seed-4f2d999b/knowledge/internal/specs/lint"
	"github.com/seed-4f2d999b/knowledge/internal/text/specdoc"
)

const (
	maxServed = 5 // places of code, and of tests, that are shown
	maxIDs    = 3 // of a specification that are looked for in code
)

// served is what has to do with a specification outside of them: the code that
// implements or names it, and the tests that prove it.
type served struct{ code, tests []search.Related }

// servedBy returns the code and the tests of a specification: what names its
// id, and the files that it names itself.
func (s *specs) servedBy(ctx context.Context, targets []search.Target, d *kdd.Doc) (served, error) {
	var out served
	ids := d.IDs()
	for _, id := range ids[:min(maxIDs, len(ids))] {
		if len([]rune(id)) < 3 || strings.Contains(id, `"`) {
			continue
		}
		found, err := search.Run(ctx, targets, s.Core.Embedder,
			search.Request{Query: `"` + id + `"`, Mode: "fts", Limit: 8 * maxServed, Without: specWithout})
		if err != nil && kb.CodeOf(err) != kb.Invalid { // no word to look for
			return out, err
		}
		for _, h := range found.Hits {
			t := targets[h.Where.Target]
			if s.graph.Doc(t.Store.ID, h.Where.Path) == nil || strings.HasSuffix(h.Where.Path, ".feature") {
				out.add(h.Where.Path, search.Related{ID: h.ID, At: h.At, Symbol: h.Symbol, Why: "names " + id})
			}
		}
	}
	return out, s.named(ctx, targets, d, &out)
}

// named adds the files that a specification names by their path.
func (s *specs) named(ctx context.Context, targets []search.Target, d *kdd.Doc, out *served) error {
	var paths []string
	for _, text := range s.graph.Named(d) {
		for _, p := range []string{path.Clean(text), path.Join(path.Dir(d.Path), text)} {
			if strings.Contains(p, "/") && !strings.HasPrefix(p, "../") && !specdoc.MayRead(p) && !slices.Contains(paths, p) {
				paths = append(paths, p)
			}
		}
	}
	there, err := targets[d.Source].Index.Identities(ctx, paths[:len(paths):len(paths)])
	if err != nil || len(paths) == 0 {
		return err
	}
	for _, x := range there {
		out.add(x.Path, search.Related{At: x.Path, Why: "named by the specification"})
	}
	return nil
}

// add takes a place, one of each file.
func (s *served) add(file string, r search.Related) {
	list := &s.code
	if lint.Proves(file) {
		list = &s.tests
		r.Why = strings.Replace(r.Why, "names ", "tests ", 1)
	}
	same := func(x search.Related) bool { return x.At == r.At || strings.HasPrefix(x.At, file+":") && r.ID == "" }
	if len(*list) < maxServed && !slices.ContainsFunc(*list, same) {
		*list = append(*list, r)
	}
}

// extra is what a place in a specification shows of code.
func (s *served) extra() kb.Extra {
	var x kb.Extra
	for _, l := range []struct {
		name, says string
		list       []search.Related
	}{{"mentionedBy", "named by", s.code}, {"provenBy", "tested by", s.tests}} {
		if len(l.list) == 0 {
			continue
		}
		x.Members = append(x.Members, kb.Member{Name: l.name, Value: l.list})
		for _, r := range l.list {
			x.Lines = append(x.Lines, strings.TrimRight(fmt.Sprintf("%s %s  %s  %s", l.says, printer.Name(r.At), r.Symbol, r.ID), " "))
		}
	}
	return x
}

// serves returns the specifications that a file of code serves, by its path;
// nil where no store has such a file.
func (s *specs) serves(ctx context.Context, targets []search.Target, file string) ([]SpecRef, error) {
	file = strings.TrimPrefix(strings.ReplaceAll(file, `\`, "/"), "./")
	if file == "" || strings.ContainsAny(file, "\n\x00") {
		return nil, nil
	}
	for i := range targets {
		there, err := targets[i].Index.Identities(ctx, []string{file})
		if err != nil {
			return nil, &search.TargetError{Target: i, Err: err}
		}
		if len(there) == 0 || s.graph.Doc(targets[i].Store.ID, file) != nil {
			continue
		}
		d, err := targets[i].Index.Document(ctx, file)
		if err != nil {
			return nil, &search.TargetError{Target: i, Err: err}
		}
		return s.specsOf(&search.Context{Path: file, Code: d.Body}), nil
	}
	return nil, nil
}
