package main

import (
	"bytes"
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
	"github.com/seed-4f2d999b/knowledge/internal/data/blockfile"
)

// kindsOfFiles are the block files of a data directory, by extension.
var kindsOfFiles = map[string]string{".seg": "segment", ".vec": "vectors", ".lay": "layout", ".gen": "generation", ".view": "view"}

// newest is a version of files that is none yet: whatever is there is read.
const newest = 1 << 16

// disk prints how many bytes the sections of all files of an index take.
func disk(r *lab.Report, data string, text int64) error {
	type kind struct {
		file, section string
		bytes, files  int64
	}
	sums := map[[2]string]*kind{}
	total := int64(0)
	add := func(file, section string, n int64) {
		k := [2]string{file, section}
		if sums[k] == nil {
			sums[k] = &kind{file: file, section: section}
		}
		sums[k].bytes += n
		sums[k].files++
		total += n
	}
	err := filepath.WalkDir(data, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		ext := filepath.Ext(p)
		name := kindsOfFiles[ext]
		if name == "" {
			return nil
		}
		f, err := blockfile.Open(p, name, newest)
		if err != nil {
			return err
		}
		defer f.Close()
		rest := f.Size()
		for _, s := range f.Sections() {
			n := f.Section(s).Len()
			add(ext, s, n)
			rest -= n
		}
		add(ext, "headers, checksums, padding", rest)
		return nil
	})
	if err != nil {
		return err
	}
	all := make([]*kind, 0, len(sums))
	for _, k := range sums {
		all = append(all, k)
	}
	slices.SortFunc(all, func(a, b *kind) int {
		return cmp.Or(cmp.Compare(b.bytes, a.bytes), cmp.Compare(a.file+a.section, b.file+b.section))
	})
	rows := [][]string{{"file", "section", "files", "bytes", "to the text"}}
	for _, k := range all {
		rows = append(rows, []string{k.file, k.section, strconv.FormatInt(k.files, 10), lab.MB(k.bytes), lab.Ratio(k.bytes, text)})
	}
	r.Printf("## On disk\n\n")
	r.Table(append(rows, []string{"all", "", "", lab.MB(total), lab.Ratio(total, text)})...)
	return nil
}

// anonymous returns the memory of a process that is no file's, 0 where the system
// does not tell.
func anonymous(pid int) int64 {
	raw, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(raw) {
		if rest, ok := bytes.CutPrefix(line, []byte("RssAnon:")); ok {
			if f := bytes.Fields(rest); len(f) > 0 {
				n, _ := strconv.ParseInt(string(f[0]), 10, 64)
				return n << 10
			}
		}
	}
	return 0
}
