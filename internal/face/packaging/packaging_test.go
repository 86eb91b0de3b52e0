package packaging

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/command"
)

var update = flag.Bool("update", false, "write the rendered files")

// root is the repository, seen from this package.
const root = "../../.."

// TestCommitted: the files that are checked in are those that are rendered.
// Run with -update to write them.
func TestCommitted(t *testing.T) {
	files := Committed()
	for _, n := range Stamped {
		b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(n)))
		if err != nil {
			t.Fatal(err)
		}
		if files[n], err = Stamp(b, command.Version); err != nil {
			t.Fatalf("%s: %v", n, err)
		}
	}
	for n, want := range files {
		path := filepath.Join(root, filepath.FromSlash(n))
		if *update {
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, want, 0o644); err != nil { // keeps the mode of a file that is there
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is stale (%v); run: go test ./internal/face/packaging -update", n, err)
		}
	}
}

func TestStamp(t *testing.T) {
	const line = "v=${V:-0.1.0} # the newest version; rendered\n"
	got, err := Stamp([]byte("a 0.1.0\n"+line+"b 0.1.0\n"), "12.0.3-rc.1")
	if err != nil || string(got) != "a 0.1.0\nv=${V:-12.0.3-rc.1} # the newest version; rendered\nb 0.1.0\n" {
		t.Errorf("%q, %v", got, err)
	}
	if again, err := Stamp(got, "0.1.0"); err != nil || !strings.Contains(string(again), line) {
		t.Errorf("%q, %v", again, err)
	}
	for _, text := range []string{"", line + line} {
		if _, err := Stamp([]byte(text), "1.0.0"); err == nil {
			t.Errorf("%q was stamped", text)
		}
	}
}

// someSums are checksums of everything that a release has, each its own.
func someSums(version string) Sums {
	sums := Sums{}
	for _, p := range Platforms {
		for _, f := range []string{p.Archive(version), p.Bundle(version), p.Extension(), p.Pinned()} {
			sums[f] = fmt.Sprintf("%064x", len(sums)+1)
		}
	}
	return sums
}

// required is our own table of what each format demands, as paths of keys; a
// * is every element. Their published schemas are tried by .ci/extra release.
var required = map[string][]string{
	// https://developers.openai.com/codex/plugins/build
	".agents/plugins/marketplace.json":          {"name", "interface.displayName", "plugins.*.name", "plugins.*.source.source", "plugins.*.source.path", "plugins.*.policy.installation", "plugins.*.policy.authentication", "plugins.*.category"},
	"packaging/codex/.codex-plugin/plugin.json": {"name", "version", "description", "mcpServers"},
	"packaging/codex/.mcp.json":                 {"mcpServers.knowledge.command", "mcpServers.knowledge.args"},
	// https://geminicli.com/docs/extensions/reference/
	"gemini-extension.json": {"name", "version", "mcpServers.knowledge.command", "mcpServers.knowledge.args"},
	// https://github.com/modelcontextprotocol/mcpb/blob/main/MANIFEST.md
	"manifest.json": {"manifest_version", "name", "version", "description", "author.name", "server.type", "server.entry_point", "server.mcp_config.command", "tools.*.name", "user_config.folder.type", "user_config.folder.title", "user_config.folder.description", "compatibility.platforms"},
	// https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json
	"server.json": {"$schema", "name", "description", "version", "repository.url", "repository.source", "packages.*.registryType", "packages.*.identifier", "packages.*.transport.type"},
	// https://docs.npmjs.com/cli/configuring-npm/package-json
	"npm/wrapper/package.json":   {"name", "version", "mcpName", "bin.knowledge", "license", "repository.url", "optionalDependencies"},
	"npm/linux-x64/package.json": {"name", "version", "os", "cpu", "files", "license"},
	// https://github.com/ScoopInstaller/Scoop/wiki/App-Manifests
	"scoop/knowledge.json": {"version", "homepage", "license", "bin", "checkver", "architecture.64bit.url", "architecture.64bit.hash", "architecture.arm64.url", "architecture.arm64.hash", "autoupdate.architecture.64bit.url", "autoupdate.hash.url"},
}

// rendered returns every file of the table required.
func rendered(t *testing.T) map[string][]byte {
	t.Helper()
	files, err := Channels(command.Version, someSums(command.Version))
	if err != nil {
		t.Fatal(err)
	}
	maps.Copy(files, Committed())
	files["gemini-extension.json"] = geminiExtension(Platforms[0], command.Version)
	files["manifest.json"] = mcpbManifest(Platforms[0], command.Version)
	return files
}

func TestRequiredKeys(t *testing.T) {
	files := rendered(t)
	for file, keys := range required {
		var doc any
		if err := json.Unmarshal(files[file], &doc); err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		for _, k := range keys {
			if why := lacks(doc, strings.Split(k, ".")); why != "" {
				t.Errorf("%s: %s: %s", file, k, why)
			}
		}
	}
}

// lacks says what is missing on the way along a path of keys.
func lacks(doc any, path []string) string {
	switch {
	case doc == nil || doc == "":
		return "empty"
	case len(path) == 0:
		return ""
	case path[0] == "*":
		list, _ := doc.([]any)
		if len(list) == 0 {
			return "no list, or an empty one"
		}
		for _, d := range list {
			if why := lacks(d, path[1:]); why != "" {
				return why
			}
		}
		return ""
	}
	object, _ := doc.(map[string]any)
	return lacks(object[path[0]], path[1:])
}

// What the MCP registry and npm check of each other's files.
func TestRegistries(t *testing.T) {
	files := rendered(t)
	var server registryServer
	var wrapper npmManifest
	for file, to := range map[string]any{"server.json": &server, "npm/wrapper/package.json": &wrapper} {
		if err := json.Unmarshal(files[file], to); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(server.Description); n < 1 || n > 100 {
		t.Errorf("a description of %d characters", n)
	}
	if wrapper.MCPName != server.Name || server.Name != "io.github.seed-4f2d999b/knowledge" {
		t.Errorf("names %q and %q", wrapper.MCPName, server.Name)
	}
	dockerfile, err := os.ReadFile(filepath.Join(root, "packaging", "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(dockerfile), `io.modelcontextprotocol.server.name="`+server.Name+`"`) {
		t.Error("the image does not say which server it is")
	}
	bundles := 0
	for _, p := range server.Packages {
		switch p.Type {
		case "npm":
			if p.Identifier != wrapper.Name || p.Version != wrapper.Version {
				t.Errorf("%+v", p)
			}
		case "mcpb":
			bundles++
			if !sha256RE.MatchString(p.SHA256) || !strings.HasPrefix(p.Identifier, home+"/releases/download/v"+command.Version+"/") {
				t.Errorf("%+v", p)
			}
		}
	}
	if bundles != len(Platforms) || len(wrapper.Optional) != len(Platforms) {
		t.Errorf("%d bundles and %d programs for %d platforms", bundles, len(wrapper.Optional), len(Platforms))
	}
	for _, p := range Platforms {
		var m npmManifest
		if err := json.Unmarshal(files["npm/"+p.NodeOS+"-"+p.NodeArch+"/package.json"], &m); err != nil {
			t.Fatal(err)
		}
		// The launcher finds a program by these names.
		if m.Name != wrapper.Name+"-"+p.NodeOS+"-"+p.NodeArch || wrapper.Optional[m.Name] != m.Version || !slices.Contains(m.Files, p.Binary()) {
			t.Errorf("%+v", m)
		}
	}
}

// Every checksum of the archives and bundles reaches the file that fetches it.
func TestChecksumsArrive(t *testing.T) {
	sums := someSums(command.Version)
	files, err := Channels(command.Version, sums)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range Platforms {
		in := "homebrew/knowledge.rb"
		if p.OS == "windows" {
			in = "scoop/knowledge.json"
		}
		for file, in := range map[string]string{p.Archive(command.Version): in, p.Bundle(command.Version): "server.json"} {
			text := string(files[in])
			if !strings.Contains(text, DownloadURL(command.Version, file)+"\"") {
				t.Errorf("%s does not name %s", in, file)
			}
			if strings.Count(text, sums[file]) != 1 {
				t.Errorf("%s does not have the checksum of %s once", in, file)
			}
		}
		delete(sums, p.Archive(command.Version))
		if _, err := Channels(command.Version, sums); err == nil {
			t.Errorf("rendered without the checksum of %s", p.Archive(command.Version))
		}
		sums = someSums(command.Version)
	}
}

func TestParseSums(t *testing.T) {
	a := strings.Repeat("a1", 32)
	got, err := ParseSums([]byte(a + "  one.tar.gz\n\n" + a + " *two.zip\n"))
	if d := cmp.Diff(Sums{"one.tar.gz": a, "two.zip": a}, got); d != "" || err != nil {
		t.Error(d, err)
	}
	for _, bad := range []string{"x  one\n", a + "\n", strings.ToUpper(a) + "  one\n", a + " one two\n"} {
		if _, err := ParseSums([]byte(bad)); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

// The release's plugin.json is the one that is checked in, and the pins.
func TestPinnedPlugin(t *testing.T) {
	manifest, err := os.ReadFile(filepath.Join(root, ".claude-plugin", "plugin.json"))
	if err != nil {
		t.Fatal(err)
	}
	sums := someSums(command.Version)
	pinned, err := PinnedPlugin(manifest, sums)
	if err != nil {
		t.Fatal(err)
	}
	var was, is map[string]any
	for text, to := range map[string]*map[string]any{string(manifest): &was, string(pinned): &is} {
		if err := json.Unmarshal([]byte(text), to); err != nil {
			t.Fatal(err)
		}
	}
	pins, _ := is["binaries"].(map[string]any)
	if len(pins) != len(Platforms) || !cmp.Equal(pins["knowledge-x86_64-unknown-linux-musl"], map[string]any{"sha256": sums["knowledge-x86_64-unknown-linux-musl"]}) {
		t.Errorf("%v", pins)
	}
	delete(is, "binaries")
	if d := cmp.Diff(was, is); d != "" {
		t.Error(d)
	}
	if _, err := PinnedPlugin(pinned, sums); err == nil {
		t.Error("pinned twice")
	}
	if _, err := PinnedPlugin(manifest, nil); err == nil {
		t.Error("pinned without checksums")
	}
}

// Two makings of a bundle are equal; a bundle holds what its manifest names,
// executable.
func TestBundles(t *testing.T) {
	texts := map[string][]byte{"LICENSE": []byte("l"), "NOTICE": []byte("n")}
	for _, p := range Platforms {
		one, err := Bundles(p, "1.2.3", []byte("a program"), texts)
		if err != nil {
			t.Fatal(err)
		}
		two, err := Bundles(p, "1.2.3", []byte("a program"), texts)
		if d := cmp.Diff(one, two); d != "" || err != nil {
			t.Errorf("two makings differ: %v %s", err, d)
		}
		if got, want := slices.Sorted(maps.Keys(one)), []string{p.Bundle("1.2.3"), p.Extension(), p.Pinned()}; !slices.Equal(got, slices.Sorted(slices.Values(want))) {
			t.Errorf("%v, not %v", got, want)
		}
		b := one[p.Bundle("1.2.3")]
		z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		f, err := z.Open("manifest.json")
		if err != nil {
			t.Fatal(err)
		}
		var m bundleManifest
		if err := json.NewDecoder(f).Decode(&m); err != nil {
			t.Fatal(err)
		}
		st, err := z.Open(m.Server.EntryPoint)
		if err != nil {
			t.Fatalf("%s: %v", p.Bundle("1.2.3"), err)
		}
		if info, err := st.Stat(); err != nil || info.Mode().Perm() != 0o755 || m.Server.Config.Command != "${__dirname}/"+m.Server.EntryPoint {
			t.Errorf("%v, %v, %+v", info.Mode(), err, m.Server)
		}
		if !slices.Equal(m.Fits.Platforms, []string{p.NodeOS}) || len(m.Tools) != 3 {
			t.Errorf("%+v", m)
		}
	}
	if _, err := Bundles(Platforms[0], "1.2.3", nil, nil); err == nil {
		t.Error("a program went without its licence")
	}
}
