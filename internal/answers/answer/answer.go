package answer

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// MaxQuestion is the longest question in bytes.
const MaxQuestion = 8 << 10

// Request is one question.
type Request struct {
	Question string
	// Topic holds words of earlier questions that this one leans on; see Rewrite.
	Topic []string
	// Before are the places that the turn before cited, when the question leans
	// on it.
	Before []Cite
	// Said are the sentences that it was answered with then.
	Said []string
	// Marks says how much feedback speaks against a chunk for this question;
	// nil for nothing. See search.Request.
	Marks func(store kb.StoreID, id string) float64
	// Debug gets what the support of an answer is made of; it may be nil.
	Debug func(string)
	// Grounds, when it is not nil, gets the best passages, for a model.
	Grounds *Grounds
	// URL returns where a reader finds lines of a document of a target; nil,
	// or "", for nowhere.
	URL func(t *search.Target, id, path string, start, end int) string
}

// Reply is an answer with its sources.
type Reply struct {
	// Answer is the text: each sentence followed by the numbers of its sources,
	// [1]. When nothing supports one it says so, Answered is false, and Sources
	// are what comes nearest, if anything does.
	Answer   string   `json:"answer"`
	Answered bool     `json:"answered"`
	Sources  []Source `json:"sources"`
	// Confidence is how much of the question the answer covers, in [0,1].
	Confidence float64  `json:"confidence"`
	SessionID  string   `json:"session_id,omitempty"`
	Question   string   `json:"question,omitempty"` // as it was understood, when it leant on earlier ones
	Cached     bool     `json:"cached,omitempty"`
	Model      string   `json:"model,omitempty"` // that wrote the answer; "" when it was composed of sentences alone
	Notes      []string `json:"notes,omitempty"`

	// SessionKey shows that a client began the session; for who asked, alone.
	SessionKey string `json:"-"`
	// Parts are the sentences of Answer in their order, for who streams them
	// or shows them elsewhere.
	Parts []Part `json:"-"`
	// Near are places too far to be shown, where nothing supports an answer:
	// what feedback on that is about.
	Near []Source `json:"-"`
	// Beside are places of other sections that come next to those of an answer: a
	// question that leans on it may mean one of them.
	Beside []Source `json:"-"`
}

// Text is the reply as an agent or a terminal gets it: the answer, then its
// sources, one a line.
func (r Reply) Text() string {
	var b strings.Builder
	if r.Question != "" {
		fmt.Fprintf(&b, "(asked as: %s)\n\n", r.Question)
	}
	b.WriteString(r.Answer + "\n")
	switch {
	case len(r.Sources) > 0 && !r.Answered:
		b.WriteString("\nPlaces to look at:\n")
	case len(r.Sources) > 0:
		fmt.Fprintf(&b, "\nSources, confidence %.2f:\n", r.Confidence)
	}
	for _, s := range r.Sources {
		fmt.Fprintf(&b, "[%d] %s %s", s.N, s.Store, s.At)
		if _, heading, ok := strings.Cut(s.Title, " › "); ok {
			b.WriteString(" › " + heading)
		}
		b.WriteString(" (" + s.ID + ")")
		if s.URL != "" {
			b.WriteString(" " + s.URL)
		}
		if s.Note != "" {
			b.WriteString(": " + s.Note)
		}
		b.WriteByte('\n')
	}
	for _, n := range r.Notes {
		b.WriteString("note: " + n + "\n")
	}
	return b.String()
}

// Part is one sentence of an answer.
type Part struct {
	Text   string // without marks of links and emphasis
	Source int    // number of its source, from 1; 0 for none
	Code   bool
	Item   bool // of a list that the part before it announces, or is in
}

// Source is a place that an answer cites.
type Source struct {
	N         int     `json:"n"`
	Title     string  `json:"title"` // path, and heading or declaration
	URL       string  `json:"url,omitempty"`
	Relevance float64 `json:"relevance"` // in [0,1], that of the best is the largest
	ID        string  `json:"id"`        // for get_full_context
	Store     string  `json:"store"`
	Path      string  `json:"-"`
	At        string  `json:"at"`      // path:Lstart-Lend of the cited lines
	Snippet   string  `json:"snippet"` // the cited lines
	Note      string  `json:"note,omitempty"`

	Key   kb.StoreID `json:"-"` // of the store
	Lines [2]int     `json:"-"` // the first and the last that is cited
}

// mostPassages is how many passages of each ranking are read.
const mostPassages = 12

// Check refuses what is no question.
func (r *Request) Check() error {
	if strings.TrimSpace(r.Question) == "" {
		return kb.Errorf(kb.Invalid, "the question is empty").WithHint("ask in a sentence or a few words")
	}
	if len(r.Question) > MaxQuestion {
		return kb.Errorf(kb.TooLarge, "the question has %d bytes, more than the %d that are taken", len(r.Question), MaxQuestion).WithHint("ask with the few words that matter")
	}
	if !utf8.ValidString(r.Question) {
		return kb.Errorf(kb.Invalid, "the question is not valid UTF-8").WithHint("send it as UTF-8 text")
	}
	return nil
}

// Run answers a question from targets. The failure of a target is a
// *search.TargetError.
func Run(ctx context.Context, targets []search.Target, emb kb.Embedder, r Request) (Reply, error) {
	if err := r.Check(); err != nil {
		return Reply{}, err
	}
	q, passages, chosen, err := find(ctx, targets, emb, &r)
	if err != nil {
		return Reply{}, err
	}
	if r.Grounds != nil {
		r.Grounds.fill(&r, targets, passages)
	}
	found := q.signs(passages, chosen)
	p := found.probability()
	if r.Debug != nil {
		r.Debug(explain(q, passages, chosen, found, p))
	}
	reply := Reply{Sources: []Source{}, Confidence: q.confidence(p), Answered: p >= leastConfidence}
	if len(r.Topic) > 0 {
		reply.Question = q.searchText()
	}
	if !reply.Answered {
		r.decline(&reply, q, chosen, found, passages, targets)
		return reply, nil
	}
	parts, cited := arrange(chosen)
	reply.Sources = r.sources(cited, passages, targets)
	reply.Beside = r.sources(chosen.beyond(mostBeyond), passages, targets)
	if v := q.verdict(chosen); v != "" {
		reply.Parts = append(reply.Parts, Part{Text: v})
	}
	if q.spanish && q.foreign(chosen, passages) {
		reply.Parts = append(reply.Parts, Part{Text: "La documentación lo dice en inglés:"})
	}
	if q.disputed {
		reply.Notes = append(reply.Notes, disputed(q))
	}
	reply.Parts = append(reply.Parts, shownParts(parts)...)
	reply.Answer = Text(reply.Parts)
	return reply, nil
}

// find retrieves, scores and chooses, from the stores that the question names
// where it names some.
func find(ctx context.Context, targets []search.Target, emb kb.Embedder, r *Request) (*question, []search.Passage, choice, error) {
	numbers, names := named(strings.Join(append([]string{r.Question}, r.Topic...), " "), targets)
	few, restored := of(targets, numbers)
	q, passages, chosen, err := findIn(ctx, few, emb, r, names)
	for i := range passages {
		passages[i].Target = numbers[passages[i].Target]
	}
	return q, passages, chosen, restored(err)
}

func findIn(ctx context.Context, targets []search.Target, emb kb.Embedder, r *Request, names []string) (*question, []search.Passage, choice, error) {
	q, err := understand(ctx, targets, emb, r.Question, r.Topic, names)
	if err != nil || len(q.concepts) == 0 {
		return q, nil, choice{}, err
	}
	q.before, q.heard = r.Before, r.Said
	asked := []string{q.searchText()}
	if q.spanish { // the texts may be in either language
		asked = append(asked, r.Question)
	}
	if len(q.said) > 0 {
		asked = append(asked, asked[0]+" "+strings.Join(q.said, " "))
	}
	var passages []search.Passage
	for _, text := range asked {
		found, sure, err := search.Passages(ctx, targets, emb, search.Request{Query: kb.Clip(text, search.MaxQuery-len("…")), Limit: mostPassages, Marks: r.Marks})
		if err != nil {
			return nil, nil, choice{}, err
		}
		q.sure = max(q.sure, sure)
		for i := range found {
			p := &found[i]
			p.Score = (p.Score + 1/(1+rankLoss*float64(i))) / 2
			at := slices.IndexFunc(passages, func(o search.Passage) bool { return o.Target == p.Target && o.ID == p.ID && o.Place == p.Place })
			if at < 0 {
				passages = append(passages, *p)
			} else {
				passages[at].Score = max(passages[at].Score, p.Score)
			}
		}
	}
	if passages, err = q.beside(ctx, targets, passages); err != nil {
		return nil, nil, choice{}, err
	}
	passages = q.oneTongue(passages)
	all, err := q.score(ctx, passages, emb)
	if err != nil {
		return nil, nil, choice{}, err
	}
	chosen := q.choose(all, passages)
	return q, passages, chosen, nil
}

// rankLoss is how fast a passage counts less for coming later.
const rankLoss = 0.25

// unsupported says that nothing answers, in the language of the question, and
// which of its words no store knows.
func unsupported(q *question) string {
	var missing []string
	for i := range q.concepts {
		if c := &q.concepts[i]; !c.known && !c.topic && len(missing) < 3 {
			missing = append(missing, fmt.Sprintf("%q", kb.Clip(c.word, 40)))
		}
	}
	list := strings.Join(missing, ", ")
	verb, verbo := "stands", "aparece"
	if len(missing) > 1 {
		verb, verbo = "stand", "aparecen"
	}
	switch {
	case q.spanish && list != "":
		return "Nada de lo que está indexado responde a esa pregunta: en ninguna parte " + verbo + " " + list + "."
	case q.spanish:
		return "Nada de lo que está indexado responde a esa pregunta."
	case list != "":
		return "Nothing that is indexed answers this question: " + list + " " + verb + " nowhere in it."
	}
	return "Nothing that is indexed answers this question."
}

// disputed says that passages disagree, in the language of the question.
func disputed(q *question) string {
	if q.spanish {
		return "los documentos no dicen lo mismo: compara las fuentes"
	}
	return "the documents do not say the same: compare the sources"
}

// shownParts are the sentences of an answer as it shows them.
func shownParts(parts []part) []Part {
	var out []Part
	for _, p := range parts {
		out = append(out, Part{Text: shown(p), Source: p.source, Code: p.form == code, Item: p.item})
	}
	return out
}

// shown is a sentence as an answer shows it.
func shown(p part) string {
	if p.form == code {
		return "`" + strings.ReplaceAll(strings.ReplaceAll(p.text, "`", "'"), "\n", "`\n`") + "`"
	}
	return plain(p.text)
}

// Text writes the sentences of an answer with their citations: those of one
// source in one paragraph, items of a list each on a line, code in its own
// paragraph.
func Text(parts []Part) string { return text(parts, "\n", func(s string) string { return s }) }

// Markdown is Text in which everything that came from a document is inert;
// see Inert.
func Markdown(parts []Part) string { return text(parts, "  \n", Inert) }

func text(parts []Part, lineBreak string, form func(string) string) string {
	var b strings.Builder
	for i, p := range parts {
		if i > 0 {
			switch before := parts[i-1]; {
			case p.Code && before.Code && p.Source == before.Source:
				b.WriteString(lineBreak)
			case p.Item && p.Source == before.Source && !before.Code:
				b.WriteString("\n")
			case p.Source != before.Source && (before.Source != 0 || strings.HasSuffix(before.Text, ":")) || p.Code || before.Code || before.Item:
				b.WriteString("\n\n")
			default:
				b.WriteByte(' ')
			}
		}
		if p.Item {
			b.WriteString("- ")
		}
		for j, l := range strings.Split(p.Text, "\n") { // of code
			if j > 0 {
				b.WriteString(lineBreak)
			}
			b.WriteString(form(l))
		}
		if p.Source > 0 {
			fmt.Fprintf(&b, " [%d]", p.Source)
		}
	}
	return b.String()
}

// sources describes what is cited.
func (r *Request) sources(cited []citation, passages []search.Passage, targets []search.Target) []Source {
	out := make([]Source, 0, len(cited))
	top := 0.0
	for i := range cited {
		top = max(top, cited[i].score)
	}
	for i := range cited {
		c := &cited[i]
		p := &passages[c.passage]
		t := &targets[p.Target]
		s := Source{
			N: i + 1, Title: p.Path, ID: p.ID, Store: t.Label, Path: p.Path, At: c.at(p.Path), Snippet: kb.Clip(c.excerpt(p), 1200), Key: t.Store.ID, Lines: [2]int{c.start, c.end},
			Relevance: math.Round(100*max(0, min(1, c.score))) / 100,
		}
		if h := search.Title(&p.Chunk); h != "" {
			s.Title += " › " + h
		}
		if r.URL != nil {
			s.URL = r.URL(t, p.ID, p.Path, c.start, c.end)
		}
		if t.Fresh != nil {
			s.Note = t.Fresh(p.Path, p.Stamp)
		}
		s.Note = t.Mark(s.Note, p.Path, s.Snippet)
		out = append(out, s)
	}
	return out
}
