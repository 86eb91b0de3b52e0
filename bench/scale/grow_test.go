package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A plot is well-formed and has a point for every size of every line.
func TestPlot(t *testing.T) {
	var all []grown
	for _, n := range []int{10_123, 99_000, 1_071_956} {
		all = append(all, grown{info: info{Chunks: n}, first: time.Duration(n) * 100, warm: time.Duration(n), slow: 2 * time.Duration(n), indexed: time.Duration(n) * 1e5})
	}
	svg := plot(all)
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, svg)
		}
	}
	if n := strings.Count(svg, "<circle"); n != len(all)*len(lines) {
		t.Errorf("%d points, want %d", n, len(all)*len(lines))
	}
	if strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
		t.Errorf("places that are no numbers:\n%s", svg)
	}
	if strings.Contains(plot(all[:1]), "NaN") {
		t.Error("one size has no place")
	}
}

// Past the end of a folder its files come again with other identifiers.
func TestFillBeginsAnew(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{"a.c": "int read_page(void);\n", "b.bin": "\x00\x01", "sub/c.c": "int x;\n"} {
		path := filepath.Join(from, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	files, err := sampled(from)
	if err != nil || len(files) != 3 {
		t.Fatalf("%v, %v", files, err)
	}
	if err := fill(to, from, files, 60); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"a.c": "int read_page(void);\n", "round1/a.c": "int read_page_r1(void);\n"} {
		if got, err := os.ReadFile(filepath.Join(to, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, want)
		}
	}
	if err := fill(to, from, []string{"b.bin"}, 1); err == nil {
		t.Error("a folder without text was taken")
	}
}

func TestSizesOf(t *testing.T) {
	if got, err := sizesOf("1000, 10"); err != nil || len(got) != 2 || got[0] != 10 {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []string{"", "x", "0", "10,,20"} {
		if _, err := sizesOf(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}
