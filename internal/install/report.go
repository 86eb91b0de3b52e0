package install

import (
	"slices"
	"strings"
)

// Request says which clients are meant, and how far to go.
type Request struct {
	Clients []string // names in the table, or all-found; empty is every one that has us
	Project bool     // the files of this project, not the user's
	DryRun  bool
	Force   bool   // also what another program or a person wrote
	Text    string // the block of instructions; "" for none
}

// Report is what became, or would become, of files of clients.
type Report struct {
	DryRun  bool     `json:"dryRun,omitempty"`
	Steps   []Step   `json:"steps"`
	Program string   `json:"program,omitempty"`
	Channel *Channel `json:"channel,omitempty"`
	Notes   []string `json:"notes,omitempty"`
}

// failed marks a step that could not be taken.
const failed = "failed"

// Text is the report for people: a line a file, the changed lines of a dry
// run, and what to do next.
func (r Report) Text() string {
	var b strings.Builder
	for _, s := range r.Steps {
		b.WriteString(s.Client + ": " + said(s, r.DryRun))
		if s.Note != "" {
			b.WriteString(": " + s.Note)
		}
		b.WriteByte('\n')
		for l := range strings.Lines(s.Diff) {
			b.WriteString("    " + l)
		}
	}
	for _, n := range r.Notes {
		b.WriteString(n + "\n")
	}
	return b.String()
}

// said words a step: "would be added to ~/.claude.json".
func said(s Step, dry bool) string {
	what := "knowledge"
	if s.Kind == "text" {
		what = "instructions"
	}
	be, action := "", s.Action
	if dry && s.Changes() {
		be = "would be "
	}
	switch action {
	case "added":
		return what + " " + be + "added to " + s.File
	case "updated", "unchanged":
		return what + " " + be + action + " in " + s.File
	case "removed":
		return what + " " + be + "removed from " + s.File
	case "present":
		return "knowledge is there"
	case "deleted":
		return s.File + " " + be + "deleted: " + what + " was all it held"
	}
	return action
}

// ExitStatus is 1 when a file could not be changed as asked, or nothing was.
func (r Report) ExitStatus() int {
	done := len(r.Steps) == 0
	for _, s := range r.Steps {
		if s.Action == failed {
			return 1
		}
		done = done || s.Action != "skipped"
	}
	if done {
		return 0
	}
	return 1
}

// ClientRow is one client of the table.
type ClientRow struct {
	Client  string `json:"client"`
	Title   string `json:"title"`
	Found   string `json:"found,omitempty"`   // the program or folder that shows it is here
	User    string `json:"user,omitempty"`    // the user's file, when it has us
	Project string `json:"project,omitempty"` // the project's, when it has us
}

// ClientList is the reply of clients.
type ClientList struct {
	Clients []ClientRow `json:"clients"`
	Notes   []string    `json:"notes,omitempty"`
}

// Names are the clients that are on this machine.
func (l ClientList) Names() []string {
	var names []string
	for _, c := range l.Clients {
		if c.Found != "" {
			names = append(names, c.Client)
		}
	}
	return names
}

// Here returns the list without the clients that are not on this machine.
func (l ClientList) Here() ClientList {
	l.Clients = slices.DeleteFunc(slices.Clone(l.Clients), func(c ClientRow) bool { return c.Found == "" })
	return l
}
