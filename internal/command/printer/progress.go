package printer

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// phases are what a job does, as a person reads it.
var phases = map[string]string{
	"": "working", "clone": "cloning", "fetch": "fetching", "crawl": "reading pages", "walk": "listing documents", "index": "indexing",
	"write": "publishing", "link": "resolving references", "vectors": "embedding", "verify": "verifying", "import": "importing", "export": "exporting",
}

// Doing is how far a job is, with a bar of so many columns or none:
// "indexing ━━━━━━────── 120 of 400, 40/s, 7 s left".
func Doing(at kb.Progress, bar int) string {
	var b strings.Builder
	b.WriteString(cmp.Or(phases[at.Phase], at.Phase))
	if at.Total > 0 && bar > 0 {
		full := int(int64(bar) * min(at.Done, at.Total) / at.Total)
		b.WriteString(" " + strings.Repeat("━", full) + strings.Repeat("─", bar-full))
	}
	if at.Done > 0 || at.Total > 0 {
		fmt.Fprintf(&b, " %d", at.Done)
	}
	if at.Total > 0 {
		fmt.Fprintf(&b, " of %d", at.Total)
	}
	switch {
	case at.Rate >= 10:
		fmt.Fprintf(&b, ", %.0f/s", at.Rate)
	case at.Rate >= .1:
		fmt.Fprintf(&b, ", %.1f/s", at.Rate)
	}
	if at.ETA >= 1 {
		b.WriteString(", " + duration(at.ETA) + " left")
	}
	return b.String()
}

// duration is "7 s", "1 min 20 s", "2 h 05 min".
func duration(seconds float64) string {
	switch s := int(seconds + .5); {
	case s < 60:
		return fmt.Sprintf("%d s", s)
	case s < 3600:
		return fmt.Sprintf("%d min %02d s", s/60, s%60)
	default:
		return fmt.Sprintf("%d h %02d min", s/3600, s/60%60)
	}
}
