package command

import (
	"context"
	"encoding/json"

	"github.com/seed-4f2d999b/knowledge/internal/app"
)

type askIn struct {
	Query          string   `json:"query" arg:"1..." help:"the question, in English or Spanish"`
	SessionID      string   `json:"session_id,omitempty" help:"questions of one session may lean on earlier ones (and how is it configured?)"`
	IncludeSources bool     `json:"include_sources,omitempty" default:"true" help:"false leaves the sources out"`
	Stores         []string `json:"stores,omitempty" help:"names or ids of stores; * is every store"`
}

type sessionIn struct {
	SessionID string `json:"session_id" arg:"1" help:"id of a session"`
}

type feedbackAddIn struct {
	Query      string          `json:"query" help:"the question"`
	Rating     string          `json:"rating" enum:"positive|negative" help:"whether the answer was good"`
	Response   string          `json:"response,omitempty" help:"the answer as it was shown"`
	Confidence *float64        `json:"confidence,omitempty" help:"that of the answer, from 0 to 1"`
	SessionID  string          `json:"session_id,omitempty" help:"session that the answer was given in"`
	Comment    string          `json:"comment,omitempty" help:"why"`
	Expected   string          `json:"expected_answer,omitempty" help:"what should have been said"`
	Metadata   json.RawMessage `json:"metadata,omitempty" help:"an object that is kept with it"`
	Stores     []string        `json:"stores,omitempty" help:"stores that were asked, when the session is gone; * is every store"`
}

type feedbackListIn struct {
	Rating        string `json:"rating,omitempty" enum:"positive|negative" help:"only entries rated so"`
	Reviewed      *bool  `json:"reviewed,omitempty" help:"only those that were reviewed, or were not"`
	LowConfidence bool   `json:"low_confidence,omitempty" help:"only those on answers of low confidence"`
	Pending       *bool  `json:"pending,omitempty" help:"only those that wait for a review to count, or do not"`
	Limit         int    `json:"limit,omitempty" help:"at most this many (default 50)"`
}

type feedbackReviewIn struct {
	ID     string `json:"feedback_id" arg:"1" help:"number of an entry, from feedback:list"`
	Action string `json:"action_taken,omitempty" arg:"2..." help:"what was done; a pending entry counts from then on, a dismissed one no more"`
}

type publicIn struct {
	Store string `json:"store" arg:"1" help:"name or id of a store"`
	On    bool   `json:"on,omitempty" arg:"2" default:"true" help:"false makes it private again"`
}

// localOwner is whose sessions the commands' are: who may run a command may
// see them all.
const localOwner = "local"

// addAnswers adds the commands about answers and feedback.
func addAnswers(add adder) {
	c := add("answer", New("answer:ask", "Answer a question with cited sentences of the stores", Reads,
		func(ctx context.Context, a *app.App, in askIn) (app.Answer, error) {
			r, err := a.Ask(ctx, app.AskRequest{Question: in.Query, Session: in.SessionID, Owner: localOwner, Stores: in.Stores, Waiting: waiting(ctx)})
			if err == nil && !in.IncludeSources {
				r.Sources = []Source{}
			}
			return r, err
		}).agent(), `{"query":"which files are left out of the index?"}`,
		`{"query":"and how is that configured?","session_id":"s1"}`)
	c.Aliases = []string{"ask"}
	c.Network = Declared
	c.Help = "Every sentence stands in a source: nothing is made up, and a question that nothing supports is told so. No model is needed; " +
		"one that answer.endpoint in the configuration names may word the answer, and what it says without support is dropped. " +
		"Sessions are kept in memory for half an hour."
	c = add("answer", New("answer:session", "What is remembered of a session of questions", Reads,
		func(ctx context.Context, a *app.App, in sessionIn) (app.Conversation, error) {
			return a.Conversation(ctx, in.SessionID)
		}).agent(), `{"session_id":"web"}`)
	c.Access = Token // what others said is not opened by --open-read
	add("answer", New("answer:forget", "Forget a session of questions", Deletes,
		func(ctx context.Context, a *app.App, in sessionIn) (app.Forgotten, error) {
			return a.Forget(ctx, in.SessionID)
		}).agent(), `{"session_id":"web"}`)

	c = add("answer", New("feedback:add", "Say whether an answer was good", Writes,
		func(ctx context.Context, a *app.App, in feedbackAddIn) (app.FeedbackAdded, error) {
			extra := map[string]any{}
			if len(in.Metadata) > 0 {
				extra["metadata"] = in.Metadata
			}
			if in.Expected != "" {
				extra["expected_answer"] = in.Expected
			}
			raw, err := json.Marshal(extra)
			if err != nil {
				return app.FeedbackAdded{}, err
			}
			return a.AddFeedback(ctx, app.FeedbackRequest{Query: in.Query, Response: in.Response, Rating: in.Rating, Confidence: in.Confidence,
				Session: in.SessionID, Comment: in.Comment, Extra: raw, Owner: localOwner, Stores: in.Stores, Waiting: waiting(ctx)})
		}).agent(), `{"query":"which files are left out of the index?","rating":"negative","comment":"says nothing of notebooks"}`)
	c.Help = "A negative entry lowers what the answer cited for questions like it, in answers and in searches, until the text changes; " +
		"--explain shows that as feedback, and answer.feedback: false in the configuration switches it off. Questions that are rated badly again and again are listed by feedback:stats."
	c = add("answer", New("feedback:list", "What people thought of answers, newest first", Reads,
		func(ctx context.Context, a *app.App, in feedbackListIn) (app.FeedbackList, error) {
			return a.Feedback(ctx, app.FeedbackFilter{Rating: in.Rating, Reviewed: in.Reviewed, Pending: in.Pending, LowConfidence: in.LowConfidence, Limit: in.Limit})
		}).agent(), `{"rating":"negative"}`)
	c.Access = Token
	c = add("answer", New("feedback:stats", "Figures of all feedback, and the questions that are badly answered", Reads,
		func(ctx context.Context, a *app.App, _ noIn) (app.FeedbackStats, error) {
			return a.FeedbackStats(ctx)
		}).agent(), `{}`)
	c.Access = Token
	c = add("answer", New("feedback:review", "Note that somebody has looked at feedback, and what was done", Writes,
		func(ctx context.Context, a *app.App, in feedbackReviewIn) (app.FeedbackItem, error) {
			return a.ReviewFeedback(ctx, in.ID, in.Action)
		}), `{"feedback_id":"1","action_taken":"dismissed"}`)
	c.Help = "What was sent over HTTP without the token is pending: it changes no ranking, no answer and no figure until it is reviewed here. " +
		"Any action but dismissed, ignored, invalid, spam or rejected accepts it."

	c = add("store", New("store:public", "Let questions from outside be answered from a store", Writes,
		func(ctx context.Context, a *app.App, in publicIn) (app.PublicStore, error) {
			return a.SetPublic(ctx, in.Store, in.On)
		}), `{"store":"handbook"}`, `{"store":"handbook","on":false}`)
	c.Help = "Nothing is public until somebody says so here. All text of a public store can then be read over HTTP through questions, " +
		"without a token, by every program of this machine that reaches knowledge serve, and by the pages that answer.origins in the configuration lists, from anywhere."
}

// Source is a place that an answer cites.
type Source = app.Source

func answersResources() []Resource {
	return []Resource{{
		URI: "feedback://stats", Name: "feedback", Description: "What people thought of answers, in figures, and what they find badly answered", Closed: true,
		Read: func(ctx context.Context, a *app.App, _ string) (any, error) { return a.FeedbackStats(ctx) },
	}}
}
