package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
	"github.com/seed-4f2d999b/knowledge/internal/answers"
	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// asked is one question over the documentation of a project; see
// testdata/README.md.
type asked struct {
	ID, Project, Commit, Kind, Lang, Question, Note string
	Before, Must                                    []string
	Cites                                           []lines
}

// lines are lines of a document.
type lines struct {
	Path     string
	From, To int
}

// grade is what somebody who sees an answer, its cited lines and what it must
// say thinks of it.
type grade struct {
	ID     string `json:"id"`
	Answer string `json:"answer"` // the beginning of the hash of the answer that was graded
	Grade  string `json:"grade"`  // right, partial, wrong or refused
	Lines  bool   `json:"lines"`  // whether the cited lines alone tell all of it
	Why    string `json:"why,omitempty"`
}

// documentation is what of each project is its documentation.
var documentation = map[string][]string{
	"celery/celery":                      {"docs/faq.rst", "docs/getting-started/", "docs/userguide/", "docs/django/", "docs/tutorials/"},
	"prometheus/prometheus":              {"docs/"},
	"jekyll/jekyll":                      {"docs/_docs/", "docs/_tutorials/"},
	"TanStack/query":                     {"docs/framework/react/", "docs/reference/", "docs/eslint/"},
	"phoenixframework/phoenix_live_view": {"guides/"},
	"composer/composer":                  {"doc/"},
	"scrapy/scrapy":                      {"docs/faq.rst", "docs/intro/", "docs/topics/"},
	"typeorm/typeorm":                    {"docs/docs/"},
	ours:                                 {"docs/"},
}

// ours is this repository.
const ours = "seed-4f2d999b/knowledge"

func storeOf(project string) string { return strings.ToLower(path.Base(project)) }

// documentations makes a store of the documentation of each project, and
// returns the projects that there is no repository of.
func documentations(ctx context.Context, a *app.App, root, repos, dir string, list []asked) (map[string]bool, error) {
	lacking := map[string]bool{}
	done := map[string]bool{}
	for _, q := range list {
		if done[q.Project] {
			continue
		}
		done[q.Project] = true
		if info, err := a.StoreInfo(ctx, storeOf(q.Project)); err == nil && info.Status == "ready" {
			continue
		}
		repo, commit, err := root, q.Commit, error(nil)
		if q.Project != ours {
			repo, commit, err = lab.Repository(repos, q.Project, q.Commit)
		}
		if err != nil {
			fmt.Printf("skipped: %s: %v\n", q.Project, err)
			lacking[q.Project] = true
			continue
		}
		at := filepath.Join(dir, storeOf(q.Project))
		err = lab.Export(repo, commit, at, func(p string) bool {
			return slices.ContainsFunc(documentation[q.Project], func(d string) bool { return p == d || strings.HasSuffix(d, "/") && strings.HasPrefix(p, d) })
		})
		if err != nil {
			return nil, err
		}
		if err := index(ctx, a, app.CreateStore{Name: storeOf(q.Project), Kind: kb.KindFolder, Source: at, User: true, Yes: true}); err != nil {
			return nil, err
		}
	}
	return lacking, nil
}

// reply is what was answered to one question, for who grades it.
type reply struct {
	ID         string   `json:"id"`
	Kind       string   `json:"kind"`
	Lang       string   `json:"lang"`
	Before     []string `json:"before,omitempty"`
	Question   string   `json:"question"`
	Must       []string `json:"must"`
	Note       string   `json:"note,omitempty"`
	Answer     string   `json:"answer"`
	Hash       string   `json:"hash"`
	Confidence float64  `json:"confidence"`
	Refused    bool     `json:"refused"`
	Near       bool     `json:"near,omitempty"` // it is refused, with what comes nearest
	Words      int      `json:"words"`
	Overlaps   bool     `json:"overlaps"` // it cites a line of cites
	Literal    float64  `json:"literal"`  // the share of the words of must that are in the cited lines or the answer
	Cited      []cited  `json:"cited"`
	Gold       []string `json:"gold,omitempty"`
	Signs      string   `json:"-"`
}

type cited struct {
	At   string `json:"at"`
	Text string `json:"text"`
}

// replies asks every question in the store of its project, or in all of them.
func (b *bench) replies(list []asked, everywhere bool) ([]reply, error) {
	var out []reply
	var all []string
	for _, q := range list {
		if s := storeOf(q.Project); !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	for _, q := range list {
		stores := []string{storeOf(q.Project)}
		if everywhere {
			stores = all
		}
		b.session++
		session := fmt.Sprint("q", b.session)
		var r answers.Answer
		signs := ""
		for _, text := range append(slices.Clone(q.Before), q.Question) {
			r = b.askOf(text, session, stores, func(s string) { signs = s })
			if b.err != nil {
				return nil, b.err
			}
		}
		sum := sha256.Sum256([]byte(r.Answer))
		x := reply{ID: q.ID, Kind: q.Kind, Lang: q.Lang, Before: q.Before, Question: q.Question, Must: q.Must, Note: q.Note, Answer: r.Answer,
			Hash: hex.EncodeToString(sum[:6]), Confidence: r.Confidence, Refused: !r.Answered, Near: !r.Answered && len(r.Sources) > 0, Words: count(r.Answer), Signs: signs, Cited: []cited{}}
		held := r.Answer
		for _, s := range r.Sources {
			x.Cited = append(x.Cited, cited{s.At, s.Title + "\n" + s.Snippet})
			held += "\n" + s.Snippet
			x.Overlaps = x.Overlaps || overlaps(s.At, q.Cites)
		}
		x.Literal = literal(held, q.Must)
		for _, c := range q.Cites {
			x.Gold = append(x.Gold, fmt.Sprintf("%s:L%d-%d", c.Path, c.From, c.To))
		}
		out = append(out, x)
	}
	return out, nil
}

// overlaps reports whether a place cites a line of a list.
func overlaps(at string, list []lines) bool {
	p, span, _ := strings.Cut(at, ":L")
	var from, to int
	if n, _ := fmt.Sscanf(span, "%d-%d", &from, &to); n == 1 {
		to = from
	}
	return slices.ContainsFunc(list, func(l lines) bool { return l.Path == p && from <= l.To && to >= l.From })
}

// literal is the share of the words of facts that a text holds.
func literal(text string, facts []string) float64 {
	has := map[string]bool{}
	for _, w := range strings.Fields(normal(text)) {
		has[w] = true
	}
	n, got := 0, 0
	for _, f := range facts {
		for _, w := range strings.Fields(normal(f)) {
			if len(w) < 3 && !strings.ContainsAny(w, "0123456789") {
				continue
			}
			n++
			if has[w] {
				got++
			}
		}
	}
	if n == 0 {
		return 0
	}
	return float64(got) / float64(n)
}

// readGrades returns the grades of a file by question; none when it is not there.
func readGrades(file string) (map[string]grade, error) {
	list, err := lab.ReadLines[grade](file)
	if os.IsNotExist(err) || file == "" {
		return nil, nil
	}
	m := map[string]grade{}
	for _, g := range list {
		m[g.ID] = g
	}
	return m, err
}

// verdict is the grade of a reply: refusals grade themselves.
func (r *reply) verdict(grades map[string]grade) (g grade, ok bool) {
	if r.Refused {
		return grade{ID: r.ID, Grade: "refused"}, true
	}
	if r.Kind == "unanswerable" {
		return grade{ID: r.ID, Grade: "wrong"}, true
	}
	g, ok = grades[r.ID]
	return g, ok && g.Answer == r.Hash
}

func writeReplies(file string, list []reply) error {
	var b strings.Builder
	for _, r := range list {
		raw, err := json.Marshal(r)
		if err != nil {
			return err
		}
		b.Write(append(raw, '\n'))
	}
	return os.WriteFile(file, []byte(b.String()), 0o644)
}

// tally writes what was found of replies, by kind and language.
func tally(list []reply, grades map[string]grade) string {
	var b strings.Builder
	words := []int{}
	answered, refused, unanswerable, overlapping, literally := 0, 0, 0, 0, 0.0
	near, helping, idle := 0, 0, 0
	for _, r := range list {
		if !r.Refused {
			words = append(words, r.Words)
		}
		if r.Kind == "unanswerable" {
			unanswerable++
			if r.Refused {
				refused++
			}
			if r.Near {
				idle++
			}
			continue
		}
		answered++
		switch {
		case r.Near:
			near++
			if r.Overlaps {
				helping++
			}
		case r.Overlaps:
			overlapping++
		}
		if !r.Near {
			literally += r.Literal
		}
	}
	fmt.Fprintf(&b, "- answerable: cites a line that answers %s; of the words of what must be said the answer and its lines hold %.0f %%\n",
		share(overlapping, answered), 100*literally/float64(max(answered, 1)))
	fmt.Fprintf(&b, "- unanswerable: refused %s, of which with what comes nearest %d\n", share(refused, unanswerable), idle)
	fmt.Fprintf(&b, "- answerable, but refused with what comes nearest: %d, of which a line that answers is shown in %s\n", near, share(helping, near))
	if len(words) > 0 {
		fmt.Fprintf(&b, "- words of an answer: median %d, most %d\n", lab.Median(words), slices.Max(words))
	}
	for _, kind := range kindsOf(list) {
		n, over, no := 0, 0, 0
		for _, r := range list {
			if r.Kind != kind {
				continue
			}
			n++
			if r.Overlaps && !r.Refused {
				over++
			}
			if r.Refused {
				no++
			}
		}
		fmt.Fprintf(&b, "  - %s: %d, cites a line that answers %d, refused %d\n", kind, n, over, no)
	}
	if grades != nil {
		b.WriteString(graded(list, grades))
	}
	return b.String()
}

func kindsOf(list []reply) []string {
	var out []string
	for _, r := range list {
		if !slices.Contains(out, r.Kind) {
			out = append(out, r.Kind)
		}
	}
	return out
}

// graded writes the figures that need grades.
func graded(list []reply, grades map[string]grade) string {
	var b strings.Builder
	n := map[string]map[string]int{}
	add := func(group, g string) {
		if n[group] == nil {
			n[group] = map[string]int{}
		}
		n[group][g]++
		n[group]["all"]++
	}
	suffice, shown, missing, wrong := 0, 0, 0, 0
	var points [][2]float64
	worst := 0.0
	for _, r := range list {
		g, ok := r.verdict(grades)
		if !ok {
			missing++
			continue
		}
		right := 0.0
		if g.Grade == "right" {
			right = 1
		}
		points = append(points, [2]float64{r.Confidence, right})
		if g.Grade == "wrong" {
			worst = max(worst, r.Confidence)
			wrong++
		}
		if r.Kind == "unanswerable" {
			continue
		}
		add("answerable", g.Grade)
		add("answerable "+r.Lang, g.Grade)
		add("kind "+r.Kind, g.Grade)
		if !r.Refused {
			shown++
			if g.Lines {
				suffice++
			}
		}
	}
	for _, group := range lab.Keys(n) {
		fmt.Fprintf(&b, "- %s:", group)
		for _, g := range []string{"right", "partial", "wrong", "refused"} {
			fmt.Fprintf(&b, " %s %s;", g, share(n[group][g], n[group]["all"]))
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "- wrong: %s of all questions\n", share(wrong, len(points)))
	fmt.Fprintf(&b, "- cited lines alone suffice: %s of what was answered\n", share(suffice, shown))
	fmt.Fprintf(&b, "- %s\n- the surest wrong answer has %.2f\n", calibration(points), worst)
	if missing > 0 {
		fmt.Fprintf(&b, "- %d answers are not graded as they are now\n", missing)
	}
	return b.String()
}

// calibration is the expected calibration error over five bins of equal mass,
// and the Brier score beside that of saying the mean always.
func calibration(points [][2]float64) string {
	if len(points) == 0 {
		return "no confidence"
	}
	slices.SortFunc(points, func(a, b [2]float64) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	const bins = 5
	off, brier, mean := 0.0, 0.0, 0.0
	for i := range bins {
		part := points[i*len(points)/bins : (i+1)*len(points)/bins]
		c, r := 0.0, 0.0
		for _, p := range part {
			c, r = c+p[0], r+p[1]
			brier += (p[0] - p[1]) * (p[0] - p[1])
		}
		mean += r
		off += max(c-r, r-c)
	}
	n := float64(len(points))
	mean /= n
	return fmt.Sprintf("calibration error %.3f over five bins; Brier score %.3f, of the constant %.3f", off/n, brier/n, mean*(1-mean))
}

// sixDocs is how the questions over the six documentations are asked.
type sixDocs struct {
	root, repos, sets, set, data string
	replies, grades, signs       string
	sheet                        string
	everywhere                   bool
}

// six asks them and returns what was found.
func (b *bench) six(o *sixDocs, aside bool) (string, error) {
	file := filepath.Join(o.sets, "testdata", o.set+".jsonl")
	if aside {
		file = filepath.Join(o.sets, "testdata", "aside", "questions.jsonl")
	}
	list, err := lab.ReadLines[asked](file)
	if err != nil {
		return "", err
	}
	lacking, err := documentations(b.ctx, b.app, o.root, o.repos, filepath.Join(o.data, "sources"), list)
	if err != nil {
		return "", err
	}
	list = slices.DeleteFunc(list, func(q asked) bool { return lacking[q.Project] })
	said, err := b.replies(list, o.everywhere)
	if err != nil {
		return "", err
	}
	grades, err := readGrades(o.grades)
	if err != nil {
		return "", err
	}
	name := func(f string) string {
		if aside {
			return f + ".aside"
		}
		return f
	}
	if o.replies != "" {
		if err := writeReplies(name(o.replies), said); err != nil {
			return "", err
		}
	}
	if o.sheet != "" {
		if err := writeSheet(name(o.sheet), said); err != nil {
			return "", err
		}
	}
	if o.signs != "" {
		var w strings.Builder
		for _, r := range said {
			fmt.Fprintf(&w, "? %s %s %s overlaps=%v | %s\n%s\n", r.ID, r.Kind, r.Lang, r.Overlaps, r.Question, r.Signs)
		}
		if err := os.WriteFile(name(o.signs), []byte(w.String()), 0o644); err != nil {
			return "", err
		}
	}
	return tally(said, grades), nil
}
