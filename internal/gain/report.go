package gain

import (
	"maps"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/semver"

	"github.com/seed-4f2d999b/knowledge/internal/gain/sessionlog"
)

// Report is the reply of gain.
type Report struct {
	Folder     string             `json:"folder"` // where was looked
	Since      time.Time          `json:"since"`
	Files      int                `json:"files"`      // of sessions
	Agents     int                `json:"agentFiles"` // of sub-agents
	Older      int                `json:"older"`      // files that were not written to since
	Unread     int                `json:"unread"`     // files that could not be read to their end
	Copies     int                `json:"copies"`     // calls that a fork repeats, not counted again
	Oldest     time.Time          `json:"oldest"`     // of what was read
	Newest     time.Time          `json:"newest"`
	Versions   []string           `json:"versions"` // of the client that wrote it
	Total      Group              `json:"total"`
	Subagents  []Kind             `json:"subagents"` // the part of the total that is theirs
	Projects   []Group            `json:"projects"`
	Sessions   []Session          `json:"sessions"`
	More       int                `json:"moreSessions"` // that are not listed
	Skipped    sessionlog.Skipped `json:"skipped"`
	Arithmetic []string           `json:"arithmetic"`
}

// Counts are what sessions have cost, their sub-agents with them.
type Counts struct {
	Agents    int    `json:"agents"` // sub-agents
	Responses int    `json:"responses"`
	Prompts   int    `json:"prompts"`
	Compacted int    `json:"compacted"` // how often a window was
	Kinds     []Kind `json:"kinds"`
	After     After  `json:"afterSearch"`
}

// Group is what several sessions have cost.
type Group struct {
	Project  string `json:"project,omitempty"` // the folder that they were started in
	Sessions int    `json:"sessions"`
	Counts
}

// Session is what one session has cost.
type Session struct {
	ID      string    `json:"id"`
	Project string    `json:"project"`
	First   time.Time `json:"first"`
	Last    time.Time `json:"last"`
	Window  int64     `json:"window"` // the client's own figure: tokens that its last response was given and wrote
	Counts
	Subagents []Kind `json:"subagents,omitempty"` // the part of the kinds that is theirs
}

// Kind is what calls of one kind have cost.
type Kind struct {
	Kind string `json:"kind"`
	Use
	Tools []Tool `json:"tools,omitempty"`
}

// Tool is the part of one tool.
type Tool struct {
	Tool string `json:"tool"`
	Use
}

// kindsOf are the kinds that were used.
func kindsOf(t *tally, withTools bool) []Kind {
	var out []Kind
	for k, u := range t.uses {
		if u.Calls == 0 && u.Left == 0 && u.Carried == 0 {
			continue
		}
		row := Kind{Kind: kindNames[k], Use: u}
		if withTools {
			for _, name := range slices.Sorted(maps.Keys(t.tools[k])) {
				row.Tools = append(row.Tools, Tool{name, *t.tools[k][name]})
			}
		}
		out = append(out, row)
	}
	return out
}

// sum collects sessions.
type sum struct {
	tally
	sessions, agents int
}

func (x *sum) add(s *session) {
	x.sessions++
	x.agents += s.agents
	x.tally.add(&s.main)
	x.tally.add(&s.subs)
}

func (x *sum) counts(withTools bool) Counts {
	return Counts{Agents: x.agents, Responses: x.responses, Prompts: x.prompts, Compacted: x.compacted,
		Kinds: kindsOf(&x.tally, withTools), After: x.after}
}

// finish makes the report of what was counted.
func (n *counting) finish() {
	r := n.report
	var total sum
	var subs tally
	projects := map[string]*sum{}
	var order []string // by the last session, the newest first
	for i, s := range n.newest() {
		total.add(s)
		subs.add(&s.subs)
		p := projects[s.project]
		if p == nil {
			p = &sum{}
			projects[s.project] = p
			order = append(order, s.project)
		}
		p.add(s)
		if !s.first.IsZero() && (r.Oldest.IsZero() || s.first.Before(r.Oldest)) {
			r.Oldest = s.first
		}
		if s.last.After(r.Newest) {
			r.Newest = s.last
		}
		if i < n.request.sessions {
			var one sum
			one.add(s)
			r.Sessions = append(r.Sessions, Session{ID: s.id, Project: s.project, First: s.first, Last: s.last, Window: s.client,
				Counts: one.counts(true), Subagents: kindsOf(&s.subs, false)})
		} else {
			r.More++
		}
	}
	r.Total, r.Subagents = Group{Sessions: total.sessions, Counts: total.counts(true)}, kindsOf(&subs, false)
	for _, p := range order {
		r.Projects = append(r.Projects, Group{Project: p, Sessions: projects[p].sessions, Counts: projects[p].counts(false)})
	}
	r.Versions = slices.SortedFunc(maps.Keys(n.versions), func(a, b string) int {
		if c := semver.Compare("v"+a, "v"+b); c != 0 {
			return c
		}
		return strings.Compare(a, b)
	})
	r.Arithmetic = arithmetic(r)
}
