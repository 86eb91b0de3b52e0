package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
	"github.com/seed-4f2d999b/knowledge/internal/text/chunk"
	"github.com/seed-4f2d999b/knowledge/internal/text/tokens"
)

const (
	smallChunks = 20_000
	warmup      = 10 // queries of a process that are not counted
	firstRuns   = 5  // processes of each kind a round
	scans       = 6  // substring scans a round
)

// chooseSmall picks whole directories of GOROOT/src, in the order of the
// hashes of their names, until they make about smallChunks chunks.
func (b *bench) chooseSmall() (map[string]bool, error) {
	chunks := map[string]int{}
	err := filepath.WalkDir(b.path(copyDir), func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(b.path(copyDir), p)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if text, err := chunk.Decode(rel, raw); err == nil {
			chunks[path.Dir(rel)] += len(chunk.Split(text))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	hash := func(s string) uint32 {
		h := fnv.New32a()
		h.Write([]byte(s))
		return h.Sum32()
	}
	dirs := lab.Keys(chunks)
	slices.SortStableFunc(dirs, func(a, b string) int { return cmp.Compare(hash(a), hash(b)) })
	keep, n := map[string]bool{}, 0
	for _, d := range dirs {
		if n+chunks[d] <= smallChunks+500 {
			keep[d] = true
			if n += chunks[d]; n >= smallChunks {
				break
			}
		}
	}
	return keep, nil
}

func (b *bench) measureSearch() error {
	keep, err := b.chooseSmall()
	if err != nil {
		return err
	}
	files, size, err := b.exportGo(b.path(smallDir), func(rel string) bool { return keep[path.Dir(rel)] })
	if err != nil {
		return err
	}
	if _, err := b.create(smallStore, b.path(smallDir)); err != nil {
		return err
	}
	small, err := b.info(smallStore)
	if err != nil {
		return err
	}
	if small.Chunks < 19_000 || small.Chunks > 21_000 {
		return fmt.Errorf("the small store has %d chunks, not 19,000 to 21,000", small.Chunks)
	}
	full, err := b.info(fullStore)
	if err != nil {
		return err
	}
	b.details.Printf("## Search\n\nSmall store: %d whole directories of GOROOT/src, %d files, %s, %d chunks. Full store: %d chunks. %d queries, different ones in each process for first searches; for warm ones each process gets all of them once and the first %d are not counted.\n\n",
		len(keep), files, lab.MB(size), small.Chunks, full.Chunks, len(b.queries), warmup)
	rows := [][]string{{"store", "first: CLI, spawn → exit", "first: stdio, spawn → reply", "first: stdio, the call alone", "warm p50", "warm p95", "warm worst", "substring scan"}}
	for _, s := range []struct {
		name, title, dir string
		bound            bool
	}{
		{smallStore, fmt.Sprintf("store of %d chunks", small.Chunks), smallDir, true},
		{fullStore, fmt.Sprintf("store of %d chunks", full.Chunks), fullDir, false},
	} {
		row, err := b.searchStore(s.name, s.title, s.dir, s.bound)
		if err != nil {
			return err
		}
		rows = append(rows, row)
	}
	b.details.Table(rows...)
	return b.measureReplies()
}

// searchStore measures first and warm searches of one store.
func (b *bench) searchStore(store, title, dir string, bounded bool) ([]string, error) {
	var cli, dialled, call, yard, p50, p95, worst, cpu []time.Duration
	q := 0
	next := func() string { q++; return b.queries[q%len(b.queries)] }
	args := func(query string) map[string]any {
		return map[string]any{"query": query, "stores": []string{store}}
	}
	for range b.rounds {
		b.round()
		for range firstRuns {
			start := time.Now()
			if _, err := lab.Command(b.scratch, b.env(), b.bin, "--json", "search", next(), "--stores", store); err != nil {
				return nil, err
			}
			cli = append(cli, time.Since(start))
			c, err := lab.Dial(b.scratch, b.env(), b.bin, lab.Handshake)
			if err != nil {
				return nil, err
			}
			start = time.Now()
			if _, err := c.Call("search", args(next())); err != nil {
				return nil, err
			}
			call, dialled = append(call, time.Since(start)), append(dialled, time.Since(c.Began))
			if err := c.Close(); err != nil {
				return nil, err
			}
		}
		b.round()
		for range scans {
			d, _, err := scan(b.path(dir), longest(next()))
			if err != nil {
				return nil, err
			}
			yard = append(yard, d)
		}
		c, err := lab.Dial(b.scratch, b.env(), b.bin, lab.Handshake)
		if err != nil {
			return nil, err
		}
		var warm []time.Duration
		for i, query := range b.queries {
			start := time.Now()
			if _, err := c.Call("search", args(query)); err != nil {
				return nil, err
			}
			if i >= warmup {
				warm = append(warm, time.Since(start))
			}
		}
		if err := c.Close(); err != nil {
			return nil, err
		}
		cpu = append(cpu, c.CPU()/time.Duration(len(b.queries)))
		p50, p95, worst = append(p50, lab.Median(warm)), append(p95, lab.Quantile(warm, 0.95)), append(worst, slices.Max(warm))
	}
	e, y, n := lab.Median(b.spawn), lab.Median(yard), fmt.Sprintf("%d processes", len(cli))
	firstBound, warmBound := "", ""
	if bounded {
		firstBound, warmBound = "≤ 100 ms", "≤ 5 ms"
	}
	first := func(what string, ts []time.Duration, yardstick string, yd time.Duration) {
		m := lab.Median(ts)
		b.figure(title+": "+what+", p50 of "+n, lab.Ms(m)+" (p95 "+lab.Ms(lab.Quantile(ts, 0.95))+")", firstBound, m <= 100*time.Millisecond, yardstick+" "+lab.Ms(yd), lab.Ratio(m, yd))
	}
	first("first search, CLI, spawn → exit", cli, "empty Go program", e)
	first("first search, stdio, spawn → reply", dialled, "empty Go program", e)
	first("first search, stdio, the call alone", call, "substring scan of the same text", y)
	w := lab.Median(p50)
	b.figure(title+fmt.Sprintf(": warm search over stdio, p50 of %d queries", len(b.queries)-warmup), lab.Spread(p50, lab.Ms), warmBound, w <= 5*time.Millisecond, "substring scan of the same text "+lab.Ms(y), lab.Ratio(w, y))
	b.figure("… processor time a query, mean", lab.Spread(cpu, lab.Ms), "", true, "the same "+lab.Ms(y), lab.Ratio(lab.Median(cpu), y))
	b.figure("… p95", lab.Spread(p95, lab.Ms), "", true, "the same "+lab.Ms(y), lab.Ratio(lab.Median(p95), y))
	return []string{title, lab.Spread(cli, lab.Ms), lab.Spread(dialled, lab.Ms), lab.Spread(call, lab.Ms), lab.Spread(p50, lab.Ms), lab.Spread(p95, lab.Ms), lab.Spread(worst, lab.Ms), lab.Spread(yard, lab.Ms)}, nil
}

var wordRE = regexp.MustCompile(`[A-Za-z0-9_]+`)

// longest returns the longest word of a query: what somebody would grep for.
func longest(query string) string {
	word := query
	for i, w := range wordRE.FindAllString(query, -1) {
		if i == 0 || len(w) > len(word) {
			word = w
		}
	}
	return word
}

// measureReplies counts the tokens of default replies, as an agent gets them.
func (b *bench) measureReplies() error {
	c, err := lab.Dial(b.scratch, b.env(), b.bin, lab.Handshake)
	if err != nil {
		return err
	}
	var texts, queries []string
	hits, withCode, fewer := 0, 0, 0
	for _, q := range b.queries {
		text, err := c.Call("search", map[string]any{"query": q, "stores": []string{fullStore}, "detail": "minimal", "form": "json"})
		if err != nil {
			return err
		}
		var r struct {
			Hits []struct {
				Code string `json:"code"`
			} `json:"hits"`
		}
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			return err
		}
		if len(r.Hits) < 10 {
			fewer++
			continue
		}
		for _, h := range r.Hits {
			if hits++; strings.TrimSpace(h.Code) != "" {
				withCode++
			}
		}
		texts, queries = append(texts, text), append(queries, q)
	}
	if err := c.Close(); err != nil {
		return err
	}
	if len(texts) < 30 {
		return fmt.Errorf("only %d queries of %d have 10 hits", len(texts), len(b.queries))
	}
	what := fmt.Sprintf("10 hits, detail minimal, tokens, greatest of %d replies", len(texts))
	var estimates []int
	for _, t := range texts {
		estimates = append(estimates, tokens.Estimate(t))
	}
	show := func(ns []int) string {
		return fmt.Sprintf("%d (median %d)", slices.Max(ns), lab.Median(ns))
	}
	counts, why := b.count(texts)
	if counts == nil {
		b.figure(what+", by our estimator", show(estimates), "≤ 1,000", slices.Max(estimates) <= 1000, "npm skipped: "+why, "–")
	} else {
		b.figure(what+", by "+b.tok.Name(), show(counts), "≤ 1,000", slices.Max(counts) <= 1000, "our estimator "+show(estimates), lab.Ratio(slices.Max(counts), slices.Max(estimates)))
		most := slices.Index(counts, slices.Max(counts))
		over := 0
		for _, n := range counts {
			if n > 1000 {
				over++
			}
		}
		b.details.Printf("%d replies of 10 hits over the full store (%d queries have fewer hits). The greatest is that for %q; %d are over 1,000 tokens.\n\n", len(texts), fewer, queries[most], over)
	}
	share := 100 * float64(withCode) / float64(hits)
	b.figure("… hits with code lines", fmt.Sprintf("%d of %d (%.1f %%)", withCode, hits, share), "all", withCode == hits, "–", "–")
	return nil
}

var recallRE = regexp.MustCompile(`(?m)^\s*\S+\.go:\d+: (.+?) +(\d+) x (\d+), \d+ cores: recall@10 ([0-9.]+), median flat (\S+), chromem (\S+), ratio ([0-9.]+)$`)

// measureVectors runs the engine's own comparison with chromem-go.
func (b *bench) measureVectors() error {
	test := b.path("vector.test")
	if _, err := lab.Command(b.tree.Dir, nil, "go", "test", "-c", "-o", test, "./internal/index/vector"); err != nil {
		return err
	}
	out := ""
	for range b.rounds {
		b.round()
		said, err := lab.Command(b.scratch, append(os.Environ(), "KNOWLEDGE_BENCH=1"), test, "-test.run", "^TestRecall100k$", "-test.v")
		if err != nil {
			return err
		}
		out += said
	}
	type series struct {
		recall, ratio []float64
		flat, chromem []time.Duration
	}
	byName, size := map[string]*series{}, ""
	for _, m := range recallRE.FindAllStringSubmatch(out, -1) {
		s := byName[m[1]]
		if s == nil {
			s = &series{}
			byName[m[1]] = s
		}
		size = m[2] + " × " + m[3]
		recall, err1 := strconv.ParseFloat(m[4], 64)
		flat, err2 := time.ParseDuration(m[5])
		chromem, err3 := time.ParseDuration(m[6])
		if err1 != nil || err2 != nil || err3 != nil {
			return fmt.Errorf("cannot read %q", m[0])
		}
		s.recall, s.ratio = append(s.recall, recall), append(s.ratio, float64(chromem)/float64(flat))
		s.flat, s.chromem = append(s.flat, flat), append(s.chromem, chromem)
	}
	if len(byName) == 0 {
		return fmt.Errorf("no figures in what the test printed: %.500s", out)
	}
	for _, name := range lab.Keys(byName) {
		s := byName[name]
		r, times := slices.Min(s.recall), lab.Median(s.ratio)
		b.figure("vectors "+size+", "+name+": recall@10 of flat against chromem-go", fmt.Sprintf("%.4f", r), "≥ 0.99", r >= 0.99, "–", "–")
		b.figure("… one query, flat", lab.Spread(s.flat, lab.Ms), "≥ 8 × faster", times >= 8, "chromem-go "+lab.Spread(s.chromem, lab.Ms), fmt.Sprintf("1 / %.1f", times))
	}
	return nil
}
