package main

import (
	"context"
	"slices"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/index/cluster"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// deleted shares half of the segments as a store, deletes the others, which no head names,
// and kills a node in the middle of that. It reports what each node's own copy has in the
// end of what stays and of what was deleted.
func (b *bench) deleted(ctx context.Context) error {
	const what = "kill -9 of a node during a deletion"
	half := len(b.names) / 2
	stay, others := b.names[:half], b.names[half:]
	spec := kb.Spec{Kind: kb.KindRepo, Source: "https://example.org/deleted.git"}
	m := kb.Manifest{Store: spec.ID(), Generation: 1, Chunker: 1, Embedder: embedder}
	for _, d := range b.docs {
		if slices.Contains(stay, d.Segment) {
			m.Documents = append(m.Documents, d)
		}
	}
	w, err := b.x.NewGeneration(ctx, m)
	if err != nil {
		return err
	}
	name := kb.ManifestName(m.Store, 1, "bench")
	if _, _, err := w.Write(ctx, name); err != nil {
		return err
	}
	if err := b.x.Share(ctx, &cluster.Head{Store: m.Store, Name: "deleted", Spec: spec, Head: kb.Head{Manifest: name}}, 0); err != nil {
		return err
	}
	if _, err := b.x.Collect(ctx, false, 0); err != nil {
		return err
	}
	b.x.SetClock(func() time.Time { return b.x.Client.Now().Add(61 * time.Minute) })
	began, done := time.Now(), make(chan error, 1)
	go func() {
		_, err := b.x.Collect(ctx, false, 0)
		done <- err
	}()
	gone := samples(others)
	for left := len(gone); left == len(gone); { // until something has gone
		select {
		case err := <-done:
			b.say("| %s | the deletion ended before: %s |", what, errText(err))
			return nil
		case <-time.After(20 * time.Millisecond):
		}
		if left, err = b.x.Copies(ctx, "node0", gone); err != nil {
			return err
		}
	}
	if err := b.kill(2); err != nil {
		return err
	}
	err = <-done
	b.say("| %s: %d segments of %d | %.1f s %s |", what, len(others), len(b.names), time.Since(began).Seconds(), errText(err))
	b.names, b.docs = slices.Clone(stay), m.Documents
	for i := range 2 {
		n, err := b.x.Copies(ctx, nodeName(i), gone)
		b.say("| %s: of a sample of %d deleted documents the copy of node %d still has | %d %s |", what, len(gone), i, n, errText(err))
	}
	if err := b.restart(2); err != nil {
		return err
	}
	for try := 1; err != nil && try <= 60; try++ { // who was told that it failed runs it again
		time.Sleep(time.Second)
		if _, err = b.x.Collect(ctx, false, 0); err == nil || try == 60 {
			b.say("| … and again, time %d, a second after the other | %s |", try, errText(err))
		}
	}
	var left [3]int
	began = time.Now()
	for any := true; any && time.Since(began) < 4*time.Minute; time.Sleep(time.Second) {
		any = false
		for i := range left {
			if left[i], err = b.x.Copies(ctx, nodeName(i), gone); err != nil || left[i] > 0 {
				any = true
			}
		}
	}
	took := time.Since(began).Seconds()
	time.Sleep(2 * time.Minute) // in which a copy would bring them back
	var later [3]int
	for i := range later {
		if later[i], err = b.x.Copies(ctx, nodeName(i), gone); err != nil {
			return err
		}
	}
	b.say("| %s, started again: of a sample of %d deleted documents each node's own copy still has | %v after %.0f s; %v two minutes later |", what, len(gone), left, took, later)
	return b.whole(ctx, what+", started again")
}

// samples are three documents of each segment.
func samples(segments []string) (out []kb.Location) {
	for _, name := range segments {
		for _, n := range []int{0, perSegment / 2, perSegment - 1} {
			out = append(out, kb.Location{Segment: name, Number: n})
		}
	}
	return out
}
