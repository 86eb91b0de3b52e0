package specs

import (
	"encoding/json"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// replyBytes is what a reply has at most when nobody said how long a list may
// be: an agent pays for each byte, and asks for the rest with next.
const replyBytes = 4000

// checkOffset refuses an offset that is none.
func checkOffset(offset int) error {
	if offset < 0 {
		return kb.Errorf(kb.Invalid, "offset must not be negative, as %d is", offset).WithHint("leave it out for the beginning")
	}
	return nil
}

// fitting returns how many rows fit into bytes, at least one where there is one.
func fitting[T any](rows []T, bytes int) int {
	for i := range rows {
		raw, err := json.Marshal(rows[i])
		if err != nil {
			return i
		}
		if bytes -= len(raw) + 1; bytes < 0 {
			return max(i, 1)
		}
	}
	return len(rows)
}

// sizeOf returns how long a reply is as JSON.
func sizeOf(reply any) int {
	raw, err := json.Marshal(reply)
	if err != nil {
		return 0
	}
	return len(raw)
}
