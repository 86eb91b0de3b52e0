package code

import (
	"context"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/data/atomicfile"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// A store on a cluster is searched by machines that did not index it. They have the
// view of the one that did, which lies beside the store: without it the functions
// that answer how something works come in another order there. Making it there
// anew would take the facts of every document from the cluster.

const (
	// lentKind is what a view is called beside a store.
	lentKind = "view"
	// mostLent is how large a view may be that is lent.
	mostLent = 512 << 20
	// askAgain is after how long a store without a view is asked about again.
	askAgain = 30 * time.Second
	// borrowTime is how long a search waits for a view.
	borrowTime = 4 * time.Second
)

// lend puts the view of a store beside it on the cluster.
func lend(ctx context.Context, c *app.Core, st kb.Store) error {
	path := ViewOf(c, st.ID)
	info, err := os.Stat(path)
	if path == "" || err != nil || info.Size() > mostLent {
		return nil // it is lent once it is made
	}
	s, err := c.Shares()
	if err != nil {
		return err
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return kb.Errorf(kb.Corrupt, "the resolved references cannot be read: %w", err).WithHint("look with: knowledge verify")
	}
	return s.Lend(ctx, c, st.ID, lentKind, strings.TrimSuffix(filepath.Base(path), viewExt), raw)
}

// borrow fetches the view that lies beside a store, and reports whether there is one.
func borrow(ctx context.Context, c *app.Core, id kb.StoreID) (bool, error) {
	s, err := c.Shares()
	if err != nil {
		return false, err
	}
	have := ""
	if path := ViewOf(c, id); path != "" && whole(path) == nil {
		have = strings.TrimSuffix(filepath.Base(path), viewExt)
	}
	return s.Borrow(ctx, c, id, lentKind, have, func(stamp string, raw []byte) error {
		if b, err := hex.DecodeString(stamp); err != nil || len(b) != stampBytes {
			return kb.Errorf(kb.Corrupt, "the resolved references on the cluster have no name")
		}
		path := viewPath(c, stamp)
		if err := atomicfile.MkdirAll(filepath.Dir(path)); err != nil {
			return err
		}
		if err := atomicfile.Write(path, raw); err != nil {
			return err
		}
		if err := whole(path); err != nil {
			_ = os.Remove(path) // it is of no use to anybody
			return err
		}
		return atomicfile.Write(filepath.Join(c.Dir, "views", string(id)+nowExt), []byte(stamp+"\n"))
	})
}

// adopted fetches the view of a store that was just made known here.
func adopted(ctx context.Context, c *app.Core, st kb.Store) error {
	_, err := borrow(ctx, c, st.ID)
	return err
}

// borrowed is when a store's view was asked for, and for which generation it was there.
type borrowed struct {
	at       time.Time
	manifest string
}

// borrowFor fetches the view of a target that another machine has indexed, once for
// each generation. What cannot be had is done without.
func borrowFor(s *app.Shelves, t *search.Target) {
	if !t.Store.Head.Afar() {
		return
	}
	v, now := viewsOf(s.Core), time.Now()
	v.mu.Lock()
	last, manifest := v.borrowed[t.Store.ID], t.Store.Head.Manifest
	if last.manifest == manifest || now.Sub(last.at) < askAgain {
		v.mu.Unlock()
		return
	}
	if v.borrowed == nil {
		v.borrowed = map[kb.StoreID]borrowed{}
	}
	v.borrowed[t.Store.ID] = borrowed{now, last.manifest}
	v.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), borrowTime)
	defer cancel()
	found, err := borrow(ctx, s.Core, t.Store.ID)
	if err != nil {
		return
	}
	if !found {
		if ViewOf(s.Core, t.Store.ID) == "" && LinksAtOnce(s.Core, t.Store) {
			_, _ = SubmitLink(ctx, s.Core, t.Store.ID) // who shared it never made one
		}
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.borrowed[t.Store.ID] = borrowed{now, manifest}
}
