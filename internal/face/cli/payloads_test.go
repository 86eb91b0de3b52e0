package cli

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/answers"
	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/code"
	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
	"github.com/seed-4f2d999b/knowledge/internal/find"
	"github.com/seed-4f2d999b/knowledge/internal/governance/evidence"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/visible"
	"github.com/seed-4f2d999b/knowledge/internal/search"
	"github.com/seed-4f2d999b/knowledge/internal/specs"
	"github.com/seed-4f2d999b/knowledge/internal/web"
)

// payloads are what a stranger may write into a name, a heading, a text or a
// reply to have a terminal, a page or a reader do what he likes.
var payloads = []string{
	// Sequences that move, clear, colour or hide.
	"\x1b[2J", "\x1b[H\x1b[J", "\x1b[1A\x1b[2K", "\x1b[31mred\x1b[0m", "\x1b[8mhidden\x1b[28m", "\x1b[?25l", "\x1b[?1049h", "\x1b[?1049l", "\x1b[r\x1b[5;5r", "\x1bc", "\x1b#8", "\x1b(0",
	// What the terminal does: its title, its clipboard, links, files, colours, answers that are typed.
	"\x1b]0;title\x07", "\x1b]2;title\x1b\\", "\x1b]52;c;cm0gLXJmIH4=\x07", "\x1b]8;;http://evil.example/\x1b\\click\x1b]8;;\x1b\\", "\x1b]8;;file:///etc/passwd\x07x\x1b]8;;\x07",
	"\x1b]1337;File=inline=1:AAAA\x07", "\x1b]4;1;rgb:00/00/00\x07", "\x1b]11;?\x07", "\x1b[c", "\x1b[6n", "\x1b[21t", "\x1b[>q", "\x1b]50;#3\x07", "\x1b]9;notify\x07", "\x1b]777;notify;a;b\x07",
	// Strings of the device, of programs, of privacy.
	"\x1bPq#0;2;0;0;0~\x1b\\", "\x1bP+q544e\x1b\\", "\x1b_Gf=100;AAAA\x1b\\", "\x1b^secret\x1b\\", "\x1bX\x1b\\",
	// The same in one byte or in eight bits, and cut short.
	"\u009b2J", "\u009d0;title\u009c", "\u0090q\u009c", "\u008d", "\x9b2J", "\x1b", "\x1b[", "\x1b]0;never ended",
	// What overwrites, rings or breaks a line.
	"good\rbad", "a\b\b\bforged", "\x07\x07\x07", "\x0b\x0c", "a\nforged.go:1  0.99  id", "a\r\nforged", "a\u2028forged\u2029", "\x00\x01\x7f", "\x0e\x0f",
	// What turns around, is not seen, or counts wrong.
	"\u202egpj.exe", "\u2066a\u2069\u2067", "a\u200bb\u200d\ufeff", "\U000e0069\U000e0067\U000e006e", "\u115f\u3164", strings.Repeat("\u0301", 200), strings.Repeat("\ufe0f", 50),
	// What pages and Markdown take for more than text.
	"<script>alert(1)</script>", "<svg onload=alert(1)>", "<img src=x onerror=alert(1)>", "[x](javascript:alert(1))", "![x](https://evil.example/p.png)", "{{constructor.constructor('alert(1)')()}}",
}

// ourSequences are all that a printer may write besides text: colours of its
// roles, and links to what was asked for.
var ourSequences = regexp.MustCompile("\x1b\\[(?:1|2|31|32|35|1;31|1;35)?m|\x1b\\]8;;(?:file://[!-~]*|https?://[!-~]*)?\x1b\\\\")

// TestPayloads: whatever is written where, it is text on a terminal, with
// colours and links, and adds no line.
func TestPayloads(t *testing.T) {
	if len(payloads) < 60 {
		t.Errorf("%d payloads", len(payloads))
	}
	results := func(x string) map[string]any {
		finding, err := json.Marshal(map[string]any{"severity": x, "ruleId": x, "file": x, "message": x})
		if err != nil {
			t.Fatal(err)
		}
		return map[string]any{
			"hits": find.SearchReply{Hits: []find.Hit{{ID: "abcdefgh123", Store: "s", At: x + ":L1-L2", Symbol: x, Note: x, Places: []string{x}, Why: []string{x},
				CalledBy: []string{x}, Signature: x, Doc: x, Code: "say " + x, Line: 1}}, Confidence: "high", Notes: []string{x}, Words: []string{"say", x}},
			"page":         find.SearchReply{Hits: []find.Hit{{ID: "abcdefgh123", Store: "s", At: "https://evil.example/" + x, Symbol: x}}, Confidence: "high"},
			"place":        find.Context{ID: "abcdefgh123", Store: "s", At: x, Symbol: x, Kind: x, Start: 1, Code: "say " + x, Note: x, Related: []find.Related{{ID: "x", At: x, Symbol: x, Why: x}}},
			"files":        find.FileList{Store: "s", Files: []string{x}},
			"grep":         find.GrepReply{Store: "s", Matches: []find.GrepMatch{{Path: x, Line: 3, Text: x}}, Marks: func(l string) [][]int { return [][]int{{0, len(l)}} }},
			"declarations": code.CodeReply{Symbols: []search.Place{{ID: "abcdefgh123", Store: "s", At: x, Symbol: x, Signature: x}}, Uses: []search.Use{{At: x, Symbol: x, Code: x}}, Total: 1},
			"outline":      code.OutlineReply{Path: x, Language: x, Symbols: []search.OutlineItem{{ID: "abcdefgh123", Lines: "1-2", Signature: x}}},
			"stores":       app.StoreList{Stores: []app.StoreRow{{Name: x, ID: "id1", Source: x, Status: x}}, Note: x},
			"jobs":         app.JobList{Jobs: []kb.Job{{ID: "j1", Type: "index", Name: x, State: kb.JobFailed, Message: x, Hint: x, Progress: kb.Progress{Phase: x}}}},
			"pages":        web.PageList{Pages: []web.PageRow{{State: "kept", URL: x, Reason: x, Target: x}}},
			"specs":        specs.ListReply{Documents: []specs.ListRow{{Path: x, Title: x, Store: x}}, Total: 1},
			"findings":     evidence.Findings{Findings: []json.RawMessage{finding}},
			"feedback":     answers.FeedbackList{Entries: []answers.FeedbackItem{{ID: x, Query: x, Comment: x}}},
			"message":      command.Message{Message: x},
			"readable":     map[string]any{"a": x, "list": []map[string]any{{"b": x, "c": x}}},
		}
	}
	lines := map[string]int{}
	print := func(x string, width int) map[string]string {
		out := map[string]string{}
		for name, result := range results(x) {
			var b, errs bytes.Buffer
			s := newSession(Faces{}, Env{Stdout: &b, Stderr: &errs, Terminal: true, ErrTerminal: true, Width: width, ErrWidth: width, Getenv: func(n string) string {
				return map[string]string{"FORCE_HYPERLINK": "1"}[n]
			}})
			s.Locate = func(store, path string) string {
				if strings.HasPrefix(path, "https://") {
					return path
				}
				return printer.FileURL("host", "/"+path)
			}
			if err := s.print(result); err != nil {
				t.Fatal(err)
			}
			s.complain(kb.Errorf(kb.Invalid, "there is no %s", x).WithHint("try: knowledge show %s", x))
			if err := s.close(); err != nil {
				t.Fatal(err)
			}
			out[name], out[name+" (standard error)"] = b.String(), errs.String()
		}
		return out
	}
	for name, out := range print("harmless", 0) {
		lines[name] = strings.Count(out, "\n")
	}
	for _, x := range payloads {
		for _, width := range []int{0, 60} {
			for name, out := range print(x, width) {
				text := ourSequences.ReplaceAllString(out, "")
				if visible.Line(text) != text || strings.ContainsAny(text, "\x1b\x07\b\r") {
					t.Errorf("%q in %s at %d: %q", x, name, width, out)
				}
				// A text that is asked for has its own lines, numbered; nothing else has.
				if n := strings.Count(out, "\n"); width == 0 && n != lines[name] && name != "hits" && name != "place" && !(name == "message" || name == "readable") {
					t.Errorf("%q in %s: %d lines, not %d: %q", x, name, n, lines[name], out)
				}
			}
		}
		var w bytes.Buffer
		now := time.Unix(1, 0)
		p := &progress{w: &w, terminal: true, width: 60, now: func() time.Time { return now }}
		p.report(kb.Progress{Phase: x, Done: 1, Total: 2})
		now = now.Add(time.Second)
		p.report(kb.Progress{Phase: x, Done: 1, Total: 2})
		if text := strings.TrimSuffix(strings.TrimPrefix(w.String(), "\r"), "\x1b[K"); visible.Line(text) != text || strings.ContainsAny(text, "\r\n\x1b") {
			t.Errorf("%q as progress: %q", x, w.String())
		}
	}
}
