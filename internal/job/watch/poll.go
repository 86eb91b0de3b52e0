package watch

import (
	"context"
	"fmt"
	"time"
)

// poll checks the folder, and rests; false ends the life.
func (s *state) poll(ctx context.Context) bool {
	began := time.Now()
	changed, err := s.Changed(ctx)
	took := time.Since(began)
	if err == nil && (changed || s.failed > 0 && began.After(s.retry)) {
		if s.Settling != nil && s.Settling() {
			sleep(ctx, s.Timing.Settle)
		}
		if !s.update(ctx) {
			return false
		}
	}
	sleep(ctx, max(s.Timing.Look, min(50*took, time.Minute)))
	_, err = s.present(s.id)
	return err == nil && ctx.Err() == nil
}

func (s *state) tellPolling() {
	text := s.why + fmt.Sprintf("; it is looked at every %v or less often instead", s.Timing.Look)
	s.tell(Event{Kind: "polling", Text: text, Hint: hintOf(s.why)})
}
