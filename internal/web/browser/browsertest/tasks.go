package browsertest

import (
	"context"
	"encoding/json"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/tracing"
	"github.com/chromedp/chromedp"
)

// Longest are the longest tasks of the main thread of a page.
type Longest struct {
	Wall time.Duration // from begin to end, whatever else the machine did meanwhile
	CPU  time.Duration // that the thread ran in one: its length on a machine that is idle
}

// traced is an event of a trace; times are in microseconds.
type traced struct {
	Name string  `json:"name"`
	PID  int     `json:"pid"`
	TID  int     `json:"tid"`
	Wall float64 `json:"dur"`
	CPU  float64 `json:"tdur"`
	Args struct {
		Name string `json:"name"`
	} `json:"args"`
}

// Tasks does something and returns the longest tasks of pages meanwhile.
func (b *Tab) Tasks(do func()) Longest {
	b.t.Helper()
	var events []traced
	over := make(chan bool)
	listen, stop := context.WithCancel(b.ctx)
	defer stop()
	b.must(chromedp.Listen(listen, func(ev any) {
		switch ev := ev.(type) {
		case *tracing.EventDataCollected:
			for _, raw := range ev.Value {
				var e traced
				if json.Unmarshal(raw, &e) == nil && (e.Name == "RunTask" || e.Name == "ThreadControllerImpl::RunTask" || e.Name == "thread_name") {
					events = append(events, e)
				}
			}
		case *tracing.EventTracingComplete:
			close(over)
		}
	}))
	_, err := chromedp.Call(b.ctx, tracing.Start, tracing.StartParams{TraceConfig: &tracing.TraceConfig{
		IncludedCategories: []string{"toplevel", "disabled-by-default-devtools.timeline", "__metadata"}}})
	b.must(err)
	do()
	_, err = chromedp.Call(b.ctx, tracing.End, cdp.Empty{})
	b.must(err)
	select {
	case <-over:
	case <-b.ctx.Done():
		b.t.Fatalf("the trace does not end")
	}
	type thread struct{ pid, tid int }
	pages := map[thread]bool{}
	for _, e := range events {
		if e.Name == "thread_name" && e.Args.Name == "CrRendererMain" {
			pages[thread{e.PID, e.TID}] = true
		}
	}
	var l Longest
	for _, e := range events {
		if pages[thread{e.PID, e.TID}] && e.Name != "thread_name" {
			l.Wall = max(l.Wall, time.Duration(e.Wall)*time.Microsecond)
			l.CPU = max(l.CPU, time.Duration(e.CPU)*time.Microsecond)
		}
	}
	return l
}
