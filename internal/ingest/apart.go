package ingest

import (
	"context"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/secret"
	"github.com/seed-4f2d999b/knowledge/internal/text/chunk"
)

// A generation can be made that the catalog does not know: of a state of a source
// that is looked at for a while. It is made as that of a store is, of what is
// indexed already, by whichever store, and of what only that state has.
//
// Options.Apart is given its head when it is whole; nothing is published, neither
// then nor before. The job uses the files of the head until it releases them, so
// Apart has to see that somebody else does. Options.Most bounds the bytes of text
// that are indexed anew, 0 is no bound: the run fails with kb.TooLarge beyond it.
// Options.Beside are generations of other states of the same source whose stamps
// say the same: a document of the same path and stamp is taken over unread.

// Fits reports whether a generation of that head, which was cut by that version of
// the chunker, is as a run would make it now.
func (x *Indexer) Fits(head *kb.Head, chunker uint32) bool {
	return !head.Partial && chunker == chunk.Version && head.Rules == secret.Version && head.Embedder == x.Embedder.ID()
}

// beside takes over what generations of Options.Beside have of todo, and returns
// the rest. One that is gone or damaged has nothing.
func (r *run) beside(ctx context.Context, todo []kb.Entry) ([]kb.Entry, error) {
	for _, h := range r.o.Beside {
		if len(todo) == 0 || r.force {
			break
		}
		idx, err := r.x.Indexes.Open(ctx, h.Manifest)
		if err != nil {
			continue
		}
		todo, err = r.takeOver(ctx, idx, h, todo)
		idx.Release()
		if err != nil {
			return nil, err
		}
	}
	return todo, nil
}

// takeOver takes over what one generation has of todo.
func (r *run) takeOver(ctx context.Context, idx kb.Index, h *kb.Head, todo []kb.Entry) ([]kb.Entry, error) {
	info, err := idx.Info(ctx)
	if err != nil || !r.x.Fits(h, info.Chunker) {
		return todo, nil
	}
	list, err := idx.Manifest(ctx)
	if err != nil {
		return todo, nil
	}
	var rest []kb.Entry
	i := 0
	for _, e := range todo { // both are in order of path
		for i < len(list) && list[i].Path < e.Path {
			i++
		}
		stamp := kb.StampHash(e.Stamp)
		if i == len(list) || list[i].Path != e.Path || stamp == 0 || list[i].Stamp != stamp {
			rest = append(rest, e)
			continue
		}
		there, err := r.use(ctx, list[i].Segment)
		if err != nil {
			return nil, err
		}
		if !there {
			rest = append(rest, e)
			continue
		}
		r.docs[e.Path] = list[i]
		r.res.Shared++
	}
	return rest, nil
}

// within refuses more text than Options.Most.
func (r *run) within(more int) error {
	if n := r.fresh.Add(int64(more)); r.o.Most > 0 && n > r.o.Most {
		return kb.Errorf(kb.TooLarge, "more than %d MB of its text is not indexed yet", r.o.Most>>20)
	}
	return nil
}
