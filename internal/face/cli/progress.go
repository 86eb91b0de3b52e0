package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

const (
	lineEvery = 3 * time.Second // how often progress is printed where there is no terminal
	drawEvery = 100 * time.Millisecond
	drawAfter = 300 * time.Millisecond
	barWidth  = 24
)

// progress shows how far a job is: in one line of a terminal that is gone at
// its end, as a line now and then elsewhere. Its methods are safe for
// concurrent use.
type progress struct {
	w        io.Writer
	terminal bool
	width    int // columns, 0 for unknown
	now      func() time.Time

	mu      sync.Mutex
	stopped bool
	pace    kb.Pace
	phase   string
	begun   time.Time
	drawn   time.Time // zero while nothing is
	told    time.Time
}

func (s *session) progress() *progress {
	w := s.env.Stderr
	if s.quiet {
		w = io.Discard
	}
	return &progress{w: w, terminal: s.env.ErrTerminal && s.env.Getenv("TERM") != "dumb", width: s.env.ErrWidth, now: time.Now}
}

// report is a listener for kb.Report.
func (p *progress) report(at kb.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped || at.Phase == "" && at.Done == 0 && at.Total == 0 { // not begun
		return
	}
	now := p.now()
	at = p.pace.Add(now, at)
	if p.begun.IsZero() {
		p.begun = now
	}
	if p.terminal {
		if now.Sub(p.begun) < drawAfter {
			return // what is done at once would only flicker
		}
		if at.Phase != p.phase || now.Sub(p.drawn) >= drawEvery {
			p.phase, p.drawn = at.Phase, now
			line := printer.Field(printer.Doing(at, barWidth))
			if p.width > 0 {
				line = printer.Cut(line, p.width-1) // a full line makes some terminals begin another
			}
			fmt.Fprint(p.w, "\r"+line+"\x1b[K")
		}
		return
	}
	if p.told.IsZero() {
		p.told = now // what is done sooner needs no line
	}
	if now.Sub(p.told) < lineEvery {
		return
	}
	p.told = now
	fmt.Fprintln(p.w, progressLine(at))
}

// stop removes the line; nothing is drawn from then on.
func (p *progress) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.stopped && !p.drawn.IsZero() {
		io.WriteString(p.w, "\r\x1b[K")
	}
	p.stopped = true
}

// progressLine is one line: "index: 120 of 400 (30%), 5s left".
func progressLine(at kb.Progress) string {
	phase := at.Phase
	if phase == "" {
		phase = "working"
	}
	var b strings.Builder
	b.WriteString(phase + ": " + fmt.Sprint(at.Done))
	if at.Total > 0 {
		fmt.Fprintf(&b, " of %d (%d%%)", at.Total, 100*at.Done/at.Total)
	}
	if at.ETA >= 1 {
		fmt.Fprintf(&b, ", %s left", (time.Duration(at.ETA) * time.Second).String())
	}
	return b.String()
}
