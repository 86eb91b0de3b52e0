package source

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/web/pages"
)

// A snapshot of kept pages lists them in order of path with stamps that are
// their content, and reads them as they are kept.
func TestWebSnapshot(t *testing.T) {
	o := &Opener{WebDir: t.TempDir()}
	for _, tt := range []struct {
		source, version, as string
	}{
		{"https://docs.example.org/", "", "page.md"},
		{"npm:thing@1", "1.2.3", ""}, // the files of a package show their language themselves
	} {
		spec := kb.Spec{Kind: kb.KindWeb, Source: tt.source}
		if _, err := o.Open(t.Context(), spec); kb.CodeOf(err) != kb.NotFound {
			t.Errorf("%s before anything is kept: %v", tt.source, err)
		}
		st, err := pages.Open(o.PagesDir(spec))
		if err != nil {
			t.Fatal(err)
		}
		put := func(path, text, hash string) {
			t.Helper()
			v := pages.Visit{Key: path, Outcome: pages.OutKept, Kept: pages.Kept{Path: path, URL: "https://docs.example.org/" + path, Hash: hash, Version: tt.version}}
			if err := st.Put(v, nil, []byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := st.Begin("x"); err != nil {
			t.Fatal(err)
		}
		put("b.html", "# B\n", "2")
		put("a", "# A\n", "1")
		if err := st.Put(pages.Visit{Key: "gone", Outcome: pages.OutFailed, Cause: "not found"}, nil, nil); err != nil {
			t.Fatal(err)
		}
		check := func(want []kb.Entry) {
			t.Helper()
			snap, err := o.Open(t.Context(), spec)
			if err != nil {
				t.Fatal(err)
			}
			defer snap.Close()
			var got []kb.Entry
			err = snap.Walk(t.Context(), func(e kb.Entry) error { got = append(got, e); return nil })
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("%s: %s %v", tt.source, diff, err)
			}
			for _, e := range got {
				if raw, err := snap.Read(t.Context(), e); err != nil || int64(len(raw)) != e.Size {
					t.Errorf("%s: %q, %v", e.Path, raw, err)
				}
			}
			if snap.Version() != tt.version {
				t.Errorf("%s: version %q", tt.source, snap.Version())
			}
			if _, err := snap.Read(t.Context(), kb.Entry{Path: "nowhere"}); kb.CodeOf(err) != kb.NotFound {
				t.Errorf("what is not kept: %v", err)
			}
		}
		a, b := kb.Entry{Path: "a", Size: 4, Stamp: "1", As: tt.as}, kb.Entry{Path: "b.html", Size: 4, Stamp: "2", As: tt.as}
		check([]kb.Entry{a, b}) // while the first crawl is under way
		if err := st.Commit(); err != nil {
			t.Fatal(err)
		}
		if _, err := st.Begin("x"); err != nil {
			t.Fatal(err)
		}
		put("c", "# C\n", "3")
		check([]kb.Entry{a, b}) // the crawl that ended counts
		if err := st.Commit(); err != nil {
			t.Fatal(err)
		}
		check([]kb.Entry{{Path: "c", Size: 4, Stamp: "3", As: tt.as}})
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSecretsOfPackages: what a package carries by mistake is left out as it is of a folder.
func TestSecretsOfPackages(t *testing.T) {
	o := &Opener{WebDir: t.TempDir()}
	spec := kb.Spec{Kind: kb.KindWeb, Source: "npm:thing@1"}
	st, err := pages.Open(o.PagesDir(spec))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := st.Begin("x"); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{"README.md": "# Thing\n", ".env": "A=b\n", "key.txt": "-----BEGIN PRIVATE KEY-----\nx\n"} {
		v := pages.Visit{Key: path, Outcome: pages.OutKept, Kept: pages.Kept{Path: path, Hash: path}}
		if err := st.Put(v, nil, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := st.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := o.Open(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if d := cmp.Diff([]string{"README.md"}, listing(t, s)); d != "" || s.Skipped()[reasonSecret] != 2 {
		t.Errorf("%s, skipped %v", d, s.Skipped())
	}
}
