package configedit_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	. "github.com/seed-4f2d999b/knowledge/internal/configedit"
)

var entry = Entry{{"command", "/bin/knowledge"}, {"args", []string{"mcp"}}, {"alwaysLoad", true}}

// TestSetJSON shows what a file looks like before and after, and that taking
// the entry out again gives the file before.
func TestSetJSON(t *testing.T) {
	const multi = `"knowledge": {
      "command": "/bin/knowledge",
      "args": ["mcp"],
      "alwaysLoad": true
    }`
	for name, x := range map[string]struct {
		before, after string
		again         string // after removal, when it is not before
	}{
		"missing":      {"", "{\n  \"mcpServers\": {\n    " + multi + "\n  }\n}\n", "{}\n"},
		"empty object": {"{}", "{\n  \"mcpServers\": {\n    " + multi + "\n  }\n}", ""},
		"others": {"{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"x\"}\n  },\n  \"z\": 1\n}\n",
			"{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"x\"},\n    " + multi + "\n  },\n  \"z\": 1\n}\n", ""},
		"comments stay where they are": {"{\n  // servers\n  \"mcpServers\": {\n    \"a\": {} // the first\n    // the last\n  }\n}",
			"{\n  // servers\n  \"mcpServers\": {\n    \"a\": {}, // the first\n    // the last\n    " + multi + "\n  }\n}", ""},
		"trailing comma": {"{\n  \"mcpServers\": {\n    \"a\": {}, /* x */\n  },\n}",
			"{\n  \"mcpServers\": {\n    \"a\": {}, /* x */\n    " + multi + ",\n  },\n}", ""},
		"one line": {`{"mcpServers": {"a": {"command": "x"}}, "z": 1}`,
			`{"mcpServers": {"a": {"command": "x"}, "knowledge": {"command": "/bin/knowledge", "args": ["mcp"], "alwaysLoad": true}}, "z": 1}`, ""},
		"minified": {`{"a":1,"mcpServers":{"b":{}}}`,
			`{"a":1,"mcpServers":{"b":{},"knowledge":{"command":"/bin/knowledge","args":["mcp"],"alwaysLoad":true}}}`, ""},
		"an empty container with a comment": {"{\n  \"mcpServers\": { // none yet\n  }\n}",
			"{\n  \"mcpServers\": { // none yet\n    " + multi + "\n  }\n}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			for eol, label := range map[string]string{"\n": "LF", "\r\n": "CRLF"} {
				for _, unit := range []string{"  ", "    ", "\t"} {
					for _, mark := range []string{"", "\xef\xbb\xbf"} {
						as := func(s string) string {
							lines := strings.Split(s, "\n")
							for i, l := range lines {
								n := (len(l) - len(strings.TrimLeft(l, " "))) / 2
								lines[i] = strings.Repeat(unit, n) + strings.TrimLeft(l, " ")
							}
							return mark + strings.Join(lines, eol)
						}
						before, want := as(x.before), as(x.after)
						if name == "missing" || name == "empty object" {
							if unit != "  " || eol != "\n" {
								continue // nothing tells how it is written
							}
						}
						got, made, err := JSON{}.Set([]byte(before), []string{"mcpServers", "knowledge"}, entry)
						if err != nil {
							t.Fatal(label, err)
						}
						if diff := cmp.Diff(want, string(got)); diff != "" {
							t.Errorf("%s %q (-want +got)\n%s", label, unit, diff)
						}
						again, err := JSON{}.Remove(got, []string{"mcpServers", "knowledge"}, made)
						if x.again != "" {
							before = as(x.again)
							made++
							again, err = JSON{}.Remove(got, []string{"mcpServers", "knowledge"}, made)
						}
						if diff := cmp.Diff(before, string(again)); diff != "" || err != nil {
							t.Errorf("%s %q removed (-want +got) %v\n%s", label, unit, err, diff)
						}
						if twice, _, err := (JSON{}).Set(got, []string{"mcpServers", "knowledge"}, entry); err != nil || string(twice) != string(got) {
							t.Errorf("twice is not once: %v\n%s", err, twice)
						}
					}
				}
			}
		})
	}
}
