// Package trial is the run of one agent over one batch of questions, as a folder:
//
//	run.json       the arm, the tree, the bounds, and the questions without their places
//	prompt.txt     what the agent is told
//	bin/look       the only program that it may look with
//	looks.jsonl    every look, with its reply
//	answers.jsonl  every answer
//	said.txt       what the agent's program printed
//
// All of it is kept as it was written; nothing is taken back.
package trial

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
)

// The arms: without the product, and with it as tools of a kept server or as a
// command line in a pipe.
const (
	Grep = "grep"
	MCP  = "mcp"
	CLI  = "cli"
)

// Arms lists them.
var Arms = []string{Grep, MCP, CLI}

// Question is a task as an agent sees it.
type Question struct {
	ID       string `json:"id"`
	Question string `json:"question"`
}

// Run is run.json.
type Run struct {
	Label     string     `json:"label"` // of the arm in reports: "grep", "search as today"
	Arm       string     `json:"arm"`
	Set       string     `json:"set"`  // the name of the set of questions
	Root      string     `json:"root"` // the tree
	Program   string     `json:"program,omitempty"`
	Data      string     `json:"data,omitempty"`
	MostLooks int        `json:"mostLooks"` // for one question
	MostChars int        `json:"mostChars"` // of replies, for the batch
	Questions []Question `json:"questions"`
}

// Look is one line of looks.jsonl.
type Look struct {
	Time     time.Time `json:"time"`
	Question string    `json:"question"`
	Command  string    `json:"command"` // the first word: grep, read, list, search, context, execute
	Args     []string  `json:"args"`
	Chars    int       `json:"chars"`  // of the reply
	Tokens   int       `json:"tokens"` // of command and reply, by the product's estimator
	MS       float64   `json:"ms"`
	Refused  string    `json:"refused,omitempty"` // why nothing was looked at: "arm", "looks", "chars"
	Failed   bool      `json:"failed,omitempty"`
	Reply    string    `json:"reply"`
}

// Answer is one line of answers.jsonl.
type Answer struct {
	Time     time.Time `json:"time"`
	Question string    `json:"question"`
	Text     string    `json:"text"`
}

// Read reads run.json of a folder.
func Read(dir string) (*Run, error) {
	b, err := os.ReadFile(filepath.Join(dir, "run.json"))
	if err != nil {
		return nil, err
	}
	r := &Run{}
	if err := json.Unmarshal(b, r); err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	if !slices.Contains(Arms, r.Arm) {
		return nil, fmt.Errorf("%s: no arm %q", dir, r.Arm)
	}
	return r, nil
}

// Write makes a folder of a run. One that holds a run already is refused: every
// attempt counts.
func (r *Run) Write(dir string) error {
	file := filepath.Join(dir, "run.json")
	if _, err := os.Stat(file); err == nil {
		return fmt.Errorf("%s holds a run already", dir)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(b, '\n'), 0o644)
}

// Looks reads what was looked at so far.
func Looks(dir string) ([]Look, error) { return lines[Look](dir, "looks.jsonl") }

// Answers reads what was answered so far.
func Answers(dir string) ([]Answer, error) { return lines[Answer](dir, "answers.jsonl") }

func lines[T any](dir, name string) ([]T, error) {
	out, err := lab.ReadLines[T](filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return out, err
}

// Append adds a line to a file of a run, in one write, so that looks at the same
// time do not mix.
func Append(dir, name string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(append(b, '\n'))
	return errors.Join(err, f.Close())
}

// Now returns the first question that has no answer, nil when all have.
func (r *Run) Now(answers []Answer) *Question {
	for i, q := range r.Questions {
		if !slices.ContainsFunc(answers, func(a Answer) bool { return a.Question == q.ID }) {
			return &r.Questions[i]
		}
	}
	return nil
}
