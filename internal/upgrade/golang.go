package upgrade

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/source/deps"
	"github.com/seed-4f2d999b/knowledge/internal/upgrade/changelog"
	"github.com/seed-4f2d999b/knowledge/internal/upgrade/gocheck"
)

// goTime is how long type-checking may take; what was found until then is said.
const goTime = 2 * time.Minute

// goModule is a module that the project requires.
type goModule struct {
	file   string // go.mod, below the project
	text   []byte
	module string
	also   []string // other go.mod files that require it
}

// goModule finds the go.mod nearest to the root that requires the module of the
// package that was named.
func (u *asked) goModule() (goModule, bool, error) {
	var found goModule
	root, err := os.OpenRoot(u.root)
	if err != nil {
		return found, false, kb.Errorf(kb.NotFound, "open the folder of the project: %w", err)
	}
	defer root.Close()
	files := slices.DeleteFunc(slices.Clone(u.deps.Manifests), func(p string) bool { return path.Base(p) != "go.mod" })
	slices.SortStableFunc(files, func(a, b string) int { return strings.Count(a, "/") - strings.Count(b, "/") })
	for _, file := range files {
		text, err := root.ReadFile(filepath.FromSlash(file))
		if err != nil {
			continue
		}
		f, err := modfile.ParseLax(file, text, nil)
		if err != nil {
			continue
		}
		best := ""
		for _, r := range f.Require {
			if p := r.Mod.Path; (u.name == p || strings.HasPrefix(u.name, p+"/")) && len(p) > len(best) {
				best = p
			}
		}
		switch {
		case best == "":
		case found.file == "":
			found = goModule{file: file, text: text, module: best}
		default:
			found.also = append(found.also, file)
		}
	}
	return found, found.file != "", nil
}

// golang compares two versions of a Go module.
func (u *asked) golang(m goModule) (Reply, error) {
	caches := append([]string{u.core.Dir + "/packages/go"}, deps.Caches(u.core.Env)...)
	s := &gocheck.Sources{Caches: caches, Root: gocheck.Root(u.core.Env, caches)}
	defer s.Close()
	old, err := gocheck.NewList(s, m.text)
	if err != nil {
		return Reply{}, err
	}
	from := module.Version{Path: m.module, Version: old.Version(m.module)}
	if u.From != "" {
		from.Version = withV(u.From)
	}
	to, err := u.goTarget(s, from)
	if err != nil {
		return Reply{}, err
	}
	if u.Add && !s.Has(from) {
		if _, err := u.getModule(from); err != nil {
			return Reply{}, err
		}
		s.Forget()
	}
	if from == to {
		return Reply{}, kb.Errorf(kb.Invalid, "%s %s is the version in use", to.Path, to.Version).WithHint("name another one with to").About("to")
	}
	if u.From != "" {
		if old, err = gocheck.NewList(s, m.text, from); err != nil {
			return Reply{}, err
		}
	}
	next, err := u.goList(s, m, to, old)
	if err != nil {
		return Reply{}, err
	}
	reply := Reply{Package: from.Path, Ecosystem: "go", From: from.Version, To: to.Version, By: "go/types", Sites: []Group{}}
	if to.Path != from.Path {
		reply.Now = to.Path
	}
	if reply, err = u.goBounded(reply, s, m, from, to, old, next); err != nil {
		return Reply{}, err
	}
	for _, p := range gocheck.Changed(old, next) {
		if p != from.Path && p != to.Path && old.Version(p) != "" {
			reply.Also = append(reply.Also, fmt.Sprintf("%s %s → %s", p, old.Version(p), next.Version(p)))
		}
	}
	if s.Root == "" {
		reply.Notes = append(reply.Notes, "no Go is installed here: types of the standard library are taken as unknown, and what breaks through them is missed")
	}
	if len(m.also) > 0 {
		reply.Notes = append(reply.Notes, "only the module of "+m.file+" was checked; it is also required by "+strings.Join(m.also[:min(len(m.also), 4)], ", "))
	}
	return reply, nil
}

// goBounded is goCompare in time: the checker cannot be stopped within a package, and
// what strangers wrote may keep it busy.
func (u *asked) goBounded(reply Reply, s *gocheck.Sources, m goModule, from, to module.Version, old, next *gocheck.List) (Reply, error) {
	type result struct {
		reply Reply
		err   error
	}
	done := make(chan result, 1)
	go func() {
		err := u.goCompare(&reply, s, m, from, to, old, next)
		done <- result{reply, err}
	}()
	select {
	case r := <-done:
		return r.reply, r.err
	case <-u.ctx.Done():
		return Reply{}, kb.Errorf(kb.Canceled, "stopped on request: %w", u.ctx.Err())
	case <-time.After(goTime + goTime/4):
		return Reply{}, kb.Errorf(kb.TooLarge, "type-checking %s takes longer than %s", from.Path, goTime).
			WithHint("read what changed: search its changelog in a store of its repository, made with: store:create")
	}
}

// goCompare fills in what changed and which lines that breaks.
func (u *asked) goCompare(reply *Reply, s *gocheck.Sources, m goModule, from, to module.Version, old, next *gocheck.List) error {
	dir := path.Dir(m.file)
	root, err := os.OpenRoot(u.root)
	if err != nil {
		return kb.Errorf(kb.NotFound, "open the folder of the project: %w", err)
	}
	defer root.Close()
	project, err := fs.Sub(root.FS(), dir)
	if err != nil {
		return err
	}
	at := strings.TrimPrefix(dir, ".")
	ctx, cancel := contextFor(u.ctx, goTime)
	defer cancel()
	env := u.core.Env
	was := gocheck.NewWorld(ctx, s, old, project, at, env, from.Path)
	is := was.With(s, next, project, at, to.Path)
	is.Rename(from.Path, to.Path)
	oldAPI, newAPI := gocheck.NewAPI(was, from.Path, false), gocheck.NewAPI(is, to.Path, false)
	if oldAPI == nil || newAPI == nil {
		return u.missing(from.Path, from.Version)
	}
	changes := gocheck.Diff(oldAPI, newAPI)
	watched := map[string]bool{}
	for _, c := range changes {
		if c.What == "deprecated" || strings.HasPrefix(c.What, "value changed") {
			watched[c.Key()] = true
		}
	}
	checked := gocheck.Check(was, is, watched)
	if u.ctx.Err() != nil {
		return kb.Errorf(kb.Canceled, "stopped on request: %w", u.ctx.Err())
	}
	if ctx.Err() != nil {
		reply.Notes = append(reply.Notes, fmt.Sprintf("stopped after %s: packages that were not reached are not counted", goTime))
	}
	names := reply.goSites(changes, checked, from.Path)
	reply.goChanges(changes, names, from.Path)
	if n := len(checked.Unknown); n > 0 {
		reply.Notes = append(reply.Notes, fmt.Sprintf("%s have no sources here, and what breaks through their types is missed: %s",
			kb.Count(n, "imported package"), strings.Join(checked.Unknown[:min(n, 4)], ", ")))
	}
	reply.Notes = append(reply.Notes, fmt.Sprintf("%d of %s of the project need what changed and were checked, tests included", checked.Packages, kb.Count(checked.All, "package")))
	if f := s.Files(to); f != nil {
		var all []string
		for _, c := range changes {
			if c.Name != "" && (c.Breaks || c.What == "deprecated") {
				all = append(all, c.Name)
			}
		}
		reply.say(changelog.Find(f, from.Version, to.Version, append(names, all...)))
	}
	return nil
}

// goSites groups sites by the declaration that they use, and returns the names of
// those.
func (r *Reply) goSites(changes []gocheck.Change, checked gocheck.Checked, module string) []string {
	byKey := map[string]gocheck.Change{}
	for _, c := range changes {
		if _, ok := byKey[c.Key()]; !ok || c.Breaks {
			byKey[c.Key()] = c
		}
	}
	groups := map[string]*Group{}
	var order []string
	var names []string
	add := func(s gocheck.Site, warns bool) {
		c := byKey[s.Uses]
		g := Group{Name: shortKey(s.Uses, module), What: c.What, Instead: c.Instead, Note: c.Note, Warns: warns}
		key := fmt.Sprint(g.Name, warns)
		if g.Name == "" {
			g.Says, key = oneLine(s.Says), s.Says
		}
		have := groups[key]
		if have == nil {
			if g.Says = oneLine(s.Says); c.What == "removed" {
				g.Says = "" // that it is undefined
			}
			groups[key] = &g
			have = &g
			order = append(order, key)
			if c.Name != "" {
				names = append(names, c.Name)
			}
		}
		place := fmt.Sprintf("%s:%d", s.Path, s.Line)
		if !slices.Contains(have.At, place) {
			have.At = append(have.At, place)
			if warns {
				r.Warns++
			}
		}
	}
	broken := map[string]bool{}
	for _, s := range checked.Breaks {
		add(s, false)
		broken[fmt.Sprintf("%s:%d", s.Path, s.Line)] = true
	}
	r.Breaks = len(broken)
	for _, s := range checked.Uses {
		if !broken[fmt.Sprintf("%s:%d", s.Path, s.Line)] {
			add(s, true)
		}
	}
	for _, key := range order {
		r.Sites = append(r.Sites, *groups[key])
	}
	r.sort()
	return names
}

// goChanges counts what changed and lists what the project does not use.
func (r *Reply) goChanges(changes []gocheck.Change, used []string, module string) {
	for _, c := range changes {
		r.count(c.What, c.Breaks)
		if (c.Breaks || c.What == "deprecated") && !slices.Contains(used, c.Name) {
			name := shortKey(c.Key(), module)
			if c.Name == "" {
				name = c.Package
			}
			r.API = append(r.API, Declared{Name: name, What: kb.Clip(c.What, 160), Instead: c.Instead, Note: c.Note})
		}
	}
}

// shortKey leaves the module out of "github.com/x/y/sub.T.M".
func shortKey(key, module string) string {
	if rest, ok := strings.CutPrefix(key, module+"."); ok {
		return rest
	}
	if rest, ok := strings.CutPrefix(key, module+"/"); ok {
		return rest
	}
	return key
}

func withV(version string) string {
	if version != "" && version[0] >= '0' && version[0] <= '9' {
		return "v" + version
	}
	return version
}

// goTarget is the module and version that is asked for; it gets it where that
// is wanted.
func (u *asked) goTarget(s *gocheck.Sources, from module.Version) (module.Version, error) {
	version := withV(u.to)
	var places []module.Version
	switch prefix, major, ok := module.SplitPathVersion(from.Path); {
	case u.now != "":
		places = []module.Version{{Path: u.now, Version: version}}
	case ok && semver.IsValid(version) && major != pathMajor(prefix, version) && !strings.HasSuffix(version, "+incompatible"):
		places = []module.Version{{Path: prefix + pathMajor(prefix, version), Version: version}, {Path: from.Path, Version: version + "+incompatible"}}
	default:
		places = []module.Version{{Path: from.Path, Version: version}}
	}
	for _, m := range places {
		if s.Has(m) {
			return m, nil
		}
	}
	if !u.Add {
		return module.Version{}, u.missing(places[0].Path, version)
	}
	var first error
	for _, m := range places {
		got, err := u.getModule(m)
		if err == nil {
			s.Forget()
			return module.Version{Path: m.Path, Version: got}, nil
		}
		if first == nil {
			first = err
		}
	}
	return module.Version{}, first
}

// pathMajor is what the path of a module ends with at a version: "/v2", ".v2" on
// gopkg.in, "" before v2.
func pathMajor(prefix, version string) string {
	major := semver.Major(version)
	if strings.HasPrefix(prefix, "gopkg.in/") {
		return "." + major
	}
	if major == "v0" || major == "v1" {
		return ""
	}
	return "/" + major
}

// maxRaised is how many modules an upgrade may bring with it that are got as well.
const maxRaised = 24

// goList is the build list after the upgrade. What it raises is got where that is
// wanted, until nothing is missing.
func (u *asked) goList(s *gocheck.Sources, m goModule, to module.Version, old *gocheck.List) (*gocheck.List, error) {
	next, err := gocheck.NewList(s, m.text, to)
	if err != nil || !u.Add {
		return next, err
	}
	got := map[module.Version]bool{}
	for range 4 {
		want := next.Missing
		for _, p := range append(gocheck.Changed(old, next), m.module) {
			if v := (module.Version{Path: p, Version: next.Version(p)}); v.Version != "" && !s.Has(v) {
				want = append(want, v)
			}
		}
		more := false
		for _, v := range want {
			if got[v] || len(got) == maxRaised {
				continue
			}
			got[v] = true
			if _, err := u.getModule(v); err == nil {
				more = true
			}
		}
		if !more {
			break
		}
		s.Forget()
		if next, err = gocheck.NewList(s, m.text, to); err != nil {
			return nil, err
		}
	}
	return next, nil
}
