package app

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/source"
)

// tellMost is how many stores get a note each.
const tellMost = 5

// tellBehind says of each store what is not as it was indexed, and what brings
// it up to date.
func (a *App) tellBehind(ctx context.Context, list []*behind, by Asking) []string {
	var notes, more []string
	for _, b := range list {
		switch note := b.says(by.Public); {
		case note == "":
		case len(notes) == tellMost:
			more = append(more, a.called(ctx, b.st))
		case by.Public:
			notes = append(notes, note)
		default:
			notes = append(notes, note+"; "+b.next(a.called(ctx, b.st)))
		}
	}
	if len(more) > 0 {
		note := fmt.Sprintf("%d more stores are, or may be, behind their folders", len(more))
		if !by.Public {
			note += "; bring each up to date with store:index: " + strings.Join(more, ", ")
		}
		notes = append(notes, note)
	}
	return notes
}

// its is what a store's documents lie in: "its folder".
func (b *behind) its() string { return "its " + source.TraitsOf(b.st.Spec.Kind).Place }

// says names what is wrong; "" of a store that is up to date by now.
// For a stranger it names no path of this machine.
func (b *behind) says(public bool) string {
	name := "store " + b.st.Label()
	switch {
	case b.gone != "":
		gone := b.gone
		if !public {
			gone = strings.Replace(gone, b.its(), b.its()+" "+b.st.Spec.Source, 1)
		}
		return fmt.Sprintf("%s: %s, hits are of %s", name, gone, b.st.Head.Indexed.UTC().Format(time.DateOnly))
	case b.err != nil && public:
		return name + " cannot be compared with " + b.its() + ", hits may be missing"
	case b.err != nil:
		return fmt.Sprintf("%s cannot be compared with %s, hits may be missing: %v", name, b.its(), b.err)
	case b.job.ID != "":
		return fmt.Sprintf("%s is still being brought up to date (job %s, %s): %s", name, b.job.ID, doneOf(b.job), b.changes())
	case b.why != "" && public:
		return fmt.Sprintf("%s could not be brought up to date: %s", name, b.changes())
	case b.failures > 0:
		return fmt.Sprintf("%s could not be brought up to date (%s; failed %s, tried again at %s, or at once by store:index): %s",
			name, b.why, times(b.failures), b.again.UTC().Format(time.RFC3339), b.changes())
	case b.why != "":
		return fmt.Sprintf("%s could not be brought up to date (%s): %s", name, b.why, b.changes())
	case b.isBehind():
		return fmt.Sprintf("%s is behind %s: %s", name, b.its(), b.changes())
	case !b.since.IsZero():
		return fmt.Sprintf("%s was last compared with %s at %s, since a look takes long: later edits may be missing", name, b.its(), b.since.UTC().Format(time.RFC3339))
	}
	return ""
}

// next is what brings a store up to date, which is called so here.
func (b *behind) next(called string) string {
	switch {
	case b.job.ID != "":
		return waitFor(b.job)
	case b.gone != "" && !b.isBehind():
		return fmt.Sprintf("if it is not coming back: store:delete %s", Args{"store": called})
	case b.why != "" && b.hint != "":
		return b.hint
	}
	return fmt.Sprintf("bring it up to date with: store:index %s", Args{"store": called})
}

// called is a word that means a store here: its name, or its id where the name
// means another or nothing.
func (a *App) called(ctx context.Context, st kb.Store) string {
	if _, found, err := a.Lookup(ctx, st.Label()); err == nil && found.ID == st.ID {
		return st.Label()
	}
	return string(st.ID)
}

// changes says what is different.
func (b *behind) changes() string {
	if b.edited {
		return "it is being edited, so hits may be missing"
	}
	if b.drift.Files == 0 && b.drift.Rules {
		return "it was indexed by older rules of what is left out"
	}
	if b.drift.Files == 0 {
		return "parts of its index have to be made anew"
	}
	n, verb := kb.Count(b.drift.Files, "file"), "have"
	if b.drift.Files == 1 {
		verb = "has"
	}
	if b.partly {
		n = "at least " + n
	}
	return fmt.Sprintf("%s %s changed since it was indexed, so hits may be missing", n, verb)
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

func were(n int) string {
	if n == 1 {
		return "1 file was"
	}
	return fmt.Sprintf("%d files were", n)
}
