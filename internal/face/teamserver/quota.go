package teamserver

import (
	"sync"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/team/rights"
)

// quota counts what each user asks. Limits may change between two requests. The
// zero value has counted nothing.
type quota struct {
	mu  sync.Mutex
	all map[string]*spent
	now func() time.Time // nil is time.Now
}

// spent is what a user may still ask: requests and bytes fill up again within a minute.
type spent struct {
	requests, bytes float64
	at              time.Time
	active          int
}

// enter takes one request of a user. leave gives back the place, and takes the
// bytes of the reply; it is nil when the user has to wait that long.
func (q *quota) enter(user string, l rights.Limits) (leave func(bytes int64), wait time.Duration) {
	now := time.Now()
	if q.now != nil {
		now = q.now()
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	s := q.all[user]
	if s == nil {
		if q.all == nil {
			q.all = map[string]*spent{}
		}
		s = &spent{requests: float64(l.Requests), bytes: float64(l.Bytes), at: now}
		q.all[user] = s
	}
	minutes := max(0, now.Sub(s.at).Minutes())
	s.requests = min(float64(l.Requests), s.requests+minutes*float64(l.Requests))
	s.bytes = min(float64(l.Bytes), s.bytes+minutes*float64(l.Bytes))
	s.at = now
	until := func(lack float64, most float64) time.Duration {
		return time.Duration(lack / most * float64(time.Minute))
	}
	switch {
	case s.requests < 1:
		return nil, until(1-s.requests, float64(l.Requests))
	case s.bytes <= 0:
		return nil, until(1-s.bytes, float64(l.Bytes))
	case s.active >= atOnce:
		return nil, time.Second
	}
	s.requests--
	s.active++
	return func(bytes int64) {
		q.mu.Lock()
		defer q.mu.Unlock()
		s.active--
		s.bytes -= float64(bytes) // a large reply is paid for afterwards
	}, 0
}

// forget drops users who have asked nothing for so long that nothing is spent.
func (q *quota) forget() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for user, s := range q.all {
		if s.active == 0 && s.bytes >= 0 && time.Since(s.at) > 2*time.Minute {
			delete(q.all, user)
		}
	}
}
