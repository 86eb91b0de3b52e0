// Package team is the room of who runs a server for several users: tokens, and what
// the file of rights comes to. The server itself is a face.
package team

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/data/catalog"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/config"
	"github.com/seed-4f2d999b/knowledge/internal/team/rights"
)

// Room is the room. All of it is for who has a shell on the server.
func Room() command.Room { return command.Room{Name: "team", Commands: addTeam} }

type tokenIn struct {
	User  string `json:"user" arg:"1" help:"the user, as the rights file names it"`
	Until string `json:"until,omitempty" help:"the last day on which it is taken, 2027-01-31 (default: for ever)"`
	Take  string `json:"take,omitempty" help:"take tokens back instead: one by its id, or all"`
}

type rightsIn struct {
	User   string   `json:"user" arg:"1" help:"the user, as the rights file names it"`
	Groups []string `json:"groups,omitempty" help:"groups that the user's login brings along"`
}

func addTeam(t *command.Table) {
	c := t.Add("trust", command.New("team:token", "Make a token for a user of serve --team, or take tokens back", command.Writes, runToken), `{"user":"ann"}`,
		`{"user":"ann","until":"2027-01-31"}`, `{"user":"ann","take":"all"}`)
	c.Help = "The token is shown once; the file holds its hash alone. A server that is running takes it, or takes it no more, within a second."
	c = t.Add("trust", command.New("team:rights", "What a user of serve --team may read and write", command.Reads, runRights), `{"user":"ann"}`,
		`{"user":"ann","groups":["docs"]}`)
	c.Help = "Names what the rights file gives and this machine does not have, too."
}

// Given is the reply of team:token.
type Given struct {
	User  string `json:"user"`
	Token string `json:"token,omitempty"`
	ID    string `json:"id,omitempty"` // the beginning of its hash, as the audit log has it
	Until string `json:"until,omitempty"`
	Taken int    `json:"taken,omitempty"` // back
	File  string `json:"file"`
}

// Text is the reply for people.
func (g Given) Text() string {
	if g.Token == "" {
		return fmt.Sprintf("took %s of %s back", kb.Count(g.Taken, "token"), g.User)
	}
	until := ""
	if g.Until != "" {
		until = ", good until " + g.Until
	}
	return fmt.Sprintf("%s\nthat is the token of %s (id %s)%s; it is shown once, and %s holds its hash\ntake it back: knowledge team token %s --take %s",
		g.Token, g.User, g.ID, until, g.File, kb.ShellWord(g.User), g.ID)
}

func runToken(_ context.Context, a *app.App, in tokenIn) (Given, error) {
	_, file, err := files(a)
	if err != nil {
		return Given{}, err
	}
	g := Given{User: in.User, Until: in.Until, File: file}
	if in.Take != "" {
		id := strings.ToLower(in.Take)
		if id == "all" {
			id = ""
		} else if len(id) < 8 || strings.Trim(id, "0123456789abcdef") != "" {
			return g, kb.Errorf(kb.Invalid, "%q is no id of a token", kb.Clip(in.Take, 100)).WithHint("the audit log names it, or take all: knowledge team token %s --take all", kb.ShellWord(in.User))
		}
		g.Taken, err = rights.Take(file, in.User, id)
		if err == nil && g.Taken == 0 {
			err = kb.Errorf(kb.NotFound, "%s has no such token", in.User).WithHint("take all of them: knowledge team token %s --take all", kb.ShellWord(in.User))
		}
		return g, err
	}
	var until time.Time
	if in.Until != "" {
		if until, err = time.Parse(time.DateOnly, in.Until); err != nil {
			return g, kb.Errorf(kb.Invalid, "%q is no day", kb.Clip(in.Until, 100)).WithHint("write it as 2027-01-31").About("until")
		}
	}
	token, t, err := rights.Give(file, in.User, until)
	g.Token, g.ID = token, t.ID()
	return g, err
}

// files returns where rights and tokens lie.
func files(a *app.App) (rights, tokens string, err error) {
	file, err := a.Settings()
	if err != nil {
		return "", "", err
	}
	dir, err := a.DataDir()
	rights, tokens = Files(dir, file.Team)
	return rights, tokens, err
}

// Folder holds what the server keeps in the data directory.
const Folder = "team"

// Files returns where rights and tokens lie for a configuration.
func Files(dataDir string, c config.Team) (rightsFile, tokens string) {
	return cmp.Or(c.Rights, filepath.Join(dataDir, Folder, "rights.yaml")), cmp.Or(c.Tokens, filepath.Join(dataDir, Folder, "tokens"))
}

// Allowed is the reply of team:rights.
type Allowed struct {
	User    string   `json:"user"`
	Groups  []string `json:"groups,omitempty"`
	Out     bool     `json:"out,omitempty"` // not let in
	Reads   []string `json:"reads"`
	Writes  []string `json:"writes"`
	Missing []string `json:"missing,omitempty"` // given, and not on this machine
	Sources []string `json:"sources,omitempty"`
	Own     int      `json:"own"` // stores
	File    string   `json:"file"`
}

// Text is the reply for people.
func (r Allowed) Text() string {
	var b strings.Builder
	if r.Out {
		fmt.Fprintf(&b, "%s is not let in\n", r.User)
	}
	say := func(what string, list []string, none string) {
		fmt.Fprintf(&b, "%-8s %s\n", what, cmp.Or(strings.Join(list, ", "), none))
	}
	say("groups", r.Groups, "none")
	say("reads", r.Reads, "no store")
	say("writes", r.Writes, "no store")
	say("makes", r.Sources, "no stores")
	if len(r.Missing) > 0 {
		say("missing", r.Missing, "")
	}
	fmt.Fprintf(&b, "%s of %s\nfrom     %s", kb.Count(r.Own, "own store"), r.User, r.File)
	return b.String()
}

func runRights(ctx context.Context, a *app.App, in rightsIn) (Allowed, error) {
	file, tokens, err := files(a)
	if err != nil {
		return Allowed{}, err
	}
	book, err := rights.Open(file, tokens)
	if err != nil {
		return Allowed{}, err
	}
	held, _ := book.Now()
	u, ok := held.Known(in.User, in.Groups)
	out := Allowed{User: in.User, Groups: u.Groups, Out: !ok, Reads: []string{}, Writes: []string{}, Sources: held.Sources, File: file}
	slices.Sort(out.Groups)
	c, err := a.Open(ctx)
	if err != nil {
		return out, err
	}
	shared, err := c.Catalog.List(ctx, "")
	if err != nil {
		return out, err
	}
	there := map[string]bool{}
	for _, e := range shared {
		there[e.Name] = true
		if ok && held.Reads(u, e.Name) {
			out.Reads = append(out.Reads, e.Name)
		}
		if ok && held.Writes(u, e.Name) {
			out.Writes = append(out.Writes, e.Name)
		}
	}
	for name := range held.Stores {
		if !there[name] && held.Reads(u, name) {
			out.Missing = append(out.Missing, name)
		}
	}
	slices.Sort(out.Missing)
	own, err := c.Catalog.List(ctx, app.NamesOf(in.User))
	for _, e := range own {
		if e.Scope == catalog.ScopeProject {
			out.Own++
		}
	}
	return out, err
}
