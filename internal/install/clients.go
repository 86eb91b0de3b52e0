package install

import (
	"os"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/install/configedit"
)

// Client is a program that speaks with agents and reads its servers from a file.
type Client struct {
	Name  string // as --client takes it
	Title string
	// Docs is the public address of the documentation that the row was written
	// from, looked up on the date of Checked.
	Docs string

	Format configedit.Format
	// Key is where servers are kept in the file; the entry is Key.knowledge.
	Key []string
	// Newer is Key of a newer form of the file, used where the file has it.
	Newer []string
	// Entry is what is written.
	Entry func(command string, args []string) configedit.Entry

	User    func(Place) string // the user's own file
	Project func(Place) string // the file of a project, "" when the client has none
	// UserText and ProjectText are the files whose text the client shows its
	// model; "" when there is none.
	UserText, ProjectText func(Place) string

	Programs []string             // found on the PATH
	Folders  func(Place) []string // whose presence says that it is installed
	After    string               // what the user does then
	Shared   string               // what the file of a project needs besides
	Plugin   func(Place) []string // settings that may enable our plugin
}

// Checked is the day on which every row was compared with its documentation.
const Checked = "2026-11-22"

// Server is the name of the entry.
const Server = "knowledge"

// Place is where files are looked for.
type Place struct {
	GOOS string
	Home string
	Root string // of the project
	Env  func(string) string
}

// join puts a path together as the place's system writes it.
func (p Place) join(first string, rest ...string) string {
	sep := "/"
	if p.GOOS == "windows" {
		sep = `\`
	}
	return strings.Join(append([]string{strings.TrimRight(first, sep)}, rest...), sep)
}

func (p Place) home(rest ...string) string { return p.join(p.Home, rest...) }

func (p Place) root(rest ...string) string { return p.join(p.Root, rest...) }

// or is the folder that a variable names, else one below the home directory.
func (p Place) or(variable string, rest ...string) string {
	if d := p.Env(variable); d != "" {
		return d
	}
	return p.home(rest...)
}

// appConfig is where programs keep settings by the rules of the platform.
func (p Place) appConfig(rest ...string) string {
	switch p.GOOS {
	case "windows":
		if d := p.Env("APPDATA"); d != "" {
			return p.join(d, rest...)
		}
		return p.home(append([]string{"AppData", "Roaming"}, rest...)...)
	case "darwin":
		return p.home(append([]string{"Library", "Application Support"}, rest...)...)
	}
	return p.xdg(rest...)
}

// xdg is below $XDG_CONFIG_HOME, else ~/.config, on every platform.
func (p Place) xdg(rest ...string) string {
	if d := p.Env("XDG_CONFIG_HOME"); d != "" {
		return p.join(d, rest...)
	}
	return p.home(append([]string{".config"}, rest...)...)
}

// either returns the first file that there is, else the first.
func either(files ...string) string {
	for _, f := range files {
		if _, err := os.Lstat(f); err == nil {
			return f
		}
	}
	return files[0]
}

var (
	plain = func(command string, args []string) configedit.Entry {
		return configedit.Entry{{Key: "command", Value: command}, {Key: "args", Value: args}}
	}
	stdio = func(command string, args []string) configedit.Entry {
		return append(configedit.Entry{{Key: "type", Value: "stdio"}}, plain(command, args)...)
	}
	servers = []string{"mcpServers"}
	none    = func(Place) string { return "" }
)

func inRoot(rest ...string) func(Place) string {
	return func(p Place) string { return p.root(rest...) }
}

// claudeDir is where Claude Code keeps its settings, and claudeFile its servers:
// beside the folder in the home directory, inside one that the user names.
func claudeDir(p Place) string { return p.or("CLAUDE_CONFIG_DIR", ".claude") }

func claudeFile(p Place) string {
	if d := p.Env("CLAUDE_CONFIG_DIR"); d != "" {
		return p.join(d, ".claude.json")
	}
	return p.home(".claude.json")
}

// Clients returns the table, in the order of display.
func Clients() []Client { return slices.Clone(clients) }

var clients = []Client{{
	Name: "claude", Title: "Claude Code", Docs: "https://code.claude.com/docs/en/mcp",
	Format: configedit.JSON{}, Key: servers,
	// alwaysLoad: the tools are shown to the model at once, not after a search for them.
	Entry: func(command string, args []string) configedit.Entry {
		return append(stdio(command, args), configedit.Field{Key: "alwaysLoad", Value: true})
	},
	User: claudeFile, Project: inRoot(".mcp.json"),
	UserText:    func(p Place) string { return p.join(claudeDir(p), "CLAUDE.md") },
	ProjectText: inRoot("CLAUDE.md"),
	Programs:    []string{"claude"},
	Folders:     func(p Place) []string { return []string{claudeDir(p), claudeFile(p)} },
	After:       "start a new session",
	Shared:      "it asks each user once to approve the servers of a project",
	Plugin: func(p Place) []string {
		return []string{p.join(claudeDir(p), "settings.json"), p.root(".claude", "settings.json"),
			p.root(".claude", "settings.local.json")}
	},
}, {
	Name: "codex", Title: "Codex", Docs: "https://developers.openai.com/codex/mcp",
	Format: configedit.TOML{}, Key: []string{"mcp_servers"}, Entry: plain,
	User:        func(p Place) string { return p.join(p.or("CODEX_HOME", ".codex"), "config.toml") },
	Project:     inRoot(".codex", "config.toml"),
	UserText:    func(p Place) string { return p.join(p.or("CODEX_HOME", ".codex"), "AGENTS.md") },
	ProjectText: inRoot("AGENTS.md"),
	Programs:    []string{"codex"},
	Folders:     func(p Place) []string { return []string{p.or("CODEX_HOME", ".codex")} },
	After:       "start a new session",
	Shared:      "it reads the file of a project that is trusted",
}, {
	Name: "cursor", Title: "Cursor", Docs: "https://cursor.com/docs/context/mcp",
	Format: configedit.JSON{}, Key: servers, Entry: stdio,
	User:     func(p Place) string { return p.home(".cursor", "mcp.json") },
	Project:  inRoot(".cursor", "mcp.json"),
	UserText: none, ProjectText: inRoot("AGENTS.md"),
	Programs: []string{"cursor", "cursor-agent"},
	Folders:  func(p Place) []string { return []string{p.home(".cursor"), p.appConfig("Cursor")} },
	After:    "see Settings, Tools & MCP",
}, {
	Name: "vscode", Title: "VS Code", Docs: "https://code.visualstudio.com/docs/copilot/reference/mcp-configuration",
	Format: configedit.JSON{}, Key: []string{"servers"}, Entry: stdio,
	User:     func(p Place) string { return p.appConfig("Code", "User", "mcp.json") },
	Project:  inRoot(".vscode", "mcp.json"),
	UserText: none, ProjectText: inRoot("AGENTS.md"),
	Programs: []string{"code"},
	Folders:  func(p Place) []string { return []string{p.appConfig("Code", "User")} },
	After:    `run "MCP: List Servers" and start it, once`,
}, {
	Name: "windsurf", Title: "Windsurf", Docs: "https://docs.windsurf.com/windsurf/cascade/mcp",
	Format: configedit.JSON{}, Key: servers, Entry: plain,
	User:     func(p Place) string { return p.home(".codeium", "windsurf", "mcp_config.json") },
	Project:  none,
	UserText: none, ProjectText: inRoot("AGENTS.md"),
	Programs: []string{"windsurf"},
	Folders:  func(p Place) []string { return []string{p.home(".codeium", "windsurf")} },
	After:    "press Refresh in the list of MCP servers",
}, {
	Name: "zed", Title: "Zed", Docs: "https://zed.dev/docs/ai/mcp",
	Format: configedit.JSON{}, Key: []string{"context_servers"}, Entry: plain,
	User:     zedFile,
	Project:  inRoot(".zed", "settings.json"),
	UserText: none, ProjectText: inRoot("AGENTS.md"),
	Programs: []string{"zed", "zeditor"},
	Folders:  func(p Place) []string { return []string{strings.TrimSuffix(zedFile(p), p.join("", "settings.json"))} },
	After:    "it takes the change up at once",
	Shared:   "it reads the file of a worktree that is trusted",
}, {
	Name: "gemini", Title: "Gemini CLI", Docs: "https://geminicli.com/docs/tools/mcp-server/",
	Format: configedit.JSON{}, Key: servers, Entry: plain,
	User:        func(p Place) string { return p.join(geminiDir(p), "settings.json") },
	Project:     inRoot(".gemini", "settings.json"),
	UserText:    func(p Place) string { return p.join(geminiDir(p), "GEMINI.md") },
	ProjectText: inRoot("GEMINI.md"),
	Programs:    []string{"gemini"},
	Folders:     func(p Place) []string { return []string{geminiDir(p)} },
	After:       "start a new session",
	Shared:      "it reads the file of a folder that is trusted, and starts servers there only",
}, {
	// Version 2 keeps servers below mcp.servers and reads the form of
	// version 1, directly below mcp, as well: https://opencode.ai/docs/migrate-v1/.
	Name: "opencode", Title: "OpenCode", Docs: "https://opencode.ai/docs/mcp-servers/",
	Format: configedit.JSON{}, Key: []string{"mcp"}, Newer: []string{"mcp", "servers"},
	Entry: func(command string, args []string) configedit.Entry {
		return configedit.Entry{{Key: "type", Value: "local"}, {Key: "command", Value: append([]string{command}, args...)}}
	},
	User: func(p Place) string {
		return either(p.xdg("opencode", "opencode.json"), p.xdg("opencode", "opencode.jsonc"))
	},
	Project:     func(p Place) string { return either(p.root("opencode.json"), p.root("opencode.jsonc")) },
	UserText:    func(p Place) string { return p.xdg("opencode", "AGENTS.md") },
	ProjectText: inRoot("AGENTS.md"),
	Programs:    []string{"opencode"},
	Folders:     func(p Place) []string { return []string{p.xdg("opencode")} },
	After:       "start a new session",
}, {
	Name: "copilot", Title: "Copilot CLI", Docs: "https://docs.github.com/en/copilot/how-tos/copilot-cli/customize-copilot/add-mcp-servers",
	Format: configedit.JSON{}, Key: servers,
	// deferTools: as alwaysLoad of Claude Code.
	Entry: func(command string, args []string) configedit.Entry {
		return append(configedit.Entry{{Key: "type", Value: "local"}},
			append(plain(command, args), configedit.Field{Key: "tools", Value: []string{"*"}},
				configedit.Field{Key: "deferTools", Value: "never"})...)
	},
	User:     func(p Place) string { return p.join(p.or("COPILOT_HOME", ".copilot"), "mcp-config.json") },
	Project:  inRoot(".github", "mcp.json"),
	UserText: none, ProjectText: inRoot("AGENTS.md"),
	Programs: []string{"copilot"},
	Folders:  func(p Place) []string { return []string{p.or("COPILOT_HOME", ".copilot")} },
	After:    "start a new session",
	Shared:   "it reads the file of a folder that is trusted",
}, {
	Name: "kiro", Title: "Kiro", Docs: "https://kiro.dev/docs/mcp/configuration/",
	Format: configedit.JSON{}, Key: servers, Entry: plain,
	User:     func(p Place) string { return p.home(".kiro", "settings", "mcp.json") },
	Project:  inRoot(".kiro", "settings", "mcp.json"),
	UserText: none, ProjectText: inRoot("AGENTS.md"),
	Programs: []string{"kiro", "kiro-cli"},
	Folders:  func(p Place) []string { return []string{p.home(".kiro")} },
	After:    "it takes the change up at once",
}}

// zedFile: macOS too keeps it below ~/.config, see https://zed.dev/docs/configuring-zed.
func zedFile(p Place) string {
	switch p.GOOS {
	case "windows":
		return p.appConfig("Zed", "settings.json")
	case "linux":
		return p.xdg("zed", "settings.json")
	}
	return p.home(".config", "zed", "settings.json")
}

// geminiDir: the variable names the home directory that it sees.
func geminiDir(p Place) string {
	if d := p.Env("GEMINI_CLI_HOME"); d != "" {
		return p.join(d, ".gemini")
	}
	return p.home(".gemini")
}
