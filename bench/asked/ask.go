package main

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
)

// lines are a range in a file of a store.
type lines struct {
	path     string
	from, to int
}

func (l lines) overlap(p place) int { return min(l.to, p.To) - max(l.from, p.From) + 1 }

// names reports whether somebody who is shown the range has been led to the
// place: at least half of the shorter of the two lies in the other.
func (l lines) names(p place) bool {
	if !same(l.path, p.Path) {
		return false
	}
	if p.From == 0 {
		return true
	}
	return 2*l.overlap(p) >= max(1, min(l.to-l.from+1, p.To-p.From+1))
}

// same reports whether one path is the end of the other.
func same(a, b string) bool {
	return a == b || strings.HasSuffix(a, "/"+b) || strings.HasSuffix(b, "/"+a)
}

type hit struct {
	lines
	store  string
	symbol string // the last name of the declaration that it is said to be
	line   int
	more   []lines // further places of its file
	linked []lines // declarations beside, called by or calling it
	tokens float64 // its share of the reply
}

// reply is what the product said to one question.
type reply struct {
	hits       []hit
	confidence float64 // that the first hit is right, 0 to 1
	there      float64 // that there is an answer at all; -1 where it is not said
	word       string
	took       time.Duration // as the client sees it
	processor  time.Duration // that the product spent
	ms         float64       // as the product says
	err        error
	signs      map[string]float64 // what confidence follows from, where it is explained
}

var (
	atForm = regexp.MustCompile(`^(?:(.*):)?L?(\d+)(?:-L?(\d+))?$`)
	// words stand for a probability as long as the product says no number.
	words = map[string]float64{"high": 0.9, "medium": 0.6, "low": 0.3, "none": 0.05}
)

func readPlace(at, file string) (lines, bool) {
	m := atForm.FindStringSubmatch(at)
	if m == nil {
		return lines{path: at, from: 1, to: 1 << 30}, at != ""
	}
	from, _ := strconv.Atoi(m[2])
	to, err := strconv.Atoi(m[3])
	if err != nil {
		to = from
	}
	if m[1] != "" {
		file = m[1]
	}
	return lines{file, from, to}, true
}

// read decodes a reply of search.
func read(text string) (*reply, error) {
	var raw struct {
		Store       string // of all hits, when it is the same
		Hits        []map[string]json.RawMessage
		Confidence  json.RawMessage
		Probability *float64
		There       *float64
		Signs       map[string]float64
		Tokens      float64
		MS          float64
	}
	if err := json.Unmarshal([]byte(text), &raw); err != nil {
		return nil, err
	}
	r := &reply{ms: raw.MS, signs: raw.Signs, there: -1}
	if raw.There != nil {
		r.there = *raw.There
	}
	_ = json.Unmarshal(raw.Confidence, &r.word)
	r.confidence = words[r.word]
	if f, err := strconv.ParseFloat(string(raw.Confidence), 64); err == nil {
		r.confidence = f
	}
	if raw.Probability != nil {
		r.confidence = *raw.Probability
	}
	whole := float64(max(1, len(text)))
	for _, h := range raw.Hits {
		var at string
		x := hit{store: raw.Store}
		_ = json.Unmarshal(h["at"], &at)
		_ = json.Unmarshal(h["store"], &x.store)
		_ = json.Unmarshal(h["line"], &x.line)
		_ = json.Unmarshal(h["symbol"], &x.symbol)
		x.symbol, _, _ = strings.Cut(x.symbol, " ")
		x.symbol = x.symbol[strings.LastIndexAny(x.symbol, ".:#/\\")+1:]
		x.lines, _ = readPlace(at, "")
		size := 2
		for k, v := range h {
			size += len(k) + len(v) + 4
			if k == "imports" || k == "why" {
				continue
			}
			into := &x.more
			if k == "related" || k == "calls" || k == "calledBy" || k == "usedBy" {
				into = &x.linked
			}
			var list []json.RawMessage
			if json.Unmarshal(v, &list) != nil {
				continue
			}
			for _, e := range list {
				var s string
				var o struct{ At string }
				if json.Unmarshal(e, &s) != nil && json.Unmarshal(e, &o) == nil {
					s = o.At
				}
				s = s[strings.LastIndexByte(s, ' ')+1:]
				if p, ok := readPlace(s, x.path); ok && atForm.MatchString(s) {
					*into = append(*into, p)
				}
			}
		}
		x.tokens = raw.Tokens * float64(size) / whole
		r.hits = append(r.hits, x)
	}
	return r, nil
}

// asker asks from one project.
type asker struct {
	c            *lab.Client
	dir, program string
	env          []string
	explain      bool // ask on the command line, which says the probability
}

// from starts the product in a project with a data directory of the work
// folder and waits until what is there is indexed.
func (b *bench) from(dir, data string) (*asker, error) {
	home := filepath.Join(b.o.work, "data", data)
	env := lab.Env(home)
	// --wait sees the first index to its end; what it prints is not looked at.
	_, _ = lab.Command(dir, env, b.o.program, "search", "--wait", "--yes", "--json", "--limit", "1", "first")
	c, err := lab.Dial(dir, env, b.o.program, lab.Handshake)
	if err != nil {
		return nil, err
	}
	a := &asker{c: c, dir: dir, program: b.o.program, env: env, explain: b.o.sure || b.o.fit}
	for until := time.Now().Add(15 * time.Minute); time.Now().Before(until); time.Sleep(50 * time.Millisecond) {
		var active struct{ Jobs []struct{ Type string } }
		if err := c.Execute("jobs", map[string]any{"activeOnly": true}, &active); err != nil {
			return a, err
		}
		if len(active.Jobs) == 0 {
			return a, nil
		}
	}
	return a, fmt.Errorf("a job in %s did not end in fifteen minutes", dir)
}

func (a *asker) search(query string, args map[string]any) *reply {
	all := map[string]any{"query": query, "form": "json"}
	for k, v := range args {
		all[k] = v
	}
	before, began := a.c.Processor(), time.Now()
	var text string
	var err error
	if a.explain {
		text, err = a.explained(query, args)
	} else {
		text, err = a.c.Call("search", all)
	}
	took, processor := time.Since(began), a.c.Processor()-before
	if err != nil {
		return &reply{err: err, took: took}
	}
	r, err := read(text)
	if err != nil {
		return &reply{err: err, took: took}
	}
	r.took, r.processor = took, processor
	return r
}

// history is the text of a commit without its trailers.
func history(repo, commit string) (string, error) {
	out, err := exec.Command("git", "-C", repo, "log", "-1", "--format=%B", commit).Output()
	return strings.TrimSpace(trailer.ReplaceAllString(string(out), "")), err
}

var trailer = regexp.MustCompile(`(?im)^(?:signed-off-by|co-authored-by|reviewed-by|change-id|cc|acked-by|tested-by|git-svn-id)\b.*$`)
