package findings

import (
	"bytes"
	"strings"
)

// lcov reads SF, DA and end_of_record, each line of a file once.
func (r *reader) lcov(text []byte) error {
	r.Format, r.Tool = "lcov", "coverage"
	file := ""
	hits := map[int]bool{}
	flush := func() {
		if file != "" {
			covered := 0
			for _, hit := range hits {
				if hit {
					covered++
				}
			}
			r.cover(file, covered, len(hits))
		}
		file = ""
		clear(hits)
	}
	for raw := range bytes.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(string(raw)), ":")
		switch key {
		case "SF":
			flush()
			file = value
		case "DA":
			line, count, _ := strings.Cut(value, ",")
			count, _, _ = strings.Cut(count, ",")
			if n := number(line); n > 0 {
				hits[n] = hits[n] || number(count) > 0
			}
		case "end_of_record":
			flush()
		}
	}
	flush()
	return nil
}

// goCover reads lines "module/file.go:1.2,3.4 STATEMENTS COUNT". A block that
// several tests ran stands there several times.
func (r *reader) goCover(text []byte) error {
	r.Format, r.Tool = "go-cover", "go test"
	type block struct{ file, at string }
	statements, ran := map[block]int{}, map[block]bool{}
	var order []block
	first := true
	for raw := range bytes.Lines(text) {
		l := strings.TrimSpace(string(raw))
		if first || l == "" {
			first = false
			continue
		}
		f := strings.Fields(l)
		colon := strings.LastIndexByte(l, ':')
		if len(f) != 3 || colon < 0 || colon > len(f[0]) {
			return errForm
		}
		b := block{l[:colon], f[0][colon+1:]}
		if _, ok := statements[b]; !ok {
			order = append(order, b)
			statements[b] = number(f[1])
		}
		ran[b] = ran[b] || number(f[2]) > 0
	}
	for _, b := range order {
		covered := 0
		if ran[b] {
			covered = statements[b]
		}
		r.cover("/"+b.file, covered, statements[b]) // a package's path: its end is that of the file
	}
	return nil
}
