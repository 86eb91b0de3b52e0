package answers

import (
	"context"
	"encoding/json"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
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
	ID     string `json:"feedback_id,omitempty" arg:"1" help:"number of an entry, from feedback:list, to note that it was looked at (default: what there is to look at)"`
	Limit  int    `json:"limit,omitempty" help:"at most this many of each kind (default 20)"`
	Format string `json:"format,omitempty" enum:"csv" help:"every entry in this form"`
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
func addAnswers(t *command.Table) {
	c := t.Add("answer", command.New("answer:ask", "Answer a question with cited sentences of the stores", command.Reads,
		func(ctx context.Context, a *app.App, in askIn) (Answer, error) {
			r, err := Ask(ctx, a, AskRequest{Question: in.Query, Session: in.SessionID, Owner: localOwner, Stores: in.Stores, Said: heard(ctx), Waiting: command.WaitingOf(ctx)})
			if err == nil && !in.IncludeSources {
				r.Sources = []Source{}
			}
			return r, err
		}).Prints(printer.Of(printAnswer)).Agent(), `{"query":"which files are left out of the index?"}`,
		`{"query":"and how is that configured?","session_id":"s1"}`)
	c.Aliases = []string{"ask"}
	c.Network = command.Declared
	c.Help = "Every sentence stands in a source: nothing is made up, and a question that nothing supports is told so. No model is needed; " +
		"one that answer.endpoint in the configuration names may word the answer, and what it says without support is dropped. " +
		"Sessions are kept in memory for half an hour."
	c = t.Add("answer", command.New("answer:session", "What is remembered of a session of questions", command.Reads,
		func(ctx context.Context, a *app.App, in sessionIn) (Conversation, error) {
			return ConversationNamed(ctx, a, in.SessionID)
		}).Agent(), `{"session_id":"web"}`)
	c.Access = command.Token // what others said is not opened by --open-read
	t.Add("answer", command.New("answer:forget", "Forget a session of questions", command.Deletes,
		func(ctx context.Context, a *app.App, in sessionIn) (Forgotten, error) {
			return Forget(ctx, a, in.SessionID)
		}).Agent(), `{"session_id":"web"}`)

	c = t.Add("answer", command.New("feedback:add", "Say whether an answer was good", command.Writes,
		func(ctx context.Context, a *app.App, in feedbackAddIn) (FeedbackAdded, error) {
			extra := map[string]any{}
			if len(in.Metadata) > 0 {
				extra["metadata"] = in.Metadata
			}
			if in.Expected != "" {
				extra["expected_answer"] = in.Expected
			}
			raw, err := json.Marshal(extra)
			if err != nil {
				return FeedbackAdded{}, err
			}
			return AddFeedback(ctx, a, FeedbackRequest{Query: in.Query, Response: in.Response, Rating: in.Rating, Confidence: in.Confidence,
				Session: in.SessionID, Comment: in.Comment, Extra: raw, Owner: localOwner, Stores: in.Stores, Waiting: command.WaitingOf(ctx)})
		}).Agent(), `{"query":"which files are left out of the index?","rating":"negative","comment":"says nothing of notebooks"}`)
	c.Help = "A negative entry lowers what the answer cited for questions like it, in answers and in searches, until the text changes; " +
		"--explain shows that as feedback, and answer.feedback: false in the configuration switches it off. Questions that are rated badly again and again are listed by feedback:stats."
	c = t.Add("answer", command.New("feedback:list", "What people thought of answers, newest first", command.Reads,
		func(ctx context.Context, a *app.App, in feedbackListIn) (FeedbackList, error) {
			return ListFeedback(ctx, a, FeedbackFilter{Rating: in.Rating, Reviewed: in.Reviewed, Pending: in.Pending, LowConfidence: in.LowConfidence, Limit: in.Limit})
		}).Prints(printer.Of(printFeedback)).Agent(), `{"rating":"negative"}`)
	c.Access = command.Token
	c = t.Add("answer", command.New("feedback:stats", "Figures of all feedback, and the questions that are badly answered", command.Reads,
		func(ctx context.Context, a *app.App, _ struct{}) (FeedbackStats, error) {
			return StatsOfFeedback(ctx, a)
		}).Agent(), `{}`)
	c.Access = command.Token
	c = t.Add("answer", command.New("feedback:review", "What owners want to know of questions and answers; or note that an entry was looked at", command.Writes,
		func(ctx context.Context, a *app.App, in feedbackReviewIn) (Reviewed, error) {
			if in.ID == "" {
				r, err := ReviewQuestions(ctx, a, ReviewRequest{Limit: in.Limit, Format: in.Format, Waiting: command.WaitingOf(ctx)})
				return Reviewed{Review: &r}, err
			}
			e, err := ReviewFeedback(ctx, a, in.ID, in.Action)
			return Reviewed{FeedbackItem: &e}, err
		}).Prints(printer.Of(printReviewed)), `{}`, `{"format":"csv"}`, `{"feedback_id":"1","action_taken":"dismissed"}`)
	c.Help = "Without an entry: which questions have no answer, which answers were rated badly, what is asked most (like questions together), " +
		"and whose answers have changed since their stores were indexed anew. Questions are known where answer.questions in the configuration has them kept. " +
		"With one: what was sent over HTTP without the token is pending: it changes no ranking, no answer and no figure until it is reviewed here. " +
		"Any action but dismissed, ignored, invalid, spam or rejected accepts it."

	c = t.Add("store", command.New("store:public", "Let questions from outside be answered from a store", command.Writes,
		func(ctx context.Context, a *app.App, in publicIn) (PublicStore, error) {
			return SetPublic(ctx, a, in.Store, in.On)
		}), `{"store":"handbook"}`, `{"store":"handbook","on":false}`)
	c.Help = "Nothing is public until somebody says so here. All text of a public store can then be read over HTTP through questions, " +
		"without a token, by every program of this machine that reaches knowledge serve, and by the pages that answer.origins in the configuration lists, from anywhere."
}

func answersResources() []command.Resource {
	return []command.Resource{{
		URI: "feedback://stats", Name: "feedback", Description: "What people thought of answers, in figures, and what they find badly answered", Closed: true,
		Read: func(ctx context.Context, a *app.App, _ string) (any, error) { return StatsOfFeedback(ctx, a) },
	}}
}
