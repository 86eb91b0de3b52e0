package crawl

import (
	"container/heap"
	"context"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
	"github.com/seed-4f2d999b/knowledge/internal/text/terms"
)

// wish is an instruction in plain language, understood: what it asks for and
// what it asks to leave out ("…, but not the blog"), as vectors and words.
type wish struct {
	e          kb.Embedder
	want, deny []float32
	words      map[string]bool
	denied     map[string]bool
}

var (
	clause = lazyregexp.New(`[.;!?\n]+(?:\s|$)`)
	denial = lazyregexp.New(`(?i)(?:^|[\s,(])(?:but\s+)?(?:(?:do\s+not|don't|never)\s+\w+|not|no|except(?:\s+for)?|excluding|exclude|without|skip(?:ping)?|ignor(?:e|ing)|avoid(?:ing)?|omit(?:ting)?|leav(?:e|ing)\s+out|other\s+than)\s`)
	// Words for the action, not for its subject.
	filler = lazyregexp.New(`(?i)\b(?:please|crawl|fetch|get|take|find|index|keep|extract|collect|read|only|just|focus(?:ing)?|pages?|sections?|documents?|docs|documentation|articles?|content|information|stuff|things?|everything|anything|all|any|every|each|the|an?|this|that|which|those|these|and|or|of|on|in|to|for|from|with|by|about|related|relating|concerning|regarding|describ(?:e|es|ing)|explain(?:s|ing)?|cover(?:s|ing)?|deal(?:s|ing)?|mention(?:s|ing)?|contain(?:s|ing)?|includ(?:e|es|ing)|how|what|where|when|is|are|be|i|we|me|us|want|need|interested|its?|site|website|parts?|topics?|especially|mainly)\b`)
)

// newWish understands an instruction; nil for an empty one.
func newWish(ctx context.Context, e kb.Embedder, text string) (*wish, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil, nil
	}
	if e == nil {
		return nil, kb.Errorf(kb.Invalid, "instructions need an embedder").
			WithHint("configure one, or leave the instructions out")
	}
	if len(text) > 4<<10 {
		return nil, kb.Errorf(kb.TooLarge, "the instruction is longer than 4 KiB").
			WithHint("say in a sentence or two which pages are wanted")
	}
	var want, deny []string
	for _, c := range clause.Split(text, -1) {
		if i := denial.FindStringIndex(c); i != nil {
			deny = append(deny, c[i[1]:])
			c = c[:i[0]]
		}
		want = append(want, c)
	}
	plain := func(parts []string) string {
		s := strings.Join(parts, " ")
		if f := clip(filler.ReplaceAllString(s, " "), len(s)); strings.Trim(f, " ,.:") != "" {
			return f
		}
		return clip(s, len(s))
	}
	w := &wish{e: e, words: words(plain(want)), denied: words(plain(deny))}
	vecs, err := e.Embed(ctx, []string{plain(want), plain(deny)})
	if err != nil {
		return nil, err
	}
	w.want, w.deny = vecs[0], vecs[1]
	return w, nil
}

// words are the normalised terms of a text.
func words(s string) map[string]bool {
	m := map[string]bool{}
	for _, t := range terms.Words(s) {
		m[t] = true
	}
	return m
}

func dot(a, b []float32) float64 {
	if len(a) != len(b) {
		return 0
	}
	var s float32
	for i := range a {
		s += a[i] * b[i]
	}
	return float64(s)
}

// score is how near a vector is to what is wanted, less how near it is to what
// is not: cos(want) - max(0, cos(deny)).
func (w *wish) score(v []float32) float64 { return dot(w.want, v) - max(0, dot(w.deny, v)) }

// link scores a link by what is known before it is read: its text and the words
// of its URL, as vectors, and the share of the instruction's words among them.
//
//	similarity(text + URL) + ½·share of words - share of denied words
func (w *wish) link(ctx context.Context, text string, u *url.URL) (float64, error) {
	s := text + " " + urlWords(u)
	vecs, err := w.e.Embed(ctx, []string{s})
	if err != nil {
		return 0, err
	}
	have := words(s)
	return w.score(vecs[0]) + 0.5*share(w.words, have) - share(w.denied, have), nil
}

func share(asked, have map[string]bool) float64 {
	if len(asked) == 0 {
		return 0
	}
	n := 0
	for t := range asked {
		if have[t] {
			n++
		}
	}
	return float64(n) / float64(len(asked))
}

// urlWords are the words of a URL's path.
func urlWords(u *url.URL) string {
	p := strings.TrimSuffix(u.Path, path.Ext(u.Path))
	if u.RawQuery != "" {
		p += " " + u.RawQuery
	}
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("/-_.=&+%", r) {
			return ' '
		}
		return r
	}, p)
}

// page scores a page that was read.
func (w *wish) page(ctx context.Context, title, url string, md []byte) (float64, error) {
	vecs, err := w.e.Embed(ctx, []string{title + "\n" + string(md[:min(len(md), 4000)])})
	if err != nil {
		return 0, err
	}
	return w.score(vecs[0]), nil
}

// item is one URL that waits to be visited.
type item struct {
	key, url string
	depth    int
	seq      int    // in order of discovery
	class    int    // 0 start, 1 below a start page's folder, 2 elsewhere
	listed   string // lastmod, "-" when listed without, "" when not listed
	reason   string
	varies   bool
	pattern  string
	hops     int // redirects that led here
	attempts int
	notYet   time.Time // before which it is not tried again; with the monotonic clock
	force    bool

	own    float64 // what the link itself says
	linked float64 // sum of the relevance of the pages that link here
	links  int
	dir    *dir
}

// dir is a folder of URLs with the relevance of its pages that were read.
type dir struct {
	up  *dir
	sum float64
	n   int
}

// value is the mean relevance of a folder's pages, drawn towards that of the folder above
// as if two of its pages were in here.
func (d *dir) value() float64 {
	if d == nil {
		return 0
	}
	if d.up == nil {
		if d.n == 0 {
			return 0
		}
		return d.sum / float64(d.n)
	}
	return (d.sum + 2*d.up.value()) / float64(d.n+2)
}

// queue holds what waits. Without a wish it is a heap in order of class, depth
// and discovery; with one, the best comes first, by
//
//	score = own + folder + ½·linkers
//
// where folder is how much better than average the pages of the link's folder
// are that were read, and linkers the same for the pages that link to it. Both
// change as pages arrive, so the best is looked for anew each time.
type queue struct {
	wish  *wish
	items []*item
	root  dir
	dirs  map[string]*dir
}

func (q *queue) Len() int { return len(q.items) }
func (q *queue) Less(i, j int) bool {
	a, b := q.items[i], q.items[j]
	switch {
	case a.class != b.class:
		return a.class < b.class
	case a.depth != b.depth:
		return a.depth < b.depth
	case (a.listed != "") != (b.listed != ""):
		return a.listed != ""
	}
	return a.seq < b.seq
}
func (q *queue) Swap(i, j int) { q.items[i], q.items[j] = q.items[j], q.items[i] }
func (q *queue) Push(x any)    { q.items = append(q.items, x.(*item)) }
func (q *queue) Pop() any {
	n := len(q.items) - 1
	it := q.items[n]
	q.items[n] = nil
	q.items = q.items[:n]
	return it
}

func (q *queue) add(it *item) {
	if q.wish == nil {
		heap.Push(q, it)
		return
	}
	it.dir = q.folder(it.key)
	q.items = append(q.items, it)
}

// init puts the queue in order after items in it changed.
func (q *queue) init() {
	if q.wish == nil {
		heap.Init(q)
	}
}

// nextStart takes a start page out of the queue, nil when there is none.
func (q *queue) nextStart() *item {
	for i, it := range q.items {
		if it.class == 0 {
			if q.wish == nil {
				return heap.Remove(q, i).(*item)
			}
			q.items = append(q.items[:i], q.items[i+1:]...)
			return it
		}
	}
	return nil
}

func (q *queue) next() *item {
	if len(q.items) == 0 {
		return nil
	}
	if q.wish == nil {
		return heap.Pop(q).(*item)
	}
	mean := q.root.value()
	values := map[*dir]float64{}
	best, at := 0.0, -1
	for i, it := range q.items {
		s := q.score(it, mean, values)
		if at < 0 || s > best || s == best && it.seq < q.items[at].seq {
			best, at = s, i
		}
	}
	it := q.items[at]
	last := len(q.items) - 1
	q.items[at], q.items[last] = q.items[last], nil
	q.items = q.items[:last]
	return it
}

func (q *queue) score(it *item, mean float64, values map[*dir]float64) float64 {
	if it.class == 0 {
		return 1e6 // start pages come first whatever they are about
	}
	v, ok := values[it.dir]
	if !ok {
		v = it.dir.value()
		values[it.dir] = v
	}
	s := it.own + v - mean
	if it.links > 0 {
		s += 0.5 * (it.linked/float64(it.links) - mean)
	}
	return s
}

// folder returns the folder of a key.
func (q *queue) folder(key string) *dir {
	if q.dirs == nil {
		q.dirs = map[string]*dir{}
	}
	p, _, _ := strings.Cut(key, "?")
	i := strings.LastIndexByte(p, '/')
	if i < 0 {
		return &q.root
	}
	p = p[:i]
	if d := q.dirs[p]; d != nil {
		return d
	}
	d := &dir{up: q.folder(p)}
	q.dirs[p] = d
	return d
}

// arrived takes the relevance of a page into account that was read.
func (q *queue) arrived(key string, relevance float64) {
	if q.wish == nil {
		return
	}
	for d := q.folder(key); d != nil; d = d.up {
		d.sum += relevance
		d.n++
	}
}
