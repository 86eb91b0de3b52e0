package packaging

import (
	"bytes"
	"fmt"
	"text/template"
)

// registryServer is the server.json of the MCP registry:
// https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json
type registryServer struct {
	Schema      string             `json:"$schema"`
	Name        string             `json:"name"`
	Title       string             `json:"title"`
	Description string             `json:"description"`
	Repository  registryRepository `json:"repository"`
	Version     string             `json:"version"`
	WebsiteURL  string             `json:"websiteUrl"`
	Packages    []registryPackage  `json:"packages"`
}

type registryRepository struct {
	URL    string `json:"url"`
	Source string `json:"source"`
}

type registryPackage struct {
	Type        string             `json:"registryType"`
	Identifier  string             `json:"identifier"`
	Version     string             `json:"version,omitempty"`
	SHA256      string             `json:"fileSha256,omitempty"`
	Runtime     string             `json:"runtimeHint,omitempty"`
	RuntimeArgs []registryArgument `json:"runtimeArguments,omitempty"`
	Args        []registryArgument `json:"packageArguments,omitempty"`
	Transport   registryTransport  `json:"transport"`
}

type registryTransport struct {
	Type string `json:"type"`
}

type registryArgument struct {
	Type        string                   `json:"type"` // "positional", "named"
	Name        string                   `json:"name,omitempty"`
	Value       string                   `json:"value"`
	Description string                   `json:"description,omitempty"`
	Variables   map[string]registryInput `json:"variables,omitempty"`
}

type registryInput struct {
	Description string `json:"description"`
	Format      string `json:"format"`
	Required    bool   `json:"isRequired"`
}

func serverJSON(version string, sums Sums) ([]byte, error) {
	stdio := registryTransport{"stdio"}
	start := []registryArgument{{Type: "positional", Value: "mcp"}}
	s := registryServer{
		Schema:      "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
		Name:        ServerName,
		Title:       "Knowledge",
		Description: description,
		Repository:  registryRepository{home, "github"},
		Version:     version,
		WebsiteURL:  home,
		Packages: []registryPackage{
			{Type: "npm", Identifier: NpmPackage, Version: version, Runtime: "npx", Args: start, Transport: stdio},
			{
				Type: "oci", Identifier: Image + ":" + version, Runtime: "docker", Args: start, Transport: stdio,
				RuntimeArgs: []registryArgument{
					{Type: "named", Name: "-v", Value: name + ":/data", Description: "the volume that stores and indexes are kept in"},
					{
						Type: "named", Name: "-v", Value: "{folder}:/work:ro", Description: "the folder that is searched, for reading only",
						Variables: map[string]registryInput{"folder": {"the project or folder to search", "filepath", true}},
					},
				},
			},
		},
	}
	for _, p := range Platforms {
		file := p.Bundle(version)
		sum, err := sums.of(file)
		if err != nil {
			return nil, err
		}
		s.Packages = append(s.Packages, registryPackage{Type: "mcpb", Identifier: DownloadURL(version, file), SHA256: sum, Transport: stdio})
	}
	return indent(s), nil
}

// npmManifest is a package.json: https://docs.npmjs.com/cli/configuring-npm/package-json
type npmManifest struct {
	Name        string            `json:"name"`
	Version     string            `json:"version"`
	Description string            `json:"description"`
	Keywords    []string          `json:"keywords"`
	License     string            `json:"license"`
	Homepage    string            `json:"homepage"`
	Repository  npmRepository     `json:"repository"`
	Bugs        string            `json:"bugs"`
	MCPName     string            `json:"mcpName,omitempty"`
	Bin         map[string]string `json:"bin,omitempty"`
	Files       []string          `json:"files"`
	OS          []string          `json:"os,omitempty"`
	CPU         []string          `json:"cpu,omitempty"`
	Unpack      bool              `json:"preferUnplugged,omitempty"` // Yarn: a program cannot run inside a zip
	Engines     map[string]string `json:"engines,omitempty"`
	Optional    map[string]string `json:"optionalDependencies,omitempty"`
}

type npmRepository struct {
	Type string `json:"type"`
	URL  string `json:"url"`
}

func npmBase(pkg, version string) npmManifest {
	return npmManifest{
		Name: pkg, Version: version, Description: description, Keywords: keywords, License: license,
		Homepage: home, Repository: npmRepository{"git", "git+" + home + ".git"}, Bugs: home + "/issues",
	}
}

// npmWrapper is the package that users name. npm installs of its optional
// dependencies those that fit the machine: one.
func npmWrapper(version string) []byte {
	m := npmBase(NpmPackage, version)
	m.MCPName = ServerName
	m.Bin = map[string]string{name: name + ".js"}
	m.Files = []string{name + ".js", "LICENSE", "NOTICE"}
	m.Engines = map[string]string{"node": ">=18"}
	m.Optional = map[string]string{}
	for _, p := range Platforms {
		m.Optional[p.NpmPackage()] = version
	}
	return indent(m)
}

// npmProgram is the package that holds the program of one platform.
func npmProgram(p Platform, version string) []byte {
	m := npmBase(p.NpmPackage(), version)
	m.Files = []string{p.Binary(), "LICENSE", "NOTICE"}
	m.OS, m.CPU, m.Unpack = []string{p.NodeOS}, []string{p.NodeArch}, true
	return indent(m)
}

type scoopApp struct {
	Version      string               `json:"version"`
	Description  string               `json:"description"`
	Homepage     string               `json:"homepage"`
	License      string               `json:"license"`
	Architecture map[string]scoopFile `json:"architecture"`
	Bin          string               `json:"bin"`
	CheckVersion string               `json:"checkver"`
	Update       struct {
		Architecture map[string]scoopFile `json:"architecture"`
		Hash         struct {
			URL string `json:"url"`
		} `json:"hash"`
	} `json:"autoupdate"`
}

type scoopFile struct {
	URL  string `json:"url"`
	Hash string `json:"hash,omitempty"`
}

// scoopManifest is the manifest of a Scoop bucket:
// https://github.com/ScoopInstaller/Scoop/wiki/App-Manifests
func scoopManifest(version string, sums Sums) ([]byte, error) {
	app := scoopApp{
		Version: version, Description: description, Homepage: home, License: license, Bin: name + ".exe", CheckVersion: "github",
		Architecture: map[string]scoopFile{},
	}
	app.Update.Architecture = map[string]scoopFile{}
	app.Update.Hash.URL = "$baseurl/checksums.txt"
	for _, p := range Platforms {
		if p.OS != "windows" {
			continue
		}
		arch := map[string]string{"amd64": "64bit", "arm64": "arm64"}[p.Arch]
		sum, err := sums.of(p.Archive(version))
		if err != nil {
			return nil, err
		}
		app.Architecture[arch] = scoopFile{DownloadURL(version, p.Archive(version)), sum}
		app.Update.Architecture[arch] = scoopFile{URL: DownloadURL("$version", p.Archive("$version"))}
	}
	return indent(app), nil
}

// formulaText is a Homebrew formula: https://docs.brew.sh/Formula-Cookbook
var formulaText = template.Must(template.New("formula").Parse(`class Knowledge < Formula
  desc "Ranked, cited search over code, folders and documentation"
  homepage "{{.Home}}"
  version "{{.Version}}"
  license "{{.License}}"
{{range .Systems}}
  on_{{.Name}} do
{{- range .Files}}
    on_{{.Arch}} do
      url "{{.URL}}"
      sha256 "{{.SHA256}}"
    end
{{- end}}
  end
{{end}}
  def install
    bin.install "knowledge"
    man1.install "knowledge.1"
    generate_completions_from_executable(bin/"knowledge", "completion")
  end

  test do
    (testpath/"notes.md").write "The lighthouse is painted red."
    ENV["KNOWLEDGE_DATA_DIR"] = testpath/"data"
    assert_match "notes.md", shell_output("#{bin}/knowledge search 'red lighthouse'")
  end
end
`))

func formula(version string, sums Sums) ([]byte, error) {
	type file struct{ Arch, URL, SHA256 string }
	type system struct {
		Name  string
		Files []file
	}
	var systems []system
	for _, s := range []struct{ os, brew string }{{"darwin", "macos"}, {"linux", "linux"}} {
		sys := system{Name: s.brew}
		for _, p := range Platforms {
			if p.OS != s.os {
				continue
			}
			sum, err := sums.of(p.Archive(version))
			if err != nil {
				return nil, err
			}
			arch := map[string]string{"amd64": "intel", "arm64": "arm"}[p.Arch]
			sys.Files = append(sys.Files, file{arch, DownloadURL(version, p.Archive(version)), sum})
		}
		systems = append(systems, sys)
	}
	var b bytes.Buffer
	err := formulaText.Execute(&b, map[string]any{"Home": home, "Version": version, "License": license, "Systems": systems})
	if err != nil {
		return nil, fmt.Errorf("formula: %w", err)
	}
	return b.Bytes(), nil
}
