package transfer

import (
	"bytes"
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/web/pages"
)

// TestExportsHoldNoSecret: neither the texts nor the kept pages, and nothing
// that was indexed before there were rules.
func TestExportsHoldNoSecret(t *testing.T) {
	token := "ghp_" + "q8Zr3Lw0Vt7Yb2Nc5Xd9Kf4Hg6Jm1Ps8Rt2W"
	p := newPlace(t)
	st := p.index(t, "bot", "/src/bot", docs{"a.md": "the token is " + token + "\n"})
	to := newPlace(t)
	if _, err := to.Import(t.Context(), bytes.NewReader(p.export(t, st)), Request{}); err != nil {
		t.Fatal(err)
	}
	if text := to.textOf(t, "bot"); strings.Contains(text, token) || !strings.Contains(text, "the token is ****") {
		t.Errorf("the export has %q", text)
	}

	old := *st.Head
	old.Generation++
	old.Rules = 0
	if err := p.Catalog.Publish(t.Context(), st.ID, st.Head.Generation, old); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := p.Export(t.Context(), st, st.Name, &b); kb.CodeOf(err) != kb.Unsupported || !strings.Contains(kb.HintOf(err), "knowledge index") || b.Len() > 0 {
		t.Errorf("an index without rules: %v, %d bytes", err, b.Len())
	}

	// Pages that were kept before they were masked stay behind.
	site, _, err := p.Catalog.Add(t.Context(), "", "site", kb.Spec{Kind: kb.KindWeb, Source: "https://docs.example.org/"}, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	log, err := pages.Open(p.Opener.PagesDir(site.Spec))
	if err != nil {
		t.Fatal(err)
	}
	for n, text := range []string{"# Plain\n", "# Token\n\n" + token + "\n"} {
		if _, err := log.Begin("x"); err != nil {
			t.Fatal(err)
		}
		v := pages.Visit{Key: "a", Outcome: pages.OutKept, Kept: pages.Kept{Path: "a", Hash: text}}
		if err := log.Put(v, nil, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := log.Commit(); err != nil {
			t.Fatal(err)
		}
		r, err := p.begin("")
		if err != nil {
			t.Fatal(err)
		}
		m := Manifest{Store: Store{Spec: site.Spec}}
		if err := r.pages(&m); err != nil || len(m.Members) != 1-n {
			t.Errorf("%q: %d members, %v", text, len(m.Members), err)
		}
		if err := r.end(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
}
