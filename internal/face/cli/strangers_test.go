package cli

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/code"
	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
	"github.com/seed-4f2d999b/knowledge/internal/find"
	"github.com/seed-4f2d999b/knowledge/internal/governance/evidence"
	"github.com/seed-4f2d999b/knowledge/internal/platform/visible"
	"github.com/seed-4f2d999b/knowledge/internal/search"
	"github.com/seed-4f2d999b/knowledge/internal/specs"
	"github.com/seed-4f2d999b/knowledge/internal/web"
)

// hostile is what a stranger may call a file or write into a heading: it
// clears the screen, sets the title, forges a second hit, turns the order
// around, and speaks to a model in characters that nobody sees.
const hostile = "a\x1b[2J\x1b]0;title\x07\u009b31m\nforged.go:L1-L2  1.00\u202egpj\u200b\U000e0069\U000e0067"

// ours is what the printer writes to a terminal besides text.
var ours = regexp.MustCompile("\x1b\\[[0-9;]*m")

// Whatever strangers call things, a result is as many lines as it has rows,
// and nothing in it steers or hides, at a terminal and in a pipe.
func TestStrangersSteerNothing(t *testing.T) {
	finding, err := json.Marshal(map[string]any{"severity": "high", "ruleId": hostile, "file": hostile, "message": hostile})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name         string
		result       any
		pipe, window int // lines
	}{
		{"hits", find.SearchReply{Hits: []find.Hit{{ID: "abcdefgh123", Store: "s", At: hostile + ":L1-L2", Symbol: hostile}}, Confidence: "high"}, 1, 3},
		{"files", find.FileList{Files: []string{hostile, "b.go"}}, 2, 2},
		{"grep", find.GrepReply{Matches: []find.GrepMatch{{Path: hostile, Line: 3, Text: "x"}}}, 1, 1},
		{"declarations", code.CodeReply{Symbols: []search.Place{{ID: "abcdefgh123", At: hostile, Symbol: "f"}}, Total: 1}, 1, 1},
		{"outline", code.OutlineReply{Path: hostile}, 0, 1},
		{"a place", find.Context{ID: "abcdefgh123", At: hostile, Symbol: hostile, Start: 1}, 2, 2},
		{"pages", web.PageList{Pages: []web.PageRow{{State: "kept", URL: hostile, Reason: hostile}}}, 1, 2},
		{"specifications", specs.ListReply{Documents: []specs.ListRow{{Path: hostile, Title: hostile}}, Total: 1}, 1, 2},
		{"findings", evidence.Findings{Findings: []json.RawMessage{finding}}, 1, 2},
		{"messages", command.Message{Message: strings.ReplaceAll(hostile, "\n", " ")}, 1, 1},
	} {
		for terminal, want := range map[bool]int{false: tc.pipe, true: tc.window} {
			out, errs := show(t, terminal, false, tc.result)
			if got := strings.Count(out, "\n"); got != want {
				t.Errorf("%s, terminal %v: %d lines, want %d:\n%q", tc.name, terminal, got, want, out)
			}
			if colored, _ := showIn(t, func(string) string { return "" }, terminal, false, tc.result); ours.ReplaceAllString(colored, "") != out {
				t.Errorf("%s, terminal %v, coloured: %q", tc.name, terminal, colored)
			}
			if printer.Clean(out) != out || printer.Clean(errs) != errs {
				t.Errorf("%s, terminal %v: %q %q", tc.name, terminal, out, errs)
			}
		}
		out, _ := show(t, false, true, tc.result)
		if printer.Clean(out) != out {
			t.Errorf("%s as JSON: %q", tc.name, out)
		}
	}
}

// A name comes out of a pipe in a form that can be told from every other.
func TestNamesAreQuoted(t *testing.T) {
	out, _ := show(t, false, false, find.FileList{Files: []string{"new\nline.md", "new line.md", `"x"`}})
	if want := "\"new\\nline.md\"\nnew line.md\n\"\\\"x\\\"\"\n"; out != want {
		t.Errorf("%q, want %q", out, want)
	}
}

// Text that somebody asks for is line by line as it stands, but for what steers
// or hides; the true characters are in the JSON.
func TestContentIsEscaped(t *testing.T) {
	text := find.FileText{Path: "a", Start: 1, End: 2, Lines: 2, Text: "tab\tred \x1b[31m \u202e end\r\nüber 日本語 👩\u200d👧\r\n"}
	if out, _ := show(t, false, false, text); out != "tab\tred \\u001b[31m \\u202e end\r\nüber 日本語 👩\u200d👧\r\n" {
		t.Errorf("in a pipe: %q", out)
	}
	for _, result := range []any{text, specs.SectionReply{Content: text.Text}, find.GrepReply{Matches: []find.GrepMatch{{Path: "a", Line: 1, Text: "\x1b[2J\u202e"}}}} {
		for _, terminal := range []bool{false, true} {
			if out, _ := show(t, terminal, false, result); out != visible.Line(out) || !strings.Contains(out, `\u202e`) {
				t.Errorf("%T, terminal %v: %q", result, terminal, out)
			}
		}
	}
	out, _ := show(t, false, true, text)
	var back find.FileText
	if err := json.Unmarshal([]byte(out), &back); err != nil || back.Text != text.Text || visible.Line(out) != out {
		t.Errorf("as JSON: %q %v", out, err)
	}
}
