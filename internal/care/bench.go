package care

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/find"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// Benchmark is the reply of bench.
type Benchmark struct {
	Folder    string    `json:"folder"`
	Documents int       `json:"documents"`
	Chunks    int       `json:"chunks"`
	TextBytes int64     `json:"textBytes"`
	Queries   int       `json:"queries"`
	Rows      []Measure `json:"rows"`
	Notes     []string  `json:"notes,omitempty"`
}

// Measure is one thing that was measured, and what it is compared with: both in
// milliseconds, or both in bytes. Without a yardstick there is no ratio.
type Measure struct {
	What      string  `json:"what"`
	Measured  float64 `json:"measured"`
	Yardstick string  `json:"yardstick,omitempty"`
	Its       float64 `json:"its,omitempty"`
	Ratio     float64 `json:"ratio,omitempty"` // measured / its
	Unit      string  `json:"unit"`            // ms, or bytes
}

// add appends what was measured; its 0 is for no yardstick.
func (b *Benchmark) add(unit, what string, measured float64, yardstick string, its float64) {
	m := Measure{What: what, Measured: measured, Unit: unit}
	if its > 0 {
		m.Yardstick, m.Its, m.Ratio = yardstick, its, measured/its
	}
	b.Rows = append(b.Rows, m)
}

const (
	benchStore   = "bench"
	benchQueries = 24 // names of the folder, and as many questions made of their words
	benchRounds  = 3  // of warm searches
)

// RunBench indexes a folder in a data directory of its own, which is gone
// afterwards, asks it about names that the folder declares, and sets ripgrep
// beside, where it is installed.
func RunBench(ctx context.Context, a *app.App, folder string) (Benchmark, error) {
	if !filepath.IsAbs(folder) {
		folder = filepath.Join(a.Config.Dir, folder)
	}
	r := Benchmark{Folder: folder}
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return r, kb.Errorf(kb.NotFound, "%q is no folder", folder).WithHint("name one: knowledge bench ~/src/project")
	}
	root, err := os.MkdirTemp("", "knowledge-bench-")
	if err != nil {
		return r, kb.Errorf(kb.Denied, "cannot write to the folder for temporary files: %w", err).WithHint("set TMPDIR to a folder that can be written")
	}
	defer os.RemoveAll(root)
	one, err := selfApp(a, root, benchStore)
	if err != nil {
		return r, err
	}
	lendGrammars(a, one)
	b := bench{ctx: ctx, app: one, folder: folder, rg: ripgrep(folder), r: &r,
		humps: regexp.MustCompile(`\p{Lu}?\p{Ll}+|\p{Lu}+|\p{Lo}+|\p{N}+`)}
	if b.rg == "" {
		r.Notes = append(r.Notes, "without ripgrep (rg) on the PATH there is nothing to compare times with")
	}
	err = b.index()
	if closed := one.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return r, err
	}
	if b.app, err = app.New(one.Config); err != nil {
		return r, err
	}
	defer b.app.Close()
	return r, b.search()
}

// lendGrammars gives an app the machine code of grammars that another has, which is
// made once a machine and no part of indexing. Without it they are made anew.
func lendGrammars(from, to *app.App) {
	src, err := from.DataDir()
	if err != nil {
		return
	}
	if dst, err := to.DataDir(); err == nil {
		_ = os.CopyFS(filepath.Join(dst, "grammars"), os.DirFS(filepath.Join(src, "grammars")))
	}
}

// bench is a measurement under way.
type bench struct {
	ctx       context.Context
	app       *app.App
	folder    string
	rg        string // the program ripgrep; "" without one
	r         *Benchmark
	humps     *regexp.Regexp // the words of names
	names     []string       // that the folder declares
	questions []string       // their words
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// index measures indexing, and finds what to ask.
func (b *bench) index() error {
	began := time.Now()
	st, err := b.app.CreateStore(b.ctx, app.CreateStore{Name: benchStore, Source: b.folder, Kind: kb.KindFolder})
	if err != nil {
		return err
	}
	j, err := b.app.WaitJob(b.ctx, st.Job)
	if err == nil && j.State != kb.JobCompleted {
		err = kb.Errorf(kb.Internal, "the job ended as %s: %s", j.State, j.Message)
	}
	if err != nil {
		return err
	}
	took := time.Since(began)
	info, err := b.app.StoreInfo(b.ctx, benchStore)
	if err != nil {
		return err
	}
	b.r.Documents, b.r.Chunks, b.r.TextBytes = info.Documents, info.Chunks, info.TextBytes
	if err := b.ask(); err != nil {
		return err
	}
	if len(b.names) == 0 {
		return kb.Errorf(kb.NotFound, "%q has no text to ask about", b.folder).WithHint("name a folder with source code or Markdown: knowledge bench ~/src/project")
	}
	scan := b.scan(func(k int) []string { return []string{"--fixed-strings", "--word-regexp", "--regexp=" + b.names[k]} })
	b.r.add("ms", "index the folder, once", ms(took), "ripgrep reads it once for one name", scan)
	b.r.add("bytes", "index on disk", float64(info.IndexBytes), "its text", float64(info.TextBytes))
	return nil
}

// ask finds names that the folder declares, spread over its documents, and makes
// questions of their words.
func (b *bench) ask() error {
	s, err := b.app.One(b.ctx, benchStore, app.Waiting{Wait: time.Minute})
	if err != nil {
		return err
	}
	defer s.Release()
	index := s.Targets[0].Index
	paths, err := index.Documents(b.ctx, "")
	if err != nil {
		return err
	}
	step := max(1, len(paths)/(4*benchQueries))
	for i := 0; i < len(paths) && len(b.names) < benchQueries; i += step {
		o, err := index.Outlines(b.ctx, paths[i:i+1])
		if err != nil {
			return err
		}
		b.take(paths[i], o[0])
	}
	b.r.Queries = len(b.names) + len(b.questions)
	return nil
}

// take takes a name of a document, of a declaration or else of its file.
func (b *bench) take(path string, o kb.Outline) {
	name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	if i := slices.IndexFunc(o.Symbols, func(s kb.Symbol) bool { return len(s.Name) > 4 && !strings.ContainsAny(s.Name, " \t\n") }); i >= 0 {
		name = o.Symbols[i].Name
	}
	if name == "" || slices.Contains(b.names, name) {
		return
	}
	b.names = append(b.names, name)
	b.questions = append(b.questions, strings.Join(b.humps.FindAllString(name+" "+filepath.Base(filepath.Dir(path)), -1), " "))
}

// search measures searches: the first, warm ones, and lines that hold a name.
func (b *bench) search() error {
	ask := func(query string) (time.Duration, error) {
		began := time.Now()
		_, err := find.Search(b.ctx, b.app, search.Request{Query: query}, app.Scope{Stores: []string{benchStore}, Waiting: app.Waiting{Wait: time.Minute}})
		return time.Since(began), err
	}
	first, err := ask(b.questions[0])
	if err != nil {
		return err
	}
	byWords := b.scan(func(k int) []string {
		args := []string{"--ignore-case"}
		for _, w := range strings.Fields(b.questions[k]) {
			args = append(args, "--regexp="+w)
		}
		return args
	})
	byName := b.scan(func(k int) []string { return []string{"--fixed-strings", "--word-regexp", "--regexp=" + b.names[k]} })
	const lines = "ripgrep for any of its words"
	b.r.add("ms", "first search", ms(first), lines, byWords)
	for _, set := range []struct {
		what, yardstick string
		queries         []string
		its             float64
	}{{"question", lines, b.questions, byWords}, {"name", "ripgrep for the name", b.names, byName}} {
		var times []time.Duration
		for range benchRounds {
			for _, q := range set.queries {
				t, err := ask(q)
				if err != nil {
					return err
				}
				times = append(times, t)
			}
		}
		b.r.add("ms", "search, a "+set.what+", p50", ms(quantile(times, .5)), set.yardstick, set.its)
		b.r.add("ms", "search, a "+set.what+", p95", ms(quantile(times, .95)), set.yardstick, set.its)
	}
	var times []time.Duration
	for _, name := range b.names {
		began := time.Now()
		if _, err := find.Grep(b.ctx, b.app, benchStore, `\b`+regexp.QuoteMeta(name)+`\b`, "", false, 0, app.Waiting{Wait: time.Minute}); err != nil {
			return err
		}
		times = append(times, time.Since(began))
	}
	b.r.add("ms", "grep, a name, p50", ms(quantile(times, .5)), "ripgrep for the name", byName)
	return nil
}

// quantile returns the time that a share q of times do not exceed.
func quantile(times []time.Duration, q float64) time.Duration {
	s := slices.Sorted(slices.Values(times))
	return s[min(len(s)-1, int(q*float64(len(s))))]
}

// scan returns the median time of ripgrep in milliseconds, with the arguments for
// each name; 0 without it.
func (b *bench) scan(args func(k int) []string) float64 {
	if b.rg == "" {
		return 0
	}
	var times []time.Duration
	for k := range min(len(b.names), benchQueries/2) {
		took, err := runRipgrep(b.ctx, b.rg, b.folder, args(k))
		if err != nil {
			b.rg = ""
			b.r.Notes = append(b.r.Notes, fmt.Sprintf("ripgrep failed: %v", err))
			return 0
		}
		times = append(times, took)
	}
	return ms(quantile(times, .5))
}
