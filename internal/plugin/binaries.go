package plugin

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/command"
)

// triples are the platforms of releases as the names of "binaries" spell them.
// Claude Code 2.1.329 knows the first four and puts each file into bin/; where
// the name ends with the triple of its machine it is the program that the
// launcher takes first. On Windows it fetches the file too, and the launcher
// takes it by its whole name.
var triples = []struct{ os, arch, triple, suffix string }{
	{"darwin", "amd64", "x86_64-apple-darwin", ""},
	{"darwin", "arm64", "aarch64-apple-darwin", ""},
	{"linux", "amd64", "x86_64-unknown-linux-musl", ""},
	{"linux", "arm64", "aarch64-unknown-linux-musl", ""},
	{"windows", "amd64", "x86_64-pc-windows-msvc", ".exe"},
	{"windows", "arm64", "aarch64-pc-windows-msvc", ".exe"},
}

var sumLine = regexp.MustCompile(`^([0-9a-f]{64})  ?\*?(\S+)$`)

// WithBinaries returns the plugin's manifest with "binaries", by which a client
// fetches the program when the plugin is installed and checks its SHA-256. sums
// is the checksums file of a release and must name the bare program of every
// platform, not only its archive: knowledge_VERSION_OS_ARCH, with .exe on Windows.
//
// Clients do so for marketplaces that their maker keeps and nowhere else, so
// that the launcher stays what starts the plugin; the committed manifest has
// no "binaries".
func WithBinaries(sums []byte) ([]byte, error) {
	listed := map[string]string{}
	for line := range strings.Lines(string(sums)) {
		if m := sumLine.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			listed[m[2]] = m[1]
		}
	}
	type binary struct {
		SHA256 string `json:"sha256"`
	}
	binaries := map[string]binary{}
	for _, t := range triples {
		file := fmt.Sprintf("knowledge_%s_%s_%s%s", command.Version, t.os, t.arch, t.suffix)
		sum, ok := listed[file]
		if !ok {
			return nil, fmt.Errorf("the checksums name no %s", file)
		}
		binaries["knowledge-"+t.triple+t.suffix] = binary{sum}
	}
	files, err := Files()
	if err != nil {
		return nil, err
	}
	var m struct {
		manifest
		Binaries map[string]binary `json:"binaries"`
	}
	if err := json.Unmarshal(files[".claude-plugin/plugin.json"], &m.manifest); err != nil {
		return nil, err
	}
	m.Binaries = binaries
	return indent(m), nil
}
