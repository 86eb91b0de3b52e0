package cli

import (
	"fmt"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/command"
)

// exitTable is the table of exit statuses as lines of text.
func exitTable() string {
	var b strings.Builder
	for _, e := range command.Exits() {
		fmt.Fprintf(&b, "%5d  %s", e.Status, e.Means)
		for i, c := range e.Codes {
			b.WriteString([]string{" (", ", "}[min(i, 1)] + string(c))
		}
		if e.Codes != nil {
			b.WriteByte(')')
		}
		b.WriteByte('\n')
	}
	return b.String()
}
