package app

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/data/verify"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Verified is the reply of verify.
type Verified struct {
	verify.Report
	Repair bool `json:"repair,omitempty"`
}

// ExitStatus is 7 when something is damaged, missing or open to others and not
// mended, 1 when only something is left over, which harms nothing.
func (v Verified) ExitStatus() int {
	status := 0
	for _, f := range v.Findings {
		switch {
		case f.Mended:
		case f.Status == verify.Left:
			status = max(status, 1)
		default:
			status = 7
		}
	}
	return status
}

// Text tells it to a person: a line for each finding, what to do, and a sum.
func (v Verified) Text() string {
	var b strings.Builder
	hints := map[string]bool{}
	for _, f := range v.Findings {
		word := string(f.Status)
		if f.Mended {
			word = "mended"
		}
		fmt.Fprintf(&b, "%-8s %s", word, cmp.Or(f.File, "-"))
		if f.Store != "" {
			b.WriteString(" (" + f.Store + ")")
		}
		b.WriteString(": " + f.Text + "\n")
		if f.Hint != "" && !f.Mended && !hints[f.Hint] {
			hints[f.Hint] = true
			b.WriteString("         " + f.Hint + "\n")
		}
	}
	fmt.Fprintf(&b, "%s, %s, %s read: ", countOf(v.Stores, "store"), countOf(v.Files, "file"), bytesOf(v.Bytes))
	left := 0
	for _, f := range v.Findings {
		if f.Status == verify.Left && !f.Mended {
			left++
		}
	}
	switch n := len(v.Findings); {
	case n == left:
		b.WriteString("all of it is there and true")
		if left > 0 {
			fmt.Fprintf(&b, "; %s may go: knowledge gc", countOf(left, "leftover"))
		}
	case v.Repair:
		fmt.Fprintf(&b, "%s, %d mended", countOf(n, "finding"), v.Mended)
	default:
		fmt.Fprintf(&b, "%s; mend what can be mended: knowledge verify --repair", countOf(n, "finding"))
	}
	return b.String()
}

// Verify reads every file that a store, or every store when store is "",
// relies on, and mends what is damaged if repair is set.
func (a *App) Verify(ctx context.Context, store string, repair bool) (Verified, error) {
	var stores []kb.Store
	c, err := a.open(ctx)
	if err == nil && store != "" {
		var st kb.Store
		if _, st, err = a.lookup(ctx, store); err == nil && st.Head == nil {
			err = kb.Errorf(kb.NotFound, "store %q is not indexed yet", st.Label()).WithHint("index it: knowledge index %s", store)
		}
		stores = []kb.Store{st}
	}
	if err != nil {
		return Verified{}, err
	}
	rep, err := c.checker().Run(ctx, stores, repair)
	return Verified{rep, repair}, err
}

// checker looks at the data directory.
func (c *core) checker() verify.Checker {
	return verify.Checker{
		Dir: c.dir, DB: c.db, Catalog: c.catalog, Indexer: c.indexer, Pool: c.pool, Opener: c.opener,
		View: c.viewOf, Forget: c.library.forget, Leftovers: c.leftovers,
		Relink: func(ctx context.Context, id kb.StoreID) error {
			_, err := c.link(ctx, id)
			return err
		},
		Reindex: c.reindex,
	}
}

// reindex has a job read a store's source again, and waits for it.
func (c *core) reindex(ctx context.Context, st kb.Store) error {
	j, err := c.submit(ctx, st, indexArgs{Force: true, Repair: true})
	if err != nil {
		return err
	}
	j, err = c.jobs.Wait(ctx, j.ID, func(j kb.Job) { kb.Report(ctx, j.Progress) })
	if err != nil {
		return err
	}
	if j.State != kb.JobCompleted {
		return kb.Errorf(cmp.Or(j.Code, kb.Internal), "%s", j.Message).WithHint("%s", j.Hint)
	}
	return nil
}

func countOf(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
