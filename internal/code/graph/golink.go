package graph

import (
	"context"
	"go/token"
	"go/types"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// goLinker resolves the Go files of a store with go/types.
//
// Every unit (a package with its tests) is checked twice. Once without the
// bodies of functions and tests, in the order of imports: that is what its
// importers see, and it is kept until the last of them is done. Once with
// everything, which needs nothing but what the units it imports show: that
// gives the edges and is dropped at once. So packages that import each other
// from tests are no cycle, packages without a path between them are checked
// side by side, and memory holds declarations but hardly any bodies.
type goLinker struct {
	b      *builder
	src    Source
	fset   *token.FileSet
	layout *layout
	unitOf map[string]int // by import path

	mu     sync.Mutex
	cond   *sync.Cond
	run    []running
	apis   []int // units whose declarations can be checked now
	bodies []int // units whose bodies can be checked now
	left   int   // tasks not done
	large  bool  // a unit over passBytes is being checked
	stop   bool
	err    error

	others []elsewhere

	join *join // nil for the documents of one store

	checked, failed atomic.Int64
	progress        func(int)
}

// running is where a unit stands. It is guarded by goLinker.mu.
type running struct {
	needAPI, needBody bool
	apiWait, bodyWait int
	users             int // tasks that need pkg and are not done
	apiDone           bool
	failed            bool
	pkg               *types.Package
	spans             []*span
	apiUsers          []int // units whose API needs this one
	bodyUsers         []int
}

// task is one unit being checked with its bodies.
type task struct {
	g     *goLinker
	u     *unit
	i     int
	spans []*span
	seen  map[types.Object]ref
	// config is the build being checked.
	config config
	pruner
}

func (g *goLinker) apiSpans(u int) []*span {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.run[u].spans
}

// link checks the units that want says; workers is how many at once.
// Those of anew are checked as importers see them at least.
func (g *goLinker) link(ctx context.Context, want []bool, anew []int, workers int) error {
	g.plan(want, anew)
	g.cond = sync.NewCond(&g.mu)
	stop := context.AfterFunc(ctx, func() {
		g.mu.Lock()
		g.stop = true
		g.mu.Unlock()
		g.cond.Broadcast()
	})
	defer stop()
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() { g.work(ctx) })
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return canceled(err)
	}
	return g.err
}

// plan says which units must be checked how, and what waits for what.
func (g *goLinker) plan(want []bool, anew []int) {
	units := g.layout.units
	g.run = make([]running, len(units))
	g.unitOf = make(map[string]int, len(units))
	for i, u := range units {
		g.unitOf[u.path] = i
	}
	var need func(i int)
	need = func(i int) {
		if r := &g.run[i]; !r.needAPI {
			r.needAPI = true
			g.left++
			for _, k := range units[i].apiDeps {
				need(k)
			}
		}
	}
	for _, i := range anew {
		need(i)
	}
	for i, u := range units {
		if want[i] {
			g.run[i].needBody = true
			g.left++
			for _, k := range u.deps {
				need(k)
			}
		}
	}
	for i, u := range units {
		r := &g.run[i]
		if r.needAPI {
			r.apiWait = len(u.apiDeps)
			for _, k := range u.apiDeps {
				g.run[k].apiUsers = append(g.run[k].apiUsers, i)
				g.run[k].users++
			}
			if r.apiWait == 0 {
				g.apis = append(g.apis, i)
			}
		}
		if r.needBody {
			r.bodyWait = len(u.deps)
			for _, k := range u.deps {
				g.run[k].bodyUsers = append(g.run[k].bodyUsers, i)
				g.run[k].users++
			}
			if r.bodyWait == 0 && !r.needAPI {
				g.bodies = append(g.bodies, i)
			}
		}
	}
}

// work takes tasks until none is left: bodies first, since they give memory
// back, then declarations.
func (g *goLinker) work(ctx context.Context) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for {
		for !g.stop && g.left > 0 && g.nextBody() < 0 && len(g.apis) == 0 {
			g.cond.Wait()
		}
		if g.stop || g.left == 0 {
			g.cond.Broadcast()
			return
		}
		var err error
		if at := g.nextBody(); at >= 0 {
			i := g.bodies[at]
			g.bodies = slices.Delete(g.bodies, at, at+1)
			large := g.isLarge(i)
			g.large = g.large || large
			g.mu.Unlock()
			err = g.body(ctx, i, nil)
			g.mu.Lock()
			if large {
				g.large = false
			}
		} else {
			n := len(g.apis)
			i := g.apis[n-1]
			g.apis = g.apis[:n-1]
			g.mu.Unlock()
			err = g.api(ctx, i)
			g.mu.Lock()
		}
		if err != nil {
			if g.err == nil {
				g.err = err
			}
			g.stop = true
		}
		g.cond.Broadcast()
	}
}

// nextBody returns which of bodies to check next, -1 for none now. Large units
// come first, since they take long, and one at a time, since they take much
// memory; g.mu is held.
func (g *goLinker) nextBody() int {
	small := -1
	for at := len(g.bodies) - 1; at >= 0; at-- {
		if !g.isLarge(g.bodies[at]) {
			small = max(small, at)
		} else if !g.large {
			return at
		}
	}
	return small
}

func (g *goLinker) isLarge(i int) bool { return g.layout.units[i].size > passBytes }

// fail notes that the checker gave up on a unit, which the next link tries again.
func (g *goLinker) fail(i int) {
	g.failed.Add(1)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.run[i].failed = true
}

// release notes that a task that needed these units is done; g.mu is held.
func (g *goLinker) release(units []int) {
	for _, k := range units {
		if g.run[k].users--; g.run[k].users == 0 {
			g.run[k].pkg = nil
		}
	}
}

// load returns the texts of files, those that can be read.
func (g *goLinker) load(ctx context.Context, files []*goFile) (map[*goFile]string, error) {
	paths := make([]string, len(files))
	for i, f := range files {
		paths[i] = f.path
	}
	docs, err := g.src.Load(ctx, paths)
	if err != nil {
		return nil, err
	}
	out := make(map[*goFile]string, len(files))
	for k := range docs {
		i := slices.Index(paths, docs[k].Path)
		if i < 0 {
			continue
		}
		body, err := docs[k].Body()
		if err != nil {
			if ctx.Err() != nil {
				return nil, canceled(ctx.Err())
			}
			continue
		}
		out[files[i]] = body
	}
	return out, nil
}

// api checks what importers of a unit see. If its bodies can be checked now,
// they are, with the same syntax trees.
func (g *goLinker) api(ctx context.Context, i int) error {
	u := g.layout.units[i]
	bodies, err := g.load(ctx, u.base)
	if err != nil {
		return err
	}
	g.mu.Lock()
	atOnce := g.run[i].needBody && g.run[i].bodyWait == 0
	g.mu.Unlock()
	total := 0
	for _, b := range bodies {
		total += len(b)
	}
	atOnce = atOnce && total <= passBytes

	var files []*parsed
	var spans []*span
	for _, f := range u.base {
		body, ok := bodies[f]
		if !ok || ctx.Err() != nil {
			continue
		}
		if p := g.parse(u, f, body); p != nil {
			if !atOnce {
				p.strip()
			}
			files = append(files, p)
			spans = append(spans, p.span)
		}
		delete(bodies, f)
	}
	pkg, _ := g.check(ctx, u.path, trees(files), g.importer(i, nil), false)
	if ctx.Err() != nil {
		return nil
	}
	if pkg == nil {
		g.fail(i)
	}

	g.mu.Lock()
	r := &g.run[i]
	r.apiDone, r.pkg, r.spans = true, pkg, spans
	if r.users == 0 {
		r.pkg = nil
	}
	for _, k := range r.apiUsers {
		if g.run[k].apiWait--; g.run[k].apiWait == 0 {
			g.apis = append(g.apis, k)
		}
	}
	for _, k := range r.bodyUsers {
		if g.run[k].bodyWait--; g.run[k].bodyWait == 0 && (!g.run[k].needAPI || g.run[k].apiDone) {
			g.bodies = append(g.bodies, k)
		}
	}
	g.release(u.apiDeps)
	g.left--
	mine := r.needBody && r.bodyWait == 0
	if mine && !atOnce {
		g.bodies = append(g.bodies, i)
	}
	g.cond.Broadcast()
	g.mu.Unlock()
	if mine && atOnce && pkg != nil {
		return g.body(ctx, i, files)
	}
	for _, p := range files {
		g.drop(p)
	}
	if mine && atOnce {
		return g.body(ctx, i, nil)
	}
	return nil
}

// importer gives a unit the packages it imports; own overrides the unit's own path.
func (g *goLinker) importer(i int, own *types.Package) types.Importer {
	return importFunc(func(p string) (*types.Package, error) {
		if p == "unsafe" {
			return types.Unsafe, nil
		}
		if k, ok := g.layout.units[i].imports[p]; ok {
			if k == i && own != nil {
				return own, nil
			}
			g.mu.Lock()
			pkg := g.run[k].pkg
			g.mu.Unlock()
			if pkg != nil && k != i {
				return pkg, nil
			}
		}
		return nil, errMissing
	})
}

var errMissing = kb.Errorf(kb.NotFound, "not in this store")

type importFunc func(string) (*types.Package, error)

func (f importFunc) Import(p string) (*types.Package, error) { return f(p) }

// body finds the edges out of every file of a unit. ready holds files that
// are parsed already.
func (g *goLinker) body(ctx context.Context, i int, ready []*parsed) error {
	u := g.layout.units[i]
	t := &task{g: g, u: u, i: i, pruner: pruner{ids: map[string]int32{}, files: map[*parsed][]*part{}}}
	err := t.run(ctx, ready)
	g.checked.Add(1)
	if g.progress != nil {
		g.progress(len(u.files))
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.release(u.deps)
	g.left--
	g.cond.Broadcast()
	return err
}

// modulePath returns the path that a go.mod declares, "" for none.
func modulePath(body string) string {
	for line := range strings.Lines(body) {
		line, _, _ = strings.Cut(line, "//")
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "module"); ok && rest != "" && strings.TrimLeft(rest, " \t\"`") != rest {
			return strings.Trim(strings.TrimSpace(rest), "\"`")
		}
	}
	return ""
}

func isGoMod(p string) bool { return path.Base(p) == "go.mod" }

func workers() int { return min(runtime.GOMAXPROCS(0), 4) }
