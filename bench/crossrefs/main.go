// Command crossrefs measures the uses between stores: those that a project
// makes of what its dependencies declare, each dependency a store of its own at
// the version in use, against what the compilers say. Run it with
// ".ci/extra crossrefs [-go DIR,…] [-ts DIR,…]".
//
// A DIR of -go is a Go module whose dependencies lie in the cache of modules; the
// reference is go/packages with go/types. A DIR of -ts is a project of npm that is
// installed; the reference is the compiler from npm. Everything goes through the
// program: stores are made and indexed, manifests decide which store is which
// package, and the uses are read from the joins that a first question has made.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/code"
	"github.com/seed-4f2d999b/knowledge/internal/code/graph"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/product"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "crossrefs:", err)
		os.Exit(1)
	}
}

func run() error {
	out := flag.String("out", "bench/runs", "folder of the report")
	goDirs := flag.String("go", "", "folders of Go modules, by commas")
	tsDirs := flag.String("ts", "", "folders of installed projects in TypeScript, by commas")
	reference := flag.String("reference", "", "the built program of bench/callgraph/reference; built if not given")
	name := flag.String("name", "crossrefs", "what the report is called")
	verbose := flag.Bool("v", false, "list every disagreement")
	flag.Parse()
	scratch, err := lab.Scratch("crossrefs")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	var projects []*project
	if *goDirs != "" && *reference == "" {
		*reference = filepath.Join(scratch, "reference")
		cmd := exec.Command("go", "build", "-o", *reference, ".")
		cmd.Dir = "bench/callgraph/reference"
		if b, err := cmd.CombinedOutput(); err != nil {
			fmt.Printf("skipped: cannot build bench/callgraph/reference: %s\n", b)
			return nil
		}
	}
	for _, dir := range split(*goDirs) {
		p, err := goProject(dir, *reference)
		if err != nil {
			return err
		}
		projects = append(projects, p)
	}
	if dirs := split(*tsDirs); len(dirs) > 0 {
		compiler := filepath.Join(scratch, "npm")
		if err := os.MkdirAll(compiler, 0o755); err != nil {
			return err
		}
		if why := lab.Npm(compiler, "typescript@5.9.3"); why != "" {
			fmt.Println("skipped: no compiler of TypeScript:", why)
			return nil
		}
		for _, dir := range dirs {
			p, err := tsProject(dir, filepath.Join(compiler, "node_modules", "typescript"))
			if err != nil {
				return err
			}
			projects = append(projects, p)
		}
	}
	if len(projects) == 0 {
		fmt.Println("skipped: no project is named; say -go DIR,… or -ts DIR,…")
		return nil
	}
	var r lab.Report
	r.Printf("# Uses between stores, %s\n\n%s\n\nWritten by `.ci/extra crossrefs`.\n\n", time.Now().Format(time.DateOnly), lab.Machine())
	rows := [][]string{{"project", "language", "stores", "files", "uses", "ours", "precision", "recall", "of calls: uses", "precision", "recall", "join", "its file"}}
	var lists []func()
	for _, p := range projects {
		if err := p.ask(filepath.Join(scratch, "data-"+p.name+p.language)); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		all, calls := p.compare(""), p.compare("call")
		rows = append(rows, []string{p.name, p.language, strconv.Itoa(len(p.stores)), strconv.Itoa(len(p.files)),
			strconv.Itoa(all.uses), strconv.Itoa(all.ours), all.precision(), all.recall(),
			strconv.Itoa(calls.uses), calls.precision(), calls.recall(), p.took.Round(100 * time.Millisecond).String(), lab.MB(p.bytes)})
		fmt.Println(rows[len(rows)-1])
		lists = append(lists, func() {
			list(&r, p.name+", ours alone", all.wrong, *verbose)
			list(&r, p.name+", the reference's alone", all.missing, *verbose)
		})
	}
	r.Table(rows...)
	r.Printf("%s\n\n", explained)
	for _, f := range lists {
		f()
	}
	path, err := r.Write(*out, *name)
	if err != nil {
		return err
	}
	fmt.Println("report:", path)
	return nil
}

const explained = "A use is a line of the project and a declaration of a dependency that the line names: for Go every function, method, type, " +
	"constant, variable and field, for TypeScript what is called, constructed, put into JSX, named as a type or inherited, since reading a value is no use there. " +
	"Of a name with several declarations (overloads, merged ones) each is right. Standard libraries are not counted. " +
	"Files that the reference does not look at (another system, tests of other builds) count for neither side. " +
	"`join` is the time of the job on the wall, with its start, on this machine under its load."

func split(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' })
}

// project is one project, its dependencies and what the reference says.
type project struct {
	name, language string
	dir            string
	packages       map[string]string // name of a package → folder
	stores         map[string]string // id of a store → package
	files          map[string]bool
	uses           []use

	ours  map[string]map[string]kb.UseKind // place of a use → declarations
	took  time.Duration
	bytes int64
}

// use is one name in a line of the project, and the places that declare it.
type use struct {
	from, name, kind string
	to               []string // PACKAGE PATH:LINE
}

func goProject(dir, reference string) (*project, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	p := &project{name: filepath.Base(dir), language: "Go", dir: dir, packages: map[string]string{}, files: map[string]bool{}}
	cmd := exec.Command(reference, "-across", dir, "./...")
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", reference, err)
	}
	needed := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		switch f[0] {
		case "file":
			p.files[f[1]] = true
		case "use":
			needed[f[3]] = true
			p.uses = append(p.uses, use{from: f[1] + ":" + f[2], name: f[6], kind: f[7], to: []string{f[3] + " " + f[4] + ":" + f[5]}})
		}
	}
	cmd = exec.Command("go", "list", "-deps", "-test", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Dir}}{{end}}{{end}}", "./...")
	cmd.Dir = dir
	if out, err = cmd.Output(); err != nil {
		return nil, fmt.Errorf("go list in %s: %w", dir, err)
	}
	for line := range strings.Lines(string(out)) {
		if path, at, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok && at != "" {
			p.packages[path] = at
		}
	}
	return p, nil
}

func tsProject(dir, compiler string) (*project, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	p := &project{name: filepath.Base(dir), language: "TypeScript", dir: dir, packages: map[string]string{}, files: map[string]bool{}}
	cmd := exec.Command("node", "--max-old-space-size=3000", "bench/crossrefs/reference.js", compiler, dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("reference.js: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if f[0] == "file" {
			p.files[f[1]] = true
			continue
		}
		u := use{from: f[1] + ":" + f[2], name: f[3], kind: f[4]}
		for k := 5; k+2 < len(f); k += 3 {
			u.to = append(u.to, f[k]+" "+f[k+1]+":"+f[k+2])
			p.packages[f[k]] = filepath.Join(dir, "node_modules", filepath.FromSlash(f[k]))
		}
		p.uses = append(p.uses, u)
	}
	raw, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if err != nil {
		return nil, err
	}
	var manifest struct{ Dependencies, DevDependencies map[string]string }
	if err := json.Unmarshal(raw, &manifest); err != nil {
		return nil, err
	}
	for _, list := range []map[string]string{manifest.Dependencies, manifest.DevDependencies} {
		for name := range list {
			if name != "typescript" && name != "@types/node" {
				p.packages[name] = filepath.Join(dir, "node_modules", filepath.FromSlash(name))
			}
		}
	}
	return p, nil
}

// ask makes the stores, has them joined, and reads every use.
func (p *project) ask(data string) error {
	ctx := context.Background()
	a, err := product.New(app.Config{DataDir: data, Dir: p.dir, Project: p.dir, Env: func(string) string { return "" }})
	if err != nil {
		return err
	}
	defer a.Close()
	p.stores = map[string]string{}
	create := func(name, dir string) (kb.StoreID, error) {
		st, err := a.CreateStore(ctx, app.CreateStore{Name: name, Kind: kb.KindFolder, Source: dir})
		if err != nil {
			return "", err
		}
		if _, err = a.WaitJob(ctx, st.Job); err != nil {
			return "", err
		}
		_, made, err := a.Lookup(ctx, name)
		return made.ID, err
	}
	for i, name := range lab.Keys(p.packages) {
		id, err := create(fmt.Sprintf("d%d", i), p.packages[name])
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %s is no store: %v\n", p.name, name, err)
			continue
		}
		p.stores[string(id)] = name
	}
	own, err := create("own", p.dir)
	if err != nil {
		return err
	}
	c, err := a.Open(ctx)
	if err != nil {
		return err
	}
	if _, err := code.Link(ctx, c, own); err != nil {
		return err
	}
	// Any question about a declaration of the project has them joined.
	view, err := graph.Open(code.ViewOf(c, own))
	if err != nil {
		return err
	}
	at := ""
	for f := range p.files {
		if ds, err := view.Symbols(f); err == nil && len(ds) > 0 {
			at = fmt.Sprintf("%s:%d", f, ds[0].Line)
			break
		}
	}
	view.Close()
	began := time.Now()
	r, err := code.Ask(ctx, a, code.CodeRequest{CodeRequest: search.CodeRequest{Symbol: at, What: search.Callees},
		Stores: []string{"own"}, Waiting: app.Waiting{Wait: 30 * time.Minute, Person: true}})
	if err != nil {
		return err
	}
	p.took = time.Since(began)
	for _, n := range r.Notes {
		fmt.Fprintf(os.Stderr, "%s: %s\n", p.name, n)
	}
	joins, err := filepath.Glob(filepath.Join(data, "views", string(own)+"-*.join"))
	if err != nil || len(joins) != 1 {
		return fmt.Errorf("there are %d joins, not one", len(joins))
	}
	return p.read(joins[0], string(own))
}

// read reads every use from a join.
func (p *project) read(path, own string) error {
	view, err := graph.Open(path)
	if err != nil {
		return err
	}
	defer view.Close()
	p.bytes = view.Bytes()
	p.ours = map[string]map[string]kb.UseKind{}
	for f := range p.files {
		found, err := view.Leaving(own, kb.Spot{Path: f})
		if err != nil {
			return err
		}
		for _, c := range found {
			from := fmt.Sprintf("%s:%d", f, c.From.Line)
			if p.ours[from] == nil {
				p.ours[from] = map[string]kb.UseKind{}
			}
			p.ours[from][fmt.Sprintf("%s %s:%d", p.stores[c.To.Store], c.To.Path, c.To.Line)] = c.Kind
		}
	}
	return nil
}

// outcome is how ours and the reference agree.
type outcome struct {
	uses, ours, found, right int
	wrong, missing           []string
}

func (o outcome) precision() string {
	return fmt.Sprintf("%.4f", float64(o.right)/float64(max(o.ours, 1)))
}
func (o outcome) recall() string {
	return fmt.Sprintf("%.4f", float64(o.found)/float64(max(o.uses, 1)))
}

// compare counts the uses of a kind, of all for "".
func (p *project) compare(kind string) (o outcome) {
	known := map[string]map[string]bool{}
	seen := map[string]bool{}
	for _, u := range p.uses {
		if known[u.from] == nil {
			known[u.from] = map[string]bool{}
		}
		for _, to := range u.to {
			known[u.from][to] = true
		}
		key := u.from + "\t" + strings.Join(u.to, "\t") + "\t" + kind
		if kind != "" && u.kind != kind || seen[key] {
			continue
		}
		seen[key] = true
		o.uses++
		if slices.ContainsFunc(u.to, func(to string) bool { _, ok := p.ours[u.from][to]; return ok }) {
			o.found++
		} else {
			o.missing = append(o.missing, fmt.Sprintf("%s %s %s → %s", u.from, u.kind, u.name, u.to[0]))
		}
	}
	for from, tos := range p.ours {
		for to, k := range tos {
			if kind != "" && k.String() != kind {
				continue
			}
			o.ours++
			if known[from][to] {
				o.right++
			} else {
				o.wrong = append(o.wrong, fmt.Sprintf("%s %s → %s", from, k, to))
			}
		}
	}
	slices.Sort(o.wrong)
	slices.Sort(o.missing)
	return o
}

// list shows a sample of disagreements, spread evenly.
func list(r *lab.Report, title string, items []string, all bool) {
	if len(items) == 0 {
		return
	}
	step := max(1, len(items)/12)
	if all {
		step = 1
	}
	r.Printf("%s, some of %d:\n\n", title, len(items))
	for i := 0; i < len(items); i += step {
		r.Printf("- `%s`\n", items[i])
	}
	r.Printf("\n")
}
