package printer

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/visible"
)

// quoted is a name that was made fit for a cell already.
type quoted string

// Name is a path, or a place in one, as a cell or a part of a line shows it:
// quoted where it holds what would end the line or cannot be seen.
func Name(s string) quoted { return quoted(visible.Name(s)) }

// Field makes a value fit for one cell: tabs and line ends become spaces.
func Field(v any) string {
	if q, ok := v.(quoted); ok {
		return string(q)
	}
	return Clean(strings.Map(func(r rune) rune {
		if r == '\t' || r == '\n' || r == '\r' {
			return ' '
		}
		return r
	}, fmt.Sprint(v)))
}

// Clean escapes what steers a terminal or is not seen, before it is measured
// for a column or goes past Printer.Out.
func Clean(s string) string { return visible.Line(s) }

// Short is the beginning of a commit.
func Short(commit string) string { return kb.ShortCommit(commit) }

// When is a time as who reads it here reads it, "" for none.
func (p *Printer) When(t time.Time) string {
	if p.Terminal {
		return At(t)
	}
	return When(t)
}

// When is a time as programs read it, "" for none.
func When(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05Z")
}

// Size writes a number of bytes.
func Size(n int64) string {
	switch {
	case n >= 10<<20:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 10<<10:
		return fmt.Sprintf("%d KiB", n>>10)
	default:
		return fmt.Sprintf("%d B", n)
	}
}

// Counts prints the largest first: "go 12, markdown 3".
func Counts(m map[string]int) string {
	names := slices.SortedFunc(maps.Keys(m), func(a, b string) int { return cmp.Or(m[b]-m[a], strings.Compare(a, b)) })
	for i, n := range names {
		names[i] = fmt.Sprintf("%s %d", n, m[n])
	}
	return strings.Join(names, ", ")
}

// At is a time as people read it, "" for none.
func At(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("Mon 2006-01-02 15:04")
}

// Percent is how far something is, "12/40".
func Percent(p kb.Progress) string {
	switch {
	case p.Total > 0:
		return fmt.Sprintf("%d/%d", p.Done, p.Total)
	case p.Done > 0:
		return fmt.Sprint(p.Done)
	default:
		return ""
	}
}
