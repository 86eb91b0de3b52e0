package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
)

// grown is what one size costs.
type grown struct {
	info
	index       lab.Usage
	disk        int64
	first       time.Duration // search of a server
	warm        time.Duration // p50
	slow        time.Duration // p95
	cpu         time.Duration // processor time of a server, a search
	indexed     time.Duration // processor time
	perMegabyte time.Duration // of that, a megabyte of text
}

// chunkBytes is about how much text makes a chunk, which decides how many files a
// size takes; what it came to is in the report.
const chunkBytes = 842

// sizesOf reads a list of numbers of chunks.
func sizesOf(list string) (sizes []int, err error) {
	for s := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(s))
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%q is no number of chunks", s)
		}
		sizes = append(sizes, n)
	}
	slices.Sort(sizes)
	return sizes, nil
}

// grow indexes samples of the folder of those numbers of chunks, each by itself,
// and searches them. A sample is made of whole files, chosen by the hash of their
// paths, so that a small one has words of everything; past the end of the folder it
// begins anew with other identifiers.
func (b *bench) grow(sizes []int) ([]grown, error) {
	files, err := sampled(b.dir)
	if err != nil {
		return nil, err
	}
	env := b.env
	defer func() { b.env = env }()
	var out []grown
	for _, n := range sizes {
		root := filepath.Join(b.scratch, "grown")
		if err := fill(filepath.Join(root, "text"), b.dir, files, int64(n)*chunkBytes); err != nil {
			return nil, err
		}
		b.env = lab.Env(filepath.Join(root, "data"))
		g, err := b.grownOf(filepath.Join(root, "text"), filepath.Join(root, "data"))
		if err != nil {
			return nil, err
		}
		fmt.Printf("%d chunks: indexed %s, first %s, warm %s\n", g.Chunks, lab.Ms(g.index.Wall), lab.Ms(g.first), lab.Ms(g.warm))
		out = append(out, g)
		if err := os.RemoveAll(root); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// grownOf indexes one sample and searches it.
func (b *bench) grownOf(dir, data string) (g grown, err error) {
	if _, err := lab.Run(b.scratch, b.env, b.bin, "--quiet", "store:create", "warm", filepath.Join(b.scratch, "tree", "internal", "kb"), "--scope", "user"); err != nil {
		return g, err // the grammars of a small folder are compiled now
	}
	if g.index, err = lab.Run(b.scratch, b.env, b.bin, "--quiet", "store:create", store, dir, "--scope", "user", "--yes"); err != nil {
		return g, err
	}
	if g.disk, err = lab.DirSize(filepath.Join(data, "segments")); err != nil {
		return g, err
	}
	said, err := lab.Command(b.scratch, b.env, b.bin, "--json", "store:info", store)
	if err != nil {
		return g, err
	}
	if err := json.Unmarshal([]byte(said), &g.info); err != nil {
		return g, err
	}
	var t times
	for range rounds {
		if err := b.search(b.bin, &t); err != nil {
			return g, err
		}
	}
	g.first, g.warm, g.slow, g.cpu = lab.Median(t.server), lab.Quantile(t.warm, .5), lab.Quantile(t.warm, .95), lab.Median(t.cpu)
	g.indexed = g.index.User + g.index.Sys
	g.perMegabyte = time.Duration(float64(g.indexed) / (float64(g.TextBytes) / (1 << 20)))
	return g, nil
}

// sampled lists the files below a folder in the order of the hash of their paths.
func sampled(dir string) (files []string, err error) {
	sum := map[string]uint64{}
	err = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == ".git" {
			return fs.SkipDir
		}
		rel, err := filepath.Rel(dir, p)
		if err == nil && d.Type().IsRegular() && d.Name() != ".gitignore" {
			h := fnv.New64a()
			h.Write([]byte(filepath.ToSlash(rel)))
			sum[rel] = h.Sum64()
			files = append(files, rel)
		}
		return err
	})
	slices.SortFunc(files, func(a, b string) int { return cmp.Or(cmp.Compare(sum[a], sum[b]), strings.Compare(a, b)) })
	return files, err
}

// rewritten are the identifiers that a further copy of the folder has otherwise.
var rewritten = regexp.MustCompile(`\b[A-Za-z][A-Za-z0-9]*_[A-Za-z0-9_]+\b`)

// fill copies files until n bytes of text are there: further rounds into folders of
// their own, with other identifiers.
func fill(to, from string, files []string, n int64) error {
	for round := 0; n > 0; round++ {
		before := n
		for _, rel := range files {
			if n <= 0 {
				return nil
			}
			text, ok := readText(filepath.Join(from, rel))
			if !ok {
				continue
			}
			dir := to
			if round > 0 {
				mark := fmt.Appendf(nil, "${0}_r%d", round)
				text, dir = rewritten.ReplaceAll(text, mark), filepath.Join(to, fmt.Sprintf("round%d", round))
			}
			path := filepath.Join(dir, rel)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(path, text, 0o644); err != nil {
				return err
			}
			n -= int64(len(text))
		}
		if n == before {
			return fmt.Errorf("there is no text in %s", from)
		}
	}
	return nil
}

// readText returns the text of a file, and false for one that is not indexed.
func readText(path string) ([]byte, bool) {
	text, err := os.ReadFile(path)
	return text, err == nil && len(text) <= 1<<20 && bytes.IndexByte(text, 0) < 0
}

// growth writes the report of grow, and its plot beside.
func growth(r *lab.Report, all []grown) {
	rows := [][]string{{"chunks", "documents", "text", "indexed", "processor time", "a MiB of text", "peak", "on disk / text", "first search of a server", "warm p50", "p95", "processor time, a search"}}
	for _, g := range all {
		rows = append(rows, []string{strconv.Itoa(g.Chunks), strconv.Itoa(g.Documents), lab.MB(g.TextBytes), lab.Ms(g.index.Wall), lab.Ms(g.indexed),
			lab.Ms(g.perMegabyte), lab.MB(g.index.PeakRSS), lab.Ratio(g.disk, g.TextBytes), lab.Ms(g.first), lab.Ms(g.warm), lab.Ms(g.slow), lab.Ms(g.cpu)})
	}
	r.Table(rows...)
}
