// Package plugin renders the files by which Claude Code and readers know the
// program: the slash commands in commands/, the reference docs/commands.md,
// the plugin's manifest and its MCP server. All come from the registry; they
// are checked in, and a test fails when they are stale.
package plugin

import (
	"bytes"
	"encoding/json"

	"github.com/seed-4f2d999b/knowledge/internal/command"
)

// The plugin and its MCP server have one name; agents see the tools as
// mcp__plugin_knowledge_knowledge__search and so on.
const (
	name       = "knowledge"
	toolPrefix = "mcp__plugin_" + name + "_" + name + "__"
	home       = "https://github.com/seed-4f2d999b/knowledge"
	owner      = "seed-4f2d999b"
)

// Files returns every generated file by its slash-separated path in the
// repository. It fails when a template names a command, parameter or tool
// that the registry does not have.
func Files() (map[string][]byte, error) {
	files := map[string][]byte{
		".claude-plugin/plugin.json": indent(manifest{
			Name:        name,
			Version:     command.Version,
			Description: "Ranked, cited knowledge of the code you depend on, your own folders and documentation, through three tools",
			Author:      author{Name: owner, URL: "https://github.com/" + owner},
			Homepage:    home,
			Repository:  home,
			License:     "MIT",
			Keywords:    []string{"search", "code", "documentation", "index", "mcp"},
		}),
		".mcp.json": indent(servers{map[string]server{
			// Outside a plugin the variable is unset: the file is also this
			// repository's own project file.
			name: {Command: "${CLAUDE_PLUGIN_ROOT:-.}/bin/knowledge", Args: []string{"mcp"}, AlwaysLoad: true},
		}}),
		"docs/commands.md": reference(),
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
}

type author struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}

type servers struct {
	Servers map[string]server `json:"mcpServers"`
}

type server struct {
	Command    string   `json:"command"`
	Args       []string `json:"args"`
	AlwaysLoad bool     `json:"alwaysLoad"` // three tools are cheap enough to be always there
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
