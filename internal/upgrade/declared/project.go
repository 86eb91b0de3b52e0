package declared

import (
	"context"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/code/tstype"
	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
)

// Bounds of the sources of a project that are read.
const (
	maxSources = 5000 // files
	maxTexts   = 128 << 20
)

// Project is the sources of a project, as they are with a package in two versions.
type Project struct {
	ctx      context.Context
	set      *Set
	files    fs.FS
	old, new *Package
	before   *tstype.World
	after    *tstype.World
}

// NewProject returns the sources in a folder. old and new are the same package, which
// may have another name in its new version.
func NewProject(ctx context.Context, set *Set, files fs.FS, old, new *Package) *Project {
	p := &Project{ctx: ctx, set: set, files: files, old: old, new: new}
	p.before = tstype.New(ctx, set, newHost(ctx, set, files, old.name, old))
	p.after = tstype.New(ctx, set, newHost(ctx, set, files, old.name, new))
	return p
}

// Sites calls take with every source file that names the package, or that imports
// one which does, and the lines of it that break or warn, in order.
func (p *Project) Sites(take func(file string, sites []Site)) error {
	texts, bytes := map[string]string{}, 0
	err := Sources(p.ctx, p.files, "", func(file, language, text string) error {
		if len(texts) < maxSources && bytes+len(text) <= maxTexts {
			texts[file] = text
			bytes += len(text)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, file := range p.reached(texts) {
		sites, err := p.check(file, texts[file])
		if p.ctx.Err() != nil {
			return p.ctx.Err()
		}
		if err == nil { // what does not parse has no sites
			take(file, sites)
		}
	}
	return nil
}

var (
	// silentRE is a comment that has the compiler say nothing of the next line.
	silentRE  = lazyregexp.New(`^\s*(?://|/\*|\{/\*|\*).*@ts-(?:ignore|expect-error)`)
	commentRE = lazyregexp.New(`^\s*(?://.*)?$`)
)

// silenced reports whether such a comment is above a line, with nothing but comments between.
func silenced(lines []string, line int) bool {
	for n := 0; n < len(lines) && commentRE.MatchString(lines[n]); n++ {
		if strings.Contains(lines[n], "@ts-nocheck") {
			return true // for the whole file
		}
	}
	for n := line - 2; n >= 0 && n < len(lines); n-- {
		if silentRE.MatchString(lines[n]) {
			return true
		}
		if !commentRE.MatchString(lines[n]) {
			break
		}
	}
	return false
}

var specRE = lazyregexp.New(`(?:from|import|require\()\s*["']([^"'\n]+)["']`)

// reached are the files that name the package, and those that import them in turn:
// what it declares reaches them as types of values.
func (p *Project) reached(texts map[string]string) []string {
	h := newHost(p.ctx, p.set, p.files, p.old.name, p.old)
	users := map[string][]string{} // of a file, those that import it
	in := map[string]bool{}
	var queue []string
	for file, text := range texts {
		for _, m := range specRE.Regexp().FindAllStringSubmatch(text, -1) {
			if strings.HasPrefix(m[1], ".") {
				if to, ok := h.Resolve("p:"+file, m[1]); ok {
					users[to[2:]] = append(users[to[2:]], file)
				}
			}
		}
		if strings.Contains(text, p.old.name) {
			in[file] = true
			queue = append(queue, file)
		}
	}
	for len(queue) > 0 {
		file := queue[0]
		queue = queue[1:]
		for _, u := range users[file] {
			if !in[u] && strings.HasPrefix(Languages[path.Ext(u)], "t") {
				in[u] = true
				queue = append(queue, u)
			}
		}
	}
	var out []string
	for file := range in {
		out = append(out, file)
	}
	slices.Sort(out)
	return out
}

// check finds the lines of one file. Of TypeScript what breaks is what is wrong with the
// new version alone; scripts without types are looked at by names.
func (p *Project) check(file, text string) ([]Site, error) {
	language := Languages[path.Ext(file)]
	sites, err := Check(p.ctx, p.set, p.old, p.new, file, language, text)
	if err != nil || language == "javascript" {
		return sites, err
	}
	sites = slices.DeleteFunc(sites, func(s Site) bool { return !s.Warns })
	faults := p.after.Check("p:" + file)
	if len(faults) == 0 {
		return sites, nil
	}
	was := map[tstype.Fault]bool{}
	for _, f := range p.before.Check("p:" + file) {
		was[f] = true
	}
	lines := strings.Split(text, "\n")
	for _, f := range faults {
		if !was[f] {
			// What the project tells its compiler to pass over breaks no build.
			silent := silenced(lines, f.Line)
			sites = append(sites, Site{Path: file, Line: f.Line, Name: f.Name, Says: f.Says, Warns: silent})
		}
	}
	slices.SortStableFunc(sites, func(a, b Site) int { return a.Line - b.Line })
	return slices.Compact(sites), nil
}
