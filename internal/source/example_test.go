package source_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/source"
)

// A source is written canonically, opened as it is now, and lists the
// documents that are worth indexing. What it leaves out it counts.
func ExampleOpener_Open() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "source-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for name, text := range map[string]string{"main.go": "package main\n", "README.md": "# Sums\n", "go.sum": "x\n", ".env": "KEY=x\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			log.Fatal(err)
		}
	}

	kind, canonical, err := source.Canonical(ctx, "folder", ".", dir)
	if err != nil {
		log.Fatal(err)
	}
	snapshot, err := (&source.Opener{}).Open(ctx, kb.Spec{Kind: kind, Source: canonical})
	if err != nil {
		log.Fatal(err)
	}
	defer snapshot.Close()
	err = snapshot.Walk(ctx, func(e kb.Entry) error {
		raw, err := snapshot.Read(ctx, e)
		fmt.Printf("%s %q\n", e.Path, raw)
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(snapshot.Skipped())
	// Output:
	// README.md "# Sums\n"
	// main.go "package main\n"
	// map[lockfile:1 secret:1]
}
