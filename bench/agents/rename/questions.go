package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/seed-4f2d999b/knowledge/bench/agents/task"
)

// questions rewrites a set of questions, their places by the map. A word is
// rewritten when the files of the question's places have it in a name, so that it means there
// what it means in the question; all other words stay, since somebody who asks
// in words that the code does not use would not use those of other files either.
func (p *project) questions(in, out string, m mapping) error {
	s, err := task.Load(in)
	if err != nil {
		return err
	}
	s.Name, s.Seed, s.Rename, s.Hide = s.Name+"-renamed", p.seed, 0, nil
	names := map[string]map[string]int{}
	for i := range s.Tasks {
		t := &s.Tasks[i]
		known := map[string]int{}
		for j := range t.Gold {
			g := &t.Gold[j]
			if m.Files[g.Path] == "" {
				return fmt.Errorf("%s: %s was not rewritten", t.ID, g.Path)
			}
			if names[g.Path] == nil {
				names[g.Path] = p.namesOf(g.Path)
			}
			for w, n := range names[g.Path] {
				known[w] += n
			}
			g.Path, g.Name = m.Files[g.Path], p.name(g.Name)
		}
		t.Plain = t.Rubric
		t.Question, t.Rubric = p.spoken(t.Question, known), p.spoken(t.Rubric, known)
	}
	b, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(out, append(b, '\n'), 0o644)
}

// namesOf counts the words of the names of a file.
func (p *project) namesOf(at string) map[string]int {
	count := map[string]int{}
	for _, f := range p.files {
		if f.path != at {
			continue
		}
		for _, k := range f.tokens {
			if k.kind != name || k.outside {
				continue
			}
			for _, n := range wordRE.FindAllString(f.text[k.from:k.to], -1) {
				if !p.kept[n] {
					addParts(count, n)
				}
			}
		}
	}
	return count
}

// spoken rewrites the words of a sentence that are known, also with an ending.
func (p *project) spoken(s string, known map[string]int) string {
	return wordRE.ReplaceAllStringFunc(s, func(w string) string {
		for _, part := range parts(w) {
			v := strings.ToLower(w[part[0]:part[1]])
			if base, _ := baseOf(v, known); base != "" || known[v] > 0 {
				return p.name(w)
			}
		}
		return w
	})
}
