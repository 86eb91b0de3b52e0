package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
)

// judged is testdata/questions.json.
type judged struct {
	Repository string     `json:"repository"`
	Commit     string     `json:"commit"`
	Questions  []question `json:"questions"`
}

type question struct {
	Question string  `json:"question"`
	Language string  `json:"language"`
	Right    []right `json:"right"`
	Aside    bool    `json:"aside"`
}

// right is a document that answers, and its sections that do.
type right struct {
	Document string   `json:"document"`
	Sections []string `json:"sections"`
}

func load(file string) (judged, error) {
	var j judged
	raw, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(raw, &j)
	}
	return j, err
}

// results is the reply of kdd:search.
type results struct {
	Results []struct {
		URL     string  `json:"url"`
		Title   string  `json:"title"`
		Section string  `json:"section"`
		Score   float64 `json:"score"`
		Snippet string  `json:"snippet"`
		Type    string  `json:"type"`
		Domain  string  `json:"domain"`
	} `json:"results"`
	Count  int            `json:"count"`
	TimeMs float64        `json:"time_ms"`
	Hidden map[string]int `json:"hidden"`
}

// ranks are the places of the first right document and the first right
// section in a reply, from 1; 0 for none.
func (q *question) ranks(dir string, r *results) (document, section int) {
	for i, x := range r.Results {
		path := pathOf(dir, x.URL)
		for _, want := range q.Right {
			if path != want.Document {
				continue
			}
			if document == 0 {
				document = i + 1
			}
			if section == 0 && slices.ContainsFunc(want.Sections, func(s string) bool { return plain(s) == plain(x.Section) }) {
				section = i + 1
			}
		}
	}
	return document, section
}

func plain(s string) string {
	return strings.TrimSpace(strings.NewReplacer("`", "", "[", "", "]", "").Replace(s))
}

// pathOf returns the path within dir that a file's address names.
func pathOf(dir, address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	rel, err := filepath.Rel(dir, filepath.FromSlash(u.Path))
	if err != nil {
		return address
	}
	return filepath.ToSlash(rel)
}

// score is what questions come to.
type score struct {
	asked             int
	document, section float64 // sums of reciprocal ranks
	first             int     // right document first
	missed            []string
}

func (s *score) add(q *question, document, section int) {
	s.asked++
	if document > 0 {
		s.document += 1 / float64(document)
	}
	if section > 0 {
		s.section += 1 / float64(section)
	}
	if document == 1 {
		s.first++
	}
	if document != 1 || section == 0 {
		s.missed = append(s.missed, fmt.Sprintf("%s (document %s, section %s)", q.Question, place(document), place(section)))
	}
}

func place(n int) string {
	if n == 0 {
		return "not among them"
	}
	return fmt.Sprintf("at %d", n)
}

func (s *score) row(name string) []string {
	n := max(float64(s.asked), 1)
	return []string{name, fmt.Sprint(s.asked), fmt.Sprintf("%.3f", s.document/n), fmt.Sprintf("%.3f", s.section/n), fmt.Sprintf("%d", s.first)}
}

// ask asks every question and sums them up by name.
func ask(c *lab.Client, dir string, j judged, aside bool) (map[string]*score, []results, error) {
	sums := map[string]*score{}
	var replies []results
	for i := range j.Questions {
		q := &j.Questions[i]
		if q.Aside && !aside {
			continue
		}
		var r results
		if err := c.Execute("kdd:search", map[string]any{"query": q.Question, "limit": 10, "include_statuses": []string{"all"}}, &r); err != nil {
			return nil, nil, err
		}
		replies = append(replies, r)
		document, section := q.ranks(dir, &r)
		set := "open"
		if q.Aside {
			set = "aside"
		}
		for _, name := range []string{"all", set, set + ", " + q.Language} {
			if sums[name] == nil {
				sums[name] = &score{}
			}
			sums[name].add(q, document, section)
		}
	}
	return sums, replies, nil
}
