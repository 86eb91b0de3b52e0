package traces

import (
	"context"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
	"github.com/seed-4f2d999b/knowledge/internal/platform/visible"
	"github.com/seed-4f2d999b/knowledge/internal/source/deps"
)

// installs are how package managers lay out what they install: the groups are
// the folder of the package, its name, and its version where the path has it.
var installs = []struct {
	ecosystem string
	path      lazyregexp.Regexp
}{
	{"pypi", lazyregexp.New(`^(.*/(?:site|dist)-packages/(?P<name>[\w.-]+))`)},
	{"npm", lazyregexp.New(`^(.*/node_modules/(?P<name>(?:@[\w.-]+/)?[\w.-]+))/`)},
	{"go", lazyregexp.New(`^(.*/pkg/mod/(?P<name>[\w.!~/-]+)@(?P<version>v[\w.+-]+))/`)},
	{"gem", lazyregexp.New(`^(.*/gems/(?P<name>[\w.-]+?)-(?P<version>\d[\w.]*))/`)},
	{"cargo", lazyregexp.New(`^(.*/registry/src/[^/]+/(?P<name>[\w-]+?)-(?P<version>\d[\w.+-]*))/`)},
	{"composer", lazyregexp.New(`^(.*/vendor/(?P<name>[a-z][\w.-]*/[\w.-]+))/.*\.php$`)},
}

// standard are where the libraries of languages lie: the group is their folder.
var standard = lazyregexp.New(`^((?:/usr/local/go|/usr/lib/go[\w.-]*|/opt/[\w.-]+/go)/src|/usr(?:/local)?/lib/python3[\d.]*|(?:/[\w.-]+){1,6}/lib/python3\.\d+|/usr/lib/ruby/[\d.]+)/`)

// runs are parts of standard libraries that are on every stack.
var runs = lazyregexp.New(`/(?:runtime|testing|unittest|importlib|asyncio|concurrent)/|/(?:runpy|threading|contextlib)\.py$`)

// missing returns what frames are in and no store has, the package with the most
// frames first, and the command that adds each: at the version that the trace or
// the lockfile of the project says, or from the folder where it is installed.
func (e *explainer) missing(ctx context.Context) ([]Missing, error) {
	type lacking struct {
		Missing
		ecosystem, name, version, folder string
	}
	var out []*lacking
	for i := range e.report.failures {
		for k, f := range e.report.failures[i].frames {
			if slices.ContainsFunc(e.steps[i], func(s step) bool { return s.raw == k }) {
				continue
			}
			x := lacking{}
			x.ecosystem, x.name, x.version, x.folder = packageOf(f.Path)
			if x.name == "" {
				continue
			}
			at := slices.IndexFunc(out, func(o *lacking) bool { return o.ecosystem == x.ecosystem && o.name == x.name })
			if at < 0 {
				at = len(out)
				out = append(out, &x)
			}
			out[at].Frames++
		}
	}
	if len(out) == 0 {
		return nil, nil
	}
	var known []deps.Dependency
	if p, err := e.app.Where(); err == nil && !p.None {
		rep, err := deps.Manifests(ctx, p.Root)
		if err != nil && ctx.Err() != nil {
			return nil, err
		}
		known = rep.Dependencies
	}
	kb.SortStableFunc(out, func(a, b *lacking) int { return b.Frames - a.Frames })
	var list []Missing
	for _, x := range out[:min(len(out), 5)] {
		k := slices.IndexFunc(known, func(d deps.Dependency) bool {
			return d.Ecosystem == x.ecosystem && plainName(d.Name) == plainName(x.name)
		})
		switch info, err := os.Stat(x.folder); {
		case k >= 0:
			d := known[k]
			x.Name = strings.TrimSpace(d.ID() + " " + d.Version)
			x.Add = fmt.Sprintf("suggest {\"add\":true,\"only\":[%q]}", d.ID())
		case (x.ecosystem == "go" || x.ecosystem == "npm") && x.version != "":
			x.Name = x.ecosystem + ":" + x.name + " " + x.version
			x.Add = fmt.Sprintf("store:create {\"name\":%q,\"source\":%q}", path.Base(x.name), x.ecosystem+":"+x.name+"@"+x.version)
		case x.folder != "" && err == nil && info.IsDir():
			x.Name = visible.Name(x.folder)
			x.Add = fmt.Sprintf("store:create {\"name\":%q,\"source\":%q}", storeName(x.name), x.folder)
		default:
			x.Name = strings.TrimSpace(x.ecosystem + ":" + x.name + " " + x.version)
		}
		list = append(list, x.Missing)
	}
	return list, nil
}

// packageOf reads the package of a path of a trace, and the folder that it lies
// in; no name for a path that is of none.
func packageOf(file string) (ecosystem, name, version, folder string) {
	if len(file) > 1000 {
		return "", "", "", ""
	}
	for i := range installs {
		re := installs[i].path.Regexp()
		m := re.FindStringSubmatch(file)
		if m == nil {
			continue
		}
		name, folder = m[re.SubexpIndex("name")], m[1]
		if v := re.SubexpIndex("version"); v >= 0 {
			version = m[v]
		}
		return installs[i].ecosystem, strings.TrimSuffix(name, ".py"), version, folder
	}
	if m := standard.FindStringSubmatch(file); m != nil && !runs.MatchString(file) {
		return "standard library", m[1], "", m[1]
	}
	return "", "", "", ""
}

// plainName is a name of a package without what its ecosystem takes for equal.
func plainName(s string) string {
	return strings.NewReplacer("_", "-", ".", "-", "!", "").Replace(strings.ToLower(s))
}

// storeName is what a store of a folder may be called.
func storeName(s string) string {
	parts := strings.Split(strings.Trim(s, "/"), "/")
	name := parts[len(parts)-1]
	if name == "src" && len(parts) > 1 {
		name = parts[len(parts)-2] + "-src"
	}
	return strings.Trim(strings.Map(func(r rune) rune {
		if r == '.' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' {
			return r
		}
		return '-'
	}, strings.ToLower(name)), "-.")
}
