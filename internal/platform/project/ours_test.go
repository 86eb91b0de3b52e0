package project

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOurs(t *testing.T) {
	dir := t.TempDir()
	write := func(rel, text string) string {
		t.Helper()
		p := filepath.Join(dir, filepath.FromSlash(rel))
		if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return p
	}
	id, content, hex := strings.Repeat("a", 16), strings.Repeat("b", 24), strings.Repeat("0", 32)
	for rel, want := range map[string]bool{
		"knowledge.db-wal": true, "worker.log": true, "installs.json": true, ".tmp-abc": true, "main.go": false, ".gitignore": false,
		"segments/" + content + ".seg": true, "segments/" + content + ".static-code-3-192.vec": true, "segments/s.seg": false,
		"generations/" + id + "-1-abcdefgh.gen": true, "generations/x.gen": false,
		"views/" + hex + ".view": true, "views/" + id + ".now": true, "views/a.view": false,
		"web/" + id + "/pages.000001": true, "web/" + id + "/p.txt": false, "web/precious/pages.000001": false,
		"repos/" + id + "/objects/pack/p.pack": true, "repos/" + id + ".full/HEAD": true, "repos/mine/HEAD": false, "repos/" + id + "/notes.txt": false,
		"replies/user/weather/now-20260101T000000Z-abcdef.md": true, "replies/user/weather/notes.md": false,
		"jobs/clock.lock": true, "jobs/abcdefgh.at": true, "jobs/store-" + id + ".lock": true, "jobs/cv.txt": false,
		"hooks/0123456789abcdef.said": true, "hooks/pre.sh": false,
		"packages/npm/zod@4.0.1.zip": true, "packages/npm/notes.md": false, "packages/letter.md": false,
		"packages/go/cache/download/example.org/a/@v/v1.0.0.zip": true, "packages/go/cache/download/list": false,
		"embeddings/openai-3-small.rows": true, "embeddings/poems.txt": false,
		"eval/segments/" + content + ".seg": true, "eval/notes": false,
	} {
		if got := Ours(dir, write(rel, "x")); got != want {
			t.Errorf("Ours(%q) = %v", rel, got)
		}
	}
	if Ours(dir, filepath.Dir(dir)) || Ours(dir, dir) {
		t.Error("the data directory itself, and what it lies in, are no files of ours")
	}
	// Removing takes ours and leaves the rest.
	if err := Remove(dir, dir); err != nil {
		t.Fatal(err)
	}
	if files, _, foreign := OursBelow(dir, dir); len(files) > 0 || !foreign {
		t.Errorf("left %q, foreign %v", files, foreign)
	}
	if _, err := os.Stat(filepath.Join(dir, "web", "precious", "pages.000001")); err != nil {
		t.Error(err)
	}
}

// What a link in the data directory leads to is not ours.
func TestOursNotThroughLinks(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	id := strings.Repeat("a", 16)
	kept := filepath.Join(other, id, "pages.000001")
	if err := os.MkdirAll(filepath.Dir(kept), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(kept, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, filepath.Join(dir, "web")); err != nil {
		t.Skip("no links here: ", err)
	}
	if Ours(dir, filepath.Join(dir, "web", id)) {
		t.Error("a folder behind a link is taken for ours")
	}
	if err := Remove(dir, filepath.Join(dir, "web", id)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(kept); err != nil {
		t.Error(err)
	}
}
