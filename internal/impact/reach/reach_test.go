package reach

import (
	"fmt"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

func TestSplit(t *testing.T) {
	for name, want := range map[string]string{"HTTPServer.serve_all": "[http server serve all]", "TestURLOf": "[test url of]", "x": "[]", "élanVital": "[élan vital]"} {
		if got := fmt.Sprint(split(name)); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestStem(t *testing.T) {
	for name, want := range map[string]string{"a/cache_test.go": "cache", "tests/test_cache.py": "cache", "src/cache.ts": "cache", "cache.spec.ts": "cache", "CacheTest.java": "cache", "test.py": "test"} {
		if got := stem(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestIsTest(t *testing.T) {
	for _, tc := range []struct {
		language, name, head string
		path                 []string
		want                 bool
	}{
		{"go", "TestA", "", nil, true}, {"go", "Testing", "", nil, false}, {"go", "TestMain", "", nil, false}, {"go", "BenchmarkA", "", nil, false},
		{"go", "TestA", "", []string{"suite"}, false}, {"go", "ExampleA", "", nil, true}, {"python", "test_a", "", []string{"TestX"}, true},
		{"python", "helper", "", nil, false}, {"java", "adds", "  @Test\n  void adds() {", nil, true}, {"java", "adds", "  void adds() {", nil, false},
		{"rust", "adds", "#[test]\nfn adds() {", nil, true}, {"csharp", "Adds", "[Fact]\n", nil, true}, {"php", "testAdds", "", nil, true},
	} {
		if got := isTest(tc.language, &kb.Symbol{Name: tc.name, Kind: "function", Path: tc.path}, tc.head); got != tc.want {
			t.Errorf("%+v: %v", tc, got)
		}
	}
}

// TestSpread: what has one user hands it all, what has many little to each.
func TestSpread(t *testing.T) {
	root, one, many := &Node{}, &Node{Of: &Node{}}, &Node{Of: &Node{}}
	root.users = []arc{{one, 0.9}, {many, 0.3}}
	web := &Web{Nodes: []*Node{root, one, many}}
	web.spread()
	if one.Mass <= many.Mass || one.Mass+many.Mass > 1 || root.Mass != 1 {
		t.Errorf("%f %f %f", root.Mass, one.Mass, many.Mass)
	}
}
