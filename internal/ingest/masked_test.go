package ingest

import (
	"context"
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/secret"
)

// leaky is an index of one document in which a secret was left.
type leaky struct {
	kb.Index
	body string
}

func (l leaky) Document(_ context.Context, path string) (kb.DocumentText, error) {
	return kb.DocumentText{Path: path, Body: l.body}, nil
}

func (l leaky) Texts(ctx context.Context, paths []string, _ bool) ([]kb.DocumentText, error) {
	d, err := l.Document(ctx, paths[0])
	return []kb.DocumentText{d}, err
}

func (l leaky) Passages(_ context.Context, places []kb.Place) ([]kb.Passage, error) {
	return []kb.Passage{{Place: places[0], Chunk: kb.Chunk{To: len(l.body)}, Text: l.body}}, nil
}

func (l leaky) Excerpts(ctx context.Context, places []kb.Place) ([]kb.Passage, error) {
	return l.Passages(ctx, places)
}

// TestEveryReadIsMasked: where older rules left a secret in, no way to read it shows it.
func TestEveryReadIsMasked(t *testing.T) {
	token := "ghp_" + "q8Zr3Lw0Vt7Yb2Nc5Xd9Kf4Hg6Jm1Ps8Rt2W"
	x := Masked(leaky{body: "const t = \"" + token + "\"\n"}, &kb.Head{Rules: secret.Version - 1})
	ctx, places := t.Context(), []kb.Place{{Path: "a.go"}}
	d, err := x.Document(ctx, "a.go")
	texts, err2 := x.Texts(ctx, []string{"a.go"}, true)
	passages, err3 := x.Passages(ctx, places)
	excerpts, err4 := x.Excerpts(ctx, places)
	if err != nil || err2 != nil || err3 != nil || err4 != nil {
		t.Fatal(err, err2, err3, err4)
	}
	for what, text := range map[string]string{"document": d.Body, "text": texts[0].Body, "passage": passages[0].Text, "excerpt": excerpts[0].Text} {
		if strings.Contains(text, token) || !strings.Contains(text, "****") {
			t.Errorf("%s: %s", what, text)
		}
	}
}

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
