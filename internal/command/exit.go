package command

import (
	"slices"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Exit is one exit status of the program.
type Exit struct {
	Status int
	Means  string    // one clause
	Codes  []kb.Code // of the errors that end with it
}

// Exits returns the one table of exit statuses, ascending.
func Exits() []Exit {
	return []Exit{
		{0, "done", nil},
		{1, "failed for a reason that has no status of its own; gate:check found the gate BLOCKED", []kb.Code{kb.Internal, kb.Exists, kb.Unsupported}},
		{2, "the request is wrong: a flag, an argument, or something too large", []kb.Code{kb.Invalid, kb.TooLarge}},
		{3, "what was named does not exist", []kb.Code{kb.NotFound}},
		{4, "no permission, no credentials or no trust", []kb.Code{kb.Denied}},
		{5, "somebody else holds it: try again", []kb.Code{kb.Busy}},
		{6, "the network or a provider does not answer", []kb.Code{kb.Away}},
		{7, "a file is corrupt, or a newer version of the program wrote it", []kb.Code{kb.Corrupt, kb.Newer}},
		{8, "no space left on the disk", []kb.Code{kb.Full}},
		{130, "interrupted", []kb.Code{kb.Canceled}},
	}
}

// ExitStatus returns the exit status for the outcome of a run; nil is 0.
func ExitStatus(err error) int {
	if err == nil {
		return 0
	}
	code := kb.CodeOf(err)
	for _, e := range Exits() {
		if slices.Contains(e.Codes, code) {
			return e.Status
		}
	}
	return 1
}
