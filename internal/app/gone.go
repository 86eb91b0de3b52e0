package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/data/catalog"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// CannotWrite reports whether an error says that nothing can be written to the
// data directory now: for want of space or permission, because the disk fails,
// or because a newer version owns it. What is there is served all the same.
func CannotWrite(err error) bool {
	if err == nil {
		return false
	}
	switch kb.CodeOf(err) {
	case kb.Denied, kb.Full, kb.Newer, kb.Internal:
		return true
	}
	return false
}

// There reports whether the database is still the file that was opened: what
// is written to one that was deleted is lost.
func (c *Core) There() bool {
	if c.file == nil {
		return true
	}
	now, err := os.Stat(c.Db.Path())
	return err == nil && os.SameFile(c.file, now) || err != nil && !errors.Is(err, fs.ErrNotExist)
}

// loss is what went with a data directory, or a database, that was
// deleted or replaced while this process worked with it.
type loss struct {
	dir    string
	stores map[string]string // source by label
	// database says that the database alone was gone when this process began,
	// or on an earlier day: the names of the stores are unknown.
	database bool
	day      string // of an earlier process that found it so; "" is this one
	told     bool
}

// databaseLost returns what a data directory without its database has lost, or
// what it lost lately; nil when that is nothing.
func databaseLost(dir string) *loss {
	day, lost := catalog.Lost(dir)
	if !lost {
		return nil
	}
	return &loss{dir: dir, database: true, day: day}
}

// Again forgets a loss that was reported, once a store is made.
func (a *App) Again(c *Core) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if l := a.loss; l != nil && l.database && (l.told || l.day != "") {
		l.told = true
		catalog.ForgetLost(c.Dir)
	}
}

// retire gives up a core whose files were taken away. Who works with it
// finishes on it; it is closed with the next one, or with the App. a.mu is held.
func (a *App) retire(ctx context.Context, c *Core) *loss {
	l := &loss{dir: c.Dir, stores: map[string]string{}}
	// The deleted database can still be read, by who has it open.
	if all, err := c.Catalog.All(ctx); err == nil {
		for _, e := range all {
			l.stores[e.Label()] = e.Spec.Source
		}
	}
	if a.retired != nil {
		_ = a.retired.close()
	}
	a.retired = c
	close(c.Gone)
	return l
}

// close ends what runs and releases files.
func (c *Core) close() error {
	if c.base != nil { // the rest is not its own
		c.Library.leave(c)
		return c.kept.close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	err := c.Jobs.Close(ctx)
	c.Library.close()
	return errors.Join(err, c.kept.close(), c.Indexer.Close(), c.Db.Close())
}

// missed keeps of a loss what the new database has not. a.mu is held.
func (a *App) missed(ctx context.Context, c *Core, l *loss) {
	if all, err := c.Catalog.All(ctx); err == nil {
		for _, e := range all {
			delete(l.stores, e.Label())
		}
	}
	a.loss = l
}

// LossNote says once, to who searches, what is gone; "" when nothing is.
func (a *App) LossNote() string { return a.lostSince(false) }

// lostSince says once what is gone, what an earlier process found gone too if
// asked for that.
func (a *App) lostSince(earlier bool) string {
	p, _ := a.Where()
	a.mu.Lock()
	defer a.mu.Unlock()
	l := a.loss
	if l == nil || l.told || l.day != "" && !earlier {
		return ""
	}
	l.told = true
	if l.database {
		return l.sentence() + "; make them again with store:create, or import them; text that is indexed already is used again"
	}
	var names []string
	for name, source := range l.stores {
		if source != p.Root { // which this search has indexed anew
			names = append(names, name)
		}
	}
	slices.Sort(names)
	note := fmt.Sprintf("the data directory %q was removed or replaced while this process worked with it, and was made anew", l.dir)
	if len(names) == 0 {
		return note
	}
	if len(names) > 10 {
		names = append(names[:10], "…")
	}
	return fmt.Sprintf("%s; these stores are gone: %s; make them again with store:create, or import them", note, strings.Join(names, ", "))
}

// sentence says that the database was gone.
func (l *loss) sentence() string {
	on := ""
	if l.day != "" {
		on = " on " + l.day
	}
	return fmt.Sprintf("the database in %q was gone%s, and with it which stores there were: it was made anew", l.dir, on)
}

// lostDatabase says that the database was gone, to who finds no store; "" when
// it was not.
func (a *App) lostDatabase() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.loss == nil || !a.loss.database {
		return ""
	}
	a.loss.told = true
	return a.loss.sentence()
}

// wasLost words that a store is not found for who had it before.
func (a *App) wasLost(name string, err error) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err == nil || kb.CodeOf(err) != kb.NotFound || a.loss == nil {
		return err
	}
	if a.loss.database {
		a.loss.told = true
		return kb.Errorf(kb.NotFound, "%w: %s", err, a.loss.sentence()).
			WithHint("make it again with store:create, or import it; list the stores there are with: stores")
	}
	source, ok := a.loss.stores[name]
	if !ok {
		return err
	}
	return kb.Errorf(kb.NotFound, "store %q is gone: the data directory %q was removed or replaced while this process worked with it", name, a.loss.dir).
		WithHint("make it again with: store:create %s", Args{"name": name, "source": source})
}
