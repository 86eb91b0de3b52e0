package project

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// What a person keeps in the same folders is not ours, and a folder that may
// hold such is removed only when it is empty.
func TestFootprintNamesWhatIsOurs(t *testing.T) {
	home := t.TempDir()
	data := filepath.Join(home, "data [1]")
	write := func(parts ...string) string {
		p := filepath.Join(parts...)
		if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte("12345"), 0o600); err != nil {
			t.Fatal(err)
		}
		return p
	}
	write(data, "knowledge.db")
	write(data, "segments", "a.seg")
	write(data, "segments", "a.model.vec")
	write(data, "thesis.doc")
	write(data, "api-calls.jsonl", "a folder of that name is somebody else's")
	write(data, ".tmp-123")
	write(data, ".gitignore") // not as the program writes it
	write(home, "cache", "knowledge", "bin", "0.1.0", "knowledge")
	env := map[string]string{"XDG_CACHE_HOME": filepath.Join(home, "cache"), "HOME": home}
	list, err := Footprint(data, func(k string) string { return env[k] })
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		path  string
		empty bool
		files int
		bytes int64
	}
	var got []row
	for _, x := range list {
		got = append(got, row{x.Path, x.Empty, x.Files, x.Bytes})
	}
	want := []row{
		{filepath.Join(data, "knowledge.db"), false, 1, 5},
		{filepath.Join(data, "segments"), false, 2, 10},
		{filepath.Join(data, ".tmp-123"), false, 1, 5},
		{filepath.Join(home, "cache", "knowledge", "bin"), false, 1, 5},
		{filepath.Join(home, "cache", "knowledge"), true, 0, 0},
		{data, true, 0, 0},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}
