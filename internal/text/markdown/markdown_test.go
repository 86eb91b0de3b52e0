package markdown

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// show writes blocks as "kind first-last", headings with level, text and anchor.
func show(blocks []Block) []string {
	names := []string{"text", "front", "heading", "fence", "indented", "table", "comment", "verbatim", "html"}
	out := []string{}
	for _, b := range blocks {
		s := fmt.Sprintf("%s %d-%d", names[b.Kind], b.First, b.Last)
		if b.Kind == Heading {
			s += fmt.Sprintf(" %d %s%s", b.Level, b.Text, b.Anchor)
		}
		out = append(out, s)
	}
	return out
}

func blocks(body string) (out []Block) {
	Read(body, func(b Block) { out = append(out, b) })
	return out
}

func TestBlocks(t *testing.T) {
	for _, x := range []struct {
		name, body string
		want       []string
	}{
		{"nothing", "", []string{}},
		{"text", "one\ntwo\n\nthree\n", []string{}},
		{"headings", "# A\n### B c ###\n####### no\n#no\n#\n", []string{"heading 0-0 1 A", "heading 1-1 3 B c", "heading 4-4 1 "}},
		{"attributes", "# A b {#c .d}\n## E {.f}\n## G {h}\n", []string{"heading 0-0 1 A b#c", "heading 1-1 2 E", "heading 2-2 2 G {h}"}},
		{"underlined", "A\nb\n===\n\nC\n---\n", []string{"heading 0-2 1 A b", "heading 4-5 2 C"}},
		{"a paragraph above a rule", "a\nb\nc\nd\n---\n", []string{}},
		{"items underline nothing", "- a\n---\n> b\n---\n", []string{}},
		{"fence", "```go\n# a\n~~~\n```` \n# b\n", []string{"fence 0-3", "heading 4-4 1 b"}},
		{"a fence that never ends", "~~~\n# a\n\n```\n", []string{"fence 0-3"}},
		{"code is no fence", "```a``` b\n# c\n", []string{"heading 1-1 1 c"}},
		{"a fence within an item", "1. ```\n   # a\n   ```\n", []string{"fence 0-2"}},
		{"indented code", "a\n    b\n\n    # c\n\td\n\n- e\n\n    f\n", []string{"indented 3-4"}},
		{"table", "| a |\n|---|\n| b |\n\n| c |\n", []string{"table 0-2", "table 4-4"}},
		{"comments", "<!-- # a -->\nb\n<!--\n# c\n\n-->\n", []string{"comment 0-0", "comment 2-5"}},
		{"verbatim", "<pre>\n\n# a\n</pre>\n<SCRIPT src=x></SCRIPT>\n", []string{"verbatim 0-3", "verbatim 4-4"}},
		{"no headings within HTML", "<div>\n# a\n```\n\n# b\n", []string{"html 0-2", "heading 4-4 1 b"}},
		{"headings in HTML", "<h1 id=a>B &amp;\n <i>c</i></h1>\n# d\n\n<div>\n<h2>E</h2>\n", []string{
			"heading 0-1 1 B & c#a", "html 0-2", "heading 5-5 2 E", "html 4-5"}},
		{"a link is no tag", "<https://a.b> c\n---\n", []string{"heading 0-1 2 <https://a.b> c"}},
		{"front matter", "\ufeff---\ntitle: a\n# b\n---\n\n# c\n", []string{"front 0-3", "heading 5-5 1 c"}},
		{"front matter in TOML", "+++\na = 1\n+++\n", []string{"front 0-2"}},
		{"a rule at the top", "---\n\na\n---\n", []string{"heading 2-3 2 a"}},
		{"front matter below the title", "# a\n\n---\nid: b\n---\n\n# c\n\n---\nid: d\n---\n", []string{
			"heading 0-0 1 a", "front 2-4", "heading 6-6 1 c", "heading 8-10 2 --- id: d"}},
		{"text between rules", "# a\n\n---\nSome text.\n---\n", []string{"heading 0-0 1 a", "heading 2-4 2 --- Some text."}},
		{"line ends of Windows", "# a\r\n```\r\n# b\r\n```\r\n", []string{"heading 0-0 1 a", "fence 1-3"}},
	} {
		t.Run(x.name, func(t *testing.T) {
			if d := cmp.Diff(x.want, show(blocks(x.body))); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
			for _, b := range blocks(x.body) {
				if first, last := strings.Count(x.body[:b.From], "\n"), strings.Count(x.body[:b.To-1], "\n"); first != b.First || last != b.Last {
					t.Errorf("bytes %d-%d lie on lines %d-%d: %+v", b.From, b.To, first, last, b)
				}
			}
		})
	}
}

func TestMDX(t *testing.T) {
	var got []Block
	body := "<A>\n# b\n</A>\n\n# c\n\n    # d\n```\n<A>\n```\n"
	ReadMDX(body, func(line int) int {
		if line == 0 {
			return 3
		}
		return line
	}, func(b Block) { got = append(got, b) })
	want := []string{"heading 4-4 1 c", "heading 6-6 1 d", "fence 7-9"}
	if d := cmp.Diff(want, show(got)); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

func FuzzRead(f *testing.F) {
	f.Add("---\ntitle: a\n---\n1. ```\n<div>\n# b {#c}\n<h1>d</h1>\n\n| e |\n===\n")
	f.Add("# a\n\n+++\nb: c\n+++\n<!--\n\r\n\x00")
	f.Fuzz(func(t *testing.T, body string) {
		lines := strings.Count(body, "\n") + 1
		end := 0
		Read(body, func(b Block) {
			if b.First > b.Last || b.Last >= lines || b.From >= b.To || b.To > len(body) {
				t.Fatalf("%+v of %d lines", b, lines)
			}
			if !b.HTML && (b.Kind != HTML && b.From < end) {
				t.Fatalf("%+v begins before byte %d", b, end)
			}
			end = max(end, b.To)
		})
		if n := len(Kinds(body)); n != lines {
			t.Fatalf("%d kinds of %d lines", n, lines)
		}
	})
}
