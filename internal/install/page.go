package install

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/install/configedit"
)

// What comes before and after the rows of clients.
var (
	//go:embed pagehead.md
	pageHead string
	//go:embed pagefoot.md
	pageFoot string
)

// variables are those that move files of clients.
var variables = []string{"CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "COPILOT_HOME", "GEMINI_CLI_HOME"}

// Page renders docs/install.md. text is the block of instructions.
func Page(text string) []byte {
	var b strings.Builder
	b.WriteString(strings.Replace(pageHead, "{checked}", Checked, 1))
	for _, c := range Clients() {
		fmt.Fprintf(&b, "\n## %s: `%s`\n\n- yours: %s\n", c.Title, c.Name, places(c.User))
		shared := "none"
		if c.Project(Place{}) != "" {
			shared = "`" + strings.TrimPrefix(c.Project(Place{GOOS: "linux", Root: "."}), "./") + "`"
		}
		fmt.Fprintf(&b, "- of a project: %s\n", shared)
		mine, theirs := places(c.UserText), strings.TrimPrefix(c.ProjectText(Place{GOOS: "linux", Root: "."}), "./")
		if mine != "" {
			mine += "; "
		}
		fmt.Fprintf(&b, "- instructions: %s`%s` of a project\n", mine, theirs)
		fmt.Fprintf(&b, "- then: %s", c.After)
		if c.Shared != "" {
			b.WriteString("; of a project: " + c.Shared)
		}
		fmt.Fprintf(&b, "\n- documentation: <%s>\n\n", c.Docs)
		entry := c.Entry("/home/you/.local/bin/knowledge", []string{"mcp"})
		doc, _, err := c.Format.Set(nil, append(slices.Clone(c.Key), Server), entry)
		if err != nil {
			panic(err) // found by the test of the page
		}
		for l := range strings.Lines(string(doc)) {
			b.WriteString("    " + l)
		}
	}
	b.WriteString(pageFoot)
	fmt.Fprintf(&b, "\n    %s\n", configedit.BlockBegin)
	for l := range strings.Lines(text + "\n") {
		b.WriteString(strings.TrimRight("    "+l, " \n") + "\n")
	}
	fmt.Fprintf(&b, "    %s\n", configedit.BlockEnd)
	return []byte(b.String())
}

// places names a file on every system, and where variables move it.
func places(file func(Place) string) string {
	at := func(goos, set string) string {
		p := Place{GOOS: goos, Home: "~", Env: func(k string) string {
			switch {
			case k == "APPDATA":
				return "%APPDATA%"
			case k == set:
				return "$" + k
			}
			return ""
		}}
		return strings.ReplaceAll(file(p), `\`, "/")
	}
	linux, mac, windows := at("linux", ""), at("darwin", ""), at("windows", "")
	if linux == "" {
		return ""
	}
	text := "`" + linux + "`"
	if mac != linux {
		text += ", on macOS `" + mac + "`"
	}
	if windows != linux {
		text += ", on Windows `" + windows + "`"
	}
	for _, v := range variables {
		if moved := at("linux", v); moved != linux {
			text += "; `" + moved + "` when that is set"
		}
	}
	return text
}
