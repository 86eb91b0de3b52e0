package answers

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/answers/answer"
	"github.com/seed-4f2d999b/knowledge/internal/answers/feedback"
	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// FeedbackRequest is what a person thinks of an answer.
type FeedbackRequest struct {
	Query      string
	Response   string // the answer as it was shown; "" when it is not known
	Rating     string // positive or negative
	Confidence *float64
	Session    string
	Comment    string
	Extra      json.RawMessage // an object of what else is kept
	Owner      string          // who rates, as who asked
	Client     string          // as in AskRequest
	SessionKey string          // as in AskRequest
	Public     bool            // the answer came from public stores
	Pending    bool            // it counts for nothing until it was reviewed
	// Stores that the answer came from, when it was given elsewhere; see AskRequest.
	Stores []string
	app.Waiting
}

// FeedbackAdded is the reply of feedback:add.
type FeedbackAdded struct {
	Success bool     `json:"success"`
	ID      string   `json:"feedback_id"`
	Sources []string `json:"sources,omitempty"` // what it is held for or against
	Note    string   `json:"note,omitempty"`
}

// FeedbackItem is one entry as lists show it.
type FeedbackItem struct {
	ID         string          `json:"feedback_id"`
	Query      string          `json:"query"`
	Response   string          `json:"response,omitempty"`
	Rating     string          `json:"rating"`
	Confidence *float64        `json:"confidence"`
	Comment    string          `json:"comment"`
	Reviewed   bool            `json:"reviewed"`
	Pending    bool            `json:"pending,omitempty"` // it counts for nothing until it is reviewed
	Action     string          `json:"action_taken,omitempty"`
	Session    string          `json:"session_id,omitempty"`
	Created    time.Time       `json:"created_at"`
	Sources    []string        `json:"sources,omitempty"`
	Extra      json.RawMessage `json:"metadata,omitempty"`
}

// FeedbackList is the reply of feedback:list.
type FeedbackList struct {
	Entries []FeedbackItem `json:"entries"`
	Count   int            `json:"count"`
}

// Gap is a question that people keep finding badly answered.
type Gap = feedback.Gap

// FeedbackStats are the figures of all feedback, with the gaps that follow.
type FeedbackStats struct {
	feedback.Stats
	Gaps   []Gap `json:"knowledge_gaps"`
	Effect bool  `json:"lowers_sources"` // false when answer.feedback is false
}

// AddFeedback keeps what a person thinks of an answer. What it cited is found
// in the session, or by answering the question again.
func AddFeedback(ctx context.Context, a *app.App, r FeedbackRequest) (FeedbackAdded, error) {
	c, err := a.Open(ctx)
	if err != nil {
		return FeedbackAdded{}, err
	}
	e := feedback.Entry{Query: r.Query, Response: r.Response, Rating: r.Rating, Confidence: r.Confidence,
		Session: r.Session, Comment: r.Comment, Extra: r.Extra, Pending: r.Pending}
	if err := e.Check(); err != nil { // before anything is asked
		return FeedbackAdded{}, err
	}
	key := answeringOf(c).sessions.Mine(answer.Key{Owner: r.Owner, ID: r.Session, Client: r.Client}, r.SessionKey)
	for _, t := range answeringOf(c).sessions.Turns(key) {
		if sameText(t.Question, r.Query) && (r.Response == "" || sameText(t.Answer, r.Response)) {
			e.Sources = sourcesOf(t.Cites)
			// A question that leans on earlier ones is kept with what it leans on.
			if len(t.Topic) > 0 {
				e.Query = t.Question + " (" + strings.Join(t.Topic, " ") + ")"
			}
		}
	}
	added := FeedbackAdded{Success: true}
	if e.Sources == nil {
		again, err := Ask(ctx, a, AskRequest{Question: r.Query, Public: r.Public, Stores: r.Stores, Waiting: r.Waiting, untold: true})
		switch {
		case err == nil && (r.Response == "" || sameText(answer.Markdown(again.Parts), r.Response) || sameText(again.Answer, r.Response)):
			e.Sources = sourcesOf(cites(&again))
		case err != nil && ctx.Err() != nil:
			return added, ctx.Err()
		default:
			added.Note = "kept, but it is not known any more what that answer cited: no source is lowered or raised"
		}
	}
	id, err := answeringOf(c).feedback.Add(ctx, e)
	if err != nil {
		return FeedbackAdded{}, err
	}
	added.ID = strconv.FormatInt(id, 10)
	for _, s := range e.Sources {
		added.Sources = append(added.Sources, s.At)
	}
	return added, nil
}

func sourcesOf(list []answer.Cite) []feedback.Source {
	out := []feedback.Source{}
	for _, x := range list {
		out = append(out, feedback.Source{Store: x.Store, ID: x.ID, At: x.At})
	}
	return out
}

// sameText compares texts as pages pass them on: white space aside, and cut
// where a session cut them.
func sameText(a, b string) bool {
	a, b = strings.Join(strings.Fields(a), " "), strings.Join(strings.Fields(b), " ")
	if cut, ok := strings.CutSuffix(a, "…"); ok && len(b) > len(a) {
		return strings.HasPrefix(b, cut)
	}
	return a == b
}

// FeedbackFilter chooses entries; its zero value the newest 50.
type FeedbackFilter = feedback.Filter

// ListFeedback lists what people thought of answers, newest first.
func ListFeedback(ctx context.Context, a *app.App, f FeedbackFilter) (FeedbackList, error) {
	c, err := a.Open(ctx)
	if err != nil {
		return FeedbackList{}, err
	}
	list, err := answeringOf(c).feedback.List(ctx, f)
	if err != nil {
		return FeedbackList{}, err
	}
	r := FeedbackList{Entries: []FeedbackItem{}, Count: len(list)}
	for i := range list {
		r.Entries = append(r.Entries, itemOf(&list[i]))
	}
	return r, nil
}

func itemOf(e *feedback.Entry) FeedbackItem {
	x := FeedbackItem{
		ID: strconv.FormatInt(e.ID, 10), Query: e.Query, Response: e.Response, Rating: e.Rating, Confidence: e.Confidence, Comment: e.Comment,
		Reviewed: e.Reviewed, Pending: e.Pending, Action: e.Action, Session: e.Session, Created: e.Created, Extra: e.Extra,
	}
	for _, s := range e.Sources {
		x.Sources = append(x.Sources, s.At)
	}
	return x
}

// StatsOfFeedback returns the figures of all feedback.
func StatsOfFeedback(ctx context.Context, a *app.App) (FeedbackStats, error) {
	c, err := a.Open(ctx)
	if err != nil {
		return FeedbackStats{}, err
	}
	r := FeedbackStats{Effect: !answeringOf(c).config.NoFeedback}
	if r.Stats, err = answeringOf(c).feedback.Stats(ctx); err != nil {
		return r, err
	}
	r.Gaps, err = Gaps(ctx, a)
	return r, err
}

// Gaps returns the questions that people keep finding badly answered, the
// worst first; none when the user has switched off what feedback does.
func Gaps(ctx context.Context, a *app.App) ([]Gap, error) {
	c, err := a.Open(ctx)
	if err != nil {
		return nil, err
	}
	if answeringOf(c).config.NoFeedback {
		return []Gap{}, nil
	}
	return answeringOf(c).feedback.Gaps(ctx)
}

// ReviewFeedback notes that an entry was looked at. A pending one counts
// from then on; after the action "dismissed" none does.
func ReviewFeedback(ctx context.Context, a *app.App, id, action string) (FeedbackItem, error) {
	n, err := strconv.ParseInt(strings.TrimSpace(id), 10, 64)
	if err != nil || n < 1 {
		return FeedbackItem{}, kb.Errorf(kb.Invalid, "%q is no number of feedback", kb.Clip(id, 60)).WithHint("take it from feedback:list")
	}
	c, err := a.Open(ctx)
	if err != nil {
		return FeedbackItem{}, err
	}
	e, err := answeringOf(c).feedback.Review(ctx, n, action)
	if err != nil {
		return FeedbackItem{}, err
	}
	return itemOf(&e), nil
}
