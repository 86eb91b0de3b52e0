package syntax

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// referenceClasses are what kinds come down to when they are compared, as in
// bench/symbols.
var referenceClasses = map[string]string{
	"function": "function", "method": "function", "constructor": "function", "getter": "function", "setter": "function", "macro": "function", "operator": "function", "destructor": "function",
	"class": "type", "interface": "type", "enum": "type", "record": "type", "annotation": "type", "type": "type", "struct": "type", "trait": "type", "union": "type",
	"const": "value", "var": "value", "enumerator": "value",
	"namespace": "space", "module": "space",
}

// TestReferences compares the declarations of the examples with what the
// languages' own compilers found in them. ".ci/extra symbols -record" writes
// testdata/references; what a reference refused is not in it.
func TestReferences(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "references", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("nothing is recorded: %v", err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var want map[string][]string
		if err := json.Unmarshal(b, &want); err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		language := strings.TrimSuffix(filepath.Base(f), ".json")
		for name, symbols := range want {
			src, err := os.ReadFile(filepath.Join("testdata", language, name))
			if err != nil {
				t.Error(err)
				continue
			}
			o, err := Read(context.Background(), set, language, string(src))
			if err != nil {
				t.Error(err)
				continue
			}
			got := []string{}
			for _, d := range o.Decls {
				class := referenceClasses[d.Kind]
				if class == "" {
					class = d.Kind
				}
				got = append(got, fmt.Sprintf("%s %s, line %d", class, strings.Join(append(slices.Clone(d.Path), d.Name), "."), d.Line+1))
			}
			slices.Sort(got)
			if d := cmp.Diff(symbols, got); d != "" {
				t.Errorf("%s/%s (-reference +ours):\n%s", language, name, d)
			}
		}
	}
}
