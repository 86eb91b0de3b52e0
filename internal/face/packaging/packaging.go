// Package packaging renders the files by which package managers, registries
// and other clients know a release: manifests of Codex, Gemini CLI, MCPB, the
// MCP registry, npm, Homebrew and Scoop. The version comes from the registry
// of commands, checksums from the release's checksums.txt, and both are typed
// nowhere else.
//
// What needs no checksum is checked in (Committed) or stamped into a script
// (Stamp); a test fails when it is stale. The rest is made by cmd/releasefiles:
// Bundles before a release's checksums are taken, Channels after.
package packaging

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/command"
)

const (
	name    = "knowledge"
	owner   = "seed-4f2d999b"
	home    = "https://github.com/" + owner + "/" + name
	license = "MIT"

	// The MCP registry takes at most 100 characters.
	description = "Ranked, cited search over your code, its dependencies, folders and documentation; works offline"

	// ServerName is the name in the MCP registry. npm packages and images
	// repeat it, by which the registry knows that one owner made them.
	ServerName = "io.github." + owner + "/" + name
	// NpmPackage is the npm package that users name; those of the platforms
	// are called like it with "-linux-x64" and so on behind.
	NpmPackage = "@" + owner + "/" + name
	// Image is the container image without its tag.
	Image = "ghcr.io/" + owner + "/" + name
)

// Platform is an operating system and processor that releases are built for.
type Platform struct {
	OS, Arch         string // as Go spells them
	NodeOS, NodeArch string // as Node.js does: process.platform, process.arch
}

// Platforms is the table of all, in the order of their names.
var Platforms = []Platform{
	{"darwin", "amd64", "darwin", "x64"},
	{"darwin", "arm64", "darwin", "arm64"},
	{"linux", "amd64", "linux", "x64"},
	{"linux", "arm64", "linux", "arm64"},
	{"windows", "amd64", "win32", "x64"},
	{"windows", "arm64", "win32", "arm64"},
}

// Binary returns the file name of the program.
func (p Platform) Binary() string {
	if p.OS == "windows" {
		return name + ".exe"
	}
	return name
}

// Archive returns the name of the release's archive, as .goreleaser.yaml and
// the installers spell it.
func (p Platform) Archive(version string) string {
	ext := ".tar.gz"
	if p.OS == "windows" {
		ext = ".zip"
	}
	return fmt.Sprintf("%s_%s_%s_%s%s", name, version, p.OS, p.Arch, ext)
}

// Bundle returns the name of the platform's MCP bundle.
func (p Platform) Bundle(version string) string {
	return fmt.Sprintf("%s_%s_%s_%s.mcpb", name, version, p.OS, p.Arch)
}

// Pinned returns the name of the program as the plugin's manifest pins it:
// Claude Code chooses by the target triple that the name ends in, and puts the
// file into bin/, where the launcher takes it first, on Windows by its whole name.
func (p Platform) Pinned() string {
	cpu := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[p.Arch]
	system := map[string]string{"darwin": "-apple-darwin", "linux": "-unknown-linux-musl", "windows": "-pc-windows-msvc.exe"}[p.OS]
	return name + "-" + cpu + system
}

// Extension returns the name of the platform's Gemini extension, which that
// client chooses by its first two parts:
// https://geminicli.com/docs/extensions/releasing/
func (p Platform) Extension() string {
	ext := ".tar.gz"
	if p.OS == "windows" {
		ext = ".zip"
	}
	return p.NodeOS + "." + p.NodeArch + "." + name + ext
}

// NpmPackage returns the name of the npm package that holds the program.
func (p Platform) NpmPackage() string { return NpmPackage + "-" + p.NodeOS + "-" + p.NodeArch }

// DownloadURL is where a file of a release lies.
func DownloadURL(version, file string) string {
	return home + "/releases/download/v" + version + "/" + file
}

// Sums are SHA-256 checksums in lower-case hex by file name.
type Sums map[string]string

// ParseSums reads what sha256sum writes: a checksum, blanks, a file name.
func ParseSums(text []byte) (Sums, error) {
	sums := Sums{}
	sc := bufio.NewScanner(bytes.NewReader(text))
	for sc.Scan() {
		words := strings.Fields(sc.Text())
		if len(words) == 0 {
			continue
		}
		if len(words) != 2 || !sha256RE.MatchString(words[0]) {
			return nil, fmt.Errorf("not a line of checksums: %q", sc.Text())
		}
		sums[strings.TrimPrefix(words[1], "*")] = words[0]
	}
	return sums, sc.Err()
}

var sha256RE = regexp.MustCompile(`^[0-9a-f]{64}$`)

// of returns the checksum of a file or says that the release lacks it.
func (s Sums) of(file string) (string, error) {
	sum, ok := s[file]
	if !ok {
		return "", fmt.Errorf("checksums.txt names no %s", file)
	}
	return sum, nil
}

// Stamped are the hand-written files that name the version once, in a line
// that Stamp rewrites.
var Stamped = []string{"packaging/install.sh", "packaging/install.ps1"}

var stampRE = regexp.MustCompile(`(?m)^(.*?)\b\d+\.\d+\.\d+(?:-[\w.]+)?\b(.*# the newest version; rendered)$`)

// Stamp returns the text with the version in its one line that ends in
// "# the newest version; rendered".
func Stamp(text []byte, version string) ([]byte, error) {
	if n := len(stampRE.FindAll(text, -1)); n != 1 {
		return nil, fmt.Errorf("%d lines with the version instead of one", n)
	}
	return stampRE.ReplaceAll(text, []byte("${1}"+version+"${2}")), nil
}

// Committed returns the rendered files that are checked in, by their
// slash-separated path in the repository.
func Committed() map[string][]byte {
	return map[string][]byte{
		".agents/plugins/marketplace.json":          codexMarketplace(),
		"packaging/codex/.codex-plugin/plugin.json": codexPlugin(command.Version),
		"packaging/codex/.mcp.json":                 codexServers(),
	}
}

// Channels returns what a release with these checksums is published with
// besides its files, by slash-separated path. Programs are not among them.
func Channels(version string, sums Sums) (map[string][]byte, error) {
	formula, err := formula(version, sums)
	if err != nil {
		return nil, err
	}
	scoop, err := scoopManifest(version, sums)
	if err != nil {
		return nil, err
	}
	server, err := serverJSON(version, sums)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{
		"homebrew/" + name + ".rb": formula,
		"scoop/" + name + ".json":  scoop,
		"server.json":              server,
		"npm/wrapper/package.json": npmWrapper(version),
		"npm/wrapper/README.md":    npmReadme(NpmPackage, "Start it with npx, or let your agents start it."),
	}
	for _, p := range Platforms {
		dir := "npm/" + p.NodeOS + "-" + p.NodeArch + "/"
		files[dir+"package.json"] = npmProgram(p, version)
		files[dir+"README.md"] = npmReadme(p.NpmPackage(), "This package holds the program for "+p.OS+" on "+p.Arch+"; install "+NpmPackage+" instead.")
	}
	return files, nil
}

func npmReadme(pkg, what string) []byte {
	return fmt.Appendf(nil, "# %s\n\n%s.\n\n%s\n\n    npx -y %s search \"where the configuration is read\"\n\nSee %s.\n", pkg, description, what, NpmPackage, home)
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
