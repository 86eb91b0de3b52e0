package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
)

// crowd is testdata/corpus.json: where many specifications come from.
type crowd struct {
	Repositories []struct {
		Repository string   `json:"repository"`
		Name       string   `json:"name"`
		Commit     string   `json:"commit"`
		Globs      []string `json:"globs"`
	} `json:"repositories"`
}

// crowdQuestion is a line of testdata/questions2.jsonl.
type crowdQuestion struct {
	ID       string   `json:"id"`
	Question string   `json:"question"`
	Lang     string   `json:"lang"`
	Want     []string `json:"want"`
	Across   bool     `json:"across"`
}

// relation is a line of testdata/relations.jsonl.
type relation struct {
	From     string `json:"from"`
	Relation string `json:"relation"`
	To       string `json:"to"`
}

// tally is how many of some questions have the right document first, and
// among the first three and ten.
type tally struct{ asked, first, three, ten int }

func (t *tally) add(place int) {
	t.asked++
	for _, x := range []struct {
		n    *int
		most int
	}{{&t.first, 1}, {&t.three, 3}, {&t.ten, 10}} {
		if place > 0 && place <= x.most {
			*x.n++
		}
	}
}

func (t *tally) share(n int) float64 { return float64(n) / float64(max(t.asked, 1)) }

// many languages, formats and systems at once, and four repositories in one language.
func (b *bench) crowd(judged) error {
	data := filepath.Dir(b.o.questions)
	open := map[string]string{"open": filepath.Join(data, "questions2.jsonl")}
	if b.o.aside {
		open["aside"] = filepath.Join(data, "aside", "questions2.jsonl")
	}
	b.r.Printf("\n## Many specifications in two languages\n\n")
	if err := b.crowdOf("crowd", "corpus.json", filepath.Join(data, "own"), open, filepath.Join(data, "relations.jsonl")); err != nil {
		return err
	}
	b.r.Printf("\n## Four further repositories\n\n")
	return b.crowdOf("four", "corpus4.json", "", map[string]string{"fitted to by nothing": filepath.Join(data, "questions4.jsonl")}, "")
}

// crowdOf asks the questions of some files, by the names of their sets, of the
// documents that a corpus and a folder of our own have.
func (b *bench) crowdOf(name, corpus, own string, files map[string]string, relations string) error {
	dir, skipped := b.gather(name, filepath.Join(filepath.Dir(b.o.questions), corpus), own)
	if skipped != "" {
		b.skip(corpus, skipped)
		return nil
	}
	c, took, err := b.serve(dir, name+"-data")
	if c != nil {
		defer c.Close()
	}
	if err != nil {
		return err
	}
	var stats struct {
		Specifications int `json:"specifications"`
	}
	if err := c.Execute("kdd:stats", map[string]any{}, &stats); err != nil {
		return err
	}
	b.r.Printf("%d specifications, indexed in %s.\n\n", stats.Specifications, lab.Ms(took))
	for _, set := range slices.Backward(lab.Keys(files)) { // the open one first
		if err := b.crowdQuestions(c, dir, set, files[set]); err != nil {
			return err
		}
	}
	if relations == "" {
		return nil
	}
	return b.crowdRelations(c, dir, relations)
}

// gather writes the documents of a corpus, and those of own unless that is "",
// into one folder, or says why it cannot.
func (b *bench) gather(name, corpus, own string) (dir, skipped string) {
	var from crowd
	raw, err := os.ReadFile(corpus)
	if err == nil {
		err = json.Unmarshal(raw, &from)
	}
	if err != nil {
		return "", err.Error()
	}
	dir = filepath.Join(b.scratch, name)
	for _, r := range from.Repositories {
		repo, hash, err := lab.Repository(b.o.repos, r.Name, r.Commit)
		if err != nil {
			return "", err.Error()
		}
		var globs []*regexp.Regexp
		for _, g := range r.Globs {
			globs = append(globs, globRE(g))
		}
		wanted := func(p string) bool {
			return slices.ContainsFunc(globs, func(g *regexp.Regexp) bool { return g.MatchString(p) })
		}
		if err := lab.Export(repo, hash, filepath.Join(dir, filepath.FromSlash(r.Name)), wanted); err != nil {
			return "", err.Error()
		}
	}
	if own != "" {
		if err := os.CopyFS(filepath.Join(dir, "own"), os.DirFS(own)); err != nil {
			return "", err.Error()
		}
	}
	if dir, err = filepath.EvalSymlinks(dir); err == nil {
		err = fakeGit(dir)
	}
	if err != nil {
		return "", err.Error()
	}
	return dir, ""
}

// globRE turns a glob into an expression: ** is any folders, * any name.
func globRE(glob string) *regexp.Regexp {
	var s strings.Builder
	for i := 0; i < len(glob); i++ {
		switch {
		case strings.HasPrefix(glob[i:], "**/"):
			s.WriteString("(?:.*/)?")
			i += 2
		case glob[i] == '*':
			s.WriteString("[^/]*")
		case glob[i] == '[':
			end := i + strings.IndexByte(glob[i:], ']')
			s.WriteString(glob[i : end+1])
			i = end
		default:
			s.WriteString(regexp.QuoteMeta(glob[i : i+1]))
		}
	}
	return regexp.MustCompile("^" + s.String() + "$")
}

// lines reads a file of one value a line.
func lines[T any](file string) ([]T, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []T
	for s := bufio.NewScanner(f); s.Scan(); {
		var x T
		if err := json.Unmarshal(s.Bytes(), &x); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		out = append(out, x)
	}
	return out, nil
}

// crowdQuestions asks every question of a file.
func (b *bench) crowdQuestions(c *lab.Client, dir, set, file string) error {
	questions, err := lines[crowdQuestion](file)
	if err != nil {
		return err
	}
	sums := map[string]*tally{}
	var missed []string
	opened, broken, fields := 0, 0, 0
	for _, q := range questions {
		var r results
		if err := c.Execute("kdd:search", map[string]any{"query": q.Question, "limit": 10, "include_statuses": []string{"all"}}, &r); err != nil {
			return err
		}
		var found []string
		for _, x := range r.Results {
			if p := pathOf(dir, x.URL); !slices.Contains(found, p) {
				found = append(found, p)
			}
			opened++
			var section struct{ Section string }
			if err := c.Execute("kdd:section", map[string]any{"file": x.URL}, &section); err != nil || section.Section != x.Section {
				broken++
			}
			if frontLine.MatchString(x.Snippet) {
				fields++
			}
		}
		place := 1 + slices.IndexFunc(found, func(p string) bool {
			return slices.ContainsFunc(q.Want, func(w string) bool { return strings.Replace(w, ":", "/", 1) == p })
		})
		kind := "one language"
		if q.Across {
			kind = "across"
		}
		for _, name := range []string{kind, kind + ", asked in " + q.Lang} {
			if sums[name] == nil {
				sums[name] = &tally{}
			}
			sums[name].add(place)
		}
		if place != 1 {
			missed = append(missed, fmt.Sprintf("%s (at %d): %s", q.ID, place, q.Question))
		}
	}
	rows := [][]string{{"questions, " + set, "asked", "@1", "@3", "@10"}}
	for _, name := range lab.Keys(sums) {
		t := sums[name]
		rows = append(rows, []string{name, fmt.Sprint(t.asked), fmt.Sprintf("%.2f", t.share(t.first)), fmt.Sprintf("%.2f", t.share(t.three)), fmt.Sprintf("%.2f", t.share(t.ten))})
	}
	b.r.Table(rows...)
	for _, x := range []struct {
		name         string
		first, three float64
	}{{"one language", .80, .92}, {"across", .65, .80}} {
		if t := sums[x.name]; t != nil {
			b.r.Printf("- %s: @1 at least %.2f: %s; @3 at least %.2f: %s\n", x.name, x.first, yes(t.share(t.first) >= x.first), x.three, yes(t.share(t.three) >= x.three))
		}
	}
	b.r.Printf("- %d addresses, all open the section that they name: %s; %d snippets are fields of front matter\n", opened,
		b.want(broken == 0, "%d addresses open another section", broken), fields)
	if set != "aside" || b.o.show {
		b.r.Printf("\nNot first (0 is not among ten):\n\n- %s\n\n", strings.Join(missed, "\n- "))
	}
	return nil
}

// frontLine is what a line of front matter looks like.
var frontLine = regexp.MustCompile(`^(?:id|kind|status|type|domain|tags|aliases|version|title|UID|MID): `)

// yes says whether a figure is reached that is measured, not required.
func yes(ok bool) string {
	if ok {
		return "yes"
	}
	return "**no**"
}

// crowdRelations compares the relations between documents with those that a
// reader says are stated.
func (b *bench) crowdRelations(c *lab.Client, dir, file string) error {
	stated, err := lines[relation](file)
	if err != nil {
		return err
	}
	want := map[[2]string]bool{}
	for _, r := range stated {
		if r.From != r.To {
			want[pairOf(r.From, r.To)] = true
		}
	}
	got := map[[2]string]bool{}
	err = filepath.WalkDir(filepath.Join(dir, "own"), func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(dir, p)
		from := filepath.ToSlash(rel)
		return b.relationsOf(c, dir, from, from, got, true)
	})
	if err != nil {
		return err
	}
	right := 0
	var lacking, wrong []string
	for r := range want {
		if got[r] {
			right++
		} else {
			lacking = append(lacking, r[0]+" – "+r[1])
		}
	}
	for r := range got {
		if !want[r] {
			wrong = append(wrong, r[0]+" – "+r[1])
		}
	}
	slices.Sort(lacking)
	slices.Sort(wrong)
	precision, recall := float64(right)/float64(max(len(got), 1)), float64(right)/float64(max(len(want), 1))
	b.r.Printf("\n%d pairs of documents have a relation that one of them states, %d are found: precision %.3f, at least 0.98: %s; recall %.3f, at least 0.93: %s.\n\n",
		len(want), len(got), precision, yes(precision >= .98), recall, yes(recall >= .93))
	for _, l := range []struct {
		name string
		list []string
	}{{"Missing", lacking}, {"Not stated", wrong}} {
		if len(l.list) > 0 {
			b.r.Printf("%s:\n\n- %s\n\n", l.name, strings.Join(l.list, "\n- "))
		}
	}
	return nil
}

// pairOf is two documents in either order: kdd:related shows one relation of
// two that state one about each other.
func pairOf(a, b string) [2]string { return [2]string{min(a, b), max(a, b)} }

// relationsOf notes the documents that one is related with, itself or in what
// it holds with ids of their own.
func (b *bench) relationsOf(c *lab.Client, dir, from, entity string, got map[[2]string]bool, deeper bool) error {
	var r struct {
		Related []struct {
			Name, Type, Relation, Direction string
			URL                             string `json:"source_url"`
		}
	}
	if err := c.Execute("kdd:related", map[string]any{"entity": entity, "limit": 500, "include_statuses": []string{"all"}}, &r); err != nil {
		return err
	}
	for _, x := range r.Related {
		to := pathOf(dir, x.URL)
		switch {
		case to == from && deeper && x.Relation == "CONTAINS":
			if err := b.relationsOf(c, dir, from, x.Name, got, false); err != nil {
				return err
			}
		case to == from || !strings.HasPrefix(to, "own/") || path.Ext(to) == "":
		case slices.Contains([]string{"CONCEPT", "ACTOR", "SYSTEM"}, x.Type) || x.Type == "ENTITY" && x.Relation == "MENTIONS" && !strings.Contains(to, x.Name):
		default:
			got[pairOf(from, to)] = true
		}
	}
	return nil
}
