package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

func TestParse(t *testing.T) {
	abs, err := filepath.Abs("x")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		text string
		want Config
		fail string // begins the error
		hint string // a part of the hint
	}{
		{text: ""},
		{text: "# only a comment\n"},
		{text: "{}"},
		{text: "vectors:\n"},
		{
			text: "dataDir: " + abs + "\nvectors: {engine: chromem}\nmaxFileBytes: 2097152\ngit:\n  tokens:\n    github.com: GITHUB_TOKEN\n    git.example.org:8443: OTHER\n",
			want: Config{DataDir: abs, Engine: "chromem", MaxFileBytes: 2 << 20, Tokens: []Token{{"github.com", "GITHUB_TOKEN"}, {"git.example.org:8443", "OTHER"}}},
		},
		{text: "dataDir: ~/k\n", want: Config{DataDir: filepath.Join(abs, "k")}},
		{text: "dataDir: ~\n", fail: "f:1: a text must stand here"}, // YAML's null
		{text: "dataDir: k\n", fail: `f:1: dataDir must be an absolute folder, not "k"`},
		{text: "\n\ndatadir: /k\n", fail: `f:3: there is no key "datadir"`, hint: `"dataDir"`},
		{text: "vectors:\n  engin: flat\n", fail: `f:2: there is no key "vectors.engin"`, hint: `"vectors.engine"`},
		{text: "vector:\n  engine: flat\n", fail: `f:1: there is no key "vector"`, hint: `"vectors"`},
		{text: "engine: flat\n", fail: `f:1: there is no key "engine"`, hint: `"vectors.engine"`},
		{text: "vectors.engine: flat\n", want: Config{Engine: "flat"}},
		{text: "telemetry: true\n", fail: `f:1: there is no key "telemetry"`, hint: "docs/configuration.md"},
		{text: "vectors: flat\n", fail: "f:1: vectors must hold keys with values"},
		{text: "vectors: {engine: [flat]}\n", fail: "f:1: a text must stand here"},
		{text: "- a\n", fail: "f:1: the file must hold keys with values"},
		{text: "maxFileBytes: 1\nmaxFileBytes: 2\n", fail: `f:2: the key "maxFileBytes" stands there twice`},
		{text: "maxFileBytes: 0\n", fail: "f:1: maxFileBytes must be a whole number"},
		{text: "maxFileBytes: 1.5\n", fail: "f:1: maxFileBytes must be a whole number"},
		{text: "maxFileBytes: '5'\n", fail: "f:1: maxFileBytes must be a whole number"},
		{text: "maxFileBytes: 67108865\n", fail: "f:1: maxFileBytes must be a whole number"},
		{text: "index: {memory: 1024}\n", want: Config{IndexMemory: 1024}},
		{text: "index: {memory: 64}\n", fail: "f:1: index.memory must be a whole number from 128 to 1048576"},
		{text: "git:\n  tokens:\n    https://github.com: T\n", fail: `f:3: git.tokens: "https://github.com" is not a host`},
		{text: "git:\n  tokens:\n    github.com: A\n    GitHub.com: B\n", fail: `f:4: git.tokens names "GitHub.com" twice`},
		{text: "git:\n  tokens: [github.com]\n", fail: "f:2: git.tokens must be a map"},
		{text: "a: 1\n---\nb: 2\n", fail: `the configuration file "f" holds more than one document`},
		{text: "a: [\n", fail: `the configuration file "f" is not YAML`},
		{text: "x: &a {engine: flat}\nvectors: *a\n", fail: `f:1: there is no key "x"`},
		{text: strings.Repeat("#", maxBytes+1), fail: `the configuration file "f" has more than 64 KiB`},
	} {
		got, err := Parse("f", []byte(tt.text), abs)
		name := tt.text[:min(len(tt.text), 60)]
		if tt.fail == "" && err != nil || tt.fail != "" && (err == nil || !strings.HasPrefix(err.Error(), tt.fail)) {
			t.Errorf("%q: %v, want %q", name, err, tt.fail)
			continue
		}
		if err != nil && (!strings.Contains(kb.HintOf(err), tt.hint) || kb.HintOf(err) == "") {
			t.Errorf("%q: hint %q lacks %q", name, kb.HintOf(err), tt.hint)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%q: %s", name, diff)
		}
	}
}

// A token that was written into the file is refused and never repeated.
func TestSecretIsNotShown(t *testing.T) {
	for _, secret := range []string{"ghp_0123456789abcdefghijABCDEFGHIJ012345", "glpat-abc", "0123456789abcdef0123456789abcdef01234567", "hunter 2"} {
		_, err := Parse("f", []byte("git:\n  tokens:\n    github.com: "+secret+"\n"), "")
		if err == nil || strings.Contains(err.Error()+kb.HintOf(err), secret) {
			t.Errorf("%v", err)
		}
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	env := map[string]string{}
	get := func(k string) string { return env[k] }
	if c, err := Load(get); err != nil || !cmp.Equal(c, Config{}) {
		t.Error(c, err) // no home directory
	}
	env["XDG_CONFIG_HOME"], env["HOME"], env["AppData"] = dir, dir, dir
	if c, err := Load(get); err != nil || !cmp.Equal(c, Config{}) {
		t.Error(c, err) // no file
	}
	path, _ := Path(get)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("vectors: {engine: flat}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err := Load(get); err != nil || c.Engine != "flat" {
		t.Error(c, err)
	}
	env[Variable] = filepath.Join(dir, "none.yaml")
	if _, err := Load(get); kb.CodeOf(err) != kb.NotFound {
		t.Error(err)
	}
	env[Variable] = dir
	if _, err := Load(get); kb.CodeOf(err) != kb.Denied {
		t.Error(err)
	}
}

func TestDefaultPath(t *testing.T) {
	get := func(k string) string {
		return map[string]string{"HOME": "/h", "AppData": `C:\A`, "XDG_CONFIG_HOME": "relative"}[k]
	}
	for goos, want := range map[string]string{
		"linux": "/h/.config/knowledge/config.yaml", "darwin": "/h/Library/Application Support/knowledge/config.yaml", "windows": `C:\A\knowledge\config.yaml`,
	} {
		if got := defaultPath(goos, get); got != want {
			t.Errorf("%s: %s", goos, got)
		}
	}
}

// Every key's example parses to something.
func TestExamples(t *testing.T) {
	for _, k := range Keys() {
		if k.Type == "" || k.Default == "" || k.Help == "" {
			t.Errorf("%s is not explained", k.Name)
		}
		c, err := Parse("f", []byte(k.Name+": "+k.Example+"\n"), t.TempDir())
		if err != nil || cmp.Equal(c, Config{}) {
			t.Errorf("%s: %+v %v", k.Name, c, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("git: {tokens: {github.com: T}}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		_, err := Parse("f", text, "/h")
		if err != nil && kb.HintOf(err) == "" {
			t.Error(err)
		}
	})
}
