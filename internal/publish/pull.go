package publish

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/code"
	"github.com/seed-4f2d999b/knowledge/internal/data/depot"
	"github.com/seed-4f2d999b/knowledge/internal/data/transfer"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

const (
	// most is how many bytes a pull fetches without --yes.
	most    = 8 << 30
	mostYes = 256 << 30

	// What the catalog keeps of a target, beside what people vouch for: the key,
	// and which publication was taken last.
	pinned = "publication "
	taken  = "publication taken "
)

// pull makes a store of a publication: the store that was published, or one
// here of about the same text, of which then only what differs is indexed.
func pull(ctx context.Context, a *app.App, r app.CreateStore) (app.Started, error) {
	c, err := a.Open(ctx)
	if err != nil {
		return app.Started{}, err
	}
	d, err := open(a, c, r.From)
	if err != nil {
		return app.Started{}, err
	}
	if r.Agent {
		if err := admit(ctx, a, c, r.From, d); err != nil {
			return app.Started{}, err
		}
	}
	found, err := read(ctx, c, d, r)
	if err != nil {
		return app.Started{}, err
	}
	o, err := request(ctx, a, c, r, found)
	if err != nil {
		return app.Started{}, err
	}
	done, err := transfer.Place{Dir: c.Dir, Catalog: c.Catalog, Indexer: c.Indexer, Pool: c.Pool, Opener: c.Opener, Program: a.Version()}.
		Pull(ctx, found.Export, d, o)
	if err != nil {
		return app.Started{}, worded(err, d)
	}
	err = errors.Join(c.Catalog.Trust(ctx, pinned+d.String(), found.Key),
		c.Catalog.Trust(ctx, taken+d.String(), fmt.Sprintf("%d %s", found.Generation, found.SHA256)))
	if err != nil {
		return app.Started{}, err
	}
	a.Again(c)
	st := done.Store
	s := app.Started{Store: st.Name, ID: string(st.ID), Status: "ready", Note: says(found, done)}
	c.Library.Forget(st.ID)
	if r.Source != "" {
		j, err := c.Submit(ctx, st, app.IndexArgs{})
		if err != nil {
			return s, err
		}
		s.Job, s.Status = j.ID, string(j.State)
		return s, nil
	}
	if !done.Same && !done.Kept {
		if code.LinksAtOnce(c, st) {
			_, err = code.Link(ctx, c, st.ID)
		} else {
			_, err = code.SubmitLink(ctx, c, st.ID)
		}
		if err != nil {
			s.Note += "; who uses what is resolved when it is asked for: " + err.Error()
		}
	}
	return s, nil
}

// says is what a reader should know of a pull.
func says(f depot.Found, done transfer.Pulled) string {
	note := fmt.Sprintf("publication %d", f.Generation)
	switch {
	case done.Kept:
		return note + " is older than what is here, which stays"
	case done.Same:
		return note + " was here already"
	}
	if h := done.Store.Head; h != nil {
		note += fmt.Sprintf(": %s, %s", kb.Count(h.Documents, "document"), kb.Count(h.Chunks, "chunk"))
	}
	note += fmt.Sprintf("; %s fetched, %s unpacked", kb.Count(done.Files, "file"), app.BytesOf(done.Fetched))
	if done.Shared > 0 {
		note += fmt.Sprintf("; %d of %s were here already", done.Shared, kb.Count(done.Segments, "segment"))
	}
	if done.Embedded {
		note += "; its vectors were made anew, those published are another embedder's"
	}
	return note
}

// admit refuses an agent what needs a person's word: a folder outside of what
// it may read, and the user's account with an object store.
func admit(ctx context.Context, a *app.App, c *app.Core, target string, d depot.Depot) error {
	if !depot.Remote(target) {
		return a.Admit(ctx, c, d.String())
	}
	if strings.HasPrefix(target, "s3:") {
		return kb.Errorf(kb.Denied, "an object store is asked in the user's name, which takes a person's word").
			WithHint("ask your user to run: knowledge store:create NAME --from %s", kb.ShellWord(target))
	}
	return nil
}

// read reads what is published, when a key that a person vouches for signed it
// and it is not older than what was taken before.
func read(ctx context.Context, c *app.Core, d depot.Depot, r app.CreateStore) (found depot.Found, err error) {
	known, err := c.Catalog.Vouched(ctx, pinned+d.String())
	if err != nil {
		return found, err
	}
	key := r.Key
	if key == "" {
		key = known
	}
	if key == "" {
		shown, err := d.PublicKey(ctx)
		if err != nil {
			if kb.CodeOf(err) != kb.NotFound {
				return found, err
			}
			return found, kb.Errorf(kb.NotFound, "nothing is published at %s", d).WithHint("check the address")
		}
		name := r.Name
		if name == "" {
			name = "NAME"
		}
		return found, kb.Errorf(kb.Denied, "%s shows the key %s, and nobody has vouched for it here", d, shown).
			WithHint("compare it with what its publisher says elsewhere; if it is that one, a person runs: knowledge store:create %s --from %s --key %s",
				kb.ShellWord(name), kb.ShellWord(d.String()), shown)
	}
	if found, err = d.Read(ctx, key); err != nil {
		return found, err
	}
	var seen depot.Seen
	was, err := c.Catalog.Vouched(ctx, taken+d.String())
	if err != nil {
		return found, err
	}
	// Another key is another publisher, who counts anew.
	if was != "" && found.Key == known && !r.Older {
		if _, err := fmt.Sscanf(was, "%d %s", &seen.Generation, &seen.SHA256); err != nil {
			return found, kb.Errorf(kb.Corrupt, "what was noted of %s does not parse", d).WithHint("take it anew: --older")
		}
		if err := found.Check(seen); err != nil {
			return found, err
		}
	}
	return found, nil
}

// request is what r asks for.
func request(ctx context.Context, a *app.App, c *app.Core, r app.CreateStore, found depot.Found) (o transfer.PullRequest, err error) {
	o.Name, o.Most, o.Force = r.Name, most, r.Older
	if r.Yes {
		o.Most = mostYes
	}
	p, err := a.Where()
	if err != nil {
		return o, err
	}
	if o.Project = p.ID; r.User {
		o.Project = ""
	}
	if o.Project != "" {
		if err := c.Catalog.NoteProject(ctx, o.Project, p.Root); err != nil {
			return o, err
		}
	}
	if r.Source == "" {
		o.Onto, err = namesake(ctx, c, o, found)
		return o, err
	}
	spec, err := app.SpecOf(ctx, r, a.Config.Dir)
	if err != nil {
		return o, err
	}
	if err := c.CheckAddress(spec); err != nil {
		return o, err
	}
	if o.Name == "" {
		o.Name = app.NameFrom(filepath.ToSlash(spec.Source))
	}
	o.Onto = &spec
	return o, nil
}

// namesake returns the store that has the name here already, when it came from a folder on
// another machine than the publication does now: what several publish in turns
// is one store. nil when there is none.
func namesake(ctx context.Context, c *app.Core, o transfer.PullRequest, found depot.Found) (*kb.Spec, error) {
	spec, name, err := transfer.Spec(found.Export)
	if err != nil {
		return nil, err
	}
	st, err := c.Catalog.Lookup(ctx, o.Project, cmp.Or(o.Name, name))
	if err != nil || st.ID == spec.ID() || !transfer.Alike(st.Spec, spec) {
		return nil, nil // transfer says what is wrong with the name
	}
	if _, err := os.Stat(st.Spec.Source); err == nil {
		return nil, nil
	}
	return &st.Spec, nil
}

// worded says of a publication what package transfer says of a file.
func worded(err error, d depot.Depot) error {
	var e *kb.Error
	if !errors.As(err, &e) || !strings.HasPrefix(e.Message, "the file ") {
		return err
	}
	w := *e
	w.Message = "what is published at " + d.String() + strings.TrimPrefix(w.Message, "the file")
	w.Hint = "nothing was taken; its publisher mends it by publishing again"
	if kb.CodeOf(err) == kb.Newer {
		w.Hint = "install that version or a later one; this one is: knowledge version"
	}
	return &w
}
