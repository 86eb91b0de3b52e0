package main

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-4f2d999b/knowledge/bench/agents/task"
	"github.com/seed-4f2d999b/knowledge/bench/agents/trial"
	"github.com/seed-4f2d999b/knowledge/bench/lab"
)

// grade is one line of a file of grades. Right is null until somebody has judged.
type grade struct {
	Answer string `json:"answer"` // its code on the sheet
	Right  *bool  `json:"right"`
	Note   string `json:"note,omitempty"`
}

// attempt is what one run says to one question.
type attempt struct {
	run    *trial.Run
	dir    string
	task   task.Task
	code   string
	answer string // "" for none
	looks  []trial.Look
	placed int // places of the gold that the answer names
	right  bool
}

// enough reports whether the answer names as many places as it has to.
func (a *attempt) enough() bool { return a.placed >= a.task.Least }

// attempts reads runs, every question of each.
func (o *options) attempts() ([]*attempt, error) {
	tasks, err := o.allTasks()
	if err != nil {
		return nil, err
	}
	if len(o.rest) == 0 {
		return nil, errors.New("folders of runs are needed")
	}
	var out []*attempt
	for _, dir := range o.rest {
		r, err := trial.Read(dir)
		if err != nil {
			return nil, err
		}
		looks, err := trial.Looks(dir)
		if err != nil {
			return nil, err
		}
		answers, err := trial.Answers(dir)
		if err != nil {
			return nil, err
		}
		for _, q := range r.Questions {
			t, ok := tasks[r.Set+" "+q.ID]
			if !ok {
				return nil, fmt.Errorf("%s: no question %s in set %s", dir, q.ID, r.Set)
			}
			sum := sha256.Sum256(fmt.Appendf(nil, "%d %s %s", o.live.seed, filepath.Base(dir), q.ID))
			a := &attempt{run: r, dir: dir, task: t, code: fmt.Sprintf("%x", sum[:4])}
			for _, x := range answers {
				if x.Question == q.ID {
					a.answer = x.Text
				}
			}
			for _, x := range looks {
				if x.Question == q.ID {
					a.looks = append(a.looks, x)
				}
			}
			a.placed = placed(a.answer, t.Gold)
			out = append(out, a)
		}
	}
	return out, nil
}

// question names the question among those of all sets.
func (a *attempt) question() string { return a.run.Set + " " + a.task.ID }

// allTasks are the questions of all sets, by set and id.
func (o *options) allTasks() (map[string]task.Task, error) {
	out := map[string]task.Task{}
	for _, at := range []string{"*.json", "aside/*.json"} {
		files, err := filepath.Glob(filepath.Join(o.testdata, at))
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			s, err := task.Load(f)
			if err != nil {
				return nil, err
			}
			if s.Rename != 0 { // in the words in which it was asked, if it was
				_, asked, err := o.sources(s, f)
				if err != nil {
					return nil, err
				}
				if s, err = task.Load(asked); errors.Is(err, fs.ErrNotExist) {
					continue
				} else if err != nil {
					return nil, err
				}
			}
			for _, t := range s.Tasks {
				out[s.Name+" "+t.ID] = t
			}
		}
	}
	return out, nil
}

var (
	namedRE = regexp.MustCompile(`([\w@+./\\-]+\.\w+)(?::L?(\d+)(?:-L?(\d+))?)?`)
	wordRE  = regexp.MustCompile(`[A-Za-z_]\w*`)
)

// placed counts the gold places that an answer names: by lines of the file that
// are in the place, or by the file and the name of the declaration.
func placed(answer string, gold []task.Place) (n int) {
	words := map[string]bool{}
	for _, w := range wordRE.FindAllString(answer, -1) {
		words[w] = true
	}
	for _, p := range gold {
		last := p.Name[strings.LastIndexAny(p.Name, ".:#")+1:]
		if slices.ContainsFunc(namedRE.FindAllStringSubmatch(answer, -1), func(m []string) bool {
			if !task.Same(strings.TrimPrefix(m[1], "./"), p.Path) {
				return false
			}
			if last != "" && words[last] || p.From == 0 {
				return true
			}
			from, err := strconv.Atoi(m[2])
			to, _ := strconv.Atoi(m[3])
			return err == nil && p.Overlaps(p.Path, from, max(from, to))
		}) {
			n++
		}
	}
	return n
}

// sheet writes the answers of runs to be graded: shuffled, without their arms.
func (o *options) sheet() error {
	all, err := o.attempts()
	if err != nil {
		return err
	}
	if o.live.grades == "" {
		return errors.New("-grades FILE is needed: what is to be filled in goes there")
	}
	if _, err := os.Stat(o.live.grades); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is there already; what was graded is not written over", o.live.grades)
	}
	slices.SortFunc(all, func(a, b *attempt) int {
		if d := compare(a.question(), b.question()); d != 0 {
			return d
		}
		return compare(a.code, b.code) // a hash: the order says nothing of the arm
	})
	r := &lab.Report{}
	r.Printf("# Answers to be graded\n\nFor each answer set `right` in %s to true or false. Right is an answer that says "+
		"what the rubric says and nothing that is wrong; one that names too few of the places is wrong already and is not "+
		"listed. Nothing here says which arm an answer is from; who grades has not seen the runs.\n\n",
		filepath.Base(o.live.grades))
	var grades strings.Builder
	last := ""
	for _, a := range all {
		if !a.enough() {
			continue
		}
		if a.question() != last {
			last = a.question()
			r.Printf("## %s: %s\n\nRubric: %s\n\n", a.task.ID, a.task.Question, a.task.Rubric)
			if a.task.Plain != "" {
				r.Printf("The same before the renaming: %s\n\n", a.task.Plain)
			}
			r.Printf("Places, %d of which are needed:\n\n", a.task.Least)
			for _, p := range a.task.Gold {
				r.Printf("- %s:%d-%d %s\n", p.Path, p.From, p.To, p.Name)
			}
			r.Printf("\n")
		}
		r.Printf("### %s\n\n%s\n\n", a.code, a.answer)
		b, err := json.Marshal(grade{Answer: a.code})
		if err != nil {
			return err
		}
		grades.Write(append(b, '\n'))
	}
	if err := os.WriteFile(o.live.grades, []byte(grades.String()), 0o644); err != nil {
		return err
	}
	return o.finish(r)
}

// graded fills in what was judged. An answer that names too few places is wrong
// without a grade; one that nobody has judged is an error.
func (o *options) graded(all []*attempt) error {
	by := map[string]grade{}
	if o.live.grades != "" {
		list, err := lab.ReadLines[grade](o.live.grades)
		if err != nil {
			return err
		}
		for _, g := range list {
			by[g.Answer] = g
		}
	}
	missing := 0
	for _, a := range all {
		if !a.enough() {
			continue
		}
		if g := by[a.code]; g.Right != nil {
			a.right = *g.Right
		} else if missing++; o.live.grades == "" {
			a.right = true // by its places alone
		}
	}
	if missing > 0 && o.live.grades != "" {
		return fmt.Errorf("%d answers have no grade in %s", missing, o.live.grades)
	}
	return nil
}
