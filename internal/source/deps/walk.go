package deps

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// What is read at most: of a manifest, of a source file (its imports stand at
// the top), source files and files in all.
const (
	maxManifest = 16 << 20
	maxSource   = 256 << 10
	maxSources  = 20_000
	maxFiles    = 200_000
	maxDepth    = 24
)

// pruned are the folders that hold no writing of the project's own, or samples
// of other projects.
var pruned = kb.WordsOf(`node_modules vendor bower_components target dist out _build venv virtualenv site-packages __pycache__ Pods
	Carthage obj third_party third-party testdata fixtures __fixtures__ example examples sample samples demo demos
	playground playgrounds`)

type manifestFile struct {
	path  string
	parse parser
}

type sourceFile struct {
	path string
	eco  *ecosystem
}

type listing struct {
	all       map[string]bool
	manifests []manifestFile
	sources   []sourceFile
}

// list finds manifests and source files.
func list(ctx context.Context, r *os.Root) (listing, error) {
	out := listing{all: map[string]bool{}}
	byExt := map[string]*ecosystem{}
	for _, e := range ecosystems {
		for _, x := range e.exts {
			byExt[x] = e
		}
	}
	err := fs.WalkDir(r.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			if p == "." {
				return err
			}
			return nil // what cannot be listed is not there
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		base := d.Name()
		if d.IsDir() {
			if p != "." && (base[0] == '.' || pruned[base] || strings.Count(p, "/") >= maxDepth) {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() {
			return nil
		}
		if len(out.all) >= maxFiles {
			return fs.SkipAll
		}
		out.all[p] = true
		for _, e := range ecosystems {
			if parse := e.manifest(base); parse != nil {
				out.manifests = append(out.manifests, manifestFile{p, parse})
			}
		}
		if e := byExt[path.Ext(base)]; e != nil && len(out.sources) < maxSources {
			out.sources = append(out.sources, sourceFile{p, e})
		}
		return nil
	})
	if ctx.Err() != nil {
		return out, kb.Errorf(kb.Canceled, "stopped on request: %w", ctx.Err())
	}
	if err != nil {
		return out, kb.Errorf(kb.Denied, "the folder %q cannot be listed: %w", r.Name(), err).WithHint("check its permissions")
	}
	return out, nil
}

// readSome reads a file up to a limit; a manifest over it is an error, of a
// source file the beginning is enough.
func readSome(r *os.Root, name string, limit int64) ([]byte, error) {
	f, err := r.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(b)) > limit && limit == maxManifest {
		return nil, fmt.Errorf("it is larger than %d bytes", limit)
	}
	return b, err
}

func (p *collector) note(format string, args ...any) {
	const most = 20
	if len(p.notes) < most {
		p.notes = append(p.notes, fmt.Sprintf(format, args...))
	}
}

// count sets, for each dependency, how many source files import it, and
// returns how many were read.
func count(ctx context.Context, r *os.Root, p *collector, sources []sourceFile, found []*Dependency) int {
	match := map[*ecosystem]func(string) []*Dependency{}
	for _, e := range ecosystems {
		var mine []*Dependency
		for _, d := range found {
			if d.Ecosystem == e.name {
				mine = append(mine, d)
			}
		}
		if len(mine) > 0 {
			match[e] = e.matcher(p, mine)
		}
	}
	var next, read atomic.Int64
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range min(4, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			counts := map[*Dependency]int{}
			buf := make([]byte, maxSource)
			memo := map[*ecosystem]map[string][]*Dependency{} // files import the same things
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(sources) {
					break
				}
				s := sources[i]
				m := match[s.eco]
				if m == nil {
					continue
				}
				f, err := r.Open(s.path)
				if err != nil {
					continue
				}
				n, _ := io.ReadFull(f, buf)
				f.Close()
				read.Add(1)
				seen := map[*Dependency]bool{}
				imports := map[string]bool{}
				s.eco.imports(buf[:n], func(imp string) {
					if imports[imp] {
						return
					}
					imports[imp] = true
					found, known := memo[s.eco][imp]
					if !known {
						if memo[s.eco] == nil {
							memo[s.eco] = map[string][]*Dependency{}
						}
						found = m(imp)
						memo[s.eco][imp] = found
					}
					for _, d := range found {
						seen[d] = true
					}
				})
				for d := range seen {
					counts[d]++
				}
			}
			mu.Lock()
			defer mu.Unlock()
			for d, n := range counts {
				d.Files += n
			}
		})
	}
	wg.Wait()
	return int(read.Load())
}

// lines calls f with each line, without its end and surrounding blanks.
func lines(text []byte, f func(line string)) {
	for len(text) > 0 {
		i := 0
		for i < len(text) && text[i] != '\n' {
			i++
		}
		f(strings.TrimSpace(string(text[:i])))
		if i == len(text) {
			break
		}
		text = text[i+1:]
	}
}

// longest returns a matcher that finds the dependencies whose prefix of an
// import is the longest, at a boundary.
func longest(prefixes map[string][]*Dependency, sep string) func(string) []*Dependency {
	return func(imp string) []*Dependency {
		for {
			if d := prefixes[imp]; d != nil {
				return d
			}
			i := strings.LastIndex(imp, sep)
			if i < 0 {
				return nil
			}
			imp = imp[:i]
		}
	}
}
