package care_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/care"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/product/producttest"
)

// fakeRipgrep puts a program rg that ends with a status in front of the PATH, or
// with "" in a folder leaves the PATH without one.
func fakeRipgrep(t *testing.T, dir, status string) {
	t.Helper()
	if status != "" {
		if err := os.WriteFile(filepath.Join(dir, "rg"), []byte("#!/bin/sh\nexit "+status+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
}

// The user's own stores are left alone, nothing stays in the temporary folder, and
// ripgrep is a yardstick where there is one outside the folder that works.
func TestBench(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("its stand-in is a shell script")
	}
	s := producttest.NewSite(t)
	s.Write("p/kettle/boil.go", "package kettle\n\n// BoilWater heats water until it bubbles.\nfunc BoilWater(litres int) error { return nil }\n")
	s.Write("p/readme.md", "# Tea\n\nPour the boiling water over the leaves.\n")
	inside := filepath.Join(s.Root, "p")
	for _, c := range []struct {
		name, dir, status string
		ratios            int
		note              string
	}{
		{"installed", t.TempDir(), "1", 8, ""},
		{"not installed", t.TempDir(), "", 1, "without ripgrep"},
		{"in the folder itself", inside, "1", 1, "without ripgrep"},
		{"broken", t.TempDir(), "2", 1, "ripgrep failed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			fakeRipgrep(t, c.dir, c.status)
			temp := t.TempDir()
			t.Setenv("TMPDIR", temp)
			a := s.In("p", true)
			r, err := care.RunBench(t.Context(), a, "")
			if err != nil {
				t.Fatal(err)
			}
			ratios := 0
			for _, m := range r.Rows {
				if m.Measured <= 0 || (m.Ratio > 0) != (m.Yardstick != "") {
					t.Errorf("row %+v", m)
				}
				if m.Ratio > 0 {
					ratios++
				}
			}
			if len(r.Rows) != 8 || ratios != c.ratios {
				t.Errorf("%d rows, %d with a ratio, want 8 and %d: %+v", len(r.Rows), ratios, c.ratios, r.Rows)
			}
			if notes := strings.Join(r.Notes, "; "); c.note == "" && notes != "" || !strings.Contains(notes, c.note) {
				t.Errorf("notes %q, want %q", notes, c.note)
			}
			if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
			stores, err := a.Stores(t.Context(), "", true)
			if err != nil || len(stores.Stores) > 0 {
				t.Errorf("the user's stores: %v, %v", stores, err)
			}
		})
	}
}

func TestBenchRefuses(t *testing.T) {
	s := producttest.NewSite(t)
	s.Write("p/x.go", "package x\n")
	if err := os.MkdirAll(filepath.Join(s.Root, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	a := s.In("p", true)
	for folder, code := range map[string]kb.Code{"x.go": kb.NotFound, "absent": kb.NotFound, filepath.Join(s.Root, "empty"): kb.NotFound} {
		_, err := care.RunBench(t.Context(), a, folder)
		if kb.CodeOf(err) != code || !strings.Contains(kb.HintOf(err), "knowledge bench") {
			t.Errorf("%s: %v, %q", folder, err, kb.HintOf(err))
		}
	}
}
