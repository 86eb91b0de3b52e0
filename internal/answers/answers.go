package answers

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/answers/answer"
	"github.com/seed-4f2d999b/knowledge/internal/answers/feedback"
	"github.com/seed-4f2d999b/knowledge/internal/answers/model"
	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/data/db"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/config"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// answering is what answers need beyond the stores. Sessions and answers are
// kept in memory; what people thought of answers is in the database.
type answering struct {
	config   config.Answer
	feedback *feedback.Store
	sessions answer.Sessions
	cache    answer.Cache
	model    *answer.Model // nil composes answers without one
	note     string        // what is missing for a model that the configuration names
}

func newAnswering(c config.Answer, d *db.DB, emb kb.Embedder, env func(string) string) *answering {
	x := &answering{config: c, feedback: feedback.New(d, emb)}
	if (c.Endpoint == "") != (c.Model == "") {
		x.note = "the configuration names answer.endpoint or answer.model without the other, so that no model is asked"
	}
	if c.Endpoint != "" && c.Model != "" {
		x.model = &answer.Model{Client: &model.Client{Endpoint: c.Endpoint, API: c.API, Name: c.Model}, Check: answer.Checker(emb)}
		if c.KeyEnv != "" {
			if x.model.Key = env(c.KeyEnv); x.model.Key == "" {
				x.note = fmt.Sprintf("the variable %s that answer.key names is empty, so that the model is asked without a key", c.KeyEnv)
			}
		}
	}
	return x
}

func answeringOf(c *app.Core) *answering {
	return app.State(c, func() *answering { return newAnswering(c.Settings.Answer, c.Db, c.Words, c.Env) })
}

func hooks() app.Room {
	return app.Room{Marks: func(ctx context.Context, c *app.Core, query string) (func(kb.StoreID, string) float64, string, error) {
		return marksFor(ctx, c, query)
	}}
}

// AskRequest is one question. The zero value of every field but Question is
// its default.
type AskRequest struct {
	Question string
	Session  string // id of the session that it belongs to; "" for none
	// Owner identifies the asker among sessions of one id, and Client is the
	// address, whose sessions are bounded; SessionKey, when it is known, shows that
	// the session is the asker's.
	Owner, Client, SessionKey string

	Stores []string // names or ids; ["*"] is every store; empty is the default scope
	// Public asks the stores that a person has made public, and no others.
	Public bool
	// Base is the address under which this program serves chunks, for the URLs
	// of sources that have none of their own: "http://127.0.0.1:7390".
	Base string
	// Debug gets what the support of an answer is made of; it may be nil.
	Debug func(string)
	// Said gets each sentence of a model when it has been checked; it may be nil.
	Said func(answer.Part)
	app.Waiting

	untold  bool    // it is not kept
	indexes *string // gets the name of the generations that were asked
}

// hearingKey is the key of what Hearing was given.
type hearingKey struct{}

// Hearing has a command that answers a question under the context that it
// returns say each sentence of a model when it has been checked.
func Hearing(ctx context.Context, said func(answer.Part)) context.Context {
	return context.WithValue(ctx, hearingKey{}, said)
}

func heard(ctx context.Context) func(answer.Part) {
	said, _ := ctx.Value(hearingKey{}).(func(answer.Part))
	return said
}

// Answer is the reply to a question, Source a place that it cites.
type (
	Answer = answer.Reply
	Source = answer.Source
)

// askTime is how long one question may take.
const askTime = 30 * time.Second

// Ask answers a question with cited sentences of the stores.
func Ask(ctx context.Context, a *app.App, r AskRequest) (Answer, error) {
	q := answer.Request{Question: r.Question, Debug: r.Debug}
	if err := q.Check(); err != nil {
		return Answer{}, err
	}
	if len(r.Session) > answer.MaxSessionID {
		return Answer{}, kb.Errorf(kb.TooLarge, "the session's id has more than %d bytes", answer.MaxSessionID).WithHint("choose a shorter one")
	}
	c, err := a.Open(ctx)
	if err != nil {
		return Answer{}, err
	}
	asked, cancel := context.WithTimeout(ctx, askTime+r.Wait) // the wait is for an index that is being made
	defer cancel()
	reply, err := compose(asked, a, c, r, q)
	if err != nil && asked.Err() != nil && ctx.Err() == nil {
		return Answer{}, kb.Errorf(kb.Busy, "the answer took longer than %v", askTime).WithHint("ask again in a moment, or ask for less at a time")
	}
	return reply, err
}

func compose(ctx context.Context, a *app.App, c *app.Core, r AskRequest, q answer.Request) (Answer, error) {
	s, err := askable(ctx, a, c, &r)
	if err != nil {
		return Answer{}, err
	}
	defer s.Release()
	key := answeringOf(c).sessions.Mine(answer.Key{Owner: r.Owner, ID: r.Session, Client: r.Client}, r.SessionKey)
	turns := answeringOf(c).sessions.Turns(key)
	if q.Topic = answer.Lean(r.Question, turns); q.Topic != nil {
		q.Before, q.Said = answer.Cited(turns), answer.Said(turns)
	}
	q.URL = func(t *search.Target, id, path string, start, end int) string {
		return sourceURL(c, t, r.Base, id, path, start, end)
	}
	full := strings.Join(append([]string{r.Question}, q.Topic...), " ")
	scope, err := answerScope(ctx, c, s, r.Base)
	if err != nil {
		return Answer{}, err
	}
	indexes := shortName(indexesOf(s))
	if r.indexes != nil {
		*r.indexes = indexes
	}
	var note string
	if q.Marks, note, err = marksFor(ctx, c, full); err != nil {
		return Answer{}, err
	} else if note != "" {
		s.Notes = append(s.Notes, note)
	}
	// What was cited before counts too, so it is a part of what is asked.
	context := slices.Concat(q.Topic, []string{"\x00"})
	for _, c := range q.Before {
		context = append(context, c.ID)
	}
	vectors, err := c.Words.Embed(ctx, []string{full})
	if err != nil {
		return Answer{}, err
	}
	reply, ok := answeringOf(c).cache.Get(ctx, scope, r.Question, context, vectors[0])
	if !ok {
		if answeringOf(c).model != nil {
			q.Grounds = &answer.Grounds{}
		}
		err = s.Serve(ctx, func(targets []search.Target) (err error) {
			reply, err = answer.Run(ctx, targets, c.Embedder, q)
			return err
		})
		if err != nil {
			return Answer{}, err
		}
		if len(s.Targets) == 0 {
			return Answer{}, kb.Errorf(kb.Corrupt, "%s", strings.Join(s.Notes, "; ")).WithHint("ask again when it is rebuilt; see: jobs")
		}
		reply = answeringOf(c).model.Word(ctx, q.Grounds, reply, r.Said)
		if len(s.Notes) == 0 && len(reply.Notes) == 0 { // what is not whole is not kept
			answeringOf(c).cache.Put(ctx, scope, r.Question, context, vectors[0], reply)
		}
	}
	if err := answeringOf(c).tell(ctx, &r, indexes, &reply); err != nil && ctx.Err() == nil {
		s.Notes = append(s.Notes, fmt.Sprintf("the question is not kept: %v", err))
	}
	reply.Cached, reply.SessionID = ok, r.Session
	reply.Notes = slices.Concat(s.Notes, reply.Notes)
	if answeringOf(c).note != "" && !r.Public { // for who can change it
		reply.Notes = append(reply.Notes, answeringOf(c).note)
	}
	answeringOf(c).sessions.Add(key, answer.Turn{Question: r.Question, Answer: answer.Markdown(reply.Parts), Topic: q.Topic, Cites: cites(&reply), Beside: beside(&reply), Said: said(&reply)})
	reply.SessionKey = answeringOf(c).sessions.Secret(key)
	return reply, nil
}

// said are the sentences that were quoted as an answer.
func said(r *Answer) []string {
	var out []string
	for _, p := range r.Parts {
		if r.Answered && p.Source > 0 {
			out = append(out, p.Text)
		}
	}
	return out
}

// cites is what feedback on an answer is about.
func cites(r *Answer) []answer.Cite {
	return citesOf(append(slices.Clone(r.Sources), r.Near...), !r.Answered)
}

// beside is what the next question may go on with besides.
func beside(r *Answer) []answer.Cite { return citesOf(r.Beside, true) }

func citesOf(list []answer.Source, near bool) []answer.Cite {
	var out []answer.Cite
	for _, s := range list {
		out = append(out, answer.Cite{Store: s.Key, ID: s.ID, Path: s.Path, At: s.Store + " " + s.At, Lines: s.Lines, Near: near})
	}
	return out
}

// askable opens the stores that a question is answered from.
func askable(ctx context.Context, a *app.App, c *app.Core, r *AskRequest) (*app.Shelves, error) {
	if !r.Public {
		return a.ShelvesOf(ctx, r.Stores, r.Waiting)
	}
	stores, err := publicStores(ctx, c)
	if err != nil {
		return nil, err
	}
	late, err := a.Freshen(ctx, c, stores, app.Asking{Waiting: r.Waiting, Public: true})
	if err != nil {
		return nil, err
	}
	s, err := a.Opened(ctx, c, stores)
	if err != nil {
		return nil, err
	}
	s.Notes = append(s.Notes, late...)
	if len(s.Targets) == 0 {
		s.Release()
		return nil, kb.Errorf(kb.NotFound, "no public store has anything indexed yet").WithHint("try again when its job is done; see: knowledge jobs")
	}
	return s, nil
}

// answerScope names what answers are good for: these generations, with this
// feedback, in the words of this model.
func answerScope(ctx context.Context, c *app.Core, s *app.Shelves, base string) (string, error) {
	parts := []string{indexesOf(s), base}
	if !answeringOf(c).config.NoFeedback {
		rev, err := answeringOf(c).feedback.Revision(ctx)
		if err != nil && ctx.Err() != nil {
			return "", err
		}
		parts = append(parts, rev) // "" when it cannot be read: marks says so
	}
	return strings.Join(parts, "|"), nil
}

// indexesOf names the generations that are asked.
func indexesOf(s *app.Shelves) string {
	var parts []string
	for i := range s.Targets {
		t := &s.Targets[i]
		manifest := ""
		if t.Store.Head != nil {
			manifest = t.Store.Head.Manifest
		}
		parts = append(parts, string(t.Store.ID)+":"+t.Label+":"+manifest)
	}
	slices.Sort(parts)
	return strings.Join(parts, "|")
}

// marksFor says what feedback speaks against for a question; nil for nothing, or
// when the user has switched it off. Feedback that cannot be read, in a
// database that is damaged or older and may not be written, speaks against
// nothing, and the note says so: what is indexed is found all the same.
func marksFor(ctx context.Context, c *app.Core, question string) (marks func(kb.StoreID, string) float64, note string, err error) {
	if answeringOf(c).config.NoFeedback {
		return nil, "", nil
	}
	marks, err = answeringOf(c).feedback.Marks(ctx, question)
	if err != nil && ctx.Err() == nil {
		return nil, fmt.Sprintf("feedback counts for nothing here, since it cannot be read: %v", err), nil
	}
	return marks, "", err
}
