// Command scale measures the product on one large folder: how long it takes to
// be indexed and linked, what that needs, and how fast it is searched, first and
// warm. Run it with ".ci/extra scale [-dir DIR] [-queries FILE]". Without a
// folder it takes Debian's sources of Linux 6.1, where apt-get can download them.
// With -grow 10000,100000 it measures samples of the folder of so many chunks
// instead, and plots them; with -edits 10000 -over 10m it edits a copy of the folder;
// with -stores 200 it searches a folder as so many stores and as one.
//
// Beside every figure is a yardstick of the same run on the same machine, so that
// ratios can be compared where times cannot.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
)

const store = "large"

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

type bench struct {
	scratch, dir, bin string
	env               []string
	queries           []string
	rows              [][]string
}

type info struct {
	Documents, Chunks int
	TextBytes         int64
}

func run() error {
	out := flag.String("out", "bench/runs", "folder of the report")
	dir := flag.String("dir", "", "folder to index; without one the sources of Linux 6.1 as Debian has them")
	before := flag.String("before", "", "another build of the program, whose searches of the same index are measured beside")
	sizes := flag.String("grow", "", "numbers of chunks: samples of the folder of these sizes are measured instead, and plotted")
	edits := flag.Int("edits", 0, "number of edits: a copy of the folder is edited so often instead, while it is searched")
	span := flag.Duration("over", 10*time.Minute, "the time over which the edits are spread")
	parts := flag.Int("stores", 0, "number of stores: a folder, by default Go's crypto, is searched as so many and as one instead")
	queries := flag.String("queries", "", "file of queries, one a line; bench/scale/queries.txt or, of many stores, crypto.txt without one")
	flag.Parse()
	if *queries == "" {
		*queries = "bench/scale/queries.txt"
		if *parts > 0 {
			*queries = "bench/scale/crypto.txt"
		}
	}
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	b := &bench{dir: *dir}
	if b.scratch, err = lab.Scratch("scale"); err != nil {
		return err
	}
	defer os.RemoveAll(b.scratch)
	what := b.dir
	if b.dir == "" && *parts == 0 {
		what = "linux-source-6.1"
		if b.dir, err = linux(b.scratch); err != nil {
			fmt.Printf("skipped: the sources of Linux cannot be had: %v; -dir names another folder\n", err)
			return nil
		}
	}
	if b.dir != "" {
		if b.dir, err = filepath.Abs(b.dir); err != nil {
			return err
		}
	}
	if b.queries, err = readQueries(*queries); err != nil {
		return err
	}
	tree, err := lab.Checkout(root, filepath.Join(b.scratch, "tree"))
	if err != nil {
		return err
	}
	b.bin = filepath.Join(b.scratch, "knowledge")
	if err := tree.Build(b.bin); err != nil {
		return err
	}
	b.env = lab.Env(filepath.Join(b.scratch, "data"))
	began, load := time.Now(), lab.Load()
	if *sizes != "" {
		return b.report(*out, what, tree.Commit, *sizes, began, load)
	}
	if *parts > 0 {
		return b.stores(*out, tree.Commit, *parts, *before, began, load)
	}
	if *edits > 0 {
		return b.edits(*out, what, tree.Commit, *edits, *span, began, load)
	}
	b.rows = [][]string{{"what", "measured", "yardstick of the same run", "ratio"}}
	i, err := b.index()
	if err == nil {
		err = b.compare(i, *before)
	}
	if err != nil {
		return err
	}
	var r lab.Report
	r.Printf("# A large store, %s\n\nThe product at commit %s. %s. Load averages %s at the start. Written by `.ci/extra scale`.\n\n",
		began.Format(time.DateOnly), tree.Commit, lab.Machine(), load)
	r.Printf("%s: %d documents, %s of text, %d chunks; %d queries.\n\n", filepath.Base(what), i.Documents, lab.MB(i.TextBytes), i.Chunks, len(b.queries))
	r.Table(b.rows...)
	path, err := r.Write(*out, "scale")
	if err == nil {
		fmt.Println(path)
	}
	return err
}

// report measures samples of those sizes and writes how they grow.
func (b *bench) report(out, what, commit, sizes string, began time.Time, load string) error {
	list, err := sizesOf(sizes)
	if err != nil {
		return err
	}
	all, err := b.grow(list)
	if err != nil {
		return err
	}
	var r lab.Report
	r.Printf("# How cost grows, %s\n\nThe product at commit %s. %s. Load averages %s at the start. Written by `.ci/extra scale -grow %s`.\n\n",
		began.Format(time.DateOnly), commit, lab.Machine(), load, sizes)
	r.Printf("Samples of %s, whole files chosen by the hash of their paths; %d queries in each of %d processes. Linking is a part of indexing.\n\n",
		filepath.Base(what), len(b.queries), rounds)
	growth(&r, all)
	path, err := r.Write(out, "scale-growth")
	if err != nil {
		return err
	}
	svg := strings.TrimSuffix(path, filepath.Ext(path)) + ".svg"
	fmt.Println(path, svg)
	return os.WriteFile(svg, []byte(plot(all)), 0o644)
}

func (b *bench) row(what, measured, yardstick, ratio string) {
	b.rows = append(b.rows, []string{what, measured, yardstick, ratio})
	fmt.Println(strings.Join(b.rows[len(b.rows)-1], " | "))
}

// index indexes and links the folder.
func (b *bench) index() (i info, err error) {
	if _, err := lab.Run(b.scratch, b.env, b.bin, "--quiet", "store:create", "warm", filepath.Join(b.scratch, "tree", "internal"), "--scope", "user"); err != nil {
		return i, err // the grammars are compiled now
	}
	if _, err := lab.Command(b.scratch, b.env, b.bin, "store:delete", "warm"); err != nil {
		return i, err
	}
	views := filepath.Join(b.scratch, "data", "views")
	linked := make(chan time.Duration, 1)
	go func() { linked <- until(views, ".view") }()
	u, err := lab.Run(b.scratch, b.env, b.bin, "--quiet", "store:create", store, b.dir, "--scope", "user", "--yes")
	if err != nil {
		return i, err
	}
	resolved := <-linked
	disk, err := lab.DirSize(filepath.Join(b.scratch, "data", "segments"))
	if err != nil {
		return i, err
	}
	// A large store is linked by a job of its own: once more alone, by a question about code.
	if err := os.RemoveAll(views); err != nil {
		return i, err
	}
	l, err := lab.Run(b.scratch, b.env, b.bin, "--quiet", "code:callers", "main", "--stores", store)
	if err != nil {
		return i, err
	}
	said, err := lab.Command(b.scratch, b.env, b.bin, "--json", "store:info", store)
	if err != nil {
		return i, err
	}
	if err := json.Unmarshal([]byte(said), &i); err != nil {
		return i, err
	}
	squeeze, err := b.squeeze(i.TextBytes)
	if err != nil {
		return i, err
	}
	yard := "gzip -6 over as much of the folder, " + lab.Ms(squeeze)
	b.row("indexed and searchable", lab.Ms(u.Wall), yard, lab.Ratio(u.Wall, squeeze))
	b.row("… until its references are resolved, too", lab.Ms(resolved), yard, lab.Ratio(resolved, squeeze))
	b.row("… processor time, linking included", lab.Ms(u.User+u.Sys), yard, lab.Ratio(u.User+u.Sys, squeeze))
	b.row("… peaks of the command, the indexing and the linking process together", lab.MB(u.PeakRSS), "text "+lab.MB(i.TextBytes), lab.Ratio(u.PeakRSS, i.TextBytes))
	if u.Together > 0 {
		b.row("… the most that all of them had at one moment", lab.MB(u.Together), "text "+lab.MB(i.TextBytes), lab.Ratio(u.Together, i.TextBytes))
	}
	b.row("… on disk", lab.MB(disk), "text "+lab.MB(i.TextBytes), lab.Ratio(disk, i.TextBytes))
	b.row("linked anew, by a question", lab.Ms(l.Wall), yard, lab.Ratio(l.Wall, squeeze))
	b.row("… peaks of the command and the linking process together", lab.MB(l.PeakRSS), "text "+lab.MB(i.TextBytes), lab.Ratio(l.PeakRSS, i.TextBytes))
	return i, nil
}

// until returns how long it takes until a folder has a file with an extension, an hour at most.
func until(dir, ext string) time.Duration {
	began := time.Now()
	for time.Since(began) < time.Hour {
		if list, _ := filepath.Glob(filepath.Join(dir, "*"+ext)); len(list) > 0 {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	return time.Since(began)
}

// squeeze returns how long gzip -6 takes over n bytes of the folder's files.
func (b *bench) squeeze(n int64) (time.Duration, error) {
	path, err := exec.LookPath("gzip")
	if err != nil {
		return 0, err
	}
	cmd := exec.Command(path, "-6", "-c")
	in, err := cmd.StdinPipe()
	if err != nil {
		return 0, err
	}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	feed(in, b.dir, n)
	if err := in.Close(); err != nil {
		return 0, err
	}
	err = cmd.Wait()
	return time.Since(start), err
}

// times are the searches of one program.
type times struct{ command, server, warm, cpu []time.Duration }

// compare measures first and warm searches, and those of another build in turns
// with them.
func (b *bench) compare(i info, before string) error {
	empty, err := lab.BuildEmpty(b.scratch)
	if err != nil {
		return err
	}
	var now, then times
	var spawn []time.Duration
	for range rounds {
		start := time.Now()
		if _, err := lab.Command(b.scratch, b.env, empty); err != nil {
			return err
		}
		spawn = append(spawn, time.Since(start))
		if err := b.search(b.bin, &now); err != nil {
			return err
		}
		if before == "" {
			continue
		}
		if err := b.search(before, &then); err != nil {
			return err
		}
	}
	e, pass := lab.Median(spawn), lab.MemoryPass(int64(i.Chunks)*32)
	first, yard := "empty Go program "+lab.Ms(e), "one pass over 32 bytes a chunk in memory, "+lab.Ms(pass)
	for _, r := range []struct {
		what      string
		now, then []time.Duration
		quantile  float64
		yard      string
		yardstick time.Duration
	}{
		{"first search, a command", now.command, then.command, .5, first, e},
		{"first search of a server", now.server, then.server, .5, first, e},
		{"warm search, p50", now.warm, then.warm, .5, yard, pass},
		{"warm search, p95", now.warm, then.warm, .95, yard, pass},
		{"processor time of a server, a search", now.cpu, then.cpu, .5, yard, pass},
	} {
		x := lab.Quantile(r.now, r.quantile)
		b.row(r.what, lab.Ms(x), r.yard, lab.Ratio(x, r.yardstick))
		if before != "" {
			y := lab.Quantile(r.then, r.quantile)
			b.row("…", lab.Ms(x), "the build before, "+lab.Ms(y), lab.Ratio(x, y))
		}
	}
	return b.memory(b.bin, before)
}

// memory measures what a server of each program has in memory, beside the files
// that it shares with all others, after a thousand searches.
func (b *bench) memory(programs ...string) error {
	for i, bin := range programs {
		if bin == "" {
			continue
		}
		c, err := lab.Dial(b.scratch, b.env, bin, lab.Handshake)
		if err != nil {
			return err
		}
		for n := range 1000 {
			if _, err := c.Call("search", map[string]any{"query": b.queries[n%len(b.queries)], "stores": []string{store}}); err != nil {
				return err
			}
		}
		what := []string{"anonymous memory of a server after 1,000 searches", "… of the build before"}[i]
		if n := c.Anonymous(); n > 0 {
			b.row(what, lab.MB(n), "", "")
		}
		if err := c.Close(); err != nil {
			return err
		}
	}
	return nil
}

// rounds is how often each program begins anew.
const rounds = 4

// search measures the searches of one program once.
func (b *bench) search(bin string, t *times) error {
	query := b.queries[len(t.command)%len(b.queries)]
	start := time.Now()
	if _, err := lab.Command(b.scratch, b.env, bin, "--json", "search", query, "--stores", store); err != nil {
		return err
	}
	t.command = append(t.command, time.Since(start))
	c, err := lab.Dial(b.scratch, b.env, bin, lab.Handshake)
	if err != nil {
		return err
	}
	for k, q := range append([]string{query}, b.queries...) {
		start = time.Now()
		if _, err := c.Call("search", map[string]any{"query": q, "stores": []string{store}}); err != nil {
			return err
		}
		if k == 0 {
			t.server = append(t.server, time.Since(start))
		} else {
			t.warm = append(t.warm, time.Since(start))
		}
	}
	if err := c.Close(); err != nil {
		return err
	}
	t.cpu = append(t.cpu, c.CPU()/time.Duration(len(b.queries)+1))
	return nil
}

func readQueries(path string) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []string
	for s := bufio.NewScanner(f); s.Scan(); {
		if line := strings.TrimSpace(s.Text()); line != "" && line[0] != '#' {
			out = append(out, line)
		}
	}
	return out, nil
}
