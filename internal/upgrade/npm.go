package upgrade

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/source/deps"
	"github.com/seed-4f2d999b/knowledge/internal/upgrade/changelog"
	"github.com/seed-4f2d999b/knowledge/internal/upgrade/declared"
)

// npm compares two versions of an npm package by their declarations.
func (u *asked) npm(d deps.Dependency) (Reply, error) {
	root, err := os.OpenRoot(u.root)
	if err != nil {
		return Reply{}, kb.Errorf(kb.NotFound, "open the folder of the project: %w", err)
	}
	defer root.Close()
	project := root.FS()
	set := declared.NewSet(filepath.Join(u.core.Dir, "grammars"))
	defer set.Close()
	reply := Reply{Package: d.Name, Ecosystem: "npm", By: "declarations", Sites: []Group{}}
	open := func(name string, files fs.FS) *declared.Package { return declared.Open(u.ctx, set, name, files) }

	old, err := u.npmOld(&reply, d, project, open)
	if err != nil {
		return Reply{}, err
	}
	name := d.Name
	if u.now != "" {
		name, reply.Now = u.now, u.now
	}
	files, version, err := u.npmVersion(&reply, name, u.to)
	if err != nil {
		return Reply{}, err
	}
	reply.From, reply.To = old.Version(), version
	if reply.From == reply.To && name == d.Name {
		return Reply{}, kb.Errorf(kb.Invalid, "%s %s is the version in use", name, version).WithHint("name another one with to").About("to")
	}
	next := open(name, files)
	if !old.Typed() || !next.Typed() {
		reply.Notes = append(reply.Notes, "a version has no type declarations, neither its own nor those of @types: what it declares is not known, and only its changelog is read")
		reply.say(changelog.Find(files, reply.From, reply.To, nil))
		return reply, nil
	}
	changes := declared.Diff(old, next, "")
	names, err := u.npmSites(&reply, project, set, old, next, changes)
	if err != nil {
		return Reply{}, err
	}
	all := slices.Clone(names)
	for _, c := range changes {
		reply.count(c.What, c.Breaks)
		if (c.Breaks || c.What == "deprecated") && !slices.Contains(names, c.Name) {
			reply.API = append(reply.API, Declared{Name: c.Name, What: c.What, Instead: c.Instead, Note: c.Note})
			all = append(all, c.Name)
		}
	}
	reply.say(changelog.Find(files, reply.From, reply.To, all))
	reply.Notes = append(reply.Notes, "types were read as they are stated, by no type checker: what only one can work out is not listed")
	return reply, nil
}

// npmOld is the version in use: as it is installed, else as it was got before.
func (u *asked) npmOld(reply *Reply, d deps.Dependency, project fs.FS, open func(string, fs.FS) *declared.Package) (*declared.Package, error) {
	want := u.From
	if want == "" {
		want = d.Version
	}
	for dir := path.Dir(d.Manifest); ; dir = path.Dir(dir) {
		modules, err := fs.Sub(project, path.Join(dir, "node_modules"))
		if err == nil {
			if files, err := fs.Sub(modules, d.Name); err == nil {
				p := open(d.Name, declared.Installed(d.Name, files, modules))
				if v := p.Version(); v != "" && (want == "" || v == want) {
					return p, nil
				}
			}
		}
		if dir == "." {
			break
		}
	}
	if want == "" {
		return nil, kb.Errorf(kb.NotFound, "which version of %s is in use is neither in a lockfile nor in node_modules", d.Name).
			WithHint("name it with: deps:upgrade {\"package\":%q,\"to\":%q,\"from\":\"VERSION\"}", u.Package, u.To)
	}
	files, _, err := u.npmVersion(reply, d.Name, want)
	if err != nil {
		return nil, err
	}
	return open(d.Name, files), nil
}

// npmVersion returns the files of a version, which it gets where that is wanted.
func (u *asked) npmVersion(reply *Reply, name, version string) (fs.FS, string, error) {
	version = strings.TrimPrefix(version, "v")
	if files := u.npmArchive(name, version); files != nil {
		return files, version, nil
	}
	if !u.Add {
		return nil, "", u.missing(name, version)
	}
	got, notes, err := u.getNPM(name, version)
	if err != nil {
		return nil, "", err
	}
	reply.Notes = append(reply.Notes, notes...)
	if files := u.npmArchive(name, got); files != nil {
		return files, got, nil
	}
	return nil, "", kb.Errorf(kb.Corrupt, "the archive of %s %s cannot be read", name, got).WithHint("try again")
}

// npmSites looks at the sources of the project, and returns the names of what
// they use that changed.
func (u *asked) npmSites(reply *Reply, project fs.FS, set *declared.Set, old, next *declared.Package, changes []declared.Change) ([]string, error) {
	byName := map[string]declared.Change{}
	for _, c := range changes {
		if _, ok := byName[c.Name]; !ok || c.Breaks {
			byName[c.Name] = c
		}
	}
	groups := map[string]*Group{}
	var order, names []string
	files := 0
	err := declared.NewProject(u.ctx, set, project, old, next).Sites(func(file string, sites []declared.Site) {
		files++
		seen := map[int]bool{}
		for _, s := range sites {
			if s.Name == "" { // it follows from another line
				s.Name, s.Says = s.Says, ""
			}
			key := fmt.Sprint(s.Name, s.Warns)
			g := groups[key]
			if g == nil {
				c := byName[s.Name]
				g = &Group{Name: s.Name, What: c.What, Instead: c.Instead, Note: c.Note, Warns: s.Warns, Says: s.Says}
				groups[key] = g
				order, names = append(order, key), append(names, s.Name)
			}
			if place := fmt.Sprintf("%s:%d", s.Path, s.Line); !slices.Contains(g.At, place) {
				g.At = append(g.At, place)
			}
			if s.Warns {
				reply.Warns++
			} else if !seen[s.Line] {
				seen[s.Line] = true
				reply.Breaks++
			}
		}
	})
	if err != nil {
		return nil, err
	}
	for _, key := range order {
		reply.Sites = append(reply.Sites, *groups[key])
	}
	reply.sort()
	reply.Notes = append(reply.Notes, kb.Count(files, "source file")+" of the project name the package, or import one that does, and were read")
	return names, nil
}
