package source

import (
	"testing"
	"time"
)

// TestParseTime: days and how long ago, and nothing that may be the name of a branch.
func TestParseTime(t *testing.T) {
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"2026-11-01": "2026-11-01T00:00", "12h": "2026-11-23T00:00", "7d": "2026-11-16T12:00", "3w": "2026-11-02T12:00",
		"": "", "d": "", "0d": "", "-3d": "", "7": "", "7y": "", "10001d": "", "2026-13-01": "", "main": "", "v1.2": "", "3.5d": "",
	} {
		at, ok := ParseTime(text, now)
		got := ""
		if ok {
			got = at.Format("2006-01-02T15:04")
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
