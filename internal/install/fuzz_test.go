package install

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/install/configedit"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// FuzzInstall: whatever a file holds, it is refused and stays, or an install
// and a removal give back its bytes; with the receipt lost, what is left has
// no entry of ours and says the same otherwise.
func FuzzInstall(f *testing.F) {
	for _, c := range Clients() {
		ext := ".json"
		if c.Format == (configedit.TOML{}) {
			ext = ".toml"
		}
		text, err := os.ReadFile(filepath.Join("testdata", c.Name+ext))
		if err != nil {
			f.Fatal(err)
		}
		for _, v := range variants(c, string(text)) {
			f.Add(v, c.Format == (configedit.TOML{}), true)
			f.Add(v, c.Format == (configedit.TOML{}), false)
		}
	}
	var table []Client
	for _, c := range Clients() {
		if c.Name == "claude" || c.Name == "codex" || c.Name == "opencode" {
			table = append(table, c)
		}
	}
	f.Fuzz(func(t *testing.T, text string, asTOML, receipt bool) {
		for _, c := range table {
			if asTOML != (c.Format == (configedit.TOML{})) {
				continue
			}
			doc := []byte(text)
			key, e := c.key(doc), c.Entry("/opt/it's/knowledge", []string{"mcp"})
			if _, ok, err := c.Format.Get(doc, key); ok || err != nil {
				if err != nil && kb.CodeOf(err) != kb.Invalid {
					t.Fatal(err)
				}
				continue // broken, or somebody else's
			}
			after, made, err := c.Format.Set(doc, key, e)
			if err != nil {
				if code := kb.CodeOf(err); code != kb.Invalid && code != kb.Unsupported {
					t.Fatal(err)
				}
				continue
			}
			r := newReceipt(Place{}, Step{exists: true}, doc, after, nil)
			if back := undo(after, r); string(back) != text {
				t.Fatalf("%s: %q became %q and then %q", c.Name, text, after, back)
			}
			if again, _, err := c.Format.Set(after, key, e); err != nil || string(again) != string(after) {
				t.Fatalf("%s: twice: %v %q, once %q", c.Name, err, again, after)
			}
			left, err := c.Format.Remove(after, key, made)
			if err != nil {
				t.Fatalf("%s: %q cannot be removed from %q: %v", c.Name, text, after, err)
			}
			if _, ok, err := c.Format.Get(left, key); ok || err != nil {
				t.Fatalf("%s: %q still has it, or is broken: %v", c.Name, left, err)
			}
		}
		if asTOML || !receipt {
			return
		}
		// Any text may stand in a file of instructions.
		block, err := configedit.SetBlock([]byte(text), "Ask first.")
		if err != nil {
			return
		}
		if have, ok, err := configedit.GetBlock(block); !ok || err != nil || have != "Ask first." {
			t.Fatalf("%q: %q %v", block, have, err)
		}
		if _, there, _ := configedit.GetBlock([]byte(text)); there {
			return
		}
		r := newReceipt(Place{}, Step{exists: true}, []byte(text), block, nil)
		if back := undo(block, r); string(back) != text {
			t.Fatalf("%q became %q", text, back)
		}
		if left, err := configedit.RemoveBlock(block); err != nil || len(left) < len(text) || len(left) > len(text)+2 {
			t.Fatalf("%q became %q, %v", text, left, err)
		}
	})
}
