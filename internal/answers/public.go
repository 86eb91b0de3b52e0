package answers

import (
	"context"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/config"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// Publishing returns the settings of the listener for the public, and the pages
// of other sites that may ask there.
func Publishing(ctx context.Context, a *app.App) (config.Public, []string, error) {
	c, err := a.Open(ctx)
	if err != nil {
		return config.Public{}, nil, err
	}
	return c.Settings.Public, c.Settings.Answer.Origins, nil
}

// PublicHit is one place that a search over public stores finds.
type PublicHit struct {
	ID    string  `json:"id"`
	URI   string  `json:"chunk_uri"` // for get_document_chunk
	Title string  `json:"title"`
	URL   string  `json:"url,omitempty"`
	Score float64 `json:"relevance"` // in [0,1]
	Text  string  `json:"text"`      // the lines that answer best
	Store string  `json:"store"`
}

// PublicHits is the reply of a search over public stores.
type PublicHits struct {
	Results    []PublicHit `json:"results"`
	Confidence string      `json:"confidence"`
	Notes      []string    `json:"notes,omitempty"`
}

// chunkScheme begins the address of a chunk.
const chunkScheme = "chunk://"

// SearchPublic searches the stores that a person has made public.
func SearchPublic(ctx context.Context, a *app.App, query string, limit int, base string) (PublicHits, error) {
	c, err := a.Open(ctx)
	if err != nil {
		return PublicHits{}, err
	}
	req := search.Request{Query: query, Limit: limit}
	if err := req.Complete(); err != nil {
		return PublicHits{}, err
	}
	s, err := askable(ctx, a, c, &AskRequest{Public: true})
	if err != nil {
		return PublicHits{}, err
	}
	defer s.Release()
	var note string
	if req.Marks, note, err = marksFor(ctx, c, query); err != nil {
		return PublicHits{}, err
	} else if note != "" {
		s.Notes = append(s.Notes, note)
	}
	r := PublicHits{Results: []PublicHit{}, Confidence: "none"}
	err = s.Serve(ctx, func(targets []search.Target) error {
		found, err := search.Run(ctx, targets, c.Embedder, req)
		if err != nil {
			return err
		}
		r.Confidence, r.Notes, r.Results = found.Confidence, found.Notes, r.Results[:0]
		for _, h := range found.Hits {
			path := h.Where.Path
			x := PublicHit{ID: h.ID, URI: chunkScheme + h.ID, Title: path, Score: h.Score, Text: h.Code, Store: h.Store}
			if h.Symbol != "" {
				x.Title += " › " + h.Symbol
			}
			for i := range targets {
				if t := &targets[i]; t.Label == h.Store {
					x.URL = sourceURL(c, t, base, h.ID, path, max(1, h.Line), max(1, h.Line)+strings.Count(h.Code, "\n"))
				}
			}
			r.Results = append(r.Results, x)
		}
		return nil
	})
	r.Notes = slices.Concat(s.Notes, r.Notes)
	return r, err
}

// PublicChunk is one chunk of a public store.
type PublicChunk struct {
	ID    string `json:"id"`
	URI   string `json:"chunk_uri"`
	Title string `json:"title"`
	At    string `json:"at"` // path:Lstart-Lend
	Store string `json:"store"`
	Text  string `json:"text"`
	URL   string `json:"url,omitempty"`
	Note  string `json:"note,omitempty"`
}

// ChunkPublic returns a chunk by its id or address, if its store is public.
func ChunkPublic(ctx context.Context, a *app.App, uri, base string) (PublicChunk, error) {
	id := strings.TrimPrefix(strings.TrimSpace(uri), chunkScheme)
	c, err := a.Open(ctx)
	if err != nil {
		return PublicChunk{}, err
	}
	s, err := askable(ctx, a, c, &AskRequest{Public: true})
	if err != nil {
		return PublicChunk{}, err
	}
	defer s.Release()
	var found search.Context
	var r PublicChunk
	err = s.Serve(ctx, func(targets []search.Target) (err error) {
		if found, err = search.Show(ctx, targets, id); err != nil {
			return err
		}
		r = PublicChunk{ID: found.ID, URI: chunkScheme + found.ID, Title: found.Path, At: found.At, Store: found.Store, Text: found.Code, Note: found.Note}
		if found.Symbol != "" {
			r.Title += " › " + found.Symbol
		}
		for i := range targets {
			if t := &targets[i]; t.Label == found.Store || t.Store.Label() == found.Store {
				r.URL = sourceURL(c, t, base, found.ID, found.Path, found.Start, found.End)
			}
		}
		return nil
	})
	return r, err
}

// PublicDocument is one document of a public store.
type PublicDocument struct {
	Name  string `json:"name"` // its path
	Store string `json:"store"`
	URI   string `json:"uri"`
}

// PublicDocuments is a page of the documents of public stores.
type PublicDocuments struct {
	Documents []PublicDocument `json:"documents"`
	Total     int              `json:"total"`
	Offset    int              `json:"offset"`
}

// mostDocuments is how many documents one page holds at most.
const mostDocuments = 1000

// DocumentsPublic lists the documents of public stores in order of store and path.
func DocumentsPublic(ctx context.Context, a *app.App, limit, offset int) (PublicDocuments, error) {
	if limit == 0 {
		limit = 100
	}
	if limit < 1 || limit > mostDocuments || offset < 0 {
		return PublicDocuments{}, kb.Errorf(kb.Invalid, "limit must lie between 1 and %d, and offset be at least 0", mostDocuments).WithHint("leave both out for the first 100")
	}
	c, err := a.Open(ctx)
	if err != nil {
		return PublicDocuments{}, err
	}
	s, err := askable(ctx, a, c, &AskRequest{Public: true})
	if err != nil {
		return PublicDocuments{}, err
	}
	defer s.Release()
	r := PublicDocuments{Documents: []PublicDocument{}, Offset: offset}
	err = s.Serve(ctx, func(targets []search.Target) error {
		r.Documents, r.Total = r.Documents[:0], 0
		for i := range targets {
			paths, err := targets[i].Index.Documents(ctx, "")
			if err != nil {
				return &search.TargetError{Target: i, Err: err}
			}
			for j, p := range paths {
				if n := r.Total + j; n >= offset && len(r.Documents) < limit {
					r.Documents = append(r.Documents, PublicDocument{Name: p, Store: targets[i].Label, URI: "document://" + targets[i].Store.Label() + "/" + p})
				}
			}
			r.Total += len(paths)
		}
		return nil
	})
	return r, err
}

// publicStores returns the stores that a person has made public. That there
// is none is an error that says how to make one.
func publicStores(ctx context.Context, c *app.Core) ([]kb.Store, error) {
	ids, err := c.Catalog.Public(ctx)
	if err != nil {
		return nil, err
	}
	all, err := c.Catalog.All(ctx)
	if err != nil {
		return nil, err
	}
	var stores []kb.Store
	var names []string
	for _, e := range all {
		if slices.Contains(ids, e.ID) {
			stores = append(stores, e.Store)
		} else if e.Name != "" {
			names = append(names, e.Name)
		}
	}
	if len(stores) == 0 {
		name := "NAME"
		if len(names) > 0 {
			name = names[0]
		}
		return nil, kb.Errorf(kb.NotFound, "no store is public, so that there is nothing to answer from").
			WithHint("make one public in a terminal, for example: knowledge store:public %s", name)
	}
	return app.Unique(stores), nil
}

// PublicStore is the reply of store:public.
type PublicStore struct {
	Store  string   `json:"store"`
	Public bool     `json:"public"`
	All    []string `json:"all"` // names of every public store
	Note   string   `json:"note,omitempty"`
}

// SetPublic says whether questions from outside may be answered from a store.
func SetPublic(ctx context.Context, a *app.App, store string, on bool) (PublicStore, error) {
	c, st, err := a.Lookup(ctx, store)
	if err != nil {
		return PublicStore{}, err
	}
	if err := c.Catalog.SetPublic(ctx, st.ID, on); err != nil {
		return PublicStore{}, err
	}
	r := PublicStore{Store: st.Label(), Public: on, All: []string{}}
	if stores, err := publicStores(ctx, c); err == nil {
		for _, s := range stores {
			r.All = append(r.All, s.Label())
		}
	} else if kb.CodeOf(err) != kb.NotFound {
		return r, err
	}
	if on {
		r.Note = "every program of this machine may now ask knowledge serve about all of its text, " +
			"and so may, from anywhere, the pages of answer.origins in the configuration"
		if len(answeringOf(c).config.Origins) == 0 {
			r.Note = "every program of this machine may now ask knowledge serve about all of its text; " +
				"pages of other sites may do so, from anywhere, when answer.origins in the configuration lists them"
		}
	}
	return r, nil
}

// Origins returns the pages of other sites that may ask, as the user's
// configuration lists them.
func Origins(ctx context.Context, a *app.App) ([]string, error) {
	c, err := a.Open(ctx)
	if err != nil {
		return nil, err
	}
	return answeringOf(c).config.Origins, nil
}
