// Package elsewhere names what is not indexed and may answer what nothing in
// scope does: the dependencies of the project.
package elsewhere

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/visible"
	"github.com/seed-4f2d999b/knowledge/internal/source"
	"github.com/seed-4f2d999b/knowledge/internal/source/deps"
)

const (
	// mostOutlines bounds the documents whose imports are looked at, mostNear the
	// hits whose imports count, mostNames what is kept of a dependency's used names.
	mostOutlines = 5000
	mostNear     = 10
	mostNames    = 200
	// everyTopic is which of the table's packages a question is compared to.
	everyTopic = 25
	// leastFit is from which fit on a dependency is proposed, loneFit where only
	// one word of the question is about it, strongFit where the first hit is sure
	// (from sureFrom on), which takes sureWords words. Of several that are proposed where
	// nothing answers the others come within closeFit of the first.
	leastFit     = 0.5
	loneFit      = 0.62
	strongFit    = 0.82
	sureFrom     = 0.85
	sureWords    = 3
	closeFit     = 0.45
	mostProposed = 3
	// fewWords is how many telling words a query has at most that names what it
	// wants: what is found of that is what is meant.
	fewWords = 3
)

// fit is what speaks for a dependency:
//
//	σ(bias + byShare·share + byMeaning·meaning + byNear·near)
//
// share is deps.Share, meaning by how many standard deviations the question is
// nearer to the dependency than to ordinary packages, near the share of the
// nearest hits whose documents import it, less what all documents have.
const (
	fitBias   = -4.0
	byShare   = 12.0
	byMeaning = 0.8
	byNear    = 1.0
)

// Proposal is a dependency that may answer, with what speaks for it.
type Proposal struct {
	deps.Dependency
	Fit                  float64  // in [0,1]
	Share, Meaning, Near float64  // see fit
	Words                []string // of the question, that it is about
}

// holders are what the project's dependencies hold, kept until the project
// changes.
type holders struct {
	mu   sync.Mutex
	of   string // root, generation and manifests
	have *deps.Holders
	docs map[string][]int // document → the dependencies that it imports
	vecs [][]float32
	base [][]float32 // of ordinary packages
}

// Room is the room.
func Room() command.Room {
	return command.Room{Name: "elsewhere", App: app.Room{Elsewhere: name}}
}

// name names the dependencies of the project that are not indexed and may
// answer what nothing in scope does, and how each is added.
func name(ctx context.Context, a *app.App, c *app.Core, q app.Unanswered) ([]string, error) {
	p, err := a.Where()
	if err != nil || p.None || source.Dangerous(p.Root) != "" {
		return nil, err
	}
	list, manifests, err := Propose(ctx, a, c, q)
	if err != nil || manifests == 0 {
		return nil, err
	}
	if len(list) == 0 && q.Absent {
		return []string{fmt.Sprintf("none of the dependencies in %s seems to be about it either", kb.Count(manifests, "manifest"))}, nil
	}
	var out []string
	for i, x := range list {
		lead := "a dependency that is not indexed may answer: "
		if i > 0 {
			lead = "or "
		}
		out = append(out, lead+x.line())
	}
	return out, nil
}

// line names a dependency, why it is proposed, and the command that adds it.
func (x *Proposal) line() string {
	why := []string{x.Manifest}
	if x.Files > 0 {
		why = append(why, "imported by "+kb.Count(x.Files, "file"))
	}
	if len(x.Words) > 0 {
		why = append(why, "about "+strings.Join(x.Words[:min(len(x.Words), 4)], ", "))
	}
	id := strings.TrimSpace(x.ID() + " " + x.Version)
	return fmt.Sprintf("%s (%s); index it with: %s", visible.Name(kb.Clip(id, 120)), visible.Name(kb.Clip(strings.Join(why, "; "), 160)), x.add())
}

// add is the command that indexes a dependency: its code where it is known where
// that lies, else what its registry has of it.
func (x *Proposal) add() string {
	switch {
	case x.Repository != "":
		return fmt.Sprintf("suggest %s", app.Args{"only": []string{x.ID()}, "add": true})
	case x.Ecosystem == "npm" || x.Ecosystem == "go":
		src := x.ID()
		if x.Version != "" {
			src += "@" + x.Version
		}
		return fmt.Sprintf("store:create %s", app.Args{"source": src})
	}
	return fmt.Sprintf("suggest %s", app.Args{"only": []string{x.ID()}, "add": true, "registry": true})
}

// Propose returns the dependencies of the project that are likeliest to answer,
// without those that are indexed, and how many manifests were read: none for a
// question of few words that something answers.
func Propose(ctx context.Context, a *app.App, c *app.Core, q app.Unanswered) ([]Proposal, int, error) {
	if !q.Absent && len(slices.DeleteFunc(slices.Clone(q.Words), func(w string) bool { return w == "" })) <= fewWords {
		return nil, 0, nil // before anything is weighed: most searches for a name end here
	}
	list, manifests, err := weigh(ctx, a, c, q)
	if err != nil {
		return nil, 0, err
	}
	if !q.Absent && !slices.ContainsFunc(list, func(x Proposal) bool { return x.despite(q.Sure) }) {
		return nil, manifests, nil // whichever are indexed, which the catalog says
	}
	if list, err = unindexed(ctx, a, c, list); err != nil {
		return nil, 0, err
	}
	if !q.Absent {
		if len(list) == 0 || !list[0].despite(q.Sure) {
			return nil, manifests, nil
		}
		return list[:1], manifests, nil
	}
	for i, x := range list {
		if i == mostProposed || x.Fit < leastFit || x.Fit < list[0].Fit*closeFit {
			list = list[:i]
			break
		}
	}
	return list, manifests, nil
}

// despite reports whether a dependency is worth a line although something was
// found that is right with a probability. bench/absent has the figures.
func (x *Proposal) despite(sure float64) bool {
	switch {
	case x.Dev:
		return false
	case sure >= sureFrom:
		return len(x.Words) >= sureWords && x.Fit >= strongFit
	case len(x.Words) < 2:
		return x.Near > 0 && x.Fit >= loneFit
	}
	return x.Fit >= leastFit
}

// Weigh returns all dependencies of the project that are not indexed, the
// likeliest to answer first, and how many manifests were read.
func Weigh(ctx context.Context, a *app.App, c *app.Core, q app.Unanswered) ([]Proposal, int, error) {
	list, manifests, err := weigh(ctx, a, c, q)
	if err == nil {
		list, err = unindexed(ctx, a, c, list)
	}
	return list, manifests, err
}

// weigh is Weigh, of those that are indexed, too.
func weigh(ctx context.Context, a *app.App, c *app.Core, q app.Unanswered) ([]Proposal, int, error) {
	p, err := a.Where()
	if err != nil {
		return nil, 0, err
	}
	h := app.State(c, func() *holders { return &holders{} })
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.gather(ctx, c, p.Root, q.Targets); err != nil {
		return nil, 0, err
	}
	list, err := h.rank(ctx, c, q)
	return list, len(h.have.Manifests), err
}

// unindexed leaves out what is indexed.
func unindexed(ctx context.Context, a *app.App, c *app.Core, list []Proposal) ([]Proposal, error) {
	indexed, err := indexedOf(ctx, a, c)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list, func(x Proposal) bool { return indexed(x.Dependency) }), nil
}

// indexedOf returns the test whether a store in scope has a dependency.
func indexedOf(ctx context.Context, a *app.App, c *app.Core) (func(deps.Dependency) bool, error) {
	entries, err := a.Scope(ctx, c, false)
	if err != nil {
		return nil, err
	}
	have := map[string]bool{}
	for _, e := range entries {
		src := strings.ToLower(e.Spec.Source)
		have[strings.TrimSuffix(src, ".git")] = true
		if eco, rest, ok := strings.Cut(src, ":"); ok { // a package: npm:zod@3
			if i := strings.LastIndexByte(rest, '@'); i > 0 {
				rest = rest[:i]
			}
			have[eco+":"+rest] = true
		}
	}
	return func(d deps.Dependency) bool {
		return d.Repository != "" && have[strings.ToLower(strings.TrimSuffix(d.Repository, ".git"))] || have[strings.ToLower(d.ID())]
	}, nil
}
