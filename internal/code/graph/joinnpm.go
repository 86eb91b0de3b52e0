package graph

import (
	"context"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
)

const (
	// maxPackages is how many manifests of npm one member of a join may have.
	maxPackages = 500
	// maxExports is how deep the conditions of an export may lie in each other.
	maxExports = 8
)

// npmPackage is a package of npm as its manifest describes it.
type npmPackage struct {
	dir     string // of the manifest, in the join
	Name    string
	Types   string
	Typings string
	Source  string
	Module  string
	Main    any // a string where it is of use
	Exports any
	classic bool // the project finds modules as Node once did, without exports
}

// npm takes the documents in JavaScript and TypeScript of a join if a member
// has a package that the first one may import.
func (r *reach) npm(ctx context.Context, src Source, members []Member) error {
	found := map[string]*npmPackage{}
	foreign := false
	classic := r.classic(ctx, src)
	for i, m := range members {
		var manifests []string
		for k := range r.entries {
			if p := r.entries[k].Path; strings.HasPrefix(p, m.Name+"/") && path.Base(p) == "package.json" && !inside(dirOfFile(p), "node_modules") {
				manifests = append(manifests, p)
			}
		}
		slices.SortStableFunc(manifests, func(a, b string) int { return strings.Count(a, "/") - strings.Count(b, "/") })
		docs, err := src.Load(ctx, manifests[:min(len(manifests), maxPackages)])
		if err != nil {
			return err
		}
		for k := range docs {
			body, err := docs[k].Body()
			if err != nil {
				continue
			}
			pkg := npmPackage{dir: dirOfFile(docs[k].Path), classic: classic}
			if json.Unmarshal([]byte(body), &pkg) != nil || pkg.Name == "" || found[pkg.Name] != nil {
				continue
			}
			found[pkg.Name] = &pkg
			foreign = foreign || i > 0
		}
	}
	if !foreign {
		return nil
	}
	r.join.npm = found
	for k := range r.entries {
		e := &r.entries[k]
		if familyOf(e.Language).name != "js" || len(r.taken) >= maxJoined || r.bytes > maxJoinedBytes {
			continue
		}
		if r.join.mine(e.Path) || !isTestOfNpm(e.Path) {
			r.taken[e.Path] = true
			r.bytes += e.Size
		}
	}
	return nil
}

var classicRE = lazyregexp.New(`(?i)"moduleResolution"\s*:\s*"(?:node|node10|classic)"`)

// classic reports whether the first member says that its modules are found without
// the exports of manifests.
func (r *reach) classic(ctx context.Context, src Source) bool {
	at := r.join.own + "tsconfig.json"
	if _, ok := r.at[at]; !ok {
		return false
	}
	docs, err := src.Load(ctx, []string{at})
	if err != nil || len(docs) != 1 {
		return false
	}
	body, err := docs[0].Body()
	return err == nil && classicRE.MatchString(body)
}

// isTestOfNpm reports whether a file of a package is for its own tests, which nobody imports.
func isTestOfNpm(p string) bool {
	base := path.Base(p)
	return strings.Contains(base, ".test.") || strings.Contains(base, ".spec.") || inside(dirOfFile(p), "__tests__")
}

// npmModule finds what "name" or "name/sub" means among the packages of a join.
func (r *resolver) npmModule(fam *family, p string) int32 {
	if r.npm == nil {
		return -1
	}
	name, sub, _ := strings.Cut(p, "/")
	if strings.HasPrefix(name, "@") {
		scope := name
		name, sub, _ = strings.Cut(sub, "/")
		name = scope + "/" + name
	}
	// Types that others have written lie in a package beside.
	types := r.npm["@types/"+strings.ReplaceAll(strings.TrimPrefix(name, "@"), "/", "__")]
	var code int32 = -1
	for _, pkg := range []*npmPackage{r.npm[name], types} {
		if pkg == nil {
			continue
		}
		for _, c := range pkg.files(sub) {
			n := r.jsFile(fam, under(pkg.dir, c))
			if n < 0 {
				continue
			}
			if code < 0 {
				code = n
			}
			if f := r.nodes[n].file; f >= 0 && statesTypes.MatchString(r.docs[f].path) {
				return n
			}
			break
		}
	}
	return code
}

// statesTypes matches the names of files that state types.
var statesTypes = lazyregexp.New(`\.[mc]?tsx?$`)

// declares reports whether a document of a join states types alone, so that what
// it imports does, too.
func (r *resolver) declares(i int32) bool {
	return r.npm != nil && strings.Contains(path.Base(r.docs[i].path), ".d.")
}

// jsTyped finds the types of a file that is named as the code imports it.
func (r *resolver) jsTyped(fam *family, p string) int32 {
	stem := strings.TrimSuffix(p, path.Ext(p))
	switch path.Ext(p) {
	case ".js", ".jsx":
		return r.fileAt(fam, stem+".ts", stem+".tsx", stem+".d.ts")
	case ".mjs":
		return r.fileAt(fam, stem+".mts", stem+".d.mts")
	case ".cjs":
		return r.fileAt(fam, stem+".cts", stem+".d.cts")
	}
	return -1
}

// built are the folders of what is made of the source, which a repository lacks.
var built = []string{"dist", "lib", "build", "esm", "cjs", "es", "out", "types", "umd", "module"}

// files returns where the module of a package may lie, the likeliest first: as
// its manifest says, declarations before code, then where the source of that is.
func (p *npmPackage) files(sub string) []string {
	var said []string
	key := "."
	if sub != "" {
		key = "./" + sub
	}
	main, _ := p.Main.(string)
	if sub == "" && p.classic {
		said = append(said, p.Types, p.Typings, main)
	}
	said = append(said, p.exported(key)...)
	if sub == "" {
		said = append(said, p.Types, p.Typings, p.Source, p.Module, main)
	} else {
		said = append(said, sub)
	}
	var out []string
	add := func(c string) {
		if c = path.Clean("/" + c)[1:]; c != "" && !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	for _, c := range said {
		if c == "" {
			continue
		}
		switch e := path.Ext(c); e {
		case ".js", ".jsx":
			add(strings.TrimSuffix(c, e) + ".d.ts")
		case ".mjs", ".cjs":
			add(strings.TrimSuffix(c, e) + ".d" + strings.Replace(e, "js", "ts", 1))
			add(strings.TrimSuffix(c, e) + ".d.ts")
		}
		add(c)
	}
	for _, c := range said {
		c = strings.TrimPrefix(path.Clean("/"+c), "/")
		c = strings.TrimSuffix(strings.TrimSuffix(c, path.Ext(c)), ".d")
		for rest := c; c != ""; {
			first, next, ok := strings.Cut(rest, "/")
			if !ok || !slices.Contains(built, first) {
				break
			}
			rest = next
			add("src/" + rest)
			add(rest)
		}
	}
	if sub == "" {
		for _, c := range []string{"src/index", "index", "lib/index", "source/index", "src/main"} {
			add(c)
		}
	} else {
		add("src/" + sub)
		add("lib/" + sub)
	}
	return out
}

// exported returns the files that the manifest's exports give for a key, "." or "./sub".
func (p *npmPackage) exported(key string) []string {
	all, ok := p.Exports.(map[string]any)
	if !ok || !slices.ContainsFunc(keysOf(all), func(k string) bool { return strings.HasPrefix(k, ".") }) {
		if key == "." {
			return targets(p.Exports, 0)
		}
		return nil
	}
	if t, ok := all[key]; ok {
		return targets(t, 0)
	}
	var out []string
	for _, k := range keysOf(all) { // "./*": "./dist/*.js"
		before, after, ok := strings.Cut(k, "*")
		if !ok || !strings.HasPrefix(key, before) || !strings.HasSuffix(key, after) || len(key) < len(before)+len(after) {
			continue
		}
		part := key[len(before) : len(key)-len(after)]
		for _, t := range targets(all[k], 0) {
			out = append(out, strings.ReplaceAll(t, "*", part))
		}
	}
	return out
}

func keysOf(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b string) int { // the longest, which says most, first
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	return keys
}

// conditions are those of exports, in the order in which they are tried.
var conditions = []string{"types", "import", "module", "default", "require", "node", "browser"}

// targets returns the files of an export in the order of conditions.
func targets(x any, depth int) (out []string) {
	if depth > maxExports {
		return nil
	}
	switch x := x.(type) {
	case string:
		return []string{x}
	case []any:
		for _, y := range x[:min(len(x), maxExports)] {
			out = append(out, targets(y, depth+1)...)
		}
	case map[string]any:
		for _, c := range conditions {
			out = append(out, targets(x[c], depth+1)...)
		}
	}
	return out
}
