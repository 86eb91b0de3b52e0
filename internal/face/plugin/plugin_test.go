package plugin

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	yaml "github.com/oasdiff/yaml3"

	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/product"
	"github.com/seed-4f2d999b/knowledge/internal/specs"
)

var update = flag.Bool("update", false, "rewrite the generated files")

const root = "../../.."

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
			t.Errorf("%v; rewrite with: go test ./internal/face/plugin -update", err)
			continue
		}
		if !bytes.Equal(bytes.ReplaceAll(got, []byte("\r\n"), []byte("\n")), want) {
			t.Errorf("%s is stale; rewrite with: go test ./internal/face/plugin -update", path)
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
			c, err := product.Commands().Find(strings.TrimPrefix(tool, toolPrefix))
			if err != nil || !c.Native || !strings.HasPrefix(tool, toolPrefix) {
				t.Errorf("%s allows %q", path, tool)
			}
			if !strings.Contains(body, "`"+tool+"`") {
				t.Errorf("%s allows %q and does not use it", path, tool)
			}
		}
	}
	slices.Sort(names)
	want := "add-folder add-repo ask cancel check-status crawl index remove-store schedule search selftest specifications stores suggest sync uninstall update"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("slash commands: %s", got)
	}
}

// TestManifests checks what `claude plugin validate` lets pass: keys that the
// client ignores, servers under other names than the tools that the slash
// commands allow, options that nothing reads.
func TestManifests(t *testing.T) {
	files, err := Files()
	if err != nil {
		t.Fatal(err)
	}
	strict := func(path string, into any) {
		t.Helper()
		dec := json.NewDecoder(bytes.NewReader(files[path]))
		dec.DisallowUnknownFields()
		if err := dec.Decode(into); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
	type serverKeys struct {
		Command    string
		Args       []string
		Env        map[string]string
		AlwaysLoad bool
	}
	var m struct {
		Name, Version, Description, Homepage, Repository, License string
		Author                                                    struct{ Name, URL string }
		Keywords                                                  []string
		UserConfig                                                map[string]struct {
			Type, Title, Description string
			Default                  any
		}
	}
	strict(".claude-plugin/plugin.json", &m) // no mcpServers: .mcp.json alone names the server
	if m.Name != "knowledge" || m.Version != command.Version || m.License != "MIT" || m.Description == "" {
		t.Errorf("%+v", m)
	}
	// The launcher reads the version without a parser.
	if !bytes.Contains(files[".claude-plugin/plugin.json"], []byte("\n  \"version\": \""+command.Version+"\",\n")) {
		t.Error("the version does not stand on a line of its own")
	}
	var project struct{ MCPServers map[string]serverKeys }
	strict(".mcp.json", &project)
	server, ok := project.MCPServers["knowledge"]
	if len(project.MCPServers) != 1 || !ok || !server.AlwaysLoad || len(server.Args) == 0 || server.Args[0] != "mcp" || !strings.HasSuffix(server.Command, "}/bin/knowledge") {
		t.Errorf(".mcp.json: %+v", project.MCPServers)
	}
	for name := range m.UserConfig {
		if name == "hints" {
			continue // hooks read it from their environment
		}
		variable := "KNOWLEDGE_OPTION_" + strings.ToUpper(name)
		if server.Env[variable] != "${user_config."+name+"}" {
			t.Errorf(".mcp.json does not pass the option %q", name)
		}
		if launcher, err := os.ReadFile(filepath.Join(root, "bin", "knowledge")); err != nil || !bytes.Contains(launcher, []byte(variable)) {
			t.Errorf("the launcher does not read %s (%v)", variable, err)
		}
	}
	var market struct {
		Name, Description string
		Owner             struct{ Name, URL string }
		Plugins           []struct{ Name, Source, Description, Category string }
	}
	strict(".claude-plugin/marketplace.json", &market)
	if len(market.Plugins) != 1 || market.Plugins[0].Name != m.Name || market.Owner.Name == "" {
		t.Fatalf("%+v", market)
	}
	if _, err := os.Stat(filepath.Join(root, market.Plugins[0].Source, ".claude-plugin", "plugin.json")); err != nil {
		t.Error(err)
	}
}

// TestSkills: each folder has a SKILL.md that names it and is rendered here,
// and what it says of tools and commands is true.
func TestSkills(t *testing.T) {
	files, err := Files()
	if err != nil {
		t.Fatal(err)
	}
	dirs, err := os.ReadDir(filepath.Join(root, "skills"))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range dirs {
		content := files["skills/"+d.Name()+"/SKILL.md"]
		parts := strings.SplitN(string(content), "---\n", 3)
		if len(parts) != 3 || parts[0] != "" {
			t.Errorf("skills/%s has no front matter", d.Name())
			continue
		}
		var head struct{ Name, Description string }
		dec := yaml.NewDecoder(strings.NewReader(parts[1]))
		dec.KnownFields(true)
		if err := dec.Decode(&head); err != nil || head.Name != d.Name() || head.Description == "" || len(head.Description) > 120 {
			t.Errorf("skills/%s: %+v %v", d.Name(), head, err)
		}
		for _, m := range regexp.MustCompile("`([a-z][a-z:_]*)`").FindAllStringSubmatch(parts[2], -1) {
			if c, err := product.Commands().Find(m[1]); err == nil && c.Audience == command.Agent {
				continue
			}
			if !slices.ContainsFunc(product.Commands().All(), func(c command.Command) bool {
				return slices.ContainsFunc(c.Params, func(p command.Param) bool { return p.Name == m[1] && !p.CLIOnly })
			}) {
				t.Errorf("skills/%s names %q, which is neither a command nor an argument", d.Name(), m[1])
			}
		}
	}
	// Nothing else may lie where the client looks for parts of a plugin.
	for _, dir := range []string{"agents", "monitors", ".claude-plugin/commands", ".claude-plugin/skills"} {
		if _, err := os.Stat(filepath.Join(root, dir)); err == nil {
			t.Errorf("%s is there, and nothing renders or checks it", dir)
		}
	}
}

// TestReference: every command and parameter stands in the reference.
func TestReference(t *testing.T) {
	text := string(reference())
	for _, c := range product.Commands().All() {
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

// Whoever has the plugin alone has no program on the PATH: a slash command that
// names one for the terminal names the launcher too, which the client writes
// with its path.
func TestSlashCommandsNameALauncherForTheTerminal(t *testing.T) {
	for _, s := range slashes {
		body, err := s.render()
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile("`knowledge ([^`]+)`").FindAllSubmatch(body, -1) {
			if !bytes.Contains(body, []byte("`\"${CLAUDE_PLUGIN_ROOT}/bin/knowledge\" "+string(m[1])+"`")) {
				t.Errorf("/knowledge:%s sends people without a program to %s", s.name, m[0])
			}
		}
	}
}

// The columns that /knowledge:specifications asks for are those that kdd:list returns.
func TestSlashSpecificationsAsksForWhatIsThere(t *testing.T) {
	i := slices.IndexFunc(slashes, func(s slash) bool { return s.name == "specifications" })
	_, columns, _ := strings.Cut(slashes[i].body, "a table of ")
	columns, _, _ = strings.Cut(columns, ";")
	row := reflect.TypeFor[specs.ListRow]()
	for _, c := range regexp.MustCompile(`\w+`).FindAllString(strings.ReplaceAll(columns, " and ", " "), -1) {
		if _, ok := row.FieldByNameFunc(func(n string) bool { return strings.EqualFold(n, c) }); !ok {
			t.Errorf("kdd:list returns no %s", c)
		}
	}
}
