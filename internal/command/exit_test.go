package command_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

func TestExitStatus(t *testing.T) {
	for code, want := range map[kb.Code]int{
		kb.Invalid: 2, kb.TooLarge: 2, kb.NotFound: 3, kb.Denied: 4, kb.Busy: 5, kb.Away: 6, kb.Corrupt: 7, kb.Newer: 7,
		kb.Full: 8, kb.Canceled: 130, kb.Internal: 1, kb.Exists: 1, kb.Unsupported: 1,
	} {
		err := fmt.Errorf("wrapped: %w", kb.Errorf(code, "x"))
		if got := command.ExitStatus(err); got != want {
			t.Errorf("%s: %d, want %d", code, got, want)
		}
	}
	if got := command.ExitStatus(errors.New("plain")); got != 1 {
		t.Errorf("plain error: %d", got)
	}
	if got := command.ExitStatus(nil); got != 0 {
		t.Errorf("nil: %d", got)
	}
}
