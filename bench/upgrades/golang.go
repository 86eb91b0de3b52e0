package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/module"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
	"github.com/seed-4f2d999b/knowledge/internal/upgrade/gocheck"
)

// goPairs compares the lines that we say break with those that go build refuses.
func goPairs(r *lab.Report, work string, rows [][]string) error {
	r.Printf("## Go: lines that break\n\n")
	table := [][]string{{"project", "dependency", "version", "go build", "ours", "both", "precision", "recall", "processor time, s"}}
	var all score
	var notes []string
	n := 0
	for i, row := range rows {
		p := goPair{id: row[0], dep: row[1], to: row[2], now: row[1]}
		if len(row) > 3 {
			p.now = row[3]
		}
		s, err := p.run(filepath.Join(work, fmt.Sprintf("go-%s", strings.NewReplacer("/", "+", "@", "+").Replace(row[0]+"+"+row[1]))))
		fmt.Fprintf(os.Stderr, "%d of %d: %s %s: %+v %v\n", i+1, len(rows), row[0], row[1], s, err)
		if err != nil {
			notes = append(notes, fmt.Sprintf("skipped: %s, %s %s: %v", p.id, p.dep, p.to, err))
			continue
		}
		n++
		all.add(s)
		table = append(table, []string{p.id, p.dep, p.to, fmt.Sprint(s.theirs), fmt.Sprint(s.ours), fmt.Sprint(s.both), s.precision(), s.recall(), fmt.Sprintf("%.1f", p.took.Seconds())})
		if len(p.only) > 0 {
			notes = append(notes, fmt.Sprintf("%s, %s: only ours: %s", p.id, p.dep, strings.Join(p.only, ", ")))
		}
		if len(p.lacking) > 0 {
			notes = append(notes, fmt.Sprintf("%s, %s: only go build: %s", p.id, p.dep, strings.Join(p.lacking, ", ")))
		}
		if p.beyond > 0 {
			notes = append(notes, fmt.Sprintf("%s, %s: %d lines of ours are in packages that go build did not reach, since they import one that fails", p.id, p.dep, p.beyond))
		}
	}
	r.Table(table...)
	r.Printf("%d pairs, %d lines that go build refuses: precision %s, recall %s (bounds 0.95, 0.90).\n\n", n, all.theirs, all.precision(), all.recall())
	for _, l := range notes {
		r.Printf("- %s\n", l)
	}
	r.Printf("\n")
	return nil
}

// goPair is one project with one dependency.
type goPair struct {
	id, dep, to, now string
	took             time.Duration
	only, lacking    []string
	beyond           int
}

const buildTime = 8 * time.Minute

// truth is what go build says of a pair; it is kept beside the project, since it
// takes minutes.
type truth struct {
	Skipped   string   // why it does not count
	Said      string   // go build with the new version
	Unreached []string // folders of packages that it never came to
}

func (p *goPair) run(dir string) (score, error) {
	if _, err := os.Stat(dir + ".json"); err != nil && keptOnly {
		return score{}, errNotAsked
	}
	from, err := download(p.id)
	if err != nil {
		return score{}, err
	}
	gomod, err := os.ReadFile(filepath.Join(from, "go.mod"))
	if err != nil {
		return score{}, fmt.Errorf("it has no go.mod")
	}
	var t truth
	if text, err := os.ReadFile(dir + ".json"); err != nil || json.Unmarshal(text, &t) != nil {
		if t, err = p.ask(from, dir); err != nil {
			return score{}, err
		}
		if text, err = json.Marshal(t); err != nil {
			return score{}, err
		}
		if err := os.WriteFile(dir+".json", text, 0o644); err != nil {
			return score{}, err
		}
	}
	if t.Skipped != "" {
		return score{}, errors.New(t.Skipped)
	}
	theirs := refused(t.Said)
	if askOnly {
		return score{theirs: len(theirs)}, nil
	}
	checked, err := p.check(from, gomod)
	if err != nil {
		return score{}, err
	}
	loading := !strings.Contains("\n"+t.Said, "\n# ")
	ours := map[string]bool{}
	for _, s := range checked.Breaks {
		switch {
		case s.Test || loading && !strings.HasPrefix(s.Says, "could not import"):
		case slices.Contains(t.Unreached, path.Dir(s.Path)):
			p.beyond++
		default:
			ours[fmt.Sprintf("%s:%d", s.Path, s.Line)] = true
		}
	}
	p.only, p.lacking = differences(ours, theirs), differences(theirs, ours)
	return compare(ours, theirs), nil
}

// refused are the lines of the project that go build names.
func refused(said string) map[string]bool {
	lines := map[string]bool{}
	for _, m := range errorRE.FindAllStringSubmatch(said, -1) {
		if !strings.HasPrefix(m[1], "/") && !strings.HasPrefix(m[1], "..") {
			lines[m[1]+":"+m[2]] = true
		}
	}
	return lines
}

// ask has the go command build the project as it is, and with the new version.
func (p *goPair) ask(from, dir string) (truth, error) {
	if err := copied(from, dir); err != nil {
		return truth{}, err
	}
	if out, err := program(dir, buildTime, "go", "build", "./..."); err != nil {
		return truth{Skipped: "it does not build as it is: " + kept(out)}, nil
	}
	if p.now != p.dep {
		if err := rename(dir, p.dep, p.now); err != nil {
			return truth{}, err
		}
	}
	if out, err := program(dir, 4*time.Minute, "go", "get", p.now+"@"+p.to); err != nil {
		return truth{Skipped: "go get does not work: " + kept(out)}, nil
	}
	said, err := program(dir, buildTime, "go", "build", "-gcflags=-e", "./...")
	if err == nil || len(refused(said)) == 0 {
		return truth{Skipped: "it builds with the new version, or fails elsewhere: " + kept(said)}, nil
	}
	folders, err := unreached(dir, said)
	return truth{Said: said, Unreached: lab.Keys(folders)}, err
}

// check is our side: the project as it lies in the module cache, before anything
// was changed.
func (p *goPair) check(from string, gomod []byte) (gocheck.Checked, error) {
	places, err := caches()
	if err != nil {
		return gocheck.Checked{}, err
	}
	s := &gocheck.Sources{Caches: places, Root: gocheck.Root(env, places)}
	defer s.Close()
	began := lab.CPU()
	old, err := gocheck.NewList(s, gomod)
	if err != nil {
		return gocheck.Checked{}, err
	}
	to := module.Version{Path: p.now, Version: p.to}
	next, err := gocheck.NewList(s, gomod, to)
	if err != nil {
		return gocheck.Checked{}, err
	}
	if !s.Has(to) {
		return gocheck.Checked{}, fmt.Errorf("%s is not in the module cache", to)
	}
	was := gocheck.NewWorld(context.Background(), s, old, os.DirFS(from), "", env, p.dep)
	is := was.With(s, next, os.DirFS(from), "", p.now)
	is.Rename(p.dep, p.now)
	c := gocheck.Check(was, is, nil)
	p.took = lab.CPU() - began
	return c, nil
}

// rename has the project import a dependency by another path.
func rename(dir, from, to string) error {
	re := regexp.MustCompile(`"` + regexp.QuoteMeta(from) + `(["/])`)
	return filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(p) != ".go" {
			return err
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		return os.WriteFile(p, re.ReplaceAll(text, []byte(`"`+to+"$1")), 0o644)
	})
}

var failedRE = regexp.MustCompile(`(?m)^# (\S+)`)

// unreached returns the folders of packages that import, through whatever, one that
// go build said does not compile: it never came to them.
func unreached(dir, said string) (map[string]bool, error) {
	failed := map[string]bool{}
	for _, m := range failedRE.FindAllStringSubmatch(said, -1) {
		failed[m[1]] = true
	}
	out, _ := program(dir, time.Minute, "go", "list", "-e", "-f", `{{.Dir}} {{join .Deps " "}}`, "./...")
	folders := map[string]bool{}
	for line := range strings.Lines(out) {
		w := strings.Fields(line)
		for _, dep := range w[min(1, len(w)):] {
			if !failed[dep] {
				continue
			}
			rel, err := filepath.Rel(dir, w[0])
			if err != nil {
				return nil, err
			}
			folders[filepath.ToSlash(rel)] = true
		}
	}
	return folders, nil
}
