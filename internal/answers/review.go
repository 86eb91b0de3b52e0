package answers

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/answers/feedback"
	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/secret"
)

// Review is what an owner wants to know of questions and answers.
type Review struct {
	// Kept is false when the configuration has no questions kept: only what was
	// rated is known then.
	Kept       bool          `json:"questions_kept"`
	Unanswered []ReviewEntry `json:"unanswered"`
	Rated      []ReviewEntry `json:"badly_rated"`
	Asked      []ReviewEntry `json:"most_asked"`
	Drifted    []ReviewEntry `json:"drifted"`
	Text       string        `json:"text,omitempty"` // every entry, in the form that was asked for
	Notes      []string      `json:"notes,omitempty"`
}

// ReviewEntry is a question, or several that ask much the same.
type ReviewEntry struct {
	Question   string    `json:"question"`
	Wordings   []string  `json:"wordings,omitempty"` // others of the same
	Times      int       `json:"times,omitempty"`
	Negative   int       `json:"negative,omitempty"`
	Positive   int       `json:"positive,omitempty"`
	Confidence *float64  `json:"confidence,omitempty"`
	Last       time.Time `json:"last,omitzero"`
	Sources    []string  `json:"sources,omitempty"`
	Comments   []string  `json:"comments,omitempty"`
	Change     string    `json:"change,omitempty"` // what has become of its answer
}

// ReviewRequest says how much of a review is wanted, and how.
type ReviewRequest struct {
	Limit  int    // of each part, 0 for 20
	Format string // "csv" sets Text
	app.Waiting
}

const (
	defaultReview = 20
	mostReview    = 200
	mostWordings  = 5
	// mostAgain is how many questions are asked again to see what has become of
	// their answers.
	mostAgain = 100
	// fallen is how much less sure an answer is that has drifted.
	fallen = 0.2
)

// ReviewQuestions returns which questions have no answer, which answers were
// rated badly, what is asked most, and which answers have changed with their
// stores since they were given.
func ReviewQuestions(ctx context.Context, a *app.App, r ReviewRequest) (Review, error) {
	if r.Limit == 0 {
		r.Limit = defaultReview
	}
	if r.Limit < 1 || r.Limit > mostReview {
		return Review{}, kb.Errorf(kb.Invalid, "limit must lie between 1 and %d, not %d", mostReview, r.Limit).WithHint("leave it out for %d", defaultReview)
	}
	c, err := a.Open(ctx)
	if err != nil {
		return Review{}, err
	}
	x := answeringOf(c)
	out := Review{Kept: x.config.Questions}
	gaps, err := x.feedback.Gaps(ctx)
	if err != nil {
		return out, err
	}
	out.Rated = []ReviewEntry{}
	for _, g := range gaps[:min(len(gaps), r.Limit)] {
		out.Rated = append(out.Rated, ReviewEntry{Question: g.Question, Negative: g.Negative, Positive: g.Positive, Sources: g.Sources, Comments: g.Comments})
	}
	list, err := x.feedback.Questions(ctx)
	if err != nil {
		return out, err
	}
	unanswered := slices.DeleteFunc(slices.Clone(list), func(q feedback.Asked) bool { return q.Answered })
	if out.Unanswered, err = clustered(ctx, x.feedback, unanswered, r.Limit); err != nil {
		return out, err
	}
	if out.Asked, err = clustered(ctx, x.feedback, list, r.Limit); err != nil {
		return out, err
	}
	if out.Drifted, err = drifted(ctx, a, list, r); err != nil {
		return out, err
	}
	if !out.Kept {
		out.Notes = append(out.Notes, "questions are not kept, so that only rated ones are known; answer.questions: true in the configuration keeps them")
	}
	if r.Format == "csv" {
		out.Text = out.csv()
	}
	return out, nil
}

// clustered are the questions asked most, like ones together.
func clustered(ctx context.Context, s *feedback.Store, list []feedback.Asked, limit int) ([]ReviewEntry, error) {
	clusters, err := s.Clusters(ctx, list)
	if err != nil {
		return nil, err
	}
	out := []ReviewEntry{}
	for _, c := range clusters[:min(len(clusters), limit)] {
		first := c.Asked[0]
		e := ReviewEntry{Question: first.Question, Times: c.Times, Last: first.Last, Confidence: &first.Confidence}
		for i, q := range c.Asked {
			if q.Last.After(e.Last) {
				e.Last = q.Last
			}
			if i > 0 && len(e.Wordings) < mostWordings {
				e.Wordings = append(e.Wordings, q.Question)
			}
		}
		for _, src := range first.Sources {
			e.Sources = append(e.Sources, src.At)
		}
		out = append(out, e)
	}
	return out, nil
}

// drifted asks the questions again that were answered from other generations,
// those asked most first, and returns whose answers are other ones now.
func drifted(ctx context.Context, a *app.App, list []feedback.Asked, r ReviewRequest) ([]ReviewEntry, error) {
	list = slices.Clone(list)
	kb.SortStableFunc(list, func(a, b feedback.Asked) int { return cmp.Compare(b.Times, a.Times) })
	out := []ReviewEntry{}
	for _, q := range list[:min(len(list), mostAgain)] {
		if len(out) == r.Limit {
			break
		}
		now, indexes, err := again(ctx, a, &q, r.Waiting)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		change := ""
		switch {
		case err != nil:
			change = "its stores cannot be asked any more: " + err.Error()
		case indexes == q.Indexes:
			continue
		case q.Answered && !now.Answered:
			change = "it is not answered any more"
		case !q.Answered && now.Answered:
			change = "it is answered now"
		case q.Answered && !citesAny(now, q.Sources):
			change = "it is answered from other passages"
		case q.Confidence-now.Confidence >= fallen:
			change = fmt.Sprintf("its answer is less sure: %.2f, it was %.2f", now.Confidence, q.Confidence)
		}
		if change == "" {
			continue
		}
		e := ReviewEntry{Question: q.Question, Times: q.Times, Last: q.Last, Confidence: &q.Confidence, Change: change}
		for _, s := range q.Sources {
			e.Sources = append(e.Sources, s.At)
		}
		out = append(out, e)
	}
	return out, nil
}

// again asks a question as it was asked, without a trace of it.
func again(ctx context.Context, a *app.App, q *feedback.Asked, w app.Waiting) (Answer, string, error) {
	var indexes string
	r, err := Ask(ctx, a, AskRequest{Question: q.Question, Stores: q.Stores, Waiting: w, untold: true, indexes: &indexes})
	return r, indexes, err
}

// citesAny reports whether an answer cites a passage of a list, as it was.
func citesAny(r Answer, list []feedback.Source) bool {
	return slices.ContainsFunc(r.Sources, func(s Source) bool {
		return slices.ContainsFunc(list, func(o feedback.Source) bool { return o.Store == s.Key && o.ID == s.ID })
	})
}

// tell keeps a question that was asked, where the user has them kept.
func (x *answering) tell(ctx context.Context, r *AskRequest, indexes string, reply *Answer) error {
	if !x.config.Questions || r.untold {
		return nil
	}
	masked, _ := secret.Mask("question.txt", r.Question)
	return x.feedback.Note(ctx, feedback.Asked{Question: masked, Answered: reply.Answered, Confidence: reply.Confidence,
		Sources: sourcesOf(cites(&Answer{Sources: reply.Sources})), Stores: r.Stores, Indexes: indexes})
}

// shortName is a short name of a scope.
func shortName(scope string) string {
	sum := sha256.Sum256([]byte(scope))
	return hex.EncodeToString(sum[:8])
}

// csv is every entry as a row.
func (r *Review) csv() string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	row := func(cells ...string) {
		for i, c := range cells {
			if c != "" && strings.ContainsAny(c[:1], "=+-@\t\r") { // a spreadsheet takes it for a formula
				cells[i] = "'" + c
			}
		}
		_ = w.Write(cells) // to memory
	}
	row("part", "question", "times", "negative", "positive", "confidence", "last", "sources", "other wordings", "comments", "change")
	number := func(n int) string {
		if n == 0 {
			return ""
		}
		return fmt.Sprint(n)
	}
	for _, p := range []struct {
		name string
		list []ReviewEntry
	}{{"unanswered", r.Unanswered}, {"badly rated", r.Rated}, {"most asked", r.Asked}, {"drifted", r.Drifted}} {
		for _, e := range p.list {
			sure, last := "", ""
			if e.Confidence != nil {
				sure = fmt.Sprintf("%.2f", *e.Confidence)
			}
			if !e.Last.IsZero() {
				last = e.Last.Format(time.RFC3339)
			}
			row(p.name, e.Question, number(e.Times), number(e.Negative), number(e.Positive), sure, last,
				strings.Join(e.Sources, "; "), strings.Join(e.Wordings, "; "), strings.Join(e.Comments, "; "), e.Change)
		}
	}
	w.Flush()
	return b.String()
}
