package cli

import "github.com/seed-4f2d999b/knowledge/internal/kb"

// leastSpace is the address space in bytes that a process needs: Go's runtime
// reserves 760 MB of addresses, and maps the program, before it runs a line of it (measured
// on linux/amd64: one start in thirty ends in its own fatal error at 850,000 kB), the model, the
// database and the first segments are mapped beside that. At this limit a
// search that indexes a project comes to its end.
const leastSpace = 900_000 << 10

// enoughSpace refuses a limit of the address space that would end in a crash of
// the runtime in the middle of the work; limit is in bytes.
func enoughSpace(limit uint64) error {
	if limit >= leastSpace {
		return nil
	}
	return kb.Errorf(kb.Unsupported, "the address space of a process is limited to %d MB here, and this program needs %d", limit/1e6, leastSpace/1_000_000).
		WithHint("raise the limit of this shell with ulimit -v unlimited, then try: knowledge version")
}
