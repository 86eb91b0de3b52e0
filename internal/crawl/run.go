package crawl

import (
	"context"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Run crawls. When it returns without an error the pages of the crawl are the
// site's; otherwise those of the crawl before are, and the next Run with the
// same settings goes on. The error is the context's own when it ended, Away or
// what else kept it from the start pages, or that of the disk.
func Run(ctx context.Context, c Config) (Result, error) {
	return Result{}, kb.Errorf(kb.Unsupported, "not yet")
}
