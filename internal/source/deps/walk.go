package deps

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

const (
	maxManifest = 16 << 20  // bytes
	maxSource   = 256 << 10 // bytes of a source file, whose imports come first
	maxSources  = 20_000
	maxFiles    = 200_000
	maxDepth    = 24
)

// pruned are the folders of generated or foreign files, and of samples.
var pruned = map[string]bool{
	"node_modules": true, "vendor": true, "bower_components": true, "target": true, "dist": true, "out": true, "_build": true,
	"venv": true, "virtualenv": true, "site-packages": true, "__pycache__": true, "Pods": true, "Carthage": true, "obj": true,
	"third_party": true, "third-party": true, "testdata": true, "fixtures": true, "__fixtures__": true,
	"example": true, "examples": true, "sample": true, "samples": true, "demo": true, "demos": true,
	"playground": true, "playgrounds": true,
}

type manifestFile struct {
	path  string
	parse parser
}

type sourceFile struct {
	path string
	eco  *ecosystem
}

type listing struct {
	manifests []manifestFile
	sources   []sourceFile
}

// list finds manifests and source files.
func list(ctx context.Context, r *os.Root) (listing, error) {
	var out listing
	files := 0
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
		if files++; files > maxFiles {
			return fs.SkipAll
		}
		for _, e := range ecosystems {
			parse := e.manifest(base)
			if parse == nil && e.parts != nil {
				parse = e.parts(p)
			}
			if parse != nil {
				out.manifests = append(out.manifests, manifestFile{p, parse})
			}
		}
		if e := byExt[path.Ext(base)]; e != nil && len(out.sources) < maxSources {
			out.sources = append(out.sources, sourceFile{p, e})
		}
		return nil
	})
	if err := stopped(ctx); err != nil {
		return out, err
	}
	if err != nil {
		return out, kb.Errorf(kb.Denied, "the folder %q cannot be listed: %w", r.Name(), err).
			WithHint("check its permissions")
	}
	return out, nil
}

// readSome reads a file up to a limit. A manifest over it is an error; the
// beginning of a source file is enough.
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

// count sets how many source files import each dependency, and returns how many
// were read.
func count(ctx context.Context, r *os.Root, p *collector, sources []sourceFile, found []*Dependency) int {
	match := map[*ecosystem]func(string) []*Dependency{}
	for _, e := range ecosystems {
		mine := slices.DeleteFunc(slices.Clone(found), func(d *Dependency) bool { return d.Ecosystem != e.name })
		if len(mine) > 0 {
			match[e] = e.matcher(p, mine)
		}
	}
	var next, read atomic.Int64
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range min(4, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			c := counter{match: match, memo: map[imported][]*Dependency{}, files: map[*Dependency]int{}, buf: make([]byte, maxSource)}
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(sources) {
					break
				}
				if c.read(r, sources[i]) {
					read.Add(1)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			for d, n := range c.files {
				d.Files += n
			}
		})
	}
	wg.Wait()
	return int(read.Load())
}

// imported is an import as a source file writes it.
type imported struct {
	eco *ecosystem
	imp string
}

// counter counts what the source files of one goroutine import.
type counter struct {
	match map[*ecosystem]func(string) []*Dependency
	memo  map[imported][]*Dependency // files import the same things
	files map[*Dependency]int
	buf   []byte
}

// read counts one file, and reports whether it could be read and may import
// a dependency.
func (c *counter) read(r *os.Root, s sourceFile) bool {
	match := c.match[s.eco]
	if match == nil {
		return false
	}
	f, err := r.Open(s.path)
	if err != nil {
		return false
	}
	defer f.Close()
	n, _ := io.ReadFull(f, c.buf)
	seen := map[*Dependency]bool{}
	imports := map[string]bool{}
	s.eco.imports(c.buf[:n], func(imp string) {
		if imports[imp] {
			return
		}
		imports[imp] = true
		key := imported{s.eco, imp}
		found, known := c.memo[key]
		if !known {
			found = match(imp)
			c.memo[key] = found
		}
		for _, d := range found {
			seen[d] = true
		}
	})
	for d := range seen {
		c.files[d]++
	}
	return true
}

// lines calls f with each line, without its end and surrounding blanks.
func lines(text []byte, f func(line string)) {
	for line := range bytes.Lines(text) {
		f(string(bytes.TrimSpace(line)))
	}
}
