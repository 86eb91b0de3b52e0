package rank

import "testing"

// TestJoin wants names of two to four neighbouring words, and none of more.
func TestJoin(t *testing.T) {
	q := Fitted().Parse("blue whale counting station harbour")
	q.Join()
	longest := 0
	for _, j := range q.joined {
		longest = max(longest, j.to-j.from)
	}
	if len(q.joined) != 4+3+2 || longest != 4 {
		t.Errorf("%d names, the longest of %d words: want 9, of 4", len(q.joined), longest)
	}
	for name, want := range map[string]bool{"WhaleCounting": true, "blue_whale_counting_station": true, "WhaleStation": false} {
		if q.Means(name) != want {
			t.Errorf("Means(%s) is %v", name, !want)
		}
	}
}
