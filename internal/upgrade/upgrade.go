package upgrade

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/source/deps"
	"github.com/seed-4f2d999b/knowledge/internal/upgrade/changelog"
)

// Request names a dependency and two of its versions.
type Request struct {
	Package string // a name, or ECOSYSTEM:NAME
	To      string // a version, or NAME@VERSION
	From    string // "" is the version in use
	Add     bool   // get what is not on this machine
}

// Reply is what an upgrade means. Its lists are cut to what fits a reply; the
// numbers are whole.
type Reply struct {
	Package   string `json:"package"`
	Now       string `json:"now,omitempty"` // what the package is called from that version on
	Ecosystem string `json:"ecosystem"`
	From      string `json:"from"`
	To        string `json:"to"`
	// By says how the two were compared: "go/types" or "declarations".
	By string `json:"by"`

	Breaks int     `json:"breaks"` // lines of the project that compile no more
	Warns  int     `json:"warns"`  // lines that use what is newly deprecated, or has another value
	Sites  []Group `json:"sites,omitempty"`

	// How many exported declarations changed so that users may break, are newly
	// deprecated, and were added.
	Removed    int        `json:"removed"`
	Changed    int        `json:"changed"`
	Deprecated int        `json:"deprecated"`
	Added      int        `json:"added"`
	API        []Declared `json:"api,omitempty"`  // those that change and are not used here
	Also       []string   `json:"also,omitempty"` // other packages that it raises, "NAME v1 → v2"

	Says  []Section `json:"says,omitempty"`
	Notes []string  `json:"notes,omitempty"`

	left left
}

// left counts what was left out of the reply.
type left struct{ groups, api, says, also int }

// Group is the places of one declaration that breaks or warns.
type Group struct {
	Name    string   `json:"name,omitempty"` // "" where the compiler's message names nothing of the package
	What    string   `json:"what,omitempty"`
	Instead string   `json:"instead,omitempty"` // what it is called now
	Note    string   `json:"note,omitempty"`    // what its note of deprecation says
	Warns   bool     `json:"warns,omitempty"`
	Says    string   `json:"says,omitempty"` // the checker, at the first place
	At      []string `json:"at"`             // path:line
	More    int      `json:"more,omitempty"` // places that are left out
}

// Declared is one declaration that changed.
type Declared struct {
	Name    string `json:"name"`
	What    string `json:"what"`
	Instead string `json:"instead,omitempty"`
	Note    string `json:"note,omitempty"`
}

// Section is what the package says of its changes.
type Section struct {
	At      string   `json:"at"` // path:Lfrom-Lto, in the new version
	Heading string   `json:"heading"`
	Names   []string `json:"names,omitempty"`
	Lines   []string `json:"lines,omitempty"`
}

// asked is a request that is being answered.
type asked struct {
	Request
	ctx  context.Context
	app  *app.App
	core *app.Core
	root string // of the project
	deps deps.Report
	name string // of the package, without the ecosystem
	to   string // the version alone
	now  string // another name that To has, or ""
}

// Upgrade compares two versions of a dependency of the project.
func Upgrade(ctx context.Context, a *app.App, r Request) (Reply, error) {
	where, err := a.Where()
	if err != nil {
		return Reply{}, err
	}
	if where.None {
		return Reply{}, kb.Errorf(kb.NotFound, "there is no project here, and only what a project depends on is compared").
			WithHint("start in a work tree, or name one where this program is started: knowledge --project FOLDER")
	}
	if strings.TrimSpace(r.To) == "" {
		return Reply{}, kb.Errorf(kb.Invalid, "the version to compare with is missing").WithHint("name one, or latest").About("to")
	}
	core, err := a.Open(ctx)
	if err != nil {
		return Reply{}, err
	}
	u := &asked{Request: r, ctx: ctx, app: a, core: core, root: where.Root}
	u.to = strings.TrimSpace(r.To)
	if i := strings.LastIndexByte(u.to, '@'); i > 0 {
		_, u.now = split(u.to[:i])
		u.to = u.to[i+1:]
	}
	if u.deps, err = deps.Manifests(ctx, where.Root); err != nil {
		return Reply{}, err
	}
	eco, name := split(strings.TrimSpace(r.Package))
	u.name = name
	reply, err := u.compare(eco)
	if err != nil {
		return Reply{}, err
	}
	reply.shorten()
	return reply, nil
}

// ecosystems are those that can be written before a name.
var ecosystems = kb.WordsOf("go npm pypi cargo maven gem composer hex nuget swift")

func split(pkg string) (eco, name string) {
	if eco, name, ok := strings.Cut(pkg, ":"); ok && ecosystems[eco] {
		return eco, name
	}
	return "", pkg
}

// compare finds which ecosystem a package is of.
func (u *asked) compare(eco string) (Reply, error) {
	if eco == "" || eco == "go" {
		if m, ok, err := u.goModule(); err != nil {
			return Reply{}, err
		} else if ok {
			return u.golang(m)
		}
	}
	i := slices.IndexFunc(u.deps.Dependencies, func(d deps.Dependency) bool {
		return (eco == "" || d.Ecosystem == eco) && strings.EqualFold(d.Name, u.name)
	})
	if i < 0 {
		var names []string
		for _, d := range u.deps.Dependencies {
			names = append(names, d.Name)
		}
		return Reply{}, kb.Errorf(kb.NotFound, "no manifest of this project names a dependency %q%s", u.name, kb.DidYouMean(u.name, names)).
			WithHint("list what it depends on with: suggest")
	}
	switch d := u.deps.Dependencies[i]; d.Ecosystem {
	case "npm":
		return u.npm(d)
	default:
		return Reply{}, kb.Errorf(kb.Unsupported, "versions of %s are not compared yet: only Go modules and npm packages are", d.ID()).
			WithHint("index both versions of its repository, and search their changelog: store:create {\"source\":%q,\"tag\":%q}",
				cmp.Or(d.Repository, "URL"), u.to)
	}
}

// missing is the refusal of a version that is not on this machine.
func (u *asked) missing(name, version string) error {
	return kb.Errorf(kb.NotFound, "%s %s is not on this machine", name, version).
		WithHint("get it from the registry with: deps:upgrade {\"package\":%q,\"to\":%q,\"add\":true}", u.Package, u.To)
}

// say adds the sections of changelogs. used are names that the project uses, all
// those that changed.
func (r *Reply) say(found []changelog.Section) {
	for _, s := range found {
		r.Says = append(r.Says, Section{
			At: s.Path + ":L" + lines(s.From, s.To), Heading: s.Heading, Names: s.Names, Lines: s.Lines,
		})
	}
}

// sort puts what breaks first, and the declarations with the most places.
func (r *Reply) sort() {
	slices.SortStableFunc(r.Sites, func(a, b Group) int {
		if a.Warns != b.Warns {
			return map[bool]int{false: -1, true: 1}[a.Warns]
		}
		return len(b.At) - len(a.At)
	})
}

// count counts a change of the package.
func (r *Reply) count(what string, breaks bool) {
	switch {
	case strings.HasSuffix(what, "removed"):
		r.Removed++
	case breaks:
		r.Changed++
	case what == "deprecated":
		r.Deprecated++
	case strings.HasSuffix(what, "added"):
		r.Added++
	}
}
