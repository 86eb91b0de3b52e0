package search

import (
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

func TestTitle(t *testing.T) {
	long := strings.Repeat("very ", 20) + "long"
	for _, c := range []struct {
		chunk kb.Chunk
		want  string
	}{
		{kb.Chunk{}, ""},
		{kb.Chunk{Kind: "section", Decl: []string{"Scheduler", "Cron"}}, "Scheduler › Cron"},
		{kb.Chunk{Kind: "section", Decl: []string{"How to schedule recurring messages and jobs with it", "Cron expression triggers", "Hashed expressions"}}, "… › Cron expression triggers › Hashed expressions"},
		{kb.Chunk{Kind: "section", Decl: []string{"A", long}}, kb.Clip("… › "+long, 80)},
		{kb.Chunk{Kind: "section", Decl: []string{long}}, kb.Clip(long, 80)},
		{kb.Chunk{Kind: "method", Decl: []string{"Server", "Serve"}, Symbols: make([]kb.Symbol, 3)}, "Server.Serve +2"},
		{kb.Chunk{Kind: "class", Decl: []string{"Server"}, Symbols: make([]kb.Symbol, 3)}, "Server"},
	} {
		if got := Title(&c.chunk); got != c.want {
			t.Errorf("%v: %q, want %q", c.chunk.Decl, got, c.want)
		}
	}
}
