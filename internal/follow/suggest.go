package follow

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/data/catalog"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/source"
	"github.com/seed-4f2d999b/knowledge/internal/source/deps"
)

// SuggestRequest says what to look at and what to do about it.
type SuggestRequest struct {
	Limit    int      // at most this many; 0 is 10
	Add      bool     // create the stores that are suggested
	Only     []string // of these dependencies or repositories only, by name
	Save     bool     // write what is added into the project's definitions
	Registry bool     // ask package registries for repositories that are unknown here
}

// Suggestion is a repository worth a store.
type Suggestion struct {
	Name       string   `json:"name"` // of the dependency, the most imported one of the repository
	Ecosystem  string   `json:"ecosystem"`
	Version    string   `json:"version,omitempty"` // in use; "" when no lockfile says it
	Files      int      `json:"files"`             // source files that import it
	Dev        bool     `json:"dev,omitempty"`
	Repository string   `json:"repository"`
	Tag        string   `json:"tag,omitempty"`
	Commit     string   `json:"commit,omitempty"`
	From       string   `json:"from"`            // what named the repository
	Also       []string `json:"also,omitempty"`  // other dependencies from there
	Store      string   `json:"store,omitempty"` // the store that exists of it already

	dep deps.Dependency
}

// Suggested is the reply of suggest.
type Suggested struct {
	Suggestions []Suggestion  `json:"suggestions"`
	Unknown     []string      `json:"unknown,omitempty"` // imported, from an unknown repository
	Manifests   int           `json:"manifests"`
	SourceFiles int           `json:"sourceFiles"`
	Ms          float64       `json:"ms"`
	Added       []app.Started `json:"added,omitempty"`
	Failed      []Failed      `json:"failed,omitempty"`
	Notes       []string      `json:"notes,omitempty"`
}

// Started returns the jobs that were started.
func (s Suggested) Started() []app.Started { return s.Added }

const suggestLimit = 10

// Suggest names the repositories that the project depends on most, by how many
// of its files import what comes from them.
func Suggest(ctx context.Context, a *app.App, r SuggestRequest) (Suggested, error) {
	out := Suggested{Suggestions: []Suggestion{}}
	p, err := a.Where()
	if err != nil {
		return out, err
	}
	if p.None {
		if why := source.Dangerous(p.Root); why != "" {
			return out, kb.Errorf(kb.Invalid, "%q is no project: it is %s", p.Root, why).WithHint("run it inside a project, or name one with --project")
		}
	}
	start := time.Now()
	rep, err := deps.Analyze(ctx, p.Root)
	if err != nil {
		return out, err
	}
	out.Manifests, out.SourceFiles, out.Notes = len(rep.Manifests), rep.Files, rep.Notes
	limit := cmp.Or(max(r.Limit, 0), suggestLimit)
	c, err := a.Open(ctx)
	if err != nil {
		return out, err
	}
	list := worth(rep.Dependencies)
	if len(r.Only) > 0 {
		list = asked(slices.Concat(rep.Dependencies, rep.Brought), r.Only)
	}
	if r.Registry {
		out.Notes = append(out.Notes, askRegistries(ctx, a, c, list, 2*limit)...)
	}
	rows := suggestRows(list, origin(p.Root), 1<<20)
	if len(r.Only) > 0 && len(rows) == 0 {
		return out, kb.Errorf(kb.NotFound, "the project has no dependency named %s whose repository is known", strings.Join(r.Only, ", ")).
			WithHint("see what there is with: suggest")
	}
	rows = rows[:min(len(rows), limit)]
	for _, d := range worth(rep.Dependencies) {
		if d.Repository == "" && len(out.Unknown) < limit {
			out.Unknown = append(out.Unknown, strings.TrimSpace(d.ID()+" "+d.Version))
		}
	}
	if err := markExisting(ctx, a, c, rows); err != nil {
		return out, err
	}
	out.Suggestions = append(out.Suggestions, rows...)
	out.Ms = float64(time.Since(start).Microseconds()/100) / 10
	switch {
	case len(rep.Manifests) == 0:
		out.Notes = append(out.Notes, "there is no manifest of a package manager here that is known")
	case len(out.Unknown) > 0 && !r.Registry:
		out.Notes = append(out.Notes, "what is unknown may be found with registry, which asks package registries")
	}
	if r.Add {
		addSuggested(ctx, a, c, r, &out)
	}
	return out, nil
}

// worth leaves the dependencies that code imports; when none is, those that
// the project runs with.
func worth(list []deps.Dependency) []*deps.Dependency {
	imported := slices.ContainsFunc(list, func(d deps.Dependency) bool { return d.Files > 0 })
	var out []*deps.Dependency
	for i := range list {
		if d := &list[i]; d.Files > 0 || !imported && !d.Dev {
			out = append(out, d)
		}
	}
	return out
}

// asked leaves the dependencies of the names or repositories given, imported or
// not: what is brought along by another may be what is meant.
func asked(list []deps.Dependency, names []string) []*deps.Dependency {
	var out []*deps.Dependency
	for i := range list {
		d := &list[i]
		if slices.ContainsFunc(names, func(n string) bool {
			return strings.EqualFold(n, d.Name) || strings.EqualFold(n, d.ID()) || strings.EqualFold(n, d.Repository)
		}) {
			out = append(out, d)
		}
	}
	return out
}

// SuggestRows makes one row of each repository but the project's own, most
// imported first, of what is worth one.
func SuggestRows(list []deps.Dependency, own string, limit int) []Suggestion {
	return suggestRows(worth(list), own, limit)
}

func suggestRows(list []*deps.Dependency, own string, limit int) []Suggestion {
	var rows []Suggestion
	at := map[string]int{}
	for _, d := range list {
		if d.Repository == "" || strings.EqualFold(d.Repository, own) {
			continue
		}
		key := strings.ToLower(d.Repository)
		if i, ok := at[key]; ok {
			rows[i].Also = append(rows[i].Also, d.Name)
			rows[i].Dev = rows[i].Dev && d.Dev
			continue
		}
		at[key] = len(rows)
		rows = append(rows, Suggestion{
			Name: d.Name, Ecosystem: d.Ecosystem, Version: d.Version, Files: d.Files, Dev: d.Dev,
			Repository: d.Repository, Tag: d.Tag, Commit: d.Commit, From: d.From, dep: *d,
		})
	}
	return rows[:min(len(rows), limit)]
}

// origin returns the repository that a work tree was cloned from, "" when
// nothing simple says it.
func origin(root string) string {
	data, err := app.ReadProjectFile(filepath.Join(root, ".git", "config"))
	if err != nil {
		return ""
	}
	in := false
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			in = line == `[remote "origin"]`
		} else if k, v, ok := strings.Cut(line, "="); ok && in && strings.TrimSpace(k) == "url" {
			return deps.CleanURL(v)
		}
	}
	return ""
}

// markExisting names the stores in scope that are of a suggested repository already.
func markExisting(ctx context.Context, a *app.App, c *app.Core, rows []Suggestion) error {
	entries, err := a.Scope(ctx, c, false)
	if err != nil {
		return err
	}
	for i := range rows {
		_, src, err := source.Canonical(ctx, kb.KindRepo, rows[i].Repository, a.Config.Dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if strings.EqualFold(e.Spec.Source, src) {
				rows[i].Store = e.Label()
			}
		}
	}
	return nil
}

// addSuggested creates the stores that there are not, pinned to the version in use.
func addSuggested(ctx context.Context, a *app.App, c *app.Core, r SuggestRequest, out *Suggested) {
	requests := make([]app.CreateStore, len(out.Suggestions))
	notes := make([]string, len(out.Suggestions))
	var wg sync.WaitGroup
	slots := make(chan struct{}, 4)
	for i, s := range out.Suggestions {
		if s.Store == "" {
			wg.Go(func() {
				slots <- struct{}{}
				defer func() { <-slots }()
				requests[i], notes[i] = request(ctx, c, s)
			})
		}
	}
	wg.Wait()
	taken := map[string]bool{}
	if entries, err := a.Scope(ctx, c, false); err == nil {
		for _, e := range entries {
			if e.Scope != catalog.ScopeOwn {
				taken[e.Name] = true
			}
		}
	}
	for i := range out.Suggestions {
		s, req := &out.Suggestions[i], requests[i]
		if s.Store != "" {
			continue
		}
		if notes[i] != "" {
			out.Notes = append(out.Notes, notes[i])
		}
		req.Name = storeName(s.Repository, taken)
		taken[req.Name] = true
		req.Save = r.Save
		started, err := a.CreateStore(ctx, req)
		if err != nil {
			out.Failed = append(out.Failed, Failed{Name: req.Name, Error: err.Error(), Hint: kb.HintOf(err)})
			continue
		}
		s.Store, s.Tag, s.Commit = req.Name, req.Tag, req.Commit
		out.Added = append(out.Added, started)
	}
}

// tagTimeout bounds how long a repository is asked for its tags.
const tagTimeout = 20 * time.Second

// request is the store of a suggestion. Its repository is asked how it spells
// the tag of the version; without an answer the usual spelling is taken.
func request(ctx context.Context, c *app.Core, s Suggestion) (app.CreateStore, string) {
	r := app.CreateStore{
		Kind: kb.KindRepo, Source: s.Repository, Agent: true, Description: strings.TrimSpace(s.Ecosystem + " " + s.Name + " " + s.Version), Follows: s.dep.ID(),
	}
	if s.Version == "" && s.Commit == "" {
		r.Follows = ""
		return r, fmt.Sprintf("%s: no lockfile says the version in use, so the default branch is indexed", s.Name)
	}
	r.Tag = s.Tag
	if s.Commit != "" {
		r.Tag, r.Commit = "", s.Commit
		return r, ""
	}
	ctx, cancel := context.WithTimeout(ctx, tagTimeout)
	defer cancel()
	_, src, err := source.Canonical(ctx, kb.KindRepo, s.Repository, "")
	if err != nil {
		return r, ""
	}
	tags, err := c.Opener.Tags(ctx, src)
	if err != nil {
		return r, fmt.Sprintf("%s: its tags could not be asked for, so %q is taken on trust: %v", s.Name, r.Tag, err)
	}
	for _, t := range s.dep.TagCandidates() {
		if slices.Contains(tags, t) {
			r.Tag = t
			return r, ""
		}
	}
	r.Tag, r.Follows = "", ""
	return r, fmt.Sprintf("%s: the repository has no tag of version %s that is known for one, so the default branch is indexed", s.Name, s.Version)
}

// plainNames are names of repositories that say nothing without their owner.
var plainNames = map[string]bool{
	"common": true, "go": true, "api": true, "client": true, "core": true, "sdk": true, "cli": true, "app": true, "docs": true, "runtime": true,
	"log": true, "run": true, "json": true, "sync": true, "text": true, "time": true, "http": true, "net": true, "sys": true, "url": true, "css": true,
	"promise": true, "process": true, "console": true, "finder": true, "filesystem": true, "pip": true, "web": true, "extensions": true, "units": true,
	"compress": true, "atomic": true, "regexp": true, "query": true,
}

// storeName names a repository: by its last element, with the owner before it
// where that says too little or is taken.
func storeName(repo string, taken map[string]bool) string {
	name := app.NameFrom(repo)
	if plainNames[strings.ToLower(name)] || taken[name] {
		name = app.NameFrom(path.Base(path.Dir(repo)) + "-" + name)
	}
	base := name
	for n := 2; taken[name]; n++ {
		name = fmt.Sprintf("%s-%d", base[:min(len(base), 60)], n)
	}
	return name
}

// askRegistries fills in the repositories of the most imported dependencies of
// whose repository is unknown here.
func askRegistries(ctx context.Context, a *app.App, c *app.Core, list []*deps.Dependency, most int) []string {
	reg := deps.NewRegistry(a.Config.Env, filepath.Join(c.Dir, "registry.json"), c.Policy())
	var missing []*deps.Dependency
	for _, d := range list[:min(len(list), most)] {
		if d.Repository == "" {
			missing = append(missing, d)
		}
	}
	notes := make([]string, len(missing))
	var wg sync.WaitGroup
	slots := make(chan struct{}, 4)
	for i, d := range missing {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			repo, err := reg.Repository(ctx, *d)
			if err != nil {
				notes[i] = fmt.Sprintf("%s: %v", d.ID(), err)
			}
			d.Place(repo, "registry")
		})
	}
	wg.Wait()
	if err := reg.Save(); err != nil {
		notes = append(notes, err.Error())
	}
	return slices.DeleteFunc(notes, func(s string) bool { return s == "" })
}
