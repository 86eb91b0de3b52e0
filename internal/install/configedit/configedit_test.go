package configedit_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	. "github.com/seed-4f2d999b/knowledge/internal/install/configedit"
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

// TestSetTOML: a table at the end, and nothing else.
func TestSetTOML(t *testing.T) {
	path := []string{"mcp_servers", "knowledge"}
	const table = "[mcp_servers.knowledge]\ncommand = \"/bin/knowledge\"\nargs = [\"mcp\"]\nalwaysLoad = true\n"
	for before, want := range map[string]string{
		"":                       table,
		"a = 1\n":                "a = 1\n\n" + table,
		"a = 1":                  "a = 1\n\n" + table,
		"a = 1\r\n":              "a = 1\r\n\r\n" + strings.ReplaceAll(table, "\n", "\r\n"),
		"f = nan\ng = [-nan]\n":  "f = nan\ng = [-nan]\n\n" + table,
		"mcp_servers.x.y = 1\n":  "mcp_servers.x.y = 1\n\n" + table,
		"[[mcp]]\n[mcp.b] # c\n": "[[mcp]]\n[mcp.b] # c\n\n" + table,
		// What is there keeps its place, its comments and further keys.
		"[mcp_servers.knowledge] # k\nargs = [ # many\n  \"x\",\n]\nenv = {A = \"b\"}\ncommand = '/old' # c\n\n# end\n[z]\n": "[mcp_servers.knowledge] # k\nargs = [\"mcp\"]\nenv = {A = \"b\"}\ncommand = \"/bin/knowledge\" # c\nalwaysLoad = true\n\n# end\n[z]\n",
		"[mcp_servers.knowledge]": "[mcp_servers.knowledge]\ncommand = \"/bin/knowledge\"\nargs = [\"mcp\"]\nalwaysLoad = true",
	} {
		got, _, err := TOML{}.Set([]byte(before), path, entry)
		if diff := cmp.Diff(want, string(got)); diff != "" || err != nil {
			t.Errorf("%q: %v (-want +got)\n%s", before, err, diff)
		}
	}
	for before, want := range map[string]string{
		"a = 1\n\n" + table + "\n# z\n[z]\nb = 2\n":                          "a = 1\n\n# z\n[z]\nb = 2\n",
		table + "\n[mcp_servers.knowledge.env]\nA = \"b\"\n\n[[y]]\n":        "\n[[y]]\n",
		"[mcp_servers]\nknowledge = {command = \"k\"} # ours\nother = {}\n":  "[mcp_servers]\nother = {}\n",
		"mcp_servers.knowledge.command = \"k\"\nx = 1\n":                     "x = 1\n",
		"s = '''\n[mcp_servers.knowledge]\n'''\n[mcp_servers.knowledge]\n#x": "s = '''\n[mcp_servers.knowledge]\n'''\n#x",
	} {
		got, err := TOML{}.Remove([]byte(before), path, 0)
		if diff := cmp.Diff(want, string(got)); diff != "" || err != nil {
			t.Errorf("removed from %q: %v (-want +got)\n%s", before, err, diff)
		}
	}
}

// TestTOMLWithoutRoom: what cannot be edited is told with its line and what to
// write there; written so, it can.
func TestTOMLWithoutRoom(t *testing.T) {
	path := []string{"mcp_servers", "knowledge"}
	for before, want := range map[string]string{
		"a = 1\nmcp_servers = {}\n":                        `line 2, an empty inline table, lets nothing be added to "mcp_servers"; write there: [mcp_servers]`,
		"a = 1\r\nmcp_servers = { x = { y = 1 } }":         `line 2, an inline table, lets nothing be added to "mcp_servers"; write there [mcp_servers], and below it`,
		"a = 1\n[[mcp_servers]]\nname = 1\n":               `line 2 makes a list of "mcp_servers"; write there a table: [mcp_servers]`,
		"mcp_servers = \"x\"\n":                            `line 1 sets "mcp_servers"; write there instead: [mcp_servers.knowledge]`,
		"\nmcp_servers.knowledge.command = \"x\"\n":        `line 2 sets "mcp_servers.knowledge.command"; write there instead: [mcp_servers.knowledge]`,
		"[mcp_servers]\nknowledge = { command = \"x\" }\n": `line 2, an inline table, lets nothing be added to "mcp_servers.knowledge"; write there [mcp_servers.knowledge], and below it`,
	} {
		if _, _, err := (TOML{}).Set([]byte(before), path, entry); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", before, err)
		}
	}
	if _, _, err := (TOML{}).Set([]byte("a = 1\n[mcp_servers]\n"), path, entry); err != nil {
		t.Error(err)
	}
	// Nor is it said to be removed where it stays.
	inline := "mcp_servers = { knowledge = { command = \"x\" } }\n"
	if got, err := (TOML{}).Remove([]byte(inline), path, 0); err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("%q %v", got, err)
	}
}

// TestBlock: a block goes to the end and comes away again, whatever the file's line ends.
func TestBlock(t *testing.T) {
	for _, before := range []string{"", "# Rules\n", "# Rules", "# Rules\r\n\r\ntext\r\n", "\n\n"} {
		doc, err := SetBlock([]byte(before), "one\n\ntwo")
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(before, "\r\n") && strings.Count(string(doc), "\n") != strings.Count(string(doc), "\r\n") {
			t.Errorf("mixed line ends: %q", doc)
		}
		again, err := SetBlock(doc, "three")
		if text, ok, _ := GetBlock(again); err != nil || !ok || text != "three" {
			t.Errorf("%q: %q %v", before, text, err)
		}
		left, err := RemoveBlock(again)
		if want := before; err != nil || string(left) != want && string(left) != want+"\n" {
			t.Errorf("%q became %q, %v", before, left, err)
		}
	}
	for _, broken := range []string{BlockBegin, BlockEnd, BlockEnd + BlockBegin, BlockBegin + BlockBegin + BlockEnd} {
		if _, err := SetBlock([]byte(broken), "x"); err == nil {
			t.Errorf("%q is taken", broken)
		}
	}
}
