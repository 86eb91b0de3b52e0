package ingest

import (
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/platform/secret"
)

// TestSecretsAreMasked: what is indexed has asterisks where a secret stood, in
// whatever encoding the file is, and on the same lines; the head counts such
// documents.
func TestSecretsAreMasked(t *testing.T) {
	token := "ghp_" + "q8Zr3Lw0Vt7Yb2Nc5Xd9Kf4Hg6Jm1Ps8Rt2W"
	line := func(v string) string { return "package a\n\nconst t = \"" + v + "\"\nvar after int\n" }
	wide := "\xff\xfe"
	for _, c := range "see " + token + "\n" {
		wide += string([]byte{byte(c), 0})
	}
	f := newFixture(t)
	f.src.docs = map[string]string{"a.go": line(token), "plain.go": "package a\n", "wide.txt": wide}
	r := f.run()
	stars := strings.Repeat("*", len(token))
	f.expect(map[string]string{"a.go": line(stars), "plain.go": "package a\n", "wide.txt": "see " + stars + "\n"})
	if r.Head.Masked != 2 || r.Head.Rules != secret.Version {
		t.Errorf("the head says %d, rules %d", r.Head.Masked, r.Head.Rules)
	}
	// Another run takes over what the first has, count and all.
	f.src.docs["b.go"] = "package b\n"
	if r = f.run(); r.Head.Masked != 2 || r.Indexed != 1 {
		t.Errorf("then: %+v", r)
	}
}

// TestOtherRulesReadEverythingAgain: a generation of older rules is read again,
// and what they leave as it was is not indexed anew.
func TestOtherRulesReadEverythingAgain(t *testing.T) {
	f := newFixture(t)
	f.src.docs = map[string]string{"a.txt": "one\n", "b.txt": "two\n"}
	f.run()
	if changed, err := f.x.Changed(t.Context(), f.get(), f.src); changed || err != nil {
		t.Fatalf("changed %v, %v", changed, err)
	}
	h := *f.get().Head
	h.Generation++
	h.Rules--
	if err := f.x.Catalog.Publish(t.Context(), f.store, h.Generation-1, h); err != nil {
		t.Fatal(err)
	}
	if changed, err := f.x.Changed(t.Context(), f.get(), f.src); !changed || err != nil {
		t.Errorf("changed %v, %v", changed, err)
	}
	f.src.reads = 0
	if r := f.run(); f.src.reads != 2 || r.Indexed != 0 || r.Head.Rules != secret.Version {
		t.Errorf("%d reads, %+v", f.src.reads, r)
	}
	f.expect(map[string]string{"a.txt": "one\n", "b.txt": "two\n"})
}
