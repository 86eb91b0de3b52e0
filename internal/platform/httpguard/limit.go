package httpguard

import (
	"net/netip"
	"sync"
	"time"
)

// Limiter is a token bucket per client: Burst at once, then Rate per second.
type Limiter struct {
	Rate  float64 // requests per second, positive
	Burst int     // requests at once, positive

	mu      sync.Mutex
	buckets map[string]bucket
	now     func() time.Time // nil is time.Now
}

type bucket struct {
	left float64
	at   time.Time
}

// maxBuckets bounds the memory: beyond it full buckets are forgotten, and
// when none is full, all are, which errs on the side of answering.
const maxBuckets = 10_000

// Allow takes one request of the client at remote, host:port, and reports
// whether it may be answered. IPv6 clients count by /64, which is what one
// client is given.
func (l *Limiter) Allow(remote string) bool { return l.Take(client(remote).String()) }

// Take takes one request of the client that key names.
func (l *Limiter) Take(key string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if l.now != nil {
		now = l.now()
	}
	if l.buckets == nil {
		l.buckets = map[string]bucket{}
	}
	b, ok := l.buckets[key]
	if !ok {
		if len(l.buckets) >= maxBuckets {
			l.forget(now)
		}
		b = bucket{left: float64(l.Burst), at: now}
	}
	b.left = l.filled(b, now)
	b.at = now
	allowed := b.left >= 1
	if allowed {
		b.left--
	}
	l.buckets[key] = b
	return allowed
}

// Spent reports whether a client that key names has no request left, and takes none.
func (l *Limiter) Spent(key string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if l.now != nil {
		now = l.now()
	}
	b, ok := l.buckets[key]
	return ok && l.filled(b, now) < 1
}

func (l *Limiter) filled(b bucket, now time.Time) float64 {
	return min(float64(l.Burst), b.left+max(0, now.Sub(b.at).Seconds())*l.Rate)
}

func (l *Limiter) forget(now time.Time) {
	for k, b := range l.buckets {
		if l.filled(b, now) >= float64(l.Burst) {
			delete(l.buckets, k)
		}
	}
	if len(l.buckets) >= maxBuckets {
		clear(l.buckets)
	}
}

// client returns what counts as one client. An address that does not parse
// shares one bucket with all others of its kind.
func client(remote string) netip.Prefix {
	host, _ := splitHost(remote)
	a, err := netip.ParseAddr(host)
	if err != nil {
		return netip.Prefix{}
	}
	a = a.Unmap().WithZone("")
	bits := 32
	if a.Is6() {
		bits = 64
	}
	p, _ := a.Prefix(bits)
	return p
}
