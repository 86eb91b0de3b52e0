package main

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/weaviate"
)

// whole waits until the copy of each node has a sample of all that was acknowledged, three
// documents of each segment, which the nodes are asked for by name; then it counts, and
// reads the sample as a search would.
func (b *bench) whole(ctx context.Context, what string) error {
	sample := samples(b.names)
	began := time.Now()
	var copies [3]int
	var err error
	for done := false; !done && time.Since(began) < 4*time.Minute; {
		done = true
		for i := range copies {
			if copies[i], err = b.x.Copies(ctx, nodeName(i), sample); err != nil || copies[i] < len(sample) {
				done = false
			}
		}
		if !done {
			time.Sleep(time.Second)
		}
	}
	took := time.Since(began)
	b.say("| %s: of a sample of %d acknowledged documents each node's own copy has | %v %s after %.0f s |", what, len(sample), copies, errText(err), took.Seconds())
	counts, err := b.counts(ctx)
	b.say("| %s: documents counted by asking each node, of %d acknowledged | %v %s |", what, len(b.docs), counts, errText(err))
	missing, err := b.x.Missing(ctx, b.names)
	if err != nil {
		return err
	}
	bad := 0
	for _, name := range b.names {
		if _, err := b.x.Stored(ctx, name, []int{0, perSegment / 2, perSegment - 1}); err != nil {
			bad++
		}
	}
	b.say("| %s: segments missing, segments of whose three sampled documents one cannot be read, of %d | %d, %d |", what, len(b.names), len(missing), bad)
	return nil
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// counts asks each node, which may ask another for its shards.
func (b *bench) counts(ctx context.Context) (out []int64, err error) {
	for i := range 3 {
		c, err := weaviate.New(b.address(i), "")
		if err != nil {
			return nil, err
		}
		n, err := b.x.CountDocuments(ctx, c, 1)
		c.Close()
		if err != nil {
			return out, err
		}
		out = append(out, n)
	}
	return out, nil
}

// fault writes and searches while something happens.
func (b *bench) fault(ctx context.Context, what string, x kb.Index, happen func() error) error {
	next, done := len(b.names), make(chan error, 1)
	go func() {
		var err error
		for i := range 6 {
			if err = b.segment(ctx, 10_000+next+i); err != nil {
				break
			}
		}
		done <- err
	}()
	time.Sleep(500 * time.Millisecond)
	if err := happen(); err != nil {
		return err
	}
	took, failed := b.searches(ctx, x, 2, 20)
	err := <-done
	b.say("| %s: searches meanwhile | worst %d ms, %d of %d failed |", what, took[len(took)-1].Milliseconds(), failed, len(took))
	b.say("| %s: writes meanwhile | %d of 6 segments acknowledged %s |", what, len(b.names)-next, errText(err))
	return nil
}

func (b *bench) killed(ctx context.Context) error {
	x, err := b.publish(ctx)
	if err != nil {
		return err
	}
	defer x.Release()
	if err := b.fault(ctx, "kill -9 of a node", x, func() error { return b.kill(2) }); err != nil {
		return err
	}
	if err := b.restart(2); err != nil {
		return err
	}
	return b.whole(ctx, "kill -9 of a node, started again")
}

func (b *bench) hangs(ctx context.Context) error {
	x, err := b.publish(ctx)
	if err != nil {
		return err
	}
	defer x.Release()
	if err := b.fault(ctx, "a node hangs", x, func() error { return b.hang(1, true) }); err != nil {
		return err
	}
	if err := b.hang(1, false); err != nil {
		return err
	}
	return b.whole(ctx, "a node hangs, goes on")
}

func (b *bench) gone(ctx context.Context) error {
	x, err := b.publish(ctx)
	if err != nil {
		return err
	}
	defer x.Release()
	for _, i := range []int{1, 2} {
		if err := b.kill(i); err != nil {
			return err
		}
	}
	took, failed := b.searches(ctx, x, 1, 5)
	b.say("| two of three gone: searches | worst %d ms, %d of %d failed |", took[len(took)-1].Milliseconds(), failed, len(took))
	b.x.Client.Write = 4 * time.Second
	began := time.Now()
	err = b.segment(ctx, 20_000)
	b.say("| two of three gone: a write that a person waits for | %.1f s: %s: %s |", time.Since(began).Seconds(), kb.CodeOf(err), errText(err))
	if err := b.kill(0); err != nil {
		return err
	}
	took, failed = b.searches(ctx, x, 1, 1)
	b.say("| all gone: a search | %.1f s, %d of %d failed |", took[0].Seconds(), failed, len(took))
	return nil
}

// parted cuts a node off from the others: at first from the clients as well, then while
// clients still reach it.
func (b *bench) parted(ctx context.Context) error {
	if b.lan == nil {
		b.say("| a partition | left out: no network namespaces |")
		return nil
	}
	for i, clients := range []bool{true, false} {
		what := "a node cut off from all"
		if !clients {
			what = "a node cut off from the other nodes, not from clients"
		}
		x, err := b.publish(ctx)
		if err != nil {
			return err
		}
		err = b.fault(ctx, what, x, func() error { return b.lan.cut(i, clients, true) })
		x.Release()
		if e := b.lan.cut(i, clients, false); e != nil {
			return e
		}
		if err != nil {
			return err
		}
		if err := b.whole(ctx, what+", joined again"); err != nil {
			return err
		}
	}
	return nil
}

// full fills the disk of the last node while it is written to.
func (b *bench) full(ctx context.Context) error {
	if b.small == 0 {
		b.say("| a full disk | left out: no file system of its own |")
		return nil
	}
	x, err := b.publish(ctx)
	if err != nil {
		return err
	}
	defer x.Release()
	filler := filepath.Join(b.data(2), "filler")
	const what = "the disk of a node is full"
	err = b.fault(ctx, what, x, func() error {
		f, err := os.Create(filler)
		if err != nil {
			return err
		}
		defer f.Close()
		block := make([]byte, 1<<20)
		for err == nil { // to the last byte
			_, err = f.Write(block)
		}
		return nil
	})
	if e := os.Remove(filler); e != nil {
		return e
	}
	if err != nil {
		return err
	}
	if b.dead(2) {
		b.say("| %s | it has ended by itself; it is started again |", what)
	} else if err := b.kill(2); err != nil { // as who runs it would, having made room
		return err
	}
	if err := b.restart(2); err != nil {
		return err
	}
	return b.whole(ctx, what+", room again, started again")
}
