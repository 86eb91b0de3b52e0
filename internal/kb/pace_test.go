package kb

import (
	"math"
	"testing"
	"time"
)

// TestPace: the rate is that of the last seconds, the time left that of the
// whole phase, and a phase that begins anew is measured anew.
func TestPace(t *testing.T) {
	var p Pace
	now := time.Unix(1000, 0)
	report := func(after time.Duration, at Progress) Progress {
		now = now.Add(after)
		return p.Add(now, at)
	}
	near := func(got, want float64) bool { return math.Abs(got-want) <= want/20 }

	if at := report(0, Progress{Phase: "walk", Done: 900}); at.Rate != 0 || at.ETA != 0 {
		t.Errorf("at the first report: %+v", at)
	}
	// 500 were there before; 10 a second for 20 seconds, then 40 a second for 10.
	var at Progress
	report(0, Progress{Phase: "index", Done: 500, Total: 2000})
	for i := range int64(200) {
		at = report(100*time.Millisecond, Progress{Phase: "index", Done: 501 + i, Total: 2000})
	}
	if !near(at.Rate, 10) || !near(at.ETA, 130) {
		t.Errorf("after 20 s at 10/s: %+v", at)
	}
	for i := range int64(400) {
		at = report(25*time.Millisecond, Progress{Phase: "index", Done: 701 + i, Total: 2000})
	}
	if !near(at.Rate, 40) || !near(at.ETA, 900*30/600.) {
		t.Errorf("after 10 s at 40/s: %+v", at)
	}
	if len(p.seen) > 100 {
		t.Errorf("%d reports are kept", len(p.seen))
	}
	if at := report(time.Second, Progress{Phase: "index", Done: 1200, Total: 2000, Rate: 7, ETA: 3}); at.Rate != 7 || at.ETA != 3 {
		t.Errorf("what the work says itself is changed: %+v", at)
	}
	if at := report(time.Second, Progress{Phase: "index", Done: 3, Total: 2000}); at.Rate != 0 || at.ETA != 0 {
		t.Errorf("another pass: %+v", at)
	}
}
