package search

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
	"github.com/seed-4f2d999b/knowledge/internal/search/rank"
	"github.com/seed-4f2d999b/knowledge/internal/text/terms"
)

// place finds what speaks for each target by itself: whose it is, whether the
// query names it and whether the own project speaks of it.
func (q *question) place(ctx context.Context, targets []Target) error {
	stores := make([]rank.Standing, len(targets))
	for i := range targets {
		t := &targets[i]
		stores[i].Own = t.Own
		for _, name := range t.names() {
			stores[i].Named = q.Within(name) || stores[i].Named
		}
	}
	if len(targets) == 1 {
		return nil
	}
	q.stores = stores
	q.versions(targets)
	return q.imported(ctx, targets)
}

// names are those that a store goes by: its own, and that of the repository,
// package or folder that it is made of.
func (t *Target) names() []string {
	source := strings.TrimSuffix(library(&t.Store.Spec), ".git")
	source = source[strings.LastIndexAny(source, `/\:`)+1:]
	if source == "" || strings.EqualFold(source, t.Label) {
		return []string{t.Label}
	}
	return []string{t.Label, source}
}

// imported marks the stores whose names the own project's text says.
func (q *question) imported(ctx context.Context, targets []Target) error {
	own := slices.IndexFunc(targets, func(t Target) bool { return t.Own })
	if own < 0 {
		return nil
	}
	var words []string
	var of []int
	for i := range targets {
		for _, name := range targets[i].names() {
			name, _, _ = strings.Cut(name, "@")
			if w := terms.Of(name); len(w) > 0 && i != own {
				words, of = append(words, w[0]), append(of, i)
			}
		}
	}
	st, err := targets[own].Index.Stats(ctx, words, nil)
	if err != nil {
		return &TargetError{own, err}
	}
	for k, n := range st.Frequency {
		q.stores[of[k]].Imported = q.stores[of[k]].Imported || n > 0
	}
	return nil
}

// numberRE is a version as names of stores, tags and queries have it.
var numberRE = lazyregexp.New(`\d+(?:\.\d+)*`)

// versions marks, of stores that hold several versions of the same, all but the
// newest or, where the query says the number of one, all but that.
func (q *question) versions(targets []Target) {
	same := map[string][]int{}
	for i := range targets {
		if of, _ := targets[i].version(); of != "" {
			same[of] = append(same[of], i)
		}
	}
	asked := numberRE.Regexp().FindAllString(q.Text, -1)
	for _, of := range same {
		best := slices.MaxFunc(of, func(a, b int) int {
			_, x := targets[a].version()
			_, y := targets[b].version()
			if c := meant(asked, x) - meant(asked, y); c != 0 {
				return c
			}
			return slices.Compare(x, y)
		})
		for _, i := range of {
			q.stores[i].Older = i != best
		}
	}
}

// meant is how many numbers of a version the best of those asked for names.
func meant(asked []string, version []int) int {
	most := 0
	for _, a := range asked {
		if n := numbers(a); len(n) <= len(version) && slices.Equal(n, version[:len(n)]) {
			most = max(most, len(n))
		}
	}
	return most
}

// packaged is what the source of a package looks like: npm:zod@3.
var packaged = lazyregexp.New(`^[a-z]{2,}:[^/\\]`)

// library is what a store is made of, without the version of a package.
func library(spec *kb.Spec) string {
	if i := strings.LastIndexByte(spec.Source, '@'); i > 0 && spec.Source[i-1] != ':' && packaged.MatchString(spec.Source) {
		return spec.Source[:i]
	}
	return spec.Source
}

// version returns what a store is a version of, and which; nil without one.
func (t *Target) version() (of string, version []int) {
	spec := &t.Store.Spec
	said := spec.Ref.Name
	if t.Store.Head != nil && packaged.MatchString(spec.Source) {
		said = t.Store.Head.Commit
	}
	if v := numberRE.Regexp().FindString(said); v != "" && spec.Ref.Type != kb.RefCommit && spec.Ref.Type != kb.RefBranch {
		return library(spec), numbers(v)
	}
	return "", nil
}

func numbers(version string) (out []int) {
	for part := range strings.SplitSeq(version, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return nil
		}
		out = append(out, n)
	}
	return out
}
