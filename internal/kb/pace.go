package kb

import "time"

// paceWindow is how far back a rate looks.
const paceWindow = 5 * time.Second

// Pace adds to reports of progress how fast it was over the last seconds, and
// how long the rest takes at the pace of the whole phase, where the work does
// not say so itself. The zero value is ready; it is not safe for concurrent use.
type Pace struct {
	phase string
	seen  []paced // of the last paceWindow, the first being the newest before it
	begin paced
}

type paced struct {
	at   time.Time
	done int64
}

// Add takes what was reported at a time and returns it with Rate and ETA.
func (p *Pace) Add(now time.Time, at Progress) Progress {
	here := paced{now, at.Done}
	if n := len(p.seen); n == 0 || at.Phase != p.phase || at.Done < p.seen[n-1].done {
		p.phase, p.begin, p.seen = at.Phase, here, p.seen[:0]
	}
	if n := len(p.seen); n < 2 || now.Sub(p.seen[n-2].at) >= paceWindow/50 {
		p.seen = append(p.seen, here)
	} else {
		p.seen[n-1] = here // what comes more often than that is kept once
	}
	for len(p.seen) > 2 && now.Sub(p.seen[1].at) >= paceWindow {
		p.seen = p.seen[1:]
	}
	if s := now.Sub(p.seen[0].at).Seconds(); at.Rate == 0 && s > 0.1 {
		at.Rate = float64(at.Done-p.seen[0].done) / s
	}
	if s := now.Sub(p.begin.at).Seconds(); at.ETA == 0 && s > 0.1 && at.Total > at.Done && at.Done > p.begin.done {
		at.ETA = s * float64(at.Total-at.Done) / float64(at.Done-p.begin.done)
	}
	return at
}
