// Package scripted is an agent without a model: two policies of looking at a
// tree until the lines that answer a question are in the window, and what they
// cost. It judges replies, not agents: it knows when it has found what it looks for.
package scripted

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	"github.com/seed-4f2d999b/knowledge/bench/agents/task"
)

// Question is a question about a tree, as "asked -print -json" prints it.
type Question struct {
	ID     string       `json:"id"`
	Set    string       `json:"set"`
	Repo   string       `json:"repo"`
	Dir    string       `json:"dir"`
	Git    string       `json:"git"` // a repository whose Commit is the tree, where there is no Dir
	Commit string       `json:"commit"`
	Text   string       `json:"question"`
	Gold   []task.Place `json:"gold"`
}

// ReadQuestions reads one question a line. Of issues the changed functions are
// asked for; a question that names no line of its tree is left out, but for those
// of which any one file is right.
func ReadQuestions(r io.Reader) ([]Question, error) {
	var out []Question
	s := bufio.NewScanner(r)
	s.Buffer(nil, 4<<20)
	for s.Scan() {
		if len(s.Bytes()) == 0 || s.Bytes()[0] != '{' {
			continue // what asked says of repositories that are not there
		}
		var q Question
		if err := json.Unmarshal(s.Bytes(), &q); err != nil {
			return nil, fmt.Errorf("question %d: %w", len(out)+1, err)
		}
		if q.Gold = lined(q); len(q.Gold) > 0 {
			out = append(out, q)
		}
	}
	return out, s.Err()
}

// lined returns the places of a question that are ranges of lines, all of them
// where it is about files.
func lined(q Question) []task.Place {
	if q.Set == "plain" {
		return q.Gold
	}
	var out []task.Place
	for _, p := range q.Gold {
		if p.From > 0 {
			out = append(out, p)
		}
	}
	return out
}
