package main

import (
	"os"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/platform/weaviate/weaviatetest"
)

// TestJudged asks judged queries through the double of a cluster, which orders by words
// more crudely than a real one: what is lost there by looking at some documents alone.
//
//	KNOWLEDGE_TASKS=FILE KNOWLEDGE_REPOS=DIR go test -C bench -v -run Judged ./cluster
func TestJudged(t *testing.T) {
	b := &bench{tasks: os.Getenv("KNOWLEDGE_TASKS"), repos: os.Getenv("KNOWLEDGE_REPOS")}
	if b.tasks == "" || b.repos == "" {
		t.Skip("KNOWLEDGE_TASKS and KNOWLEDGE_REPOS name no judged queries")
	}
	if err := b.quality(t.Context(), t.TempDir(), weaviatetest.New(t).URL); err != nil {
		t.Fatal(err)
	}
}
