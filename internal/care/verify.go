package care

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/code"
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

// Text is the reply for people: a line for each finding, what to do, and a sum.
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
	fmt.Fprintf(&b, "%s, %s, %s read: ", kb.Count(v.Stores, "store"), kb.Count(v.Files, "file"), app.BytesOf(v.Bytes))
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
			fmt.Fprintf(&b, "; %s may go: knowledge gc", kb.Count(left, "leftover"))
		}
	case v.Repair:
		fmt.Fprintf(&b, "%s, %d mended", kb.Count(n, "finding"), v.Mended)
	default:
		fmt.Fprintf(&b, "%s; mend what can be mended: knowledge verify --repair", kb.Count(n, "finding"))
	}
	return b.String()
}

// Verify reads every file that a store, or every store when store is "",
// relies on, and mends what is damaged if repair is set.
func Verify(ctx context.Context, a *app.App, store string, repair bool) (Verified, error) {
	var stores []kb.Store
	c, err := a.Open(ctx)
	if err == nil && store != "" {
		var st kb.Store
		if _, st, err = a.Lookup(ctx, store); err == nil && st.Head == nil {
			err = kb.Errorf(kb.NotFound, "store %q is not indexed yet", st.Label()).WithHint("index it: knowledge index %s", store)
		}
		stores = []kb.Store{st}
	}
	if err != nil {
		return Verified{}, err
	}
	rep, err := Checker(c).Run(ctx, stores, repair)
	return Verified{rep, repair}, err
}

// Checker looks at the data directory.
func Checker(c *app.Core) verify.Checker {
	return verify.Checker{
		Dir: c.Dir, DB: c.Db, Catalog: c.Catalog, Indexer: c.Indexer, Pool: c.Pool, Opener: c.Opener,
		View: func(id kb.StoreID) string { return code.ViewOf(c, id) }, Forget: c.Library.Forget,
		Leftovers: func(ctx context.Context, dry bool) ([]verify.Leftover, error) { return leftovers(ctx, c, dry) },
		Relink: func(ctx context.Context, id kb.StoreID) error {
			_, err := code.Link(ctx, c, id)
			return err
		},
		Reindex: func(ctx context.Context, st kb.Store) error { return reindex(ctx, c, st) },
	}
}

// reindex has a job read a store's source again, and waits for it.
func reindex(ctx context.Context, c *app.Core, st kb.Store) error {
	j, err := c.Submit(ctx, st, app.IndexArgs{Force: true, Repair: true})
	if err != nil {
		return err
	}
	j, err = c.Jobs.Wait(ctx, j.ID, func(j kb.Job) { kb.Report(ctx, j.Progress) })
	if err != nil {
		return err
	}
	if j.State != kb.JobCompleted {
		return kb.Errorf(cmp.Or(j.Code, kb.Internal), "%s", j.Message).WithHint("%s", j.Hint)
	}
	return nil
}
