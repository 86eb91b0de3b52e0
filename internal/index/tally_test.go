package index

import "testing"

// TestScratchOfASmallStore: what a store keeps for its next search is no more than its
// chunks take; of hundreds of small stores each keeps its own.
func TestScratchOfASmallStore(t *testing.T) {
	for _, chunks := range []int{1, 45, 5000} {
		s := &scores{slot: make([]uint32, chunks)}
		for range 2 {
			for c := range chunks {
				if got := s.touch(uint32(c), 1); got.chunk != uint32(c) {
					t.Fatalf("chunk %d has the tally of %d", c, got.chunk)
				}
			}
		}
		if n := cap(s.tallies); len(s.tallies) != chunks || n > chunks+chunks/4+8 {
			t.Errorf("%d chunks: %d tallies, room for %d", chunks, len(s.tallies), n)
		}
	}
}
