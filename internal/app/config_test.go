package app_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/product/producttest"
)

// The configuration file is below flags and variables and above defaults, and
// mending it is enough: nothing is restarted.
func TestConfigurationFile(t *testing.T) {
	ctx := context.Background()
	s := producttest.NewSite(t)
	s.Write("dir/small.txt", "zebra\n")
	s.Write("dir/large.txt", strings.Repeat("quagga\n", 100))
	file := filepath.Join(s.Root, "config.yaml")
	s.Write("config.yaml", "dataDir: "+s.Data+"\nvectors: {engine: chromen}\nmaxFileBytes: 100\n")
	env := map[string]string{"KNOWLEDGE_CONFIG": file}
	open := func(cfg app.Config) *app.App {
		t.Helper()
		cfg.Dir, cfg.Env = filepath.Join(s.Root, "dir"), func(k string) string { return env[k] }
		a, err := app.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = a.Close() })
		return a
	}
	a := open(app.Config{})
	if _, err := a.Stores(ctx, "", false); kb.CodeOf(err) != kb.Invalid || !strings.Contains(err.Error(), "chromen") {
		t.Fatal(err)
	}
	s.Write("config.yaml", "dataDir: "+s.Data+"\nvectors: {engine: chromem}\nmaxFileBytes: 100\n")
	started, err := a.CreateStore(ctx, app.CreateStore{Kind: kb.KindFolder, Source: "."})
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
	if _, err := os.Stat(filepath.Join(s.Data, "knowledge.db")); err != nil {
		t.Error(err)
	}
	for name, cfg := range map[string]app.Config{"variable": {}, "flag": {DataDir: filepath.Join(s.Root, "flag")}} {
		env["KNOWLEDGE_DATA_DIR"] = filepath.Join(s.Root, "variable")
		b := open(cfg)
		if _, err := b.Stores(ctx, "", false); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(s.Root, name, "knowledge.db")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
