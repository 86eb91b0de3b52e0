package app

import "github.com/seed-4f2d999b/knowledge/internal/kb"

// cannotWrite reports whether an error says that nothing can be written to the
// data directory now: for want of space or permission, because the disk fails,
// or because a newer version owns it. What is there is served all the same.
func cannotWrite(err error) bool {
	if err == nil {
		return false
	}
	switch kb.CodeOf(err) {
	case kb.Denied, kb.Full, kb.Newer, kb.Internal:
		return true
	}
	return false
}
