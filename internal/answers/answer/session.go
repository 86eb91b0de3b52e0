package answer

import (
	"crypto/rand"
	"crypto/subtle"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
	"github.com/seed-4f2d999b/knowledge/internal/text/terms"
)

// The bounds of Sessions.
const (
	MostSessions = 1000
	MostTurns    = 20               // of one session
	SessionLife  = 30 * time.Minute // after its last turn
	MaxSessionID = 128              // bytes of an id
	MostOfClient = 100              // sessions of one Key.Client
	turnBytes    = 4 << 10          // of one text that a turn keeps
	turnSources  = 8
	mostBytes    = 32 << 20 // of all turns
)

// Key names a session: an id that a client chose, and who the client is, so
// that two clients that choose the same id ("web") share nothing.
type Key struct {
	Owner, ID string
	Client    string // what MostOfClient counts by, an address; "" is not counted
}

// Turn is one question of a session with its answer.
type Turn struct {
	Question string    `json:"question"`
	Answer   string    `json:"answer"`
	Topic    []string  `json:"topic,omitempty"` // what the question was about, for those that lean on it
	At       time.Time `json:"at"`

	Cites  []Cite   `json:"-"`
	Beside []Cite   `json:"-"` // of what came next to it
	Said   []string `json:"-"` // the sentences of Answer
}

// Cite is a source by what feedback refers to it with.
type Cite struct {
	Store kb.StoreID
	ID    string
	Path  string
	At    string // label and place, for readers
	Lines [2]int // of the document, the first and the last
	Near  bool   // it came nearest to a question that was not answered
}

// Sessions holds the turns of conversations in memory: at most MostSessions of
// MostTurns, those that were asked least lately forgotten first, each for
// SessionLife. The zero value is ready; its methods are safe for concurrent use.
type Sessions struct {
	mu   sync.Mutex
	all  map[Key]*conversation
	size int              // bytes of all turns
	tick int64            // orders uses
	now  func() time.Time // nil is time.Now
}

type conversation struct {
	turns  []Turn
	used   int64
	last   time.Time
	secret string // shows who began it
	shown  bool   // its client has shown the secret, and goes on with it
}

// size is what a turn takes of mostBytes.
func (t *Turn) size() int {
	n := 256 + len(t.Question) + len(t.Answer)
	for _, w := range t.Topic {
		n += 16 + len(w)
	}
	for _, w := range t.Said {
		n += 16 + len(w)
	}
	for _, c := range slices.Concat(t.Cites, t.Beside) {
		n += 64 + len(c.Store) + len(c.ID) + len(c.Path) + len(c.At)
	}
	return n
}

// drop forgets a conversation.
func (s *Sessions) drop(k Key) {
	if c := s.all[k]; c != nil {
		for i := range c.turns {
			s.size -= c.turns[i].size()
		}
		delete(s.all, k)
	}
}

func (s *Sessions) time() time.Time {
	if s.now != nil {
		return s.now()
	}
	return time.Now()
}

// live returns a conversation that has not expired.
func (s *Sessions) live(k Key) *conversation {
	c := s.all[k]
	if c != nil && s.time().Sub(c.last) > SessionLife {
		s.drop(k)
		return nil
	}
	return c
}

// Mine returns the key of the conversation that a client means by k: the one
// whose secret it shows, wherever it asks from; else its own by what k says of
// it. Once a client has shown the secret, no client gets there without.
func (s *Sessions) Mine(k Key, secret string) Key {
	s.mu.Lock()
	defer s.mu.Unlock()
	if own, ok := s.bySecret(k.ID, secret); ok {
		s.all[own].shown = true
		return own
	}
	if c := s.live(k); c != nil && c.shown {
		k.Owner += "\x00"
	}
	return k
}

// bySecret finds the conversation of an id that a secret shows the owner of.
func (s *Sessions) bySecret(id, secret string) (Key, bool) {
	if secret == "" {
		return Key{}, false
	}
	for k, c := range s.all {
		if k.ID == id && subtle.ConstantTimeCompare([]byte(c.secret), []byte(secret)) == 1 && s.live(k) != nil {
			return k, true
		}
	}
	return Key{}, false
}

// Secret returns what shows that a client began a session; "" when there is none.
func (s *Sessions) Secret(k Key) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.live(k); c != nil {
		return c.secret
	}
	return ""
}

// OfSecret returns the turns of the session of an id that a secret belongs to.
func (s *Sessions) OfSecret(id, secret string) ([]Turn, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, ok := s.bySecret(id, secret)
	if !ok {
		return nil, false
	}
	return slices.Clone(s.all[k].turns), true
}

// ForgetOfSecret drops that session, and reports whether there was one.
func (s *Sessions) ForgetOfSecret(id, secret string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, ok := s.bySecret(id, secret)
	s.drop(k)
	return ok
}

// Turns returns the turns of a session, oldest first; none for one that is
// not known or has expired.
func (s *Sessions) Turns(k Key) []Turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.live(k); c != nil {
		return slices.Clone(c.turns)
	}
	return nil
}

// Add appends a turn. A session without id keeps nothing.
func (s *Sessions) Add(k Key, t Turn) {
	if k.ID == "" || len(k.ID) > MaxSessionID {
		return
	}
	t.Question, t.Answer = kb.Clip(t.Question, turnBytes), kb.Clip(t.Answer, turnBytes)
	t.Topic = slices.Clone(t.Topic)
	t.Cites = slices.Clone(t.Cites[:min(len(t.Cites), turnSources)])
	t.Beside = slices.Clone(t.Beside[:min(len(t.Beside), turnSources)])
	t.Said = slices.Clone(t.Said)
	s.mu.Lock()
	defer s.mu.Unlock()
	t.At = s.time()
	c := s.live(k)
	if c == nil {
		if s.all == nil {
			s.all = map[Key]*conversation{}
		}
		s.makeRoom(k.Client)
		c = &conversation{secret: rand.Text()}
		s.all[k] = c
	}
	s.tick++
	c.used, c.last = s.tick, t.At
	c.turns = append(c.turns, t)
	s.size += t.size()
	for len(c.turns) > MostTurns {
		s.size -= c.turns[0].size()
		c.turns = slices.Delete(c.turns, 0, 1)
	}
	for s.size > mostBytes && len(s.all) > 1 {
		s.drop(s.leastUsed(func(Key) bool { return true }))
	}
}

// makeRoom lets one more session of a client in: what has expired goes, else
// what was used least lately, first of the client's own.
func (s *Sessions) makeRoom(client string) {
	for k := range s.all {
		s.live(k)
	}
	same := 0
	own := func(k Key) bool { return client != "" && k.Client == client }
	for k := range s.all {
		if own(k) {
			same++
		}
	}
	switch {
	case same >= MostOfClient:
		s.drop(s.leastUsed(own))
	case len(s.all) >= MostSessions:
		s.drop(s.leastUsed(func(Key) bool { return true }))
	}
}

// leastUsed returns the session that was used least lately of those that count.
func (s *Sessions) leastUsed(counts func(Key) bool) (oldest Key) {
	least := int64(-1)
	for k, c := range s.all {
		if counts(k) && (least < 0 || c.used < least) {
			oldest, least = k, c.used
		}
	}
	return oldest
}

// Named returns the conversations that clients hold under an id, the one
// asked last first.
func (s *Sessions) Named(id string) [][]Turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []*conversation
	for k := range s.all {
		if k.ID == id {
			if c := s.live(k); c != nil {
				found = append(found, c)
			}
		}
	}
	kb.SortFunc(found, func(a, b *conversation) int { return int(b.used - a.used) })
	out := make([][]Turn, len(found))
	for i, c := range found {
		out[i] = slices.Clone(c.turns)
	}
	return out
}

// Forget drops the conversations under an id and returns how many there were.
func (s *Sessions) Forget(id string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for k := range s.all {
		if k.ID == id {
			if s.live(k) != nil {
				n++
			}
			s.drop(k)
		}
	}
	return n
}

var (
	// A question that begins like this goes on with the one before.
	onwardRE = lazyregexp.New(`(?i)^\s*[¿¡(]?\s*(?:and|but|or|so|then|also|what about|how about|what if|y|e|pero|o|entonces|adem[aá]s|tambi[eé]n)\b`)
	// Words that refer to what was named before.
	pronounRE = lazyregexp.New(`(?i)(?:^|[^\p{L}])(?:it|its|they|them|their|theirs|this|that|these|those|there|one|ones|he|she|his|her|such|same|afterwards|` +
		`eso|esto|ello|ellos|ellas|[eé]l|ella|ese|esa|esos|esas|este|esta|estos|estas|su|sus|lo|la misma|el mismo|(?:el |la |los |las )?otr[oa]s?|all[ií]|ah[ií])(?:[^\p{L}]|$)`)
	// Relative clauses and demonstratives with a noun of their own are no pronouns.
	thatRE = lazyregexp.New(`(?i)(?:^|[^\p{L}])(?:(?:(?:one|the|a|an)\s+[\p{L}_]+\s+that)|there (?:is|are|was|be)|(?:is|are) there|(?:lo que))(?:[^\p{L}]|$)`)
)

// wholeRE asks what something is, which needs one word.
var wholeRE = lazyregexp.New(`(?i)^\s*[¿¡]?\s*(?:what (?:is|are)|what's|define|qu[eé] (?:es|son)|explain)\b`)

// mostTopic is how many words of earlier turns a question takes along.
const mostTopic = 6

// Lean returns the words of earlier turns that a question leans on; none when
// it is complete. No model is asked: a question leans when it begins with
// "and", holds a pronoun, or has too few words to be one by itself.
func Lean(question string, turns []Turn) []string {
	if len(turns) == 0 {
		return nil
	}
	own := Subject(question)
	text := thatRE.ReplaceAllString(question, " ")
	leans := onwardRE.MatchString(question) || pronounRE.MatchString(text) || len(own) == 0 || len(own) == 1 && !isName(own[0]) && !wholeRE.MatchString(question)
	if !leans {
		return nil
	}
	return topicOf(turns[len(turns)-1], own)
}

// Cited returns the places that a question which leans on the last turn goes
// on with.
func Cited(turns []Turn) []Cite {
	if len(turns) == 0 {
		return nil
	}
	last := &turns[len(turns)-1]
	return slices.Concat(last.Cites, last.Beside)
}

// Said returns the sentences that the last turn answered with.
func Said(turns []Turn) []string {
	if len(turns) == 0 {
		return nil
	}
	return turns[len(turns)-1].Said
}

// topicOf is what a turn was about: the words of its question, names first,
// and then what that one leant on, without those in own.
func topicOf(last Turn, own []string) []string {
	known := map[string]bool{}
	for _, w := range own {
		known[stemmed(w)] = true
	}
	var out []string
	for _, w := range slices.Concat(Subject(last.Question), last.Topic) {
		if k := stemmed(w); !known[k] && len(out) < mostTopic {
			known[k] = true
			out = append(out, w)
		}
	}
	return out
}

// Subject returns the words of a question that say what it is about.
func Subject(question string) []string {
	var out []string
	for _, w := range words(question) {
		f := fold(w)
		if asking[f] || faints[f] || len(f) < 2 {
			continue
		}
		out = append(out, w)
	}
	return out
}

func stemmed(w string) string {
	if t := terms.Of(w); len(t) > 0 {
		return t[len(t)-1]
	}
	return w
}

// isName reports whether a word is written like a name of a program.
func isName(w string) bool {
	return strings.ContainsAny(w, "._:/#-0123456789") || w != strings.ToLower(w)
}
