package product_test

import (
	"slices"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/product"
)

// TestMeantTables: what words of other programs mean exists, and changes
// nothing unless the word does.
func TestMeantTables(t *testing.T) {
	changes := []string{"delete", "create", "stop", "update", "index", "call", "rename"}
	for group, does := range product.Spoken().Doers {
		for deed, to := range does {
			if len(product.Spoken().Deeds[deed]) == 0 {
				t.Errorf("%s: %q is no deed", group, deed)
			}
			c, ok := product.Commands().Lookup(to)
			if !ok {
				t.Errorf("%s %s: there is no command %q", group, deed, to)
				continue
			}
			if c.Effect != command.Reads && !slices.Contains(changes, deed) || c.Effect == command.Deletes && deed != "delete" {
				t.Errorf("%s %s: %s changes more than was asked for", group, deed, to)
			}
			for _, word := range product.Spoken().Deeds[deed] {
				for _, name := range []string{group + ":" + word, group + "s:" + word, word + "_" + group} {
					if got, ok := product.Commands().Meant(name); !ok || got.Name != c.Name && product.Spoken().Meant[group+":"+word] == "" {
						t.Errorf("%s means %q, want %q", name, got.Name, c.Name)
					}
				}
			}
		}
	}
	for name, to := range product.Spoken().Meant {
		if _, ok := product.Commands().Lookup(to); !ok {
			t.Errorf("%s: there is no command %q", name, to)
		}
		if _, ok := product.Commands().Lookup(name); ok {
			t.Errorf("%s is a command", name)
		}
	}
}

// TestNear: a slip is found, and no command that changes something because its
// name has a few letters in common.
func TestNear(t *testing.T) {
	var names []string
	for _, c := range product.Commands().All() {
		names = append(names, c.Name)
	}
	for word, want := range map[string]string{
		"serach": "search", "store:crate": "store:create", "store:delet": "store:delete", "kdd:lst": "kdd:list", "sotre:info": "store:info", "uninst": "uninstall",
		"store:rename": "store:rename", "store:remote": "", "store:pic": "", "stores:list": "", "job:show": "", "xyzzy": "", "grape": "grep",
	} {
		if got := product.Commands().Near(word, names); got != want {
			t.Errorf("%s is near to %q, want %q", word, got, want)
		}
	}
}
