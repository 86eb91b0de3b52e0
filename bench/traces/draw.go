package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// quota is how many mutants of a kind one project gives: raised near, raised
// far, assertions.
type quota struct{ near, far, assertions int }

// draw makes mutants of a project, in the order of its sites, until there are
// enough of each kind. keep is called with each.
func (p *project) draw(want quota, keep func(mutant) error) error {
	sites, err := p.sites()
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "%s: %d lines and operators\n", p.Name, len(sites))
	var have quota
	used := map[string]int{}
	for i, s := range sites {
		if i >= p.Tries || have.near >= want.near && have.far >= want.far && have.assertions >= want.assertions {
			break
		}
		key := s.dep + ":" + s.file + ":" + s.fn.name
		if used[key] >= 2 {
			continue
		}
		m := mutant{Project: p.Name, Dependency: s.dep, File: s.file, Line: s.line, Operator: s.op.name, Function: s.fn.name, From: s.fn.from, To: s.fn.to}
		if p.Language == "python" {
			m.Style = []string{"short", "native", "long"}[i%3]
		}
		ok, err := p.try(&m, s.op)
		if err != nil {
			return err
		}
		n := &have.assertions
		most := want.assertions
		switch {
		case m.Kind == "raised" && m.Far:
			n, most = &have.far, want.far
		case m.Kind == "raised":
			n, most = &have.near, want.near
		}
		fmt.Fprintf(os.Stderr, "%s %d: %s:%d %s: %v %s far %v, %d failed\n", p.Name, i, s.file, s.line, s.op.name, ok, m.Kind, m.Far, m.Failed)
		if !ok || *n >= most {
			continue
		}
		*n++
		used[key]++
		m.ID = fmt.Sprintf("%s-%04d", p.Name, i)
		if err := p.keep(&m, p.said); err != nil {
			return err
		}
		if err := keep(m); err != nil {
			return err
		}
	}
	return nil
}

// try runs the suite over a mutant, and says of it what failed. It is false for
// one that nothing fails of, that does not compile, or that breaks all.
func (p *project) try(m *mutant, op operator) (ok bool, err error) {
	var out outcome
	err = changed(p.path(m.Dependency, m.File), m.Line, op, p.Language, func() error {
		out, err = p.run(m.Style, place{p.path(m.Dependency, m.File), m.Line}, false)
		return err
	})
	if err != nil || out.broken || len(out.failed) == 0 {
		return false, err
	}
	m.Failed = len(out.failed)
	k := slices.IndexFunc(out.failed, p.raised)
	m.Kind = "assertion"
	if k >= 0 {
		m.Kind = "raised"
	} else {
		k = 0
	}
	f := out.failed[k]
	m.Test, m.Error = f.Test, f.Error
	for _, x := range f.Frames {
		m.Frames = append(m.Frames, fmt.Sprintf("%s:%d:%s", p.short(x.path), x.line, x.name))
	}
	m.Far = m.Dependency != "" || p.far(m, f)
	p.said = said{f.Text, out.log}
	return true, nil
}

// raised reports whether a test ended by an exception or a panic of the code, and
// not by an assertion of its own.
func (p *project) raised(f fact) bool {
	if len(f.Frames) == 0 || f.Error == "assertion" {
		return false
	}
	last := f.Frames[len(f.Frames)-1].path
	if p.Language == "go" {
		return slices.ContainsFunc(f.Frames, func(x frame) bool { return p.owns(x.path) && !testFile(x.path) })
	}
	if strings.HasPrefix(f.Error, "Assertion") || f.Error == "Failed" {
		return false
	}
	return !testFile(strings.TrimPrefix(last, p.root)) && slices.ContainsFunc(f.Frames, func(x frame) bool { return p.owns(x.path) && !testFile(strings.TrimPrefix(x.path, p.root)) })
}

// owns reports whether a path is of what may be changed.
func (p *project) owns(path string) bool {
	return slices.ContainsFunc(p.sources(), func(s string) bool { return strings.HasPrefix(path, s+"/") })
}

// far reports whether a function of the project is two calls and more below the
// last frame in it: it is not on the stack, and the innermost own function, which
// may be the test, does not name it.
func (p *project) far(m *mutant, f fact) bool {
	path := p.path("", m.File)
	for _, x := range f.Frames {
		if x.path == path && m.From <= x.line && x.line <= m.To {
			return false
		}
	}
	for _, x := range slices.Backward(f.Frames) {
		if !strings.HasPrefix(x.path, p.dir()+"/") || strings.Contains(x.path, "/node_modules/") {
			continue
		}
		list, err := p.functions([]string{x.path})
		text, e := os.ReadFile(x.path)
		if err != nil || e != nil {
			return true
		}
		fn, ok := around(list[0], x.line)
		if !ok {
			return true
		}
		lines := strings.Split(string(text), "\n")
		body := strings.Join(lines[fn.from:min(fn.to, len(lines))], "\n")
		return !strings.Contains(body, m.Function[strings.LastIndexByte(m.Function, '.')+1:])
	}
	return true
}

func around(list []function, line int) (best function, ok bool) {
	for _, f := range list {
		if f.from <= line && line <= f.to && (!ok || f.to-f.from <= best.to-best.from) {
			best, ok = f, true
		}
	}
	return best, ok
}

// short is a path without the machine's part of it.
func (p *project) short(path string) string {
	for _, d := range []string{p.dir(), p.root} {
		if rel, err := filepath.Rel(d, path); err == nil && !strings.HasPrefix(rel, "..") {
			return rel
		}
	}
	for _, mark := range []string{"/lib/python3.11/", "/go/src/"} {
		if _, rest, ok := strings.Cut(path, mark); ok {
			return "std/" + rest
		}
	}
	return filepath.Base(path)
}
