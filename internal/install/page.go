package install

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/install/configedit"
)

// variables are those that move files of clients.
var variables = []string{"CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "COPILOT_HOME", "GEMINI_CLI_HOME"}

// Page renders docs/install.md. text is the block of instructions.
func Page(text string) []byte {
	var b strings.Builder
	b.WriteString(pageHead)
	for _, c := range Clients() {
		fmt.Fprintf(&b, "\n## %s: `%s`\n\n- yours: %s\n", c.Title, c.Name, places(c.User))
		if f := c.Project(Place{}); f != "" {
			fmt.Fprintf(&b, "- of a project: `%s`\n", strings.TrimPrefix(c.Project(Place{GOOS: "linux", Root: "."}), "./"))
		} else {
			b.WriteString("- of a project: none\n")
		}
		mine, theirs := places(c.UserText), strings.TrimPrefix(c.ProjectText(Place{GOOS: "linux", Root: "."}), "./")
		if mine == "" {
			fmt.Fprintf(&b, "- instructions: `%s` of a project\n", theirs)
		} else {
			fmt.Fprintf(&b, "- instructions: %s; `%s` of a project\n", mine, theirs)
		}
		fmt.Fprintf(&b, "- then: %s", c.After)
		if c.Shared != "" {
			b.WriteString("; of a project: " + c.Shared)
		}
		fmt.Fprintf(&b, "\n- documentation: <%s>\n\n", c.Docs)
		doc, _, err := c.Format.Set(nil, append(slices.Clone(c.Key), Server), c.Entry("/home/you/.local/bin/knowledge", []string{"mcp"}))
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

const pageHead = `# Installing

<!-- Generated from the table in internal/install: go test ./internal/face/plugin -update -->

## The program

One file, with nothing to install beside it. With Go, from a checkout: ` + "`go install ./cmd/knowledge`" + `; without one:
` + "`go install github.com/seed-4f2d999b/knowledge/cmd/knowledge@latest`" + `. Either compiles for a minute or more, and puts it
into ` + "`~/go/bin`" + `. From the first release on there is no need of Go:

| system | command |
|---|---|
| Linux, macOS | ` + "`curl -fsSL https://github.com/seed-4f2d999b/knowledge/releases/latest/download/install.sh \\| sh`" + ` |
| macOS, Linux with Homebrew | ` + "`brew install seed-4f2d999b/tap/knowledge`" + ` |
| Windows | ` + "`irm https://github.com/seed-4f2d999b/knowledge/releases/latest/download/install.ps1 \\| iex`" + ` |
| anywhere with Node.js | ` + "`npx -y @seed-4f2d999b/knowledge search \"…\"`" + ` |
| containers | ` + "`docker run -i --rm -v knowledge:/data -v \"$PWD\":/work:ro ghcr.io/seed-4f2d999b/knowledge mcp`" + ` |

install.sh needs no root, checks the SHA-256 of what it fetches, and takes a version or a mirror from ` + "`KNOWLEDGE_VERSION`" + `
and ` + "`KNOWLEDGE_RELEASE_URL`" + `. [releasing.md](releasing.md#the-channels) says what of all this has been tried.

## The agents

    knowledge install                            what is on this machine; asks which
    knowledge install --client claude,codex      these
    knowledge install --client all-found         all that are here, without asking
    knowledge install --client cursor --project  in the project's file, which others share
    knowledge install … --dry-run                the lines that would change
    knowledge install … --instructions           also a note in AGENTS.md, CLAUDE.md or GEMINI.md
    knowledge upgrade                            entries that are out of date; how the program is upgraded
    knowledge uninstall                          takes it out of every client; asks
    knowledge uninstall --purge                  also stores, schedules, caches, configuration; lists, and asks

One entry named "knowledge" is written into the client's own file, with the absolute path of this program: the one on
your PATH, which package managers keep where it is over versions. Nothing else in the file changes: comments, trailing
commas, indentation, line ends, a byte order mark, a missing last newline, the mode of the file and a link to it stay.
The file is replaced whole or not at all, and no copy is left behind. A file that does not parse is left alone and told
with line and column, and so is an entry of that name that somebody else wrote, until you say ` + "`--force`" + `.

What was inserted is noted in ` + "`installs.json`" + ` in the data directory, so that an uninstall gives back the bytes that were
there; in a file that was changed since, our entry goes and nothing else. A file or folder that did not exist before is
gone after. New files are readable by you alone, those of a project by everybody.

Where Claude Code has our plugin, no second server is added. When the plugin came after an install there are two, which
` + "`knowledge doctor`" + ` tells; the cure is ` + "`knowledge uninstall --client claude`" + `. The client updates a plugin only when the number
of its version changes: while that stays, ` + "`claude plugin update`" + ` brings nothing new.

Files are edited directly, and not by the clients' own commands (` + "`claude mcp add`" + `): they are documented, the client need
not be on the PATH, a dry run shows what comes, and an uninstall can be exact. Clients that put off showing tools to
their model are told not to, where they know such a setting (` + "`alwaysLoad`, `deferTools`" + `): three small tools cost less
than looking for them.

The rows below were compared with each client's documentation on ` + Checked + `.
`

const pageFoot = `
## What tools may do without asking

Each client asks before a tool runs, by its own settings, which an install does not touch. ` + "`search`" + ` and
` + "`get_full_context`" + ` only read. To allow these two for good in Claude Code, add to ` + "`permissions.allow`" + ` of its settings:
` + "`\"mcp__knowledge__search\"` and `\"mcp__knowledge__get_full_context\"`" + `.

## Removing everything

` + "`knowledge uninstall --purge --dry-run`" + ` lists what a purge deletes: the entries in clients, what the program made in its
data directory (the database with stores and schedules, segments, views, generations, clones, crawled pages, jobs,
replies, logs, caches), the programs that the plugin's launcher keeps (` + "`~/.cache/knowledge/bin`" + `, on Windows
` + "`%LocalAppData%\\knowledge-bin`" + `) and its configuration file. What else lies in the data directory stays, and is named,
and so is ` + "`.knowledge/stores.json`" + ` of each project that is known: it belongs to the project. The program itself goes the way
it came; the last line says how, as far as its place shows it.

## The instructions

With ` + "`--instructions`" + ` this block is added to the end of the file, and an uninstall takes exactly it away:
`
