package answers_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/answers"
	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/product/producttest"
)

// TestReviewTellsWhatIsAsked: what has no answer, what is asked most, and whose
// answer has changed is known where questions are kept, and not without.
func TestReviewTellsWhatIsAsked(t *testing.T) {
	s, plain := producttest.Handbook(t)
	ask(s, plain, "how much does the premium plan cost?", "")
	r, err := answers.ReviewQuestions(t.Context(), plain, answers.ReviewRequest{})
	if err != nil || r.Kept || len(r.Asked) != 0 || len(r.Notes) != 1 {
		t.Fatalf("questions that nobody wanted kept: %+v, %v", r, err)
	}
	if err := plain.Close(); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(s.Root, "config.yaml")
	s.Write("config.yaml", "answer:\n  questions: true\n")
	a, err := app.New(app.Config{DataDir: s.Data, Dir: s.Root, Env: func(k string) string {
		if k == "KNOWLEDGE_CONFIG" {
			return config
		}
		return ""
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	for _, q := range []string{"which files are left out of the index?", "what files are left out of the index?", "how much does the premium plan cost?",
		"=1+1 why is ghp_" + strings.Repeat("a1B2c3", 6) + " refused?"} {
		ask(s, a, q, "")
	}
	r, err = answers.ReviewQuestions(t.Context(), a, answers.ReviewRequest{Format: "csv"})
	if err != nil || !r.Kept || len(r.Drifted) != 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	if first := r.Asked[0]; first.Times != 2 || len(first.Wordings) != 1 || !strings.Contains(first.Question, "left out") {
		t.Errorf("asked most: %+v", r.Asked)
	}
	if len(r.Unanswered) == 0 || !strings.Contains(r.Text, "unanswered,how much does the premium plan cost?,1,") {
		t.Errorf("unanswered: %+v\n%s", r.Unanswered, r.Text)
	}
	for line := range strings.Lines(r.Text) {
		if strings.Contains(line, ",=1") || strings.Contains(line, ",\"=1") || strings.Contains(line, "a1B2c3") {
			t.Errorf("a formula or a token in %q", line)
		}
	}
	// The text goes, and with it the answer.
	s.Write("docs/limits.md", "# Limits\n\nNothing is limited.\n")
	st, err := a.IndexStore(t.Context(), "handbook", false)
	if err == nil {
		_, err = a.WaitJob(t.Context(), st.Job)
	}
	if err != nil {
		t.Fatal(err)
	}
	r, err = answers.ReviewQuestions(t.Context(), a, answers.ReviewRequest{})
	if err != nil || len(r.Drifted) != 2 || r.Drifted[0].Change == "" {
		t.Errorf("after the edit: %+v, %v", r.Drifted, err)
	}
	again, err := answers.ReviewQuestions(t.Context(), a, answers.ReviewRequest{})
	if err != nil || again.Asked[0].Times != 2 {
		t.Errorf("a review counts as asking: %+v, %v", again.Asked, err)
	}
}
