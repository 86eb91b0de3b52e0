package install

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/project"
)

// optionsOf is what every verb of this file needs. It opens no database.
func optionsOf(a *app.App, r Request) (Options, error) {
	dir, err := a.DataDir()
	if err != nil {
		return Options{}, err
	}
	p, err := a.Where()
	if err != nil {
		return Options{}, err
	}
	home := a.Config.Env("HOME")
	if runtime.GOOS == "windows" {
		home = a.Config.Env("USERPROFILE")
	}
	if home == "" {
		return Options{}, kb.Errorf(kb.Invalid, "no home directory is known, below which clients keep their files").WithHint("set $HOME")
	}
	return Options{
		Place:   Place{GOOS: runtime.GOOS, Home: home, Root: p.Root, Env: a.Config.Env},
		DataDir: dir, Args: []string{"mcp"}, Text: r.Text, Force: r.Force,
	}, nil
}

// programFile is the file of this program.
func programFile(a *app.App) (string, error) {
	if a.Config.Program != "" {
		return a.Config.Program, nil
	}
	exe, err := os.Executable()
	if err != nil {
		return "", kb.Errorf(kb.Unsupported, "the system does not tell where this program lies: %w", err).WithHint("add the entry by hand; see docs/install.md")
	}
	return exe, nil
}

// List lists the table: which clients are on this machine, and which have us.
func List(_ context.Context, a *app.App) (ClientList, error) {
	l := ClientList{Clients: []ClientRow{}}
	o, err := optionsOf(a, Request{})
	if err != nil {
		return l, err
	}
	for _, c := range Clients() {
		row := ClientRow{Client: c.Name, Title: c.Title, Found: c.Found(o.Place)}
		if in, _ := o.Installed(c, User); in {
			row.User = c.User(o.Place)
		}
		if in, _ := o.Installed(c, Project); in {
			row.Project = c.Project(o.Place)
		}
		l.Clients = append(l.Clients, row)
	}
	l.Notes = remarks(twice(o))
	return l, nil
}

// twice says of each client that has our plugin enabled, and an entry of this
// program as well, that it starts two servers.
func twice(o Options) []app.Finding {
	var out []app.Finding
	for _, c := range Clients() {
		id, _ := c.PluginOf(o.Place)
		if id == "" {
			continue
		}
		for _, at := range [][2]string{{User, c.User(o.Place)}, {Project, c.Project(o.Place)}} {
			if in, _ := o.Installed(c, at[0]); in {
				out = append(out, app.Finding{What: "clients", Status: "note",
					Text: fmt.Sprintf("%s starts two servers, that of the plugin %s and that of the entry in %s", c.Title, id, at[1]),
					Hint: "take the entry out: knowledge uninstall --client " + c.Name})
			}
		}
	}
	return out
}

// remarks are findings as lines.
func remarks(list []app.Finding) []string {
	var out []string
	for _, f := range list {
		out = append(out, f.Text+"; "+f.Hint)
	}
	return out
}

// pick returns the clients that names mean.
func pick(names []string, p Place) ([]Client, error) {
	table := Clients()
	var out []Client
	for _, name := range names {
		if name == "all-found" {
			for _, c := range table {
				if c.Found(p) != "" {
					out = append(out, c)
				}
			}
			if len(out) == 0 {
				return nil, kb.Errorf(kb.NotFound, "none of the clients is on this machine: %s", strings.Join(ClientNames(), ", ")).
					WithHint("name one all the same: knowledge install --client claude")
			}
			continue
		}
		i := slices.IndexFunc(table, func(c Client) bool { return c.Name == name })
		if i < 0 {
			e := kb.Errorf(kb.Invalid, "there is no client %q, only %s", name, strings.Join(ClientNames(), ", "))
			if near := kb.Nearest(name, append(ClientNames(), "all-found")); near != "" {
				return nil, e.WithHint("did you mean %s? try: knowledge install --client %s", near, near)
			}
			return nil, e.WithHint("see which are here: knowledge clients")
		}
		out = append(out, table[i])
	}
	return out, nil
}

// ClientNames are the names in the table.
func ClientNames() []string {
	var names []string
	for _, c := range Clients() {
		names = append(names, c.Name)
	}
	return names
}

// Install adds this program to clients.
func Install(_ context.Context, a *app.App, r Request) (Report, error) {
	report := Report{DryRun: r.DryRun, Steps: []Step{}}
	o, err := optionsOf(a, r)
	if err != nil {
		return report, err
	}
	o.Again = "knowledge install"
	if len(r.Clients) == 0 {
		return report, kb.Errorf(kb.Invalid, "it is not said for which clients").WithHint("for all that are here: knowledge install --client all-found")
	}
	clients, err := pick(r.Clients, o.Place)
	if err != nil {
		return report, err
	}
	exe, err := programFile(a)
	if err != nil {
		return report, err
	}
	if o.Command, err = Program(exe, o.Place); err != nil {
		return report, err
	}
	report.Program = o.Command
	if !r.DryRun {
		project.MakeDataDir(o.DataDir) // for the receipts
	}
	scope := scopeOf(r)
	for _, c := range clients {
		err := report.take(o, c.Name, scope, func() ([]Step, error) { return o.Add(c, scope) })
		if err != nil && len(clients) == 1 {
			return report, err
		}
		if !r.DryRun && slices.ContainsFunc(report.Steps, func(s Step) bool { return s.Client == c.Name && s.Kind == "server" && s.Changes() }) {
			note := c.Title + ": " + c.After
			if r.Project && c.Shared != "" {
				note += "; " + c.Shared
			}
			report.Notes = append(report.Notes, note)
		}
	}
	if r.Project && !r.DryRun && slices.ContainsFunc(report.Steps, func(s Step) bool { return s.Kind == "server" && s.Changes() }) {
		report.Notes = append(report.Notes, "who shares these files needs the program at the same place: "+o.Command)
	}
	report.Notes = append(report.Notes, remarks(twice(o))...)
	return report, nil
}

func scopeOf(r Request) string {
	if r.Project {
		return Project
	}
	return User
}

// take plans and carries out the steps of one client. What two clients share
// is done once. An error is a step that failed, and returned too.
func (r *Report) take(o Options, client, scope string, plan func() ([]Step, error)) error {
	steps, err := plan()
	for i := range steps {
		s := &steps[i]
		if slices.ContainsFunc(r.Steps, func(x Step) bool {
			return x.File == s.File && x.Kind == s.Kind && x.File != "" && x.Action != "skipped"
		}) {
			continue
		}
		if r.DryRun {
			s.Diff = s.Lines()
		} else if err = o.Apply(s); err != nil {
			break
		}
		if s.Action != "" {
			r.Steps = append(r.Steps, *s)
		}
	}
	if err != nil {
		r.Steps = append(r.Steps, Step{Client: client, Scope: scope, Action: failed, Note: kb.Said(err, "; ")})
	}
	return err
}

// target is one place of a client that may have us.
type target struct {
	o      Options
	client Client
	scope  string
}

// targets are the places that a request means: those of the named clients, or
// of all, in the user's files, in this project's and in those of every project
// that we were installed for.
func targets(a *app.App, r Request) ([]target, error) {
	o, err := optionsOf(a, r)
	if err != nil {
		return nil, err
	}
	o.Again = "knowledge uninstall"
	clients := Clients()
	if len(r.Clients) > 0 && !slices.Contains(r.Clients, "all-found") {
		if clients, err = pick(r.Clients, o.Place); err != nil {
			return nil, err
		}
	}
	exe, err := programFile(a)
	if err != nil {
		return nil, err
	}
	o.Command = exe
	if path, err := Program(exe, o.Place); err == nil {
		o.Command = path
	}
	roots := []string{o.Place.Root}
	if !r.Project {
		more, err := Roots(o.DataDir)
		if err != nil {
			return nil, err
		}
		roots = append(roots, slices.DeleteFunc(more, func(d string) bool { return d == roots[0] })...)
	}
	var all []target
	for _, c := range clients {
		if !r.Project {
			all = append(all, target{o, c, User})
		}
		for _, root := range roots {
			o := o
			o.Place.Root = root
			if root != o.Place.Home || r.Project { // there the two are the same files
				all = append(all, target{o, c, Project})
			}
		}
	}
	return all, nil
}

// Uninstall takes this program out of clients.
func Uninstall(_ context.Context, a *app.App, r Request) (Report, error) {
	report := Report{DryRun: r.DryRun, Steps: []Step{}}
	all, err := targets(a, r)
	if err != nil {
		return report, err
	}
	for _, t := range all {
		var stay []Client // that are not asked for, and have us
		for _, c := range Clients() {
			if slices.ContainsFunc(all, func(x target) bool { return x.client.Name == c.Name }) {
				continue
			}
			if in, err := t.o.Installed(c, t.scope); in || err != nil {
				stay = append(stay, c)
			}
		}
		err := report.take(t.o, t.client.Name, t.scope, func() ([]Step, error) { return t.o.Remove(t.client, t.scope, stay) })
		if err != nil && len(r.Clients) == 1 && r.Clients[0] != "all-found" {
			return report, err
		}
	}
	if len(report.Steps) == 0 {
		none := "no client has knowledge"
		if len(r.Clients) > 0 {
			none = "nothing of knowledge is in the files of " + strings.Join(r.Clients, ", ")
		}
		report.Notes = append(report.Notes, none)
	}
	for _, t := range all {
		if id, _ := t.client.PluginOf(t.o.Place); id != "" && t.scope == scopeOf(r) {
			report.Notes = append(report.Notes, "the plugin stays; it goes with: claude plugin uninstall "+id)
			break
		}
	}
	return report, nil
}

// Upgrade writes the entries of this program anew where they are out of date,
// and says how the program itself is upgraded. It asks no network.
func Upgrade(_ context.Context, a *app.App, r Request) (Report, error) {
	report := Report{DryRun: r.DryRun, Steps: []Step{}}
	exe, err := programFile(a)
	if err != nil {
		return report, err
	}
	text := r.Text
	r.Text = ""
	all, err := targets(a, r)
	if err != nil {
		return report, err
	}
	if _, err := Program(exe, all[0].o.Place); err != nil {
		return report, err
	}
	report.Program = all[0].o.Command
	for _, t := range all {
		t.o.Again = "knowledge install"
		in, err := t.o.Installed(t.client, t.scope)
		if err != nil {
			_ = report.take(t.o, t.client.Name, t.scope, func() ([]Step, error) { return nil, err })
		}
		if !in {
			continue
		}
		if t.o.HasText(t.client, t.scope) {
			t.o.Text = text
		}
		t.o.Force = true // it is ours: the plugin beside it is install's business
		_ = report.take(t.o, t.client.Name, t.scope, func() ([]Step, error) { return t.o.Add(t.client, t.scope) })
	}
	report.Notes = append(report.Notes, remarks(twice(all[0].o))...)
	ch := ChannelOf(exe, all[0].o.Place, Released)
	report.Channel = &ch
	if len(report.Steps) == 0 {
		report.Notes = append(report.Notes, "no client has knowledge yet; add it to those that are here: knowledge install")
	}
	report.Notes = append(report.Notes, fmt.Sprintf("this is version %s at %s; %s", a.Version(), exe, ch.UpgradeLine()))
	return report, nil
}
