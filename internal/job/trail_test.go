package job

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestATrailTellsWhatADeadRunWasAt(t *testing.T) {
	m := world{t.TempDir()}.manager(t, nil)
	if err := os.Mkdir(m.cfg.Dir, 0o700); err != nil { // as the job's lock does
		t.Fatal(err)
	}
	for _, at := range []map[int]string{{0: "a/short.go"}, {0: "", 1: "b.md"}, {0: "a", 3: "d"}, {0: ""}} {
		trail, _, err := m.Trail("j")
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		for n := range trailSlots {
			if p, ok := at[n]; ok {
				trail.At(n, p)
				if p != "" {
					want = append(want, p)
				}
			}
		}
		trail.f.Close() // dead, without Close
		next, left, err := m.Trail("j")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, left); diff != "" {
			t.Errorf("%v: %s", at, diff)
		}
		if err := next.Close(); err != nil {
			t.Error(err)
		}
	}
}
