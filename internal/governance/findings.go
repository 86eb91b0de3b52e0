package governance

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
	"github.com/seed-4f2d999b/knowledge/internal/governance/evidence"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// evidenceCache keeps the evidence that was read last of each root, for as
// long as its file does not change. The zero value is ready.
type evidenceCache struct {
	mu sync.Mutex
	of map[string]*cachedEvidence
}

type cachedEvidence struct {
	info   os.FileInfo
	file   *evidence.File
	byFile map[string][]evidence.Finding // made at first use
}

// get returns the evidence of root, nil when there is none. Where there is
// none it costs one stat.
func (c *evidenceCache) get(root string) *cachedEvidence {
	info, err := os.Stat(root + string(os.PathSeparator) + evidence.Name)
	if os.IsNotExist(err) {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if have := c.of[root]; err == nil && have != nil && os.SameFile(have.info, info) && have.info.Size() == info.Size() && have.info.ModTime().Equal(info.ModTime()) {
		return have
	}
	got := &cachedEvidence{info: info, file: evidence.Read(root)}
	if got.file.Kind == evidence.Valid {
		got.byFile = got.file.ByFile()
	}
	if c.of == nil {
		c.of = map[string]*cachedEvidence{}
	}
	if err == nil {
		c.of[root] = got
	}
	return got
}

// Evidence reads what a governance tool left about the project.
func Evidence(_ context.Context, a *app.App) (*evidence.File, error) {
	p, err := a.Where()
	if err != nil {
		return nil, err
	}
	return evidence.Read(p.Root), nil
}

// HasEvidence reports whether there is any about the project, valid or not.
func HasEvidence(a *app.App) bool {
	p, err := a.Where()
	if err != nil || p.None {
		return false
	}
	_, err = os.Stat(filepath.Join(p.Root, evidence.Name))
	return err == nil
}

// ValidEvidence is Evidence, and an error where there is none that is valid.
func ValidEvidence(ctx context.Context, a *app.App) (*evidence.File, error) {
	f, err := Evidence(ctx, a)
	if err != nil {
		return nil, err
	}
	return f, f.Check()
}

// known is what evidence and imported reports say of the files of the own folder.
type known struct {
	evidence, imports map[string][]evidence.Finding
	covered           map[string][]evidence.Covered
}

// knownOf returns what is known of the own folder, false for nothing.
func knownOf(a *app.App) (k known, any bool) {
	p, err := a.Where()
	if err != nil {
		return k, false // what needs a project says so
	}
	if e := evidenceOf(a).get(p.Root); e != nil {
		k.evidence = e.byFile
	}
	k.imports, k.covered = importedOf(a)
	return k, len(k.evidence)+len(k.imports)+len(k.covered) > 0
}

// of returns the findings of a file, those of the evidence first.
func (k known) of(path string) []evidence.Finding {
	return slices.Concat(k.evidence[path], k.imports[path])
}

// own reports whether a target is the folder of the project as it is:
// evidence speaks of no other, and of no older commit.
func own(a *app.App, t *search.Target) bool {
	p, err := a.Where()
	return err == nil && t.Fresh != nil && t.Store.Spec.Source == p.Root
}

// countFindings lets hits of the own folder say how many findings are open in
// their files.
func countFindings(a *app.App, targets []search.Target) {
	k, any := knownOf(a)
	if !any {
		return
	}
	for i := range targets {
		if own(a, &targets[i]) {
			targets[i].Extras = append(targets[i].Extras, func(path string) (kb.Extra, bool) {
				n := len(k.of(path))
				return kb.Extra{Members: []kb.Member{{Name: "findings", Value: n}}, Lines: []string{kb.Count(n, "open finding") + " in its file"}}, n > 0
			})
		}
	}
}

// shownFindings and shownMessage bound what a place shows of findings.
const (
	shownFindings = 10
	shownMessage  = 200 // characters
)

// showFindings adds the open findings of its file to a place, those in its
// lines first and then the worst.
func showFindings(a *app.App, targets []search.Target, found *search.Context) {
	k, any := knownOf(a)
	if !any {
		return
	}
	i := slices.IndexFunc(targets, func(t search.Target) bool { return t.Label == found.Store })
	if i < 0 || !own(a, &targets[i]) {
		return
	}
	if x, ok := coverage(k.covered[found.Path]); ok {
		found.Extras = append(found.Extras, x)
	}
	all := k.of(found.Path)
	here := func(f evidence.Finding) int {
		if slices.ContainsFunc(f.Lines, func(l int) bool { return l >= found.Start && l <= found.End }) {
			return 0
		}
		return 1
	}
	kb.SortStableFunc(all, func(x, y evidence.Finding) int {
		return cmp.Or(here(x)-here(y), evidence.Rank(x.Severity)-evidence.Rank(y.Severity))
	})
	more := max(len(all)-shownFindings, 0)
	all = all[:min(len(all), shownFindings)]
	if len(all) == 0 {
		return
	}
	x := kb.Extra{Members: []kb.Member{{Name: "findings", Value: all}}}
	for i := range all {
		f := &all[i]
		f.Rule, f.Message = app.ClipRunes(f.Rule, shownMessage), app.ClipRunes(f.Message, shownMessage)
		f.Lines = f.Lines[:min(len(f.Lines), 20)]
		at := ""
		if len(f.Lines) > 0 {
			at = "  " + strings.ReplaceAll(strings.Trim(fmt.Sprint(f.Lines), "[]"), " ", ",")
		}
		l := fmt.Sprintf("finding %s  %s%s  %s", f.Severity, printer.Field(f.Rule), at, printer.Field(f.Message))
		if f.Source != "" {
			l += "  (" + printer.Field(f.Source) + ")"
		}
		x.Lines = append(x.Lines, l)
	}
	if more > 0 {
		x.Members = append(x.Members, kb.Member{Name: "moreFindings", Value: more})
		x.Lines = append(x.Lines, fmt.Sprintf("and %s: knowledge evidence:%s --file %s", kb.Count(more, "more finding"), listing(k, found.Path), found.Path))
	}
	found.Extras = append(found.Extras, x)
}

// listing names the command that lists the rest of the findings of a file.
func listing(k known, path string) string {
	if len(k.evidence[path]) > 0 {
		return "findings"
	}
	return "imports"
}

// coverage is what a place shows of the tests that run its file.
func coverage(list []evidence.Covered) (kb.Extra, bool) {
	x := kb.Extra{Members: []kb.Member{{Name: "coverage", Value: list}}}
	for _, c := range list {
		x.Lines = append(x.Lines, fmt.Sprintf("tests run %d of %s  (%s)", c.Lines, kb.Count(c.Of, "line"), printer.Field(c.Source)))
	}
	return x, len(list) > 0
}

func evidenceOf(a *app.App) *evidenceCache {
	return app.State(a, func() *evidenceCache { return &evidenceCache{} })
}

func hooks() app.Room {
	return app.Room{
		Hits: func(a *app.App, targets []search.Target) { countFindings(a, targets) },
		Place: func(_ context.Context, a *app.App, s *app.Shelves, _ func(kb.StoreID) bool, found *search.Context) {
			showFindings(a, s.Targets, found)
		},
	}
}
