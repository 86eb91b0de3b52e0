package plugin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Bounds of what an agent carries in its context in every session, in tokens.
const (
	mostAlways = 650
	mostTools  = 300
	mostHook   = 60 // of the line at the start of a session: package hook keeps it
)

// part is one of the texts that are always in context, from the files as they
// are rendered, with how many tokens it was when it was last measured.
type part struct {
	name, text    string
	bytes, tokens int
}

// always returns the parts, in the order of testdata/always.txt, whose lines
// are a name, bytes, and tokens by npm @anthropic-ai/tokenizer 0.0.4. Slash
// commands are none of them: the model may not run them, so it sees none.
func always(t *testing.T) []part {
	t.Helper()
	replies, err := os.ReadFile(filepath.Join(root, ".claude-plugin/replies"))
	if err != nil {
		t.Fatal(err)
	}
	find := func(name string, into any) {
		for line := range strings.Lines(string(replies)) {
			if body, ok := strings.CutPrefix(line, name+" "); ok {
				if err := json.Unmarshal([]byte(strings.Replace(body, "@VERSION@", `""`, 1)), into); err != nil {
					t.Fatal(err)
				}
				return
			}
		}
		t.Fatalf("no %s in the replies", name)
	}
	var met struct{ Instructions string }
	find("legacy initialize", &met)
	var listed struct {
		Tools []struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Schema      json.RawMessage `json:"inputSchema"`
		} `json:"tools"`
	}
	find("legacy tools/list", &listed)
	var tools bytes.Buffer
	enc := json.NewEncoder(&tools)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(listed.Tools); err != nil {
		t.Fatal(err)
	}
	files, err := Files()
	if err != nil {
		t.Fatal(err)
	}
	head := strings.SplitN(string(files["skills/"+name+"/SKILL.md"]), "---\n", 3)[1]
	_, description, _ := strings.Cut(head, "description: ")
	parts := []part{
		{name: "tools", text: strings.TrimSpace(tools.String())},
		{name: "instructions", text: met.Instructions},
		{name: "skill", text: "- " + name + ":" + name + ": " + strings.TrimSpace(description)},
	}
	measured, err := os.ReadFile("testdata/always.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(measured)) {
		for i := range parts {
			if rest, ok := strings.CutPrefix(line, parts[i].name+" "); ok {
				if _, err := fmt.Sscan(rest, &parts[i].bytes, &parts[i].tokens); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	return parts
}

// TestAlwaysInContext holds the sum to its bound. Without the tokenizer a part
// that has changed is taken to have as many bytes a token as when it was measured.
func TestAlwaysInContext(t *testing.T) {
	total := mostHook
	for _, p := range always(t) {
		if p.tokens == 0 || p.bytes == 0 {
			t.Fatalf("%s was never measured: .ci/clients -update", p.name)
		}
		n := (len(p.text)*p.tokens + p.bytes - 1) / p.bytes
		t.Logf("%s: %d bytes, %d tokens", p.name, len(p.text), n)
		if p.name == "tools" && n > mostTools {
			t.Errorf("the tools are some %d tokens, at most %d", n, mostTools)
		}
		total += n
	}
	t.Logf("with at most %d of a hook: %d", mostHook, total)
	if total > mostAlways {
		t.Errorf("some %d tokens are always in context, at most %d", total, mostAlways)
	}
	files, err := Files()
	if err != nil {
		t.Fatal(err)
	}
	for path, b := range files {
		if strings.HasPrefix(path, "commands/") && !bytes.Contains(b, []byte("\ndisable-model-invocation: true\n")) {
			t.Errorf("%s costs every session its description", path)
		}
	}
}
