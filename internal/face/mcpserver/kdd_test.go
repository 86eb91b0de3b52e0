package mcpserver

import (
	"encoding/json"
	"github.com/seed-4f2d999b/knowledge/internal/product"
	"io"
	"strings"
	"testing"
)

// The original's clients find its three tools by their names, with its
// parameters, and examples beside them.
func TestKDDTools(t *testing.T) {
	tools, err := native(product.Commands(), "kdd")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{
		"kdd_search":  {"query", "limit", "chunk_types", "domains", "tags", "score_threshold"},
		"kdd_related": {"entity", "depth", "edge_types", "limit"},
		"kdd_list":    {"kind", "domain", "status", "limit"},
	}
	if len(tools) != len(want) {
		t.Fatalf("%d tools", len(tools))
	}
	for _, c := range tools {
		shown := toolOf(c)
		if want[shown.Name] == nil {
			t.Errorf("a tool named %q", shown.Name)
		}
		var schema struct {
			Properties map[string]any `json:"properties"`
			Required   []string       `json:"required"`
		}
		if err := json.Unmarshal(shown.RawInputSchema, &schema); err != nil {
			t.Fatal(err)
		}
		for _, p := range want[shown.Name] {
			if schema.Properties[p] == nil {
				t.Errorf("%s takes no %s", shown.Name, p)
			}
		}
		for _, p := range append(want[shown.Name], "include_statuses") {
			if !strings.Contains(shown.Description, "\n- "+p+": ") {
				t.Errorf("%s does not explain %s:\n%s", shown.Name, p, shown.Description)
			}
		}
		for _, e := range c.Examples {
			if !strings.Contains(shown.Description, e) {
				t.Errorf("%s does not show %s", shown.Name, e)
			}
		}
		if shown.Annotations.ReadOnlyHint == nil || !*shown.Annotations.ReadOnlyHint {
			t.Errorf("%s is not said to read only", shown.Name)
		}
	}
	if f := newFace(newApp(t), product.Commands(), tools, io.Discard); !f.tools["kdd_search"] {
		t.Error("the face knows no kdd_search")
	}
	if len(kddInstructions) > 1000 || instructionsFor(tools) != kddInstructions || instructionsFor(nil) != instructions {
		t.Error("the instructions")
	}
}
