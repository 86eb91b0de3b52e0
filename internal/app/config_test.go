package app

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// The configuration file is below flags and variables and above defaults, and
// mending it is enough: nothing is restarted.
func TestConfigurationFile(t *testing.T) {
	ctx := context.Background()
	s := newSite(t)
	s.write("dir/small.txt", "zebra\n")
	s.write("dir/large.txt", strings.Repeat("quagga\n", 100))
	file := filepath.Join(s.root, "config.yaml")
	s.write("config.yaml", "dataDir: "+s.data+"\nvectors: {engine: chromen}\nmaxFileBytes: 100\n")
	env := map[string]string{"KNOWLEDGE_CONFIG": file}
	open := func(cfg Config) *App {
		t.Helper()
		cfg.Dir, cfg.Env = filepath.Join(s.root, "dir"), func(k string) string { return env[k] }
		a, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = a.Close() })
		return a
	}
	a := open(Config{Rooms: allRooms()})
	if _, err := a.Stores(ctx, "", false); kb.CodeOf(err) != kb.Invalid || !strings.Contains(err.Error(), "chromen") {
		t.Fatal(err)
	}
	s.write("config.yaml", "dataDir: "+s.data+"\nvectors: {engine: chromem}\nmaxFileBytes: 100\n")
	started, err := a.CreateStore(ctx, CreateStore{Kind: kb.KindFolder, Source: "."})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.WaitJob(ctx, started.Job); err != nil {
		t.Fatal(err)
	}
	info, err := a.StoreInfo(ctx, started.Store)
	if err != nil || info.Documents != 1 || info.Skipped["too large"] != 1 {
		t.Errorf("%+v %v", info, err)
	}
	if _, err := os.Stat(filepath.Join(s.data, "knowledge.db")); err != nil {
		t.Error(err)
	}
	for name, cfg := range map[string]Config{"variable": {Rooms: allRooms()}, "flag": {Rooms: allRooms(), DataDir: filepath.Join(s.root, "flag")}} {
		env["KNOWLEDGE_DATA_DIR"] = filepath.Join(s.root, "variable")
		b := open(cfg)
		if _, err := b.Stores(ctx, "", false); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(s.root, name, "knowledge.db")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
