package answers_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/answers"
	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/find"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/product/producttest"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

func ask(s *producttest.Site, a *app.App, question, session string) answers.Answer {
	s.Helper()
	r, err := answers.Ask(s.Context(), a, answers.AskRequest{Question: question, Session: session, Owner: "test", Stores: []string{"handbook"}})
	if err != nil {
		s.Fatal(err)
	}
	return r
}

func TestAnswersAreCitedOrDeclined(t *testing.T) {
	s, a := producttest.Handbook(t)
	r := ask(s, a, "which files are left out of the index?", "")
	if !strings.HasPrefix(r.Answer, "Files over one mebibyte are left out of the index. [1]") || len(r.Sources) == 0 || r.Sources[0].At != "limits.md:L3" || r.Cached {
		t.Errorf("%+v", r)
	}
	if got, err := os.ReadFile(filepath.Join(s.Root, "docs", "limits.md")); err != nil || !strings.Contains(string(got), r.Sources[0].Snippet) {
		t.Errorf("the cited lines %q do not stand in the document, %v", r.Sources[0].Snippet, err)
	}
	for i, src := range r.Sources {
		if src.N != i+1 || src.Relevance < 0 || src.Relevance > 1 || i > 0 && src.Relevance > r.Sources[i-1].Relevance {
			t.Errorf("source %+v", src)
		}
	}
	if again := ask(s, a, "Which files are left out of the  index?", ""); !again.Cached || again.Answer != r.Answer {
		t.Errorf("asked again: %+v", again)
	}
	r = ask(s, a, "how do I configure a Kafka consumer?", "")
	if r.Answer != `Nothing that is indexed answers this question: "Kafka", "consumer" stand nowhere in it.` || len(r.Sources) != 0 || r.Confidence > 0.3 {
		t.Errorf("%+v", r)
	}
	// Another generation is another answer.
	s.Write("docs/kafka.md", "# Kafka\n\nA Kafka consumer is configured with the file consumer.properties.\n")
	st, err := a.IndexStore(t.Context(), "handbook", false)
	if err == nil {
		_, err = a.WaitJob(t.Context(), st.Job)
	}
	if err != nil {
		t.Fatal(err)
	}
	if r = ask(s, a, "how do I configure a Kafka consumer?", ""); !strings.Contains(r.Answer, "consumer.properties") || r.Cached {
		t.Errorf("after the edit: %+v", r)
	}
}

func TestFollowUpsStayInTheirSession(t *testing.T) {
	s, a := producttest.Handbook(t)
	ask(s, a, "What is maxFileBytes?", "one")
	ask(s, a, "How do I create a store?", "two")
	if r := ask(s, a, "and what is its default?", "one"); !strings.Contains(r.Answer, "1048576") || !strings.Contains(r.Question, "maxFileBytes") {
		t.Errorf("%+v", r)
	}
	if r := ask(s, a, "and what is its default?", "two"); strings.Contains(r.Question, "maxFileBytes") {
		t.Errorf("leaked: %+v", r)
	}
	if r := ask(s, a, "and what is its default?", "three"); r.Question != "" {
		t.Errorf("leaked: %+v", r)
	}
	c, err := answers.ConversationNamed(t.Context(), a, "one")
	if err != nil || len(c.Turns) != 2 {
		t.Errorf("%+v, %v", c, err)
	}
	if f, err := answers.Forget(t.Context(), a, "one"); err != nil || f.Forgotten != 1 {
		t.Errorf("%+v, %v", f, err)
	}
	if _, err := answers.ConversationNamed(t.Context(), a, "one"); kb.CodeOf(err) != kb.NotFound {
		t.Error(err)
	}
}

func TestNothingIsPublicByDefault(t *testing.T) {
	_, a := producttest.Handbook(t)
	public := func() (answers.Answer, error) {
		return answers.Ask(t.Context(), a, answers.AskRequest{Question: "which files are left out of the index?", Public: true, Base: "http://h"})
	}
	if _, err := public(); kb.CodeOf(err) != kb.NotFound || !strings.Contains(kb.HintOf(err), "knowledge store:public handbook") {
		t.Errorf("%v: %s", err, kb.HintOf(err))
	}
	if p, err := answers.SetPublic(t.Context(), a, "handbook", true); err != nil || !p.Public || !slices.Equal(p.All, []string{"handbook"}) {
		t.Fatal(p, err)
	}
	r, err := public()
	if err != nil || len(r.Sources) == 0 || r.Sources[0].URL != "http://h/api/v1/chunks/"+r.Sources[0].ID {
		t.Fatalf("%+v, %v", r, err)
	}
	if c, err := answers.ChunkPublic(t.Context(), a, "chunk://"+r.Sources[0].ID, ""); err != nil || !strings.Contains(c.Text, "mebibyte") {
		t.Errorf("%+v, %v", c, err)
	}
	if d, err := answers.DocumentsPublic(t.Context(), a, 2, 1); err != nil || d.Total != 4 || len(d.Documents) != 2 || d.Documents[0].Name != "limits.md" {
		t.Errorf("%+v, %v", d, err)
	}
	if p, err := answers.SetPublic(t.Context(), a, "handbook", false); err != nil || len(p.All) != 0 {
		t.Fatal(p, err)
	}
	if _, err := public(); kb.CodeOf(err) != kb.NotFound {
		t.Errorf("still public: %v", err)
	}
	if _, err := answers.ChunkPublic(t.Context(), a, r.Sources[0].ID, ""); kb.CodeOf(err) != kb.NotFound {
		t.Errorf("its text is still public: %v", err)
	}
}

// TestFeedbackLowersASource is the promise of feedback: a negative mark lowers
// what was cited for a question like the one asked, in answers and searches,
// not for others; a restart changes nothing, the configuration does.
func TestFeedbackLowersASource(t *testing.T) {
	s, a := producttest.Handbook(t)
	const asked, paraphrase, unrelated = "how do I delete a store?", "deleting a store", "which files are left out of the index?"
	rank := func(a *app.App, query, doc string) (int, float64) {
		t.Helper()
		r, err := find.Search(t.Context(), a, search.Request{Query: query, Explain: true}, app.Scope{Stores: []string{"handbook"}, Waiting: app.Waiting{Wait: time.Minute}})
		if err != nil {
			t.Fatal(err)
		}
		for i, h := range r.Hits {
			if strings.HasPrefix(h.At, doc) {
				return i, h.Explain["feedback"]
			}
		}
		return len(r.Hits), 0
	}
	relevance := func(r answers.Answer, doc string) float64 {
		for _, x := range r.Sources {
			if strings.HasPrefix(x.At, doc) {
				return x.Relevance
			}
		}
		return 0
	}
	first := ask(s, a, asked, "web")
	if len(first.Sources) == 0 {
		t.Fatal(first)
	}
	doc, _, _ := strings.Cut(first.Sources[0].At, ":")
	before := relevance(ask(s, a, paraphrase, ""), doc)
	other := ask(s, a, unrelated, "")
	added, err := answers.AddFeedback(t.Context(), a, answers.FeedbackRequest{Query: asked, Response: first.Answer, Rating: "negative", Session: "web", Owner: "test"})
	if err != nil || !added.Success || len(added.Sources) != len(first.Sources) {
		t.Fatalf("%+v, %v", added, err)
	}
	lowered := func(a *app.App, when string) {
		t.Helper()
		if got := relevance(ask(s, a, paraphrase, ""), doc); got >= before {
			t.Errorf("%s: the relevance of %s is %g, it was %g", when, doc, got, before)
		}
		if _, part := rank(a, paraphrase, doc); part >= 0 {
			t.Errorf("%s: a search explains nothing of it: %g", when, part)
		}
		if got := ask(s, a, unrelated, ""); got.Answer != other.Answer || got.Sources[0].Relevance != other.Sources[0].Relevance {
			t.Errorf("%s: an unrelated question is answered otherwise: %+v", when, got)
		}
		if _, part := rank(a, unrelated, doc); part != 0 {
			t.Errorf("%s: an unrelated search shows %g", when, part)
		}
	}
	lowered(a, "at once")
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	a = s.In("p", false)
	lowered(a, "after a restart")

	// Switched off, everything is as before.
	config := filepath.Join(s.Root, "config.yaml")
	s.Write("config.yaml", "answer:\n  feedback: false\n")
	off, err := app.New(app.Config{DataDir: s.Data, Dir: s.Root, Env: func(k string) string {
		if k == "KNOWLEDGE_CONFIG" {
			return config
		}
		return ""
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer off.Close()
	if got := relevance(ask(s, off, paraphrase, ""), doc); got != before {
		t.Errorf("switched off: %g, it was %g", got, before)
	}
	if _, part := rank(off, paraphrase, doc); part != 0 {
		t.Errorf("switched off, a search shows %g", part)
	}
	if _, err := answers.AddFeedback(t.Context(), a, answers.FeedbackRequest{Query: paraphrase, Rating: "negative", Owner: "test", Stores: []string{"handbook"}}); err != nil {
		t.Fatal(err)
	}
	gaps, err := answers.Gaps(t.Context(), a)
	if err != nil || len(gaps) != 1 || gaps[0].Negative != 2 {
		t.Errorf("%+v, %v", gaps, err)
	}
	if st, err := answers.StatsOfFeedback(t.Context(), a); err != nil || st.Total != 2 || len(st.Gaps) != 1 || !st.Effect {
		t.Errorf("%+v, %v", st, err)
	}
}
