// Package plugin renders the files by which Claude Code and readers know the
// program: the slash commands in commands/, the reference docs/commands.md,
// the plugin's manifest and its MCP server. All come from the registry; they
// are checked in, and a test fails when they are stale.
package plugin

import (
	"bytes"
	"encoding/json"

	"github.com/seed-4f2d999b/knowledge/internal/command"
	installs "github.com/seed-4f2d999b/knowledge/internal/install"
	"github.com/seed-4f2d999b/knowledge/internal/product"
)

// The plugin and its MCP server have one name; agents see the tools as
// mcp__plugin_knowledge_knowledge__search and so on.
const (
	name       = "knowledge"
	toolPrefix = command.PluginTools
	home       = "https://github.com/seed-4f2d999b/knowledge"
	owner      = "seed-4f2d999b"

	description = "Ranked, cited knowledge of the code you depend on, your own folders and documentation, through three tools"
)

// Files returns every generated file by its slash-separated path in the
// repository. It fails when a template names a command, parameter or tool
// that the registry does not have.
func Files() (map[string][]byte, error) {
	files := map[string][]byte{
		".claude-plugin/plugin.json": indent(manifest{
			Name:        name,
			Version:     command.Version,
			Description: description,
			Author:      author{Name: owner, URL: "https://github.com/" + owner},
			Homepage:    home,
			Repository:  home,
			License:     "MIT",
			Keywords:    []string{"search", "code", "documentation", "index", "mcp"},
			UserConfig:  options,
		}),
		".claude-plugin/marketplace.json": indent(marketplace{
			Name:        owner,
			Description: "The knowledge plugin",
			Owner:       author{Name: owner, URL: "https://github.com/" + owner},
			Plugins:     []offer{{Name: name, Source: "./", Description: description, Category: "development"}},
		}),
		".mcp.json": indent(servers{map[string]server{
			// The one place that names the server; clients have ignored servers
			// inside plugin.json (https://github.com/anthropics/claude-code/issues/16143).
			// On Windows the client finds knowledge.cmd beside the script, by PATHEXT.
			name: {
				Command: "${CLAUDE_PLUGIN_ROOT}/bin/knowledge",
				Args:    []string{"mcp"},
				Env: map[string]string{
					"KNOWLEDGE_OPTION_DATA_DIR":    "${user_config.data_dir}",
					"KNOWLEDGE_OPTION_RELEASE_URL": "${user_config.release_url}",
				},
				AlwaysLoad: true,
			},
		}}),
		"hooks/hooks.json": hooks(),
		// A client that opens this repository takes .mcp.json for a project's own
		// file too, where there is no plugin and so no such folder (a default in
		// the variable would help there, and take the folder away from the
		// plugin). It is set not to start that one: claude --plugin-dir . does.
		".claude/settings.json": indent(struct {
			Disabled []string `json:"disabledMcpjsonServers"`
		}{[]string{name}}),
		"skills/" + name + "/SKILL.md": skill(),
		"docs/commands.md":             reference(),
		"docs/configuration.md":        configuration(),
		"docs/security-execute.md":     reach(),
		"docs/install.md":              installs.Page(product.Commands().Instructions()),
	}
	for _, s := range slashes {
		b, err := s.render()
		if err != nil {
			return nil, err
		}
		files["commands/"+s.name+".md"] = b
	}
	return files, nil
}

type manifest struct {
	Name        string   `json:"name"`
	Version     string   `json:"version"`
	Description string   `json:"description"`
	Author      author   `json:"author"`
	Homepage    string   `json:"homepage"`
	Repository  string   `json:"repository"`
	License     string   `json:"license"`
	Keywords    []string `json:"keywords"`

	UserConfig map[string]option `json:"userConfig"`
}

// marketplace makes the repository a place to install the plugin from.
type marketplace struct {
	Name        string  `json:"name"`
	Description string  `json:"description"`
	Owner       author  `json:"owner"`
	Plugins     []offer `json:"plugins"`
}

type offer struct {
	Name        string `json:"name"`
	Source      string `json:"source"`
	Description string `json:"description"`
	Category    string `json:"category"`
}

type author struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}

type servers struct {
	Servers map[string]server `json:"mcpServers"`
}

type server struct {
	Command    string            `json:"command"`
	Args       []string          `json:"args"`
	Env        map[string]string `json:"env,omitempty"`
	AlwaysLoad bool              `json:"alwaysLoad"` // three tools are cheap enough to be always there
}

func indent(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		panic(err) // structs of strings always marshal
	}
	return b.Bytes()
}
