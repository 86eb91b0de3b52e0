package printer_test

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
	"github.com/seed-4f2d999b/knowledge/internal/platform/visible"
)

// on prints to a terminal of so many columns.
func on(width int, color bool, print func(*printer.Printer)) string {
	var out, errs bytes.Buffer
	print(&printer.Printer{Out: visible.Writer{W: &out}, Aside: &printer.Printer{Out: visible.Writer{W: &errs}}, Terminal: true, Width: width, Color: color, Words: func(s string) string { return s },
		Locate: func(store, path string) string { return printer.FileURL("host", "/"+store+"/"+path) }})
	return out.String() + errs.String()
}

var sequence = regexp.MustCompile("\x1b\\[[0-9;]*m|\x1b\\]8;;[!-~]*\x1b\\\\")

// texts are what is wide, narrow, long or turned around.
var texts = []string{"short", strings.Repeat("word ", 60), "日本語のテキストは幅が二倍です。" + strings.Repeat("漢字", 50), strings.Repeat("👩\u200d👧 ", 40),
	strings.Repeat("e\u0301", 100), "שלום " + strings.Repeat("עולם ", 40), strings.Repeat("x", 300), "tab\tinside", ""}

// TestNothingIsWider: whatever is printed, no line is wider than the terminal,
// colours change no character, and no id is cut in two.
func TestNothingIsWider(t *testing.T) {
	for _, text := range texts {
		for name, print := range map[string]func(*printer.Printer){
			"code":    func(p *printer.Printer) { p.Code(text+"\n\t\t"+text, 99, "    ") },
			"whole":   func(p *printer.Printer) { p.Whole(text+"\n\t\t"+text, 99, "") },
			"snippet": func(p *printer.Printer) { p.Snippet("    ", text) },
			"match":   func(p *printer.Printer) { p.Match(p.At("s", "a/b.go:L3"), text) },
			"facts":   func(p *printer.Printer) { p.Facts("name", text, "id", "abcdefgh123") },
			"table": func(p *printer.Printer) {
				tab := p.Table("id", "title", "note", "n")
				tab.Row("abcdefgh123", text, text, 7)
				tab.Row("bbcdefgh123", "b", "", 12345)
				tab.Flush()
			},
		} {
			for _, width := range []int{60, 80, 140} {
				plain, colored := on(width, false, print), on(width, true, print)
				if got := sequence.ReplaceAllString(colored, ""); got != plain {
					t.Errorf("%s, %d: colour changes %q to %q", name, width, plain, got)
				}
				for l := range strings.Lines(plain) {
					if w := printer.Width(strings.TrimSuffix(l, "\n")); w > width {
						t.Errorf("%s at %d: %d columns: %q", name, width, w, l)
					}
				}
				if (name == "facts" || name == "table") && !strings.Contains(plain, "abcdefgh123") {
					t.Errorf("%s at %d: the id is cut: %q", name, width, plain)
				}
			}
		}
	}
}

// TestWholeKeepsAll: what does not fit on a line goes on below; nothing is lost.
func TestWholeKeepsAll(t *testing.T) {
	for _, text := range texts {
		var got strings.Builder
		for l := range strings.Lines(on(60, false, func(p *printer.Printer) { p.Whole(text, 1, "") })) {
			got.WriteString(strings.TrimSuffix(strings.TrimPrefix(l[min(1, len(l)):], "  "), "\n"))
		}
		if want := strings.ReplaceAll(strings.TrimRight(text, " "), "\t", " "); got.String() != want {
			t.Errorf("%q, want %q", got.String(), want)
		}
	}
}

func TestHead(t *testing.T) {
	head := func(p *printer.Printer) {
		p.Head("", "abcdefgh123", p.At("s", "internal/some/long/folder/name.go:L98-L100"), printer.Symbol.Text("Server.Serve"), printer.Score.Text("0.87"), printer.Plain.Text("go@1234567"))
	}
	for width, want := range map[int]string{
		0:   "internal/some/long/folder/name.go:98-100  Server.Serve  0.87  go@1234567  abcdefgh123\n",
		140: "internal/some/long/folder/name.go:98-100  Server.Serve  0.87  go@1234567  abcdefgh123\n",
		80:  "internal/some/long/folder/name.go:98-100  Server.Serve  0.87  go@1234567\n    abcdefgh123\n",
		60:  "internal/some/long/folder/name.go:98-100  Server.Serve  0.87\n    go@1234567  abcdefgh123\n",
	} {
		if d := cmp.Diff(want, on(width, false, head)); d != "" {
			t.Errorf("at %d (-want +got):\n%s", width, d)
		}
	}
	want := "\x1b]8;;file://host/s/internal/some/long/folder/name.go\x1b\\\x1b[35minternal/some/long/folder/name.go:98-100\x1b[m\x1b]8;;\x1b\\  "
	if got := on(140, true, head); !strings.HasPrefix(got, want) {
		t.Errorf("%q", got)
	}
}

// TestCommandsStayWhole: a line that ends with a command to paste is broken
// before it, not in it.
func TestCommandsStayWhole(t *testing.T) {
	const command = "knowledge files web --glob 'a b c d e f'"
	for width := 20; width < 120; width++ {
		got := on(width, false, func(p *printer.Printer) {
			p.Remark("the paths of the store are not what was meant here; list them with: " + command)
		})
		if !strings.Contains(got, command+"\n") {
			t.Fatalf("at %d: %q", width, got)
		}
	}
}

func TestWords(t *testing.T) {
	for _, tc := range []struct {
		query []string
		line  string
		want  string
	}{
		{[]string{"cancel"}, "func (m *Manager) CancelAll(cancels bool)", "[Cancel][cancels]"},
		{[]string{"parsing", "header"}, "parseHTTPHeader(x) // headers parsed", "[parse][Header][headers][parsed]"},
		{[]string{"the", "日本"}, "これは日本語, 日本", "[日本][日本]"},
		{[]string{"utf8"}, "utf8.Valid(utf)", "[utf8][utf]"},
		{nil, "anything", ""},
	} {
		mark := printer.Words(tc.query)
		var got strings.Builder
		if mark != nil {
			for _, m := range mark(tc.line) {
				fmt.Fprintf(&got, "[%s]", tc.line[m[0]:m[1]])
			}
		}
		if got.String() != tc.want {
			t.Errorf("%v in %q: %s, want %s", tc.query, tc.line, got.String(), tc.want)
		}
	}
	out := on(80, true, func(p *printer.Printer) {
		p.Mark = func(string) [][]int { return [][]int{{0, 1}, {0, 3}, {2, 2}, {3, 99}} }
		p.Code("\x1b[2Jabc", 1, "")
	})
	if text := sequence.ReplaceAllString(out, ""); text != `1  \u001b[2Jabc`+"\n" {
		t.Errorf("marks that lie: %q", out)
	}
}
