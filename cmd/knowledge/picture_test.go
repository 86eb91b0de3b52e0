package main

import (
	"encoding/xml"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

var update = flag.Bool("update", false, "rewrite the picture of the README")

// The picture of the README is drawn from docs/session.md, which TestDocuments
// runs: what it shows is what the program prints.
func TestPicture(t *testing.T) {
	var lines []string
	for _, b := range blocksOf(read(t, "../..", "docs/session.md")) {
		if b.language == "console" {
			lines = append(lines, strings.Split(strings.TrimRight(b.text, "\n"), "\n")...)
			lines = append(lines, "")
		}
	}
	want := picture(strings.Split(strings.TrimRight(strings.Join(lines, "\n"), "\n"), "\n"))
	if err := xml.Unmarshal([]byte(want), new(struct{ XMLName xml.Name })); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join("..", "..", "docs", "session.svg")
	if *update {
		if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got, _ := os.ReadFile(name); string(got) != want {
		t.Errorf("docs/session.svg is stale; refresh it with: go test ./cmd/knowledge -run TestPicture -update")
	}
}

// picture draws lines of a terminal as SVG 1.1: a dark window, the typed lines
// bright, the first word of what names a place coloured. A cell is 8 by 18
// pixels, which the common monospaced fonts fit at 13 pixels.
func picture(lines []string) string {
	const cell, row, pad = 8, 18, 16
	columns := 80
	for _, l := range lines {
		columns = max(columns, utf8.RuneCountInString(l))
	}
	width, height := columns*cell+2*pad, len(lines)*row+2*pad+24
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img">
<title>A terminal session with knowledge</title>
<rect width="100%%" height="100%%" rx="8" fill="#1b1f24"/>
<circle cx="18" cy="17" r="5" fill="#ff5f57"/><circle cx="36" cy="17" r="5" fill="#febc2e"/><circle cx="54" cy="17" r="5" fill="#28c840"/>
<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="13" fill="#c9d1d9" xml:space="preserve">
`, width, height, width, height)
	for i, l := range lines {
		if l == "" {
			continue
		}
		y := pad + 24 + i*row + 10
		if typed, ok := strings.CutPrefix(l, "$ "); ok {
			fmt.Fprintf(&b, `<text x="%d" y="%d"><tspan fill="#7d8590">$ </tspan><tspan fill="#ffffff" font-weight="bold">%s</tspan></text>`+"\n", pad, y, escaped(typed))
			continue
		}
		if place, rest, ok := strings.Cut(l, "  "); ok && strings.Contains(place, ":L") {
			fmt.Fprintf(&b, `<text x="%d" y="%d"><tspan fill="#58a6ff">%s</tspan>%s</text>`+"\n", pad, y, escaped(place), escaped("  "+rest))
			continue
		}
		fmt.Fprintf(&b, `<text x="%d" y="%d">%s</text>`+"\n", pad, y, escaped(l))
	}
	b.WriteString("</g>\n</svg>\n")
	return b.String()
}

// escaped makes text of XML; spaces stay as wide as they are where
// xml:space is not honoured.
func escaped(s string) string {
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(s)); err != nil {
		return s
	}
	return strings.ReplaceAll(b.String(), "  ", "\u00a0\u00a0")
}
