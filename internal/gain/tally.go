package gain

import (
	"hash/maphash"
	"unicode/utf8"

	"github.com/seed-4f2d999b/knowledge/internal/gain/sessionlog"
	"github.com/seed-4f2d999b/knowledge/internal/text/tokens"
)

// Use is what calls of one sort have cost, by the product's estimator of tokens.
type Use struct {
	Calls   int   `json:"calls"`
	Failed  int   `json:"failed"`            // of them, by their reply
	Silent  int   `json:"silent,omitempty"`  // of them, without a reply in the log
	Images  int   `json:"images,omitempty"`  // in replies, not estimated
	In      int64 `json:"in"`                // tokens of the calls: name and arguments
	Out     int64 `json:"out"`               // tokens of the replies
	Chars   int64 `json:"chars"`             // of the replies
	Carried int64 `json:"carried,omitempty"` // tokens of replies, once for each later response that was given them
	Left    int64 `json:"left,omitempty"`    // tokens of replies that were in the window when the session ended
}

func (u *Use) add(v Use) {
	u.Calls += v.Calls
	u.Failed += v.Failed
	u.Silent += v.Silent
	u.Images += v.Images
	u.In += v.In
	u.Out += v.Out
	u.Chars += v.Chars
	u.Carried += v.Carried
	u.Left += v.Left
}

// After is what agents did after a search, until the next or until somebody
// spoke.
type After struct {
	Searches int `json:"searches"`
	Contexts int `json:"contexts"` // other calls of the product
	Greps    int `json:"greps"`
	Reads    int `json:"reads"`
	Again    int `json:"again"` // of the reads, those of lines that the replies had named
	Lists    int `json:"lists"`
}

func (a *After) add(b After) {
	a.Searches += b.Searches
	a.Contexts += b.Contexts
	a.Greps += b.Greps
	a.Reads += b.Reads
	a.Again += b.Again
	a.Lists += b.Lists
}

// tally is what was counted of one conversation, or of many.
type tally struct {
	uses      [kinds]Use
	tools     [kinds]map[string]*Use
	after     After
	responses int
	prompts   int
	compacted int
}

func (t *tally) tool(of tool) *Use {
	m := t.tools[of.kind]
	if m == nil {
		m = map[string]*Use{}
		t.tools[of.kind] = m
	}
	u := m[of.name]
	if u == nil {
		u = &Use{}
		m[of.name] = u
	}
	return u
}

func (t *tally) add(o *tally) {
	for k := range o.uses {
		t.uses[k].add(o.uses[k])
		for name, u := range o.tools[k] {
			t.tool(tool{kind: kind(k), name: name}).add(*u)
		}
	}
	t.after.add(o.after)
	t.responses += o.responses
	t.prompts += o.prompts
	t.compacted += o.compacted
}

// held is how many tokens of replies of each kind a window holds.
type held [kinds]int64

// chain is a conversation while its lines are read: of the session itself, or of a
// sub-agent of it.
type chain struct {
	sub    bool
	window held
	client int64 // what the client says of the window, of the last response
	open   bool  // a search was the last thing that was asked for
	shown  []span
	tally  *tally
}

// node is a line that others may refer to.
type node struct {
	chain  *chain
	window held
}

// asked is a call in this file.
type asked struct {
	tool    tool
	chain   *chain
	tokens  int64 // of the reply, once it is there
	counted bool  // here, and not in a file that was read before
	replied bool
}

// Bounds of what is remembered.
const (
	maxNodes = 1 << 20 // lines of one file; later ones go by the order of the file
	maxSeen  = 4 << 20 // ids of calls and responses of all files; later ones are taken for new
	maxShown = 200     // places of the replies since a search
)

// seen remembers what was counted in any file: a session that was forked
// repeats the lines of the one that it comes from.
type seen struct {
	seed maphash.Seed
	ids  map[uint64]struct{}
	full bool
}

func newSeen() *seen { return &seen{seed: maphash.MakeSeed(), ids: map[uint64]struct{}{}} }

// first reports whether an id was not met before. An empty one never was.
func (s *seen) first(sort, id string) bool {
	if id == "" {
		return true
	}
	h := maphash.String(s.seed, sort+id)
	if _, met := s.ids[h]; met {
		return false
	}
	if s.full = s.full || len(s.ids) >= maxSeen; !s.full {
		s.ids[h] = struct{}{}
	}
	return true
}

// file counts the lines of one file.
type file struct {
	seen   *seen
	main   *chain
	agents map[string]*chain // of sub-agents whose lines are in this file, by agentId
	nodes  map[string]node
	calls  map[string]*asked
	said   map[string]bool // responses of this file
	copies int             // calls that another file had already
	last   *chain          // of the line before
}

func newFile(s *seen, sub bool) *file {
	return &file{seen: s, main: &chain{sub: sub, tally: &tally{}}, agents: map[string]*chain{}, nodes: map[string]node{},
		calls: map[string]*asked{}, said: map[string]bool{}}
}

// chainOf returns the conversation that a line belongs to.
func (f *file) chainOf(l sessionlog.Line) *chain {
	if f.main.sub || !l.Sidechain {
		return f.main
	}
	if l.Agent == "" { // older clients do not say
		if n, ok := f.nodes[l.Parent]; ok && n.chain.sub {
			return n.chain
		}
		if !l.Root && f.last != nil && f.last.sub {
			return f.last
		}
		return f.newAgent(l.ID)
	}
	if c := f.agents[l.Agent]; c != nil {
		return c
	}
	return f.newAgent(l.Agent)
}

func (f *file) newAgent(name string) *chain {
	c := &chain{sub: true, tally: &tally{}}
	f.agents[name] = c
	return c
}

// line counts a line. Within a conversation lines count in the order of the file,
// but for words of a person: these follow what their parent followed, so that
// what was asked anew leaves behind what had come of it before.
func (f *file) line(l sessionlog.Line) {
	c := f.chainOf(l)
	f.last = c
	switch n, known := f.nodes[l.Parent]; {
	case l.Compacted:
		c.tally.compacted++
		c.window = held{}
	case l.Prompt && l.Root:
		c.window = held{}
	case l.Prompt && known && n.chain == c:
		c.window = n.window
	}
	if l.Prompt {
		c.tally.prompts++
		c.open = false
	}
	for _, id := range l.Cleared {
		if a := f.calls[id]; a != nil && a.chain == c {
			c.window[a.tool.kind] = max(0, c.window[a.tool.kind]-a.tokens)
			a.tokens = 0
		}
	}
	f.response(c, l)
	for _, call := range l.Calls {
		f.call(c, call)
	}
	for _, r := range l.Replies {
		f.reply(c, r)
	}
	if l.ID != "" && len(f.nodes) < maxNodes {
		f.nodes[l.ID] = node{c, c.window}
	}
}

// response counts a response at the first of its lines: it was given what the
// window held.
func (f *file) response(c *chain, l sessionlog.Line) {
	if l.Message == "" {
		return
	}
	if l.Window > 0 {
		c.client = l.Window
	}
	if f.said[l.Message] {
		return
	}
	f.said[l.Message] = true
	if !f.seen.first("response ", l.Message) {
		return
	}
	c.tally.responses++
	for k, n := range c.window {
		c.tally.uses[k].Carried += n
	}
}

func (f *file) call(c *chain, call sessionlog.Call) {
	if call.ID != "" && f.calls[call.ID] != nil {
		return
	}
	a := &asked{tool: toolOf(call), chain: c, counted: f.seen.first("call ", call.ID)}
	f.calls[call.ID] = a
	if !a.counted {
		f.copies++
		return
	}
	n := int64(tokens.Estimate(call.Name) + tokens.Estimate(string(call.Input)))
	for _, u := range c.of(a.tool) {
		u.Calls++
		u.Silent++
		u.In += n
	}
	c.follow(a.tool)
}

// follow counts what came after a search.
func (c *chain) follow(t tool) {
	after := &c.tally.after
	if t.search {
		after.Searches++
		c.open, c.shown = true, nil
		return
	}
	if !c.open {
		return
	}
	switch t.kind {
	case ours:
		after.Contexts++
	case grep:
		after.Greps++
	case read:
		after.Reads++
		if within(t.span, c.shown) {
			after.Again++
		}
	case list:
		after.Lists++
	}
}

// of returns what a call of a tool counts to.
func (c *chain) of(t tool) []*Use { return []*Use{&c.tally.uses[t.kind], c.tally.tool(t)} }

func (f *file) reply(c *chain, r sessionlog.Reply) {
	a := f.calls[r.Call]
	if a == nil || a.replied {
		return
	}
	a.replied = true
	n := tokens.Estimate(r.Text)
	a.tokens = int64(n)
	c.window[a.tool.kind] += a.tokens
	if a.tool.kind == ours && len(c.shown) < maxShown {
		c.shown = append(c.shown, named(r.Text, maxShown-len(c.shown))...)
	}
	if !a.counted {
		return
	}
	for _, u := range c.of(a.tool) {
		u.Silent--
		u.Out += int64(n)
		u.Chars += int64(utf8.RuneCountInString(r.Text))
		u.Images += r.Images
		if r.Failed {
			u.Failed++
		}
	}
}

// end closes the count: what the session itself still holds is left, the
// windows of its sub-agents are gone.
func (f *file) end() {
	if f.main.sub {
		return
	}
	for k, n := range f.main.window {
		f.main.tally.uses[k].Left = n
	}
}
