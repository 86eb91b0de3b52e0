package httpapi

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/seed-4f2d999b/knowledge/internal/answers"
	composed "github.com/seed-4f2d999b/knowledge/internal/answers/answer"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// ragRating is the body of POST feedback.
type ragRating struct {
	Query      string          `json:"query"`
	Response   string          `json:"response"`
	Rating     string          `json:"rating"`
	Confidence *float64        `json:"confidence"`
	SessionID  string          `json:"session_id"`
	SessionKey string          `json:"session_key"`
	Comment    *string         `json:"comment"`
	Expected   json.RawMessage `json:"expected_answer"`
	Metadata   json.RawMessage `json:"metadata"`
	Tenant     json.RawMessage `json:"tenant_id"`
	Agent      json.RawMessage `json:"agent_id"`
}

func (s *service) ragFeedback(w http.ResponseWriter, r *http.Request) {
	raw, err := s.ragBody(w, r)
	if err != nil {
		ragFault(w, err)
		return
	}
	var b ragRating
	if err := json.Unmarshal(raw, &b); err != nil {
		ragFault(w, kb.Errorf(kb.Invalid, "the request's body is no feedback: %s", jsonFault(err)).WithHint(`send {"query":"…","rating":"positive"}`))
		return
	}
	extra := map[string]json.RawMessage{}
	for k, v := range map[string]json.RawMessage{"expected_answer": b.Expected, "metadata": b.Metadata, "tenant_id": b.Tenant, "agent_id": b.Agent} {
		if len(v) > 0 && string(v) != "null" {
			extra[k] = v
		}
	}
	more, err := json.Marshal(extra)
	if err != nil {
		ragFault(w, kb.Errorf(kb.Invalid, "the request's body is no feedback").WithHint(`send {"query":"…","rating":"positive"}`))
		return
	}
	req := answers.FeedbackRequest{Query: b.Query, Response: b.Response, Rating: b.Rating, Confidence: b.Confidence, Session: b.SessionID,
		Extra: more, Owner: owner(r), Client: client(r), SessionKey: cmp.Or(r.Header.Get(keyHeader), b.SessionKey), Public: true, Pending: s.public || !s.guard.Holds(r)}
	if req.Pending && !s.mayRate(r, b.SessionID) {
		ragDeny(w, http.StatusTooManyRequests, kb.Errorf(kb.Busy, "too many ratings from this address").WithHint("send it later"))
		return
	}
	if b.Comment != nil {
		req.Comment = *b.Comment
	}
	ctx, cancel := context.WithTimeout(r.Context(), ragTime)
	defer cancel()
	done, err := s.turn(ctx)
	if err != nil {
		ragFailed(w, r, err)
		return
	}
	defer done()
	added, err := answers.AddFeedback(ctx, s.app, req)
	if err != nil {
		ragFailed(w, r, err)
		return
	}
	reply := map[string]any{"success": true, "feedback_id": added.ID}
	if req.Pending {
		reply["pending"] = true // until the owner has looked at it
	}
	answerRAG(w, http.StatusCreated, reply)
}

// mayRate takes one rating without the token from the quotas of its address,
// and of its session there.
func (s *service) mayRate(r *http.Request, session string) bool {
	return s.ratings.Allow(r.RemoteAddr) && s.sessionRatings.Take(client(r)+"\x00"+kb.Clip(session, composed.MaxSessionID))
}

func (s *service) ragFeedbackList(w http.ResponseWriter, r *http.Request) {
	v := r.URL.Query()
	f := answers.FeedbackFilter{Rating: v.Get("rating")}
	var err error
	if x := v.Get("limit"); x != "" {
		f.Limit, err = strconv.Atoi(x)
	}
	if x := v.Get("reviewed"); x != "" && err == nil {
		var b bool
		b, err = strconv.ParseBool(x)
		f.Reviewed = &b
	}
	if x := v.Get("pending"); x != "" && err == nil {
		var b bool
		b, err = strconv.ParseBool(x)
		f.Pending = &b
	}
	if x := v.Get("low_confidence"); x != "" && err == nil {
		f.LowConfidence, err = strconv.ParseBool(x)
	}
	if err != nil {
		ragUnfit(w, kb.Errorf(kb.Invalid, "a filter cannot be read").WithHint("limit is a number; reviewed, pending and low_confidence are true or false"))
		return
	}
	list, err := answers.ListFeedback(r.Context(), s.app, f)
	if err != nil {
		ragFailed(w, r, err)
		return
	}
	for i := range list.Entries {
		inertItem(&list.Entries[i])
	}
	answer200(w, list)
}

// inertItem makes what strangers wrote safe for pages that put it into HTML.
func inertItem(x *answers.FeedbackItem) {
	x.Query, x.Comment, x.Session, x.Action = composed.InertTitle(x.Query), composed.InertTitle(x.Comment), composed.InertTitle(x.Session), composed.InertTitle(x.Action)
	x.Response = composed.InertTitle(x.Response)
	x.Extra = nil // as it came; feedback:list shows it
	for i := range x.Sources {
		x.Sources[i] = composed.InertTitle(x.Sources[i])
	}
}

func (s *service) ragFeedbackStats(w http.ResponseWriter, r *http.Request) {
	st, err := answers.StatsOfFeedback(r.Context(), s.app)
	if err != nil {
		ragFailed(w, r, err)
		return
	}
	for _, list := range [][]string{st.Common, st.Terms} {
		for i := range list {
			list[i] = composed.InertTitle(list[i])
		}
	}
	for i := range st.Gaps {
		st.Gaps[i].Question = composed.InertTitle(st.Gaps[i].Question)
		for j := range st.Gaps[i].Comments {
			st.Gaps[i].Comments[j] = composed.InertTitle(st.Gaps[i].Comments[j])
		}
		for j := range st.Gaps[i].Sources {
			st.Gaps[i].Sources[j] = composed.InertTitle(st.Gaps[i].Sources[j])
		}
	}
	answer200(w, st)
}

func (s *service) ragReview(w http.ResponseWriter, r *http.Request) {
	x, err := answers.ReviewFeedback(r.Context(), s.app, r.PathValue("id"), r.URL.Query().Get("action_taken"))
	if err != nil {
		if kb.CodeOf(err) == kb.NotFound {
			s.ragMissing(w, err)
			return
		}
		ragFailed(w, r, err)
		return
	}
	inertItem(&x)
	answer200(w, map[string]any{"success": true, "feedback": x})
}
