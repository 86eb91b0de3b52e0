package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// lineEvery is how often progress is printed where there is no terminal.
const lineEvery = 3 * time.Second

// progress shows how far a job is: as a bar on a terminal, as a line now and
// then elsewhere. Its methods are safe for concurrent use.
type progress struct {
	w        io.Writer
	terminal bool
	now      func() time.Time

	mu      sync.Mutex
	stopped bool
	phase   string
	bar     *progressbar.ProgressBar
	total   int64
	told    time.Time
}

func (s *session) progress() *progress {
	w := s.env.Stderr
	if s.quiet {
		w = io.Discard
	}
	return &progress{w: w, terminal: s.env.ErrTerminal, now: time.Now}
}

// report is a listener for kb.Report.
func (p *progress) report(at kb.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped || at.Phase == "" && at.Done == 0 && at.Total == 0 { // not begun
		return
	}
	if p.terminal {
		p.draw(at)
		return
	}
	now := p.now()
	if p.told.IsZero() {
		p.told = now // what is done sooner needs no line
	}
	if now.Sub(p.told) < lineEvery {
		return
	}
	p.told = now
	fmt.Fprintln(p.w, progressLine(at))
}

func (p *progress) draw(at kb.Progress) {
	total := at.Total
	if total <= 0 {
		total = -1
	}
	if p.bar == nil || at.Phase != p.phase {
		p.clear()
		p.phase, p.total = at.Phase, total
		p.bar = progressbar.NewOptions64(total,
			progressbar.OptionSetWriter(p.w),
			progressbar.OptionSetDescription(phaseWord(at.Phase)),
			progressbar.OptionSetWidth(30),
			progressbar.OptionShowCount(),
			progressbar.OptionSetPredictTime(false), // it reckons from its first call, and knows nothing of what was there
			progressbar.OptionSetElapsedTime(false),
			progressbar.OptionThrottle(65*time.Millisecond),
			progressbar.OptionSetSpinnerChangeInterval(0), // no goroutine of its own
			progressbar.OptionClearOnFinish(),
		)
	}
	if total != p.total {
		p.total = total
		p.bar.ChangeMax64(total)
	}
	p.bar.Describe(barWords(at))
	if total > 0 && at.Done >= total {
		return // finishing clears the bar; the next phase or the end does that
	}
	_ = p.bar.Set64(at.Done) // drawing has no failure that matters
}

func (p *progress) clear() {
	if p.bar != nil {
		_ = p.bar.Clear()
		p.bar = nil
	}
}

// stop removes the bar; nothing is drawn from then on.
func (p *progress) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	p.stopped = true
}

// barWords is what is before the bar: "index, 40/s, 1m20s left", by the
// job's own figures.
func barWords(at kb.Progress) string {
	words := phaseWord(at.Phase)
	if at.Rate >= 1 {
		words += fmt.Sprintf(", %.0f/s", at.Rate)
	}
	if at.ETA >= 1 {
		words += fmt.Sprintf(", %s left", (time.Duration(at.ETA) * time.Second).String())
	}
	return words
}

func phaseWord(phase string) string {
	if phase == "" {
		return "working"
	}
	return phase
}

// progressLine is one line: "index: 120 of 400 (30%), 5 s left".
func progressLine(at kb.Progress) string {
	var b strings.Builder
	b.WriteString(phaseWord(at.Phase) + ": " + fmt.Sprint(at.Done))
	if at.Total > 0 {
		fmt.Fprintf(&b, " of %d (%d%%)", at.Total, 100*at.Done/at.Total)
	}
	if at.ETA >= 1 {
		fmt.Fprintf(&b, ", %s left", (time.Duration(at.ETA) * time.Second).String())
	}
	return b.String()
}
