package answer

import (
	"container/list"
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"

	chromem "github.com/philippgille/chromem-go"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/text/terms"
)

const (
	mostCached = 512 // answers in all
	mostScopes = 8   // for which questions are compared by meaning
	// alikeCosine is how near a question must be to one that was answered, in
	// the same words but for form and order, to be given its answer.
	alikeCosine = 0.9
)

// Cache keeps answers in memory: by the question as it is, and by one that
// says the same in the same words in another order or form, which a chromem-go
// collection finds. An answer is kept for a scope: what was asked, in which
// generation, with which feedback; another generation is another scope. The
// zero value is ready; its methods are safe for concurrent use.
type Cache struct {
	mu     sync.Mutex
	order  list.List // of *cached, the one used last first
	byKey  map[string]*list.Element
	scopes []*scope // the one used last first
	next   int
}

type cached struct {
	key, scope string
	id         string // in the scope's collection
	words      []string
	reply      Reply
}

type scope struct {
	name string
	coll *chromem.Collection
	byID map[string]*list.Element
	dims int
}

func key(scope, question string, topic []string) string {
	return scope + "\x00" + strings.Join(strings.Fields(strings.ToLower(question)), " ") + "\x00" + strings.Join(topic, " ")
}

// telling returns the sorted stems of a question, words that ask left out but
// for those that turn its meaning around.
func telling(question string, topic []string) []string {
	var out []string
	for _, w := range append(words(question), topic...) {
		f := fold(w)
		if asking[f] && !turning[f] {
			continue
		}
		out = append(out, terms.Of(w)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// turning are words that ask and change what is asked.
var turning = lists["turning"]

// Get returns the answer to a question in a scope. vector is the question's,
// of unit length; nil compares by words alone.
func (c *Cache) Get(ctx context.Context, scopeName, question string, topic []string, vector []float32) (Reply, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.byKey[key(scopeName, question, topic)]; e != nil {
		c.order.MoveToFront(e)
		return e.Value.(*cached).reply, true
	}
	s := c.scope(scopeName)
	if s == nil || vector == nil || len(vector) != s.dims || s.coll.Count() == 0 {
		return Reply{}, false
	}
	found, err := s.coll.QueryEmbedding(ctx, vector, min(3, s.coll.Count()), nil, nil)
	if err != nil {
		return Reply{}, false
	}
	want := telling(question, topic)
	for _, f := range found {
		e := s.byID[f.ID]
		if e == nil || f.Similarity < alikeCosine || !slices.Equal(e.Value.(*cached).words, want) {
			continue
		}
		c.order.MoveToFront(e)
		return e.Value.(*cached).reply, true
	}
	return Reply{}, false
}

// Put keeps an answer.
func (c *Cache) Put(ctx context.Context, scopeName, question string, topic []string, vector []float32, r Reply) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := key(scopeName, question, topic)
	if c.byKey == nil {
		c.byKey = map[string]*list.Element{}
	}
	if c.byKey[k] != nil {
		return
	}
	for c.order.Len() >= mostCached {
		c.drop(ctx, c.order.Back())
	}
	x := &cached{key: k, scope: scopeName, words: telling(question, topic), reply: r}
	e := c.order.PushFront(x)
	c.byKey[k] = e
	if !slices.ContainsFunc(vector, func(f float32) bool { return f != 0 }) {
		return
	}
	s := c.scope(scopeName)
	if s == nil {
		none := func(context.Context, string) ([]float32, error) {
			return nil, kb.Errorf(kb.Internal, "vectors come with the question")
		}
		coll, err := chromem.NewDB().CreateCollection("questions", nil, none)
		if err != nil {
			return
		}
		s = &scope{name: scopeName, coll: coll, byID: map[string]*list.Element{}, dims: len(vector)}
		c.scopes = append([]*scope{s}, c.scopes[:min(len(c.scopes), mostScopes-1)]...)
	}
	if len(vector) != s.dims {
		return
	}
	c.next++
	x.id = strconv.Itoa(c.next)
	if s.coll.AddDocument(ctx, chromem.Document{ID: x.id, Embedding: slices.Clone(vector)}) == nil {
		s.byID[x.id] = e
	}
}

// drop forgets one answer.
func (c *Cache) drop(ctx context.Context, e *list.Element) {
	x := c.order.Remove(e).(*cached)
	delete(c.byKey, x.key)
	if s := c.scope(x.scope); s != nil && x.id != "" {
		delete(s.byID, x.id)
		_ = s.coll.Delete(ctx, nil, nil, x.id) // fails only for a bad filter
	}
}

// scope returns the collection of a scope and notes its use.
func (c *Cache) scope(name string) *scope {
	i := slices.IndexFunc(c.scopes, func(s *scope) bool { return s.name == name })
	if i < 0 {
		return nil
	}
	s := c.scopes[i]
	copy(c.scopes[1:i+1], c.scopes[:i])
	c.scopes[0] = s
	return s
}
