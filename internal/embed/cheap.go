package embed

import (
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Cheap reports whether a text costs e microseconds, so that hundreds of
// short ones may be embedded within a query. Providers that are asked over a
// network are not.
func Cheap(e kb.Embedder) bool { return e != nil && strings.HasPrefix(e.ID(), "static-") }
