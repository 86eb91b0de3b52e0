package main

import (
	"encoding/xml"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the picture of the README")

// screens are where the golden screens of the command line lie, and pictured
// those that the picture of the README shows, as at a terminal of 80 columns.
const screens = "../../internal/face/cli/testdata/screens/"

var pictured = []string{"search", "callers", "ask"}

// The picture of the README is drawn from golden screens, which TestScreens of
// the command line compares with what it prints: colours and all.
func TestPicture(t *testing.T) {
	var lines []string
	for _, name := range pictured {
		lines = append(append(lines, screen(t, name)...), "")
	}
	want := picture(lines[:len(lines)-1])
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

// screen returns the command of a golden screen and what it prints at 80 columns.
func screen(t *testing.T, name string) []string {
	t.Helper()
	text := read(t, ".", screens+name+".txt")
	command, rest, _ := strings.Cut(text, "\n")
	_, rest, _ = strings.Cut(rest, "== 80 columns\n")
	rest, _, ok := strings.Cut(rest, "\n== ")
	if !ok || !strings.HasPrefix(command, "$ ") {
		t.Fatalf("%s has another form than it had", name)
	}
	rest = strings.ReplaceAll(rest, "id000000000", "vziaj53ewzv") // the goldens have one id for all
	return append([]string{command}, strings.Split(strings.TrimRight(rest, "\n"), "\n")...)
}

// inks are the colours of a dark terminal by their numbers.
var inks = map[string]string{
	"31": "#ff7b72", "32": "#7ee787", "33": "#e3b341", "34": "#79c0ff", "35": "#d2a8ff", "36": "#76e3ea",
	"1": `" font-weight="bold`, "2": "#7d8590",
}

// picture draws lines of a terminal as SVG 1.1: a dark window, the typed lines
// bright, the rest in the colours that it has; ␛ is the escape character. A cell
// is 8 by 18 pixels, which the common monospaced fonts fit at 13 pixels.
func picture(lines []string) string {
	const cell, row, pad = 8, 18, 16
	const columns = 80
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
		fmt.Fprintf(&b, `<text x="%d" y="%d">%s</text>`+"\n", pad, y, painted(l))
	}
	b.WriteString("</g>\n</svg>\n")
	return b.String()
}

// painted makes spans of a line with escapes.
func painted(line string) string {
	parts := strings.Split(line, "␛[")
	var b strings.Builder
	b.WriteString(escaped(parts[0]))
	for _, p := range parts[1:] {
		code, text, _ := strings.Cut(p, "m")
		if text == "" {
			continue
		}
		fill := ""
		for n := range strings.SplitSeq(code, ";") {
			if ink := inks[n]; strings.HasPrefix(ink, "#") {
				fill = ink + fill
			} else {
				fill += ink
			}
		}
		switch {
		case fill == "":
			b.WriteString(escaped(text))
		case strings.HasPrefix(fill, "#"):
			fmt.Fprintf(&b, `<tspan fill="%s">%s</tspan>`, fill, escaped(text))
		default:
			fmt.Fprintf(&b, `<tspan fill="#ffffff%s">%s</tspan>`, fill, escaped(text))
		}
	}
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
