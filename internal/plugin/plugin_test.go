package plugin

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/seed-4f2d999b/knowledge/internal/command"
)

var update = flag.Bool("update", false, "rewrite the generated files")

const root = "../.."

// TestStale compares the checked-in files with what the registry renders.
func TestStale(t *testing.T) {
	files, err := Files()
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range files {
		full := filepath.Join(root, filepath.FromSlash(path))
		if *update {
			if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(full, want, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		got, err := os.ReadFile(full)
		if err != nil {
			t.Errorf("%v; rewrite with: go test ./internal/plugin -update", err)
			continue
		}
		if !bytes.Equal(bytes.ReplaceAll(got, []byte("\r\n"), []byte("\n")), want) {
			t.Errorf("%s is stale; rewrite with: go test ./internal/plugin -update", path)
		}
	}
	there, err := filepath.Glob(filepath.Join(root, "commands", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range there {
		if files["commands/"+filepath.Base(f)] != nil {
			continue
		}
		if *update {
			if err := os.Remove(f); err != nil {
				t.Fatal(err)
			}
			continue
		}
		t.Errorf("%s is not generated", f)
	}
}

// TestSlashCommands reads each file as the client does: front matter that is
// YAML, tools by their full names, and a body that passes the arguments on.
func TestSlashCommands(t *testing.T) {
	files, err := Files()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for path, content := range files {
		name, ok := strings.CutPrefix(path, "commands/")
		if !ok {
			continue
		}
		names = append(names, strings.TrimSuffix(name, ".md"))
		parts := strings.SplitN(string(content), "---\n", 3)
		if len(parts) != 3 || parts[0] != "" {
			t.Errorf("%s has no front matter", path)
			continue
		}
		var head struct {
			Description  string `yaml:"description"`
			ArgumentHint string `yaml:"argument-hint"`
			AllowedTools string `yaml:"allowed-tools"`
			Disable      bool   `yaml:"disable-model-invocation"`
		}
		dec := yaml.NewDecoder(strings.NewReader(parts[1]))
		dec.KnownFields(true)
		if err := dec.Decode(&head); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if head.Description == "" || head.ArgumentHint == "" || !head.Disable {
			t.Errorf("%s: %+v", path, head)
		}
		body := parts[2]
		if !strings.Contains(body, "$ARGUMENTS") {
			t.Errorf("%s drops its arguments", path)
		}
		for tool := range strings.SplitSeq(head.AllowedTools, ", ") {
			c, err := command.Find(strings.TrimPrefix(tool, toolPrefix))
			if err != nil || !c.Native || !strings.HasPrefix(tool, toolPrefix) {
				t.Errorf("%s allows %q", path, tool)
			}
			if !strings.Contains(body, "`"+tool+"`") {
				t.Errorf("%s allows %q and does not use it", path, tool)
			}
		}
	}
	slices.Sort(names)
	want := "add-folder add-repo cancel check-status index remove-store search stores"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("slash commands: %s", got)
	}
}

func TestManifests(t *testing.T) {
	files, err := Files()
	if err != nil {
		t.Fatal(err)
	}
	var m struct{ Name, Version, License, Description string }
	if err := json.Unmarshal(files[".claude-plugin/plugin.json"], &m); err != nil {
		t.Fatal(err)
	}
	if m.Name != "knowledge" || m.Version != command.Version || m.License != "MIT" || m.Description == "" {
		t.Errorf("%+v", m)
	}
	want := `{"mcpServers":{"knowledge":{"command":"${CLAUDE_PLUGIN_ROOT:-.}/bin/knowledge","args":["mcp"],"alwaysLoad":true}}}`
	var b bytes.Buffer
	if err := json.Compact(&b, files[".mcp.json"]); err != nil || b.String() != want {
		t.Errorf("%v %s", err, &b)
	}
}

// TestReference: every command and parameter stands in the reference.
func TestReference(t *testing.T) {
	text := string(reference())
	for _, c := range command.All() {
		if !strings.Contains(text, "\n### "+c.Name+"\n") {
			t.Errorf("no heading for %s", c.Name)
		}
		for _, p := range c.Params {
			if !strings.Contains(text, "| `"+p.Name+"` |") {
				t.Errorf("%s: no row for %s", c.Name, p.Name)
			}
		}
	}
}

// TestUnknownNames: a template that names what the registry lacks is refused.
func TestUnknownNames(t *testing.T) {
	for _, body := range []string{`{{call "store:crate"}}`, `{{args "serch"}}`, `{{args "search" "qurey"}}`, `{{args "search" "yes"}}`, `{{call "trust"}}`} {
		if _, err := (slash{name: "x", body: body}).render(); err == nil {
			t.Errorf("%s renders", body)
		}
	}
}
