package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
)

// The stores of the run, and where their text and index lie in scratch.
const (
	fullStore  = "gosrc"
	copyStore  = "gosrc-copy"
	smallStore = "twenty"
	fullDir    = "src"
	copyDir    = "src-copy"
	smallDir   = "src-twenty"
	dataDir    = "data"
)

func (b *bench) path(name string) string { return filepath.Join(b.scratch, name) }
func (b *bench) env() []string           { return lab.Env(b.path(dataDir)) }

// exportGo copies every .go file of GOROOT/src that keep selects to dir.
func (b *bench) exportGo(dir string, keep func(rel string) bool) (files int, size int64, err error) {
	src := filepath.Join(b.goroot, "src")
	err = filepath.WalkDir(src, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || filepath.Ext(p) != ".go" {
			return err
		}
		rel, err := filepath.Rel(src, p)
		if err != nil || !keep(filepath.ToSlash(rel)) {
			return err
		}
		raw, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		to := filepath.Join(dir, rel)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		files++
		size += int64(len(raw))
		return os.WriteFile(to, raw, 0o644)
	})
	return files, size, err
}

func all(string) bool { return true }

// storeInfo is what the report needs of store:info.
type storeInfo struct {
	Documents int `json:"documents"`
	Chunks    int `json:"chunks"`
	Segments  int `json:"segments"`
	TextBytes int64
	Skipped   map[string]int
}

func (b *bench) info(store string) (storeInfo, error) {
	var i storeInfo
	out, err := lab.Command(b.scratch, b.env(), b.bin, "--json", "store:info", store)
	if err != nil {
		return i, err
	}
	return i, json.Unmarshal([]byte(out), &i)
}

// create indexes a folder and returns what that took.
func (b *bench) create(store, dir string) (lab.Usage, error) {
	u, err := lab.Run(b.scratch, b.env(), b.bin, "--quiet", "store:create", store, dir, "--all", "--maxFileBytes", "67108864")
	if err == nil && !strings.Contains(u.Out, "completed") {
		err = fmt.Errorf("store:create did not wait for its job: %s", u.Out)
	}
	if err == nil && u.User+u.Sys < u.Wall/5 {
		err = fmt.Errorf("store:create took %v and only %v of processor time was seen: the work ran where it was not watched", u.Wall, u.User+u.Sys)
	}
	return u, err
}

// settle waits until no job is left, those that link after indexing included.
func (b *bench) settle() error {
	for {
		out, err := lab.Command(b.scratch, b.env(), b.bin, "--json", "jobs", "--all", "--activeOnly")
		if err != nil {
			return err
		}
		var r struct{ Jobs []json.RawMessage }
		if err := json.Unmarshal([]byte(out), &r); err != nil {
			return err
		}
		if len(r.Jobs) == 0 {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// readAndHash is the yardstick of indexing: every byte read once and hashed, by one thread.
func readAndHash(dir string) (time.Duration, error) {
	start := time.Now()
	h := sha256.New()
	buf := make([]byte, 1<<16)
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		f, err := os.Open(p)
		if err != nil {
			return err
		}
		defer f.Close()
		h.Reset()
		_, err = io.CopyBuffer(struct{ io.Writer }{h}, struct{ io.Reader }{f}, buf)
		h.Sum(nil)
		return err
	})
	return time.Since(start), err
}

// walkOnly is the yardstick of an incremental run: the size and time of every file.
func walkOnly(dir string) (time.Duration, error) {
	start := time.Now()
	_, err := lab.List(dir)
	return time.Since(start), err
}

func (b *bench) measureIndex() error {
	files, size, err := b.exportGo(b.path(fullDir), all)
	if err != nil {
		return err
	}
	if _, _, err := b.exportGo(b.path(copyDir), all); err != nil {
		return err
	}
	var wall, cpu, yard, second, linked []time.Duration
	var rss, disk []int64
	var growth, ratio []float64
	var info storeInfo
	for range b.rounds {
		if err := os.RemoveAll(b.path(dataDir)); err != nil {
			return err
		}
		b.round()
		y, err := readAndHash(b.path(fullDir))
		if err != nil {
			return err
		}
		start := time.Now()
		u, err := b.create(fullStore, b.path(fullDir))
		if err != nil {
			return err
		}
		if err := b.settle(); err != nil {
			return err
		}
		linked = append(linked, time.Since(start))
		before, err := lab.DirSize(b.path(dataDir))
		if err != nil {
			return err
		}
		if info, err = b.info(fullStore); err != nil {
			return err
		}
		u2, err := lab.Run(b.scratch, b.env(), b.bin, "--quiet", "store:create", copyStore, b.path(copyDir), "--all", "--maxFileBytes", "67108864")
		if err != nil {
			return err
		}
		if err := b.settle(); err != nil {
			return err
		}
		after, err := lab.DirSize(b.path(dataDir))
		if err != nil {
			return err
		}
		if i, err := b.info(copyStore); err != nil || i.Documents != info.Documents {
			return fmt.Errorf("the copy has %d documents, the original %d: %w", i.Documents, info.Documents, err)
		}
		wall, cpu, yard, second = append(wall, u.Wall), append(cpu, u.User+u.Sys), append(yard, y), append(second, u2.Wall)
		rss, disk = append(rss, u.PeakRSS), append(disk, before)
		growth = append(growth, 100*float64(after-before)/float64(before))
		ratio = append(ratio, float64(before)/float64(size))
	}
	b.details.Printf("## Indexing every .go file of GOROOT/src\n\n%d files, %s of text; indexed: %d documents, %d chunks, %d segments; left out: %s. ",
		files, lab.MB(size), info.Documents, info.Chunks, info.Segments, skipped(info.Skipped))
	b.details.Printf("The peak of the measuring program itself was %s.\n\n", lab.MB(lab.OwnRSS()))
	w, y := lab.Median(wall), lab.Median(yard)
	b.figure(fmt.Sprintf("GOROOT/src (%d .go files, %s): store:create, wall", files, lab.MB(size)), lab.Spread(wall, lab.Ms), "≤ 30 s", w <= 30*time.Second,
		"read + SHA-256, one thread "+lab.Ms(y), lab.Ratio(w, y))
	b.figure("… until its references are resolved, too", lab.Spread(linked, lab.Ms), "≤ 30 s", lab.Median(linked) <= 30*time.Second, "the same "+lab.Ms(y), lab.Ratio(lab.Median(linked), y))
	b.figure("… user + system time", lab.Spread(cpu, lab.Ms), "", true, "the same "+lab.Ms(y), lab.Ratio(lab.Median(cpu), y))
	b.figure("… peak memory, all processes", lab.Spread(rss, lab.MB), "≤ 400 MB", lab.Median(rss) <= 400_000_000, "text "+lab.MB(size), lab.Ratio(lab.Median(rss), size))
	b.figure("… data directory", lab.Spread(disk, lab.MB), "≤ 1.0 × text", lab.Median(ratio) <= 1, "text "+lab.MB(size), fmt.Sprintf("%.3f ×", lab.Median(ratio)))
	b.figure("second store over a copy: growth of the data directory", lab.Spread(growth, percent), "≤ 2 %", lab.Median(growth) <= 2, "first store "+lab.MB(lab.Median(disk)), "–")
	b.figure("… wall", lab.Spread(second, lab.Ms), "", true, "read + SHA-256 "+lab.Ms(y), lab.Ratio(lab.Median(second), y))
	if _, err := lab.Command(b.scratch, b.env(), b.bin, "store:delete", copyStore); err != nil {
		return err
	}
	return b.measureEdits()
}

func percent(x float64) string { return fmt.Sprintf("%.2f %%", x) }

func skipped(m map[string]int) string {
	if len(m) == 0 {
		return "nothing"
	}
	var parts []string
	for _, k := range lab.Keys(m) {
		parts = append(parts, fmt.Sprintf("%d %s", m[k], k))
	}
	return strings.Join(parts, ", ")
}

// edited are the files that get a new function, small and large ones.
var edited = []string{"net/http/server.go", "strings/builder.go", "go/parser/parser.go", "runtime/proc.go", "io/io.go"}

// measureEdits adds a function to one file, indexes and asks for it, once per file.
func (b *bench) measureEdits() error {
	var index, found, yard []time.Duration
	var files, kernel []int64
	rows := [][]string{{"edited file", "store:index", "edit → found", "new and changed files", "written, by the kernel"}}
	for i := range b.rounds {
		file := edited[i%len(edited)]
		p := filepath.Join(b.path(fullDir), filepath.FromSlash(file))
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		word := "Quolvex" + strings.Repeat("mund", i+1)
		text = append(text, fmt.Sprintf("\n// %s is new since the last run.\nfunc %s() int { return %d }\n", word, word, i)...)
		b.round()
		y, err := walkOnly(b.path(fullDir))
		if err != nil {
			return err
		}
		before, err := lab.List(b.path(dataDir))
		if err != nil {
			return err
		}
		if err := os.WriteFile(p, text, 0o644); err != nil {
			return err
		}
		start := time.Now()
		u, err := lab.Run(b.scratch, b.env(), b.bin, "--quiet", "store:index", fullStore)
		if err != nil {
			return err
		}
		// Not watched: the watch waits for workers, which a user does not.
		out, err := lab.Command(b.scratch, b.env(), b.bin, "--json", "search", word, "--stores", fullStore)
		took := time.Since(start)
		if err != nil {
			return err
		}
		if !strings.Contains(out, `"`+file+":L") {
			return fmt.Errorf("%s was added to %s, and the search for it answers %.300s", word, file, out)
		}
		after, err := lab.List(b.path(dataDir))
		if err != nil {
			return err
		}
		w := lab.Written(before, after)
		index, found, yard = append(index, u.Wall), append(found, took), append(yard, y)
		files, kernel = append(files, w), append(kernel, u.Written)
		rows = append(rows, []string{file, lab.Ms(u.Wall), lab.Ms(took), lab.MB(w), lab.MB(u.Written)})
	}
	f, y := lab.Median(found), lab.Median(yard)
	b.figure("one edit of the full store: edit → store:index → search answers with it", lab.Spread(found, lab.Ms), "≤ 2 s", slices.Max(found) <= 2*time.Second,
		"size and time of every file "+lab.Ms(y), lab.Ratio(f, y))
	b.figure("… of it store:index", lab.Spread(index, lab.Ms), "", true, "the same "+lab.Ms(y), lab.Ratio(lab.Median(index), y))
	b.figure("… written: new and changed files, whole", lab.Spread(files, lab.MB), "≤ 5 MB", slices.Max(files) <= 5_000_000,
		"written, by the kernel's count "+lab.MB(lab.Median(kernel)), lab.Ratio(lab.Median(files), lab.Median(kernel)))
	b.details.Printf("## One edit\n\nA function with a new name is added to one file. Files that changed count whole; the kernel's count also holds what was written and removed again (the log of the database). Verdicts here are of the worst round.\n\n")
	b.details.Table(rows...)
	return nil
}

// scan is the yardstick of search: one word looked for in every file.
func scan(dir, word string) (time.Duration, int, error) {
	start := time.Now()
	n := 0
	var buf bytes.Buffer
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		f, err := os.Open(p)
		if err != nil {
			return err
		}
		defer f.Close()
		buf.Reset()
		if _, err := buf.ReadFrom(f); err != nil {
			return err
		}
		n += bytes.Count(buf.Bytes(), []byte(word))
		return nil
	})
	return time.Since(start), n, err
}
