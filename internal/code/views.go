package code

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/code/graph"
	"github.com/seed-4f2d999b/knowledge/internal/data/atomicfile"
	"github.com/seed-4f2d999b/knowledge/internal/job"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/project"
)

// A view lies at views/STAMP.view, named for the paths and hashes of the
// documents that it joins, so that work trees and copies share one. The file
// views/STORE.now holds the stamp of a store's newest view.
const (
	viewExt = ".view"
	nowExt  = ".now"
	// linkPhase is what a job calls the part of it that resolves references.
	linkPhase = "link"
	// linkAtOnce is the text up to which a store is linked by the job that
	// indexed it; that takes a second at most. Larger ones are linked by a job
	// of their own, so that an edit is not held up. Go, which is type-checked,
	// counts goWeighs times.
	linkAtOnce = 24 << 20
	goWeighs   = 4
	// linkShare is the part of a large store's documents that may change before
	// it is linked without being asked to; until then the view of before serves,
	// and a question about code has it made anew.
	linkShare  = 50
	stampBytes = 16 // of a view's stamp, which is written in hexadecimal
)

// links resolves the references of a store that was just indexed, or has a
// job do it. What fails here fails nothing else: a view can be made at any time.
// An index job whose worker died leaves it to a job of its own, which gives up
// after three deaths: it may have died of linking, and would again and again.
func links(ctx context.Context, c *app.Core, j kb.Job, st kb.Store, changed int) (graph.Stats, error) {
	if st.Head == nil || st.Head.Partial {
		return graph.Stats{}, nil
	}
	if LinksAtOnce(c, st) && j.Deaths == 0 {
		return Link(ctx, c, st.ID)
	}
	if changed*linkShare < st.Head.Documents && ViewOf(c, st.ID) != "" {
		return graph.Stats{}, nil
	}
	_, err := SubmitLink(ctx, c, st.ID)
	return graph.Stats{}, err
}

// LinksAtOnce reports whether a store is small enough to be linked by the job that indexed it.
func LinksAtOnce(c *app.Core, st kb.Store) bool {
	h := st.Head
	checked := h.TextBytes * int64(h.Languages["go"]) / int64(max(h.Documents, 1))
	return h.TextBytes+(goWeighs-1)*checked <= cmp.Or(c.AtOnce, linkAtOnce)
}

type linkArgs struct {
	Store kb.StoreID `json:"store"`
}

// SubmitLink has a job resolve the references of a store.
func SubmitLink(ctx context.Context, c *app.Core, id kb.StoreID) (kb.Job, error) {
	return c.Jobs.Submit(ctx, job.Request{Type: "link", Store: id + app.Beside, Class: job.Linking, Args: linkArgs{id}})
}

// runLink is the handler of link jobs.
func runLink(ctx context.Context, c *app.Core, j kb.Job, raw json.RawMessage) (string, map[string]any, error) {
	if j.Deaths >= job.MaxDeaths {
		return "", nil, kb.Errorf(kb.Internal, "%d worker processes died while they resolved references", j.Deaths).
			WithHint("see what they said in %s; everything but references is served; free memory, then ask for them again", filepath.Join(c.Dir, "worker.log"))
	}
	var args linkArgs
	if err := json.Unmarshal(raw, &args); err != nil {
		return "", nil, kb.Errorf(kb.Invalid, "the job's arguments do not parse: %w", err)
	}
	s, err := Link(ctx, c, args.Store)
	if kb.CodeOf(err) == kb.NotFound && err != nil {
		return "the store was deleted meanwhile", nil, nil
	}
	if err != nil {
		return "", nil, err
	}
	// A store that was deleted meanwhile leaves no view.
	st, err := c.Catalog.Get(ctx, args.Store)
	if kb.CodeOf(err) == kb.NotFound && err != nil {
		return "the store was deleted meanwhile", nil, sweepViews(ctx, c)
	}
	details := map[string]any{"declarations": s.Declarations, "edges": s.Edges, "packages": s.Packages, "checked": s.Checked, "failed": s.Failed}
	if err == nil && st.Head != nil && st.Head.Shared != nil {
		if err := lend(ctx, c, st); err != nil { // the other machines do without
			details["beside"] = err.Error()
		}
	}
	return "references resolved", details, nil
}

func viewPath(c *app.Core, stamp string) string {
	return filepath.Join(c.Dir, "views", stamp+viewExt)
}

// ViewOf returns the path of a store's newest view, "" when it has none. There
// may be no file of that path: then something was damaged.
func ViewOf(c *app.Core, id kb.StoreID) string {
	b, err := atomicfile.ReadFile(filepath.Join(c.Dir, "views", string(id)+nowExt))
	if err != nil {
		return ""
	}
	stamp := strings.TrimSpace(string(b))
	if raw, err := hex.DecodeString(stamp); err != nil || len(raw) != stampBytes {
		stamp = "damaged" // which no view is called
	}
	return viewPath(c, stamp)
}

// unlink cancels the link job of a store that goes.
func unlink(ctx context.Context, c *app.Core, id kb.StoreID) error {
	j, ok, err := c.Jobs.Active(ctx, id+app.Beside)
	if err == nil && ok {
		_, err = c.Jobs.Cancel(ctx, j.ID)
	}
	if err != nil && kb.CodeOf(err) == kb.Invalid {
		return nil // it has just ended
	}
	return err
}

// Link brings a store's view up to date with its live generation.
func Link(ctx context.Context, c *app.Core, id kb.StoreID) (graph.Stats, error) {
	st, err := c.Catalog.Get(ctx, id)
	if err != nil || st.Head == nil {
		return graph.Stats{}, err
	}
	h, _, err := c.Library.Get(ctx, st)
	if err != nil || h == nil {
		return graph.Stats{}, err
	}
	defer h.Release()
	return linkIndex(ctx, c, id, h)
}

// linkIndex brings the view of a store up to date with an index of it.
func linkIndex(ctx context.Context, c *app.Core, id kb.StoreID, idx kb.Index) (graph.Stats, error) {
	src, err := newLinkSource(ctx, idx)
	if err != nil {
		return graph.Stats{}, err
	}
	if err := atomicfile.MkdirAll(filepath.Join(c.Dir, "views")); err != nil {
		return graph.Stats{}, err
	}
	stamp := graph.StampOf(src.entries)
	path := viewPath(c, stamp)
	var stats graph.Stats
	if err := whole(path); err == nil {
		// Another store, or this one, has linked the same documents.
	} else if kb.CodeOf(err) == kb.Newer {
		return stats, err
	} else if stats, err = makeView(ctx, c, src, ViewOf(c, id), path); err != nil {
		return stats, err
	}
	if ViewOf(c, id) == path {
		return stats, nil
	}
	return stats, atomicfile.Write(filepath.Join(c.Dir, "views", string(id)+nowExt), []byte(stamp+"\n"))
}

// whole opens a view and reads it to its end: kb.Corrupt for one that is
// damaged anywhere, which would else be found, and stay, where it is asked about.
func whole(path string) error {
	v, err := graph.Open(path)
	if err != nil {
		return err
	}
	defer v.Close()
	return v.Verify()
}

// makeView links the documents of src, with the help of the view before.
func makeView(ctx context.Context, c *app.Core, src *linkSource, before, path string) (graph.Stats, error) {
	var prev *graph.View
	if before != "" {
		// Damaged, or of another version: then without it.
		if v, err := graph.Open(before); err == nil {
			defer v.Close()
			prev = v
		}
	}
	last := time.Time{}
	return graph.Link(ctx, src, prev, path, func(done, total int) {
		if now := time.Now(); now.Sub(last) > 200*time.Millisecond {
			last = now
			kb.Report(ctx, kb.Progress{Phase: linkPhase, Done: int64(done), Total: int64(total)})
		}
	})
}

// sweepViews deletes the views of stores that are no more.
func sweepViews(ctx context.Context, c *app.Core) error {
	if _, err := atomicfile.CleanTemp(filepath.Join(c.Dir, "views"), app.TempAge); err != nil {
		return err
	}
	gone, err := unneededViews(ctx, c)
	for _, p := range gone {
		// A process that has it open keeps it; where that forbids deleting, the next sweep does it.
		_ = os.Remove(p)
	}
	return err
}

// unneededViews returns the files of views that no store has.
func unneededViews(ctx context.Context, c *app.Core) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(c.Dir, "views"))
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return nil, kb.Errorf(kb.Denied, "list the folder of views: %w", err).WithHint("check the rights of the data directory")
	}
	all, err := c.Catalog.All(ctx)
	if err != nil {
		return nil, err
	}
	live := keptJoins(c, all)
	for _, e := range all {
		live[string(e.ID)+nowExt] = true
		if p := ViewOf(c, e.ID); p != "" {
			live[filepath.Base(p)] = true
		}
	}
	for _, id := range c.KeptIDs() {
		live[string(id)+nowExt] = true
		if p := ViewOf(c, id); p != "" {
			live[filepath.Base(p)] = true
		}
	}
	var out []string
	for _, e := range entries {
		info, err := e.Info()
		// A young one may be about to be named by its store.
		if err != nil || live[e.Name()] || time.Since(info.ModTime()) < time.Minute && (strings.HasSuffix(e.Name(), viewExt) || strings.HasSuffix(e.Name(), joinExt)) && len(all) > 0 {
			continue
		}
		if p := filepath.Join(c.Dir, "views", e.Name()); !info.IsDir() && project.Ours(c.Dir, p) {
			out = append(out, p)
		}
	}
	return out, nil
}
