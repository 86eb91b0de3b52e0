package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/product"
	"github.com/seed-4f2d999b/knowledge/internal/text/tokens"
	"github.com/seed-4f2d999b/knowledge/internal/traces"
)

type measure struct {
	o       options
	results []result
	fits    map[string][]int // ranks by what was tried
}

// said is what the tests of a mutant printed, kept in the work folder.
type said struct{ One, All string }

// printed returns what the tests print of a mutant: what is kept of an earlier
// run, or what a run prints now.
func (p *project) printed(m *mutant) (said, error) {
	name := filepath.Join(p.root, "traces", m.ID+".json")
	var s said
	b, err := os.ReadFile(name)
	if err == nil {
		return s, json.Unmarshal(b, &s)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return s, err
	}
	k := slices.IndexFunc(operators, func(o operator) bool { return o.name == m.Operator })
	if k < 0 {
		return s, fmt.Errorf("%s: no operator is called %q", m.ID, m.Operator)
	}
	err = changed(p.path(m.Dependency, m.File), m.Line, operators[k], p.Language, func() error {
		out, err := p.run(m.Style, place{p.path(m.Dependency, m.File), m.Line}, false)
		s.All = out.log
		for _, f := range out.failed {
			if f.Test == m.Test && s.One == "" {
				s.One = f.Text
			}
		}
		return err
	})
	if err != nil || s.One == "" {
		return s, errors.Join(err, fmt.Errorf("%s: the test %s does not fail here", m.ID, m.Test))
	}
	return s, p.keep(m, s)
}

func (p *project) keep(m *mutant, s said) error {
	if err := os.MkdirAll(filepath.Join(p.root, "traces"), 0o755); err != nil {
		return err
	}
	b, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(p.root, "traces", m.ID+".json"), b, 0o644)
}

// project asks about the mutants of a project.
func (m *measure) project(ctx context.Context, p *project) error {
	open, aside := m.o.files(p.Name)
	if m.o.aside {
		open = aside
	}
	list, err := lab.ReadLines[mutant](open)
	if err != nil {
		return err
	}
	a, err := product.New(app.Config{
		Version: "bench", DataDir: filepath.Join(p.root, "data"), Dir: p.dir(), Project: p.dir(),
		Env: func(string) string { return "" },
	})
	if err != nil {
		return err
	}
	defer a.Close()
	for _, dep := range lab.Keys(p.Dependencies) {
		name := p.label(dep)
		if a.HasStore(ctx, name) {
			continue
		}
		st, err := a.CreateStore(ctx, app.CreateStore{Name: name, Kind: kb.KindFolder, Source: filepath.Join(p.root, "stores", name), Yes: true})
		if err != nil {
			return err
		}
		if _, err := a.WaitJob(ctx, st.Job); err != nil {
			return err
		}
	}
	for i := range list {
		if err := m.mutant(ctx, a, p, &list[i]); err != nil {
			return err
		}
	}
	return nil
}

// label is the name of the store of a dependency.
func (p *project) label(dep string) string {
	return strings.NewReplacer("/", "-", "@", "-").Replace(dep)
}

// mutant asks about one, with the line changed where it is indexed.
func (m *measure) mutant(ctx context.Context, a *app.App, p *project, x *mutant) error {
	s, err := p.printed(x)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return nil
	}
	indexed := p.path("", x.File)
	if x.Dependency != "" {
		indexed = filepath.Join(p.store(x.Dependency), x.File)
	}
	k := slices.IndexFunc(operators, func(o operator) bool { return o.name == x.Operator })
	renew := func() error {
		if x.Dependency == "" {
			return nil // brought up to date when it is asked
		}
		st, err := a.IndexStore(ctx, p.label(x.Dependency), false)
		if err == nil {
			_, err = a.WaitJob(ctx, st.Job)
		}
		return err
	}
	err = changed(indexed, x.Line, operators[k], p.Language, func() error {
		if err := renew(); err != nil {
			return err
		}
		return m.ask(ctx, a, p, x, s)
	})
	return errors.Join(err, renew())
}

const mostListed = 10

func (m *measure) ask(ctx context.Context, a *app.App, p *project, x *mutant, s said) error {
	r := result{Mutant: *x, Lang: p.Language}
	r.Own, r.Any, r.OnStack = p.baseline(x)
	explain := func(text string, t *traces.Tuning) (traces.Reply, int, error) {
		got, err := traces.Explain(ctx, a, traces.Request{Trace: text, Limit: mostListed, Tuning: t, Waiting: app.Waiting{Wait: 5 * time.Minute, Person: true}})
		if kb.CodeOf(err) == kb.Invalid && err != nil {
			return got, 0, nil
		}
		for i, c := range got.Causes {
			if p.right(x, c) {
				return got, i + 1, err
			}
		}
		return got, 0, err
	}
	begin := processor()
	got, rank, err := explain(s.One, nil)
	if err != nil {
		return err
	}
	r.Seconds = processor() - begin
	r.Rank, r.Tokens = rank, tokens.Estimate(got.Text())
	if _, r.Whole, err = explain(s.All, nil); err != nil {
		return err
	}
	if m.o.verbose {
		fmt.Fprintf(os.Stderr, "%s %s far %v, %s %s:%d %s: %d, of all %d\n", x.ID, x.Kind, x.Far, x.Dependency, x.File, x.Line, x.Function, r.Rank, r.Whole)
		for i, c := range got.Causes {
			if i < 4 && r.Rank != 1 {
				fmt.Fprintf(os.Stderr, "    %s %s %s %.2f %s\n", c.Store, c.At, c.Symbol, c.Share, strings.Join(c.Why, "; "))
			}
		}
	}
	m.results = append(m.results, r)
	if m.o.fit != "" {
		return m.tryAll(x, s, explain)
	}
	return nil
}

// right reports whether a cause is the function that was changed.
func (p *project) right(x *mutant, c traces.Cause) bool {
	path, lines, ok := strings.Cut(c.At, ":L")
	from, to, ok2 := strings.Cut(lines, "-")
	a, err := strconv.Atoi(from)
	b, err2 := strconv.Atoi(to)
	if !ok || !ok2 || err != nil || err2 != nil || x.Line < a || b < x.Line {
		return false
	}
	if x.Dependency == "" && (c.Store != "" || path != x.File) || x.Dependency != "" && (!strings.HasPrefix(c.Store, p.label(x.Dependency)) || !strings.HasSuffix("/"+path, "/"+x.File)) {
		return false
	}
	last := func(s string) string { return s[strings.LastIndexByte(s, '.')+1:] }
	return last(c.Symbol) == last(x.Function) || x.From <= a && b <= x.To
}

// baseline reports whether the innermost own frame that is not in a test, and the
// innermost of all, is in the function that was changed, and whether any is.
func (p *project) baseline(x *mutant) (own, any, on bool) {
	want := p.short(p.path(x.Dependency, x.File))
	first := true
	for i := len(x.Frames) - 1; i >= 0; i-- {
		f := strings.SplitN(x.Frames[i], ":", 3)
		line, _ := strconv.Atoi(f[1])
		in := f[0] == want && x.From <= line && line <= x.To
		on = on || in
		if i == len(x.Frames)-1 {
			any = in
		}
		outside := strings.HasPrefix(f[0], "site-packages/") || strings.HasPrefix(f[0], "mod/") || strings.HasPrefix(f[0], "node_modules/") || strings.HasPrefix(f[0], "std/") || !strings.Contains(f[0], "/") && p.Language != "go"
		if first && !outside && !testFile(f[0]) {
			own, first = in, false
		}
	}
	return own, any, on
}

// tryAll asks with other numbers of the ranking.
func (m *measure) tryAll(x *mutant, s said, explain func(string, *traces.Tuning) (traces.Reply, int, error)) error {
	if m.fits == nil {
		m.fits = map[string][]int{}
	}
	text := s.One
	if x.Kind == "assertion" {
		text = s.All
	}
	for _, name := range append([]string{""}, strings.Split(m.o.fit, ";")...) {
		t := traces.Fitted()
		for _, set := range strings.FieldsFunc(name, func(r rune) bool { return r == ',' }) {
			field, value, _ := strings.Cut(set, "=")
			f := reflect.ValueOf(t).Elem().FieldByName(strings.TrimSpace(field))
			to, err := strconv.ParseFloat(value, 64)
			if err != nil || !f.IsValid() || f.Kind() != reflect.Float64 {
				return fmt.Errorf("-fit %q: no number of the ranking is set by %q", m.o.fit, set)
			}
			f.SetFloat(to)
		}
		_, rank, err := explain(text, t)
		if err != nil {
			return err
		}
		m.fits[x.Kind+" "+name] = append(m.fits[x.Kind+" "+name], rank)
	}
	return nil
}

// tried lists what was tried, the best first: by the mean of 1/rank.
func (m *measure) tried() string {
	type row struct {
		name string
		mean float64
	}
	var rows []row
	for name, ranks := range m.fits {
		sum, first, three, ten := 0.0, 0, 0, 0
		for _, k := range ranks {
			if k > 0 {
				sum += 1 / float64(k)
				first, three, ten = first+count(k == 1), three+count(k <= 3), ten+count(k <= 10)
			}
		}
		rows = append(rows, row{fmt.Sprintf("%d %d %d of %d  %s", first, three, ten, len(ranks), name), sum / float64(len(ranks))})
	}
	slices.SortFunc(rows, func(a, b row) int { return strings.Compare(fmt.Sprintf("%.6f", b.mean), fmt.Sprintf("%.6f", a.mean)) })
	var b strings.Builder
	for _, r := range rows {
		fmt.Fprintf(&b, "%.4f %s\n", r.mean, r.name)
	}
	return b.String()
}
