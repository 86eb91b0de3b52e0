package packaging

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/seed-4f2d999b/knowledge/internal/product"
)

// PinnedPlugin returns the plugin.json of Claude Code with the programs of a
// release, which the client fetches when it installs the plugin and compares
// with these checksums. The manifest that is checked in names none, so that a
// checkout builds its source.
func PinnedPlugin(manifest []byte, sums Sums) ([]byte, error) {
	type pin struct {
		SHA256 string `json:"sha256"`
	}
	pins := map[string]pin{}
	for _, p := range Platforms {
		sum, err := sums.of(p.Pinned())
		if err != nil {
			return nil, err
		}
		pins[p.Pinned()] = pin{sum}
	}
	b, err := json.Marshal(pins)
	if err != nil {
		return nil, err
	}
	rest, ok := bytes.CutSuffix(bytes.TrimSpace(manifest), []byte("}"))
	if !ok || !json.Valid(manifest) || bytes.Contains(manifest, []byte(`"binaries"`)) {
		return nil, fmt.Errorf("plugin.json is no manifest without binaries")
	}
	var out bytes.Buffer
	if err := json.Indent(&out, fmt.Appendf(nil, "%s, \"binaries\": %s}", rest, b), "", "  "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// The files of Codex: https://developers.openai.com/codex/plugins/build
//
// Codex starts a plugin's server in the folder of the plugin when the command
// lies there, and in that of the session when it is found on the PATH. Only
// the latter knows the project, so the plugin names the installed program.

type codexCatalog struct {
	Name      string       `json:"name"`
	Interface codexShown   `json:"interface"`
	Plugins   []codexEntry `json:"plugins"`
}

type codexShown struct {
	DisplayName      string   `json:"displayName"`
	ShortDescription string   `json:"shortDescription,omitempty"`
	LongDescription  string   `json:"longDescription,omitempty"`
	DeveloperName    string   `json:"developerName,omitempty"`
	Category         string   `json:"category,omitempty"`
	Capabilities     []string `json:"capabilities,omitempty"`
	WebsiteURL       string   `json:"websiteURL,omitempty"`
}

type codexEntry struct {
	Name     string      `json:"name"`
	Source   codexSource `json:"source"`
	Policy   codexPolicy `json:"policy"`
	Category string      `json:"category"`
}

type codexSource struct {
	Source string `json:"source"`
	Path   string `json:"path"`
}

type codexPolicy struct {
	Installation   string `json:"installation"`
	Authentication string `json:"authentication"`
}

const codexCategory = "Developer Tools"

func codexMarketplace() []byte {
	return indent(codexCatalog{
		Name:      owner,
		Interface: codexShown{DisplayName: name},
		Plugins: []codexEntry{{
			Name:     name,
			Source:   codexSource{"local", "./packaging/codex"},
			Policy:   codexPolicy{"AVAILABLE", "ON_INSTALL"},
			Category: codexCategory,
		}},
	})
}

type codexManifest struct {
	Name        string     `json:"name"`
	Version     string     `json:"version"`
	Description string     `json:"description"`
	Author      author     `json:"author"`
	Homepage    string     `json:"homepage"`
	Repository  string     `json:"repository"`
	License     string     `json:"license"`
	Keywords    []string   `json:"keywords"`
	Servers     string     `json:"mcpServers"`
	Interface   codexShown `json:"interface"`
}

type author struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}

var (
	maker    = author{owner, "https://github.com/" + owner}
	keywords = []string{"search", "code", "documentation", "index", "mcp"}
)

func codexPlugin(version string) []byte {
	return indent(codexManifest{
		Name: name, Version: version, Description: description, Author: maker,
		Homepage: home, Repository: home, License: license, Keywords: keywords,
		Servers: "./.mcp.json",
		Interface: codexShown{
			DisplayName:      name,
			ShortDescription: "Search your code, its dependencies and documentation",
			LongDescription:  description + ". It needs the program " + name + " on the PATH; see " + home + ".",
			DeveloperName:    owner,
			Category:         codexCategory,
			Capabilities:     []string{"Read"},
			WebsiteURL:       home,
		},
	})
}

type client struct {
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

type clientServers struct {
	Servers map[string]client `json:"mcpServers"`
}

func codexServers() []byte {
	return indent(clientServers{map[string]client{name: {name, []string{"mcp"}}}})
}

// geminiExtension is the manifest in the root of each archive that Gemini CLI
// unpacks: https://geminicli.com/docs/extensions/reference/ The client names no
// project by itself, and outside git its folder would be none.
func geminiExtension(p Platform, version string) []byte {
	return indent(struct {
		Name        string            `json:"name"`
		Version     string            `json:"version"`
		Description string            `json:"description"`
		Servers     map[string]client `json:"mcpServers"`
	}{name, version, description, map[string]client{
		name: {"${extensionPath}${/}" + p.Binary(), []string{"mcp", "--project", "${workspacePath}"}},
	}})
}

// bundleManifest is the manifest.json of an MCP bundle, by version 0.3 of its
// format: https://github.com/modelcontextprotocol/mcpb/blob/main/MANIFEST.md
//
// Desktop clients start a server anywhere, so the user names the folder.
type bundleManifest struct {
	Format      string               `json:"manifest_version"`
	Name        string               `json:"name"`
	DisplayName string               `json:"display_name"`
	Version     string               `json:"version"`
	Description string               `json:"description"`
	Author      author               `json:"author"`
	Repository  npmRepository        `json:"repository"`
	Homepage    string               `json:"homepage"`
	Support     string               `json:"support"`
	Server      bundleServer         `json:"server"`
	Tools       []bundleTool         `json:"tools"`
	Keywords    []string             `json:"keywords"`
	License     string               `json:"license"`
	Fits        bundlePlatforms      `json:"compatibility"`
	UserConfig  map[string]bundleKey `json:"user_config"`
}

type bundleServer struct {
	Type       string `json:"type"`
	EntryPoint string `json:"entry_point"`
	Config     client `json:"mcp_config"`
}

type bundleTool struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

type bundlePlatforms struct {
	Platforms []string `json:"platforms"`
}

type bundleKey struct {
	Type        string `json:"type"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Required    bool   `json:"required"`
}

func mcpbManifest(p Platform, version string) []byte {
	program := "server/" + p.Binary()
	m := bundleManifest{
		Format: "0.3", Name: name, DisplayName: "Knowledge", Version: version, Description: description,
		Author: maker, Repository: npmRepository{"git", home + ".git"}, Homepage: home, Support: home + "/issues",
		Server: bundleServer{"binary", program, client{
			Command: "${__dirname}/" + program,
			Args:    []string{"mcp", "--project", "${user_config.folder}"},
		}},
		Keywords: keywords, License: license,
		Fits: bundlePlatforms{[]string{p.NodeOS}},
		UserConfig: map[string]bundleKey{"folder": {
			"directory", "Folder", "The project or folder that is searched when no store is named; it is read, never written", true,
		}},
	}
	for _, c := range product.Commands().All() {
		if c.Native {
			m.Tools = append(m.Tools, bundleTool{c.Name, c.Summary})
		}
	}
	return indent(m)
}
