package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/visible"
)

// notifier sends the progress of the running request.
type notifier struct {
	token json.RawMessage // as the client spelt it; nil without one
	// send writes one notification in order with everything else on its stream.
	send func(method string, params any)
}

type notifierKey struct{}

func withNotifier(ctx context.Context, n notifier) context.Context {
	return context.WithValue(ctx, notifierKey{}, n)
}

// progressParams is the body of notifications/progress.
type progressParams struct {
	Token    json.RawMessage `json:"progressToken"`
	Progress float64         `json:"progress"`
	Total    float64         `json:"total,omitempty"`
	Message  string          `json:"message,omitempty"`
}

// progress returns a context whose kb.Report calls become notifications, when
// the request asks for them and its transport can write them, and a function
// that ends them: it writes the newest one if that was held back, and makes
// later reports void.
func (f *face) progress(ctx context.Context) (context.Context, func()) {
	n, _ := ctx.Value(notifierKey{}).(notifier)
	if n.send == nil {
		return ctx, func() {}
	}
	if !isString(n.token) { // neither that nor an integer: not a token
		var v float64
		if !isNumber(n.token) || json.Unmarshal(n.token, &v) != nil || v != math.Trunc(v) {
			return ctx, func() {}
		}
	}
	r := &reporter{ctx: ctx, notifier: n, every: f.every, high: -1}
	return kb.WithProgress(ctx, r.report), r.end
}

// reporter turns the progress of one call into notifications. Their value
// must grow, while a phase counts from 0 in a unit of its own: the counts of
// earlier phases are added to it.
type reporter struct {
	notifier
	ctx   context.Context
	every time.Duration

	mu    sync.Mutex
	phase string
	base  float64 // sum of the earlier phases
	high  float64 // highest value so far
	last  time.Time
	held  *progressParams // newest one not sent for the rate
	ended bool
}

func (r *reporter) report(p kb.Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended || r.ctx.Err() != nil { // a cancelled request gets no more messages
		return
	}
	if p.Phase != r.phase {
		r.phase, r.base = p.Phase, max(r.high, 0)
	}
	value := r.base + float64(p.Done)
	if value <= r.high {
		return
	}
	r.high = value
	n := &progressParams{Token: r.token, Progress: value, Message: visible.Line(say(p))}
	if p.Total > 0 {
		n.Total = r.base + float64(p.Total)
	}
	if now := time.Now(); now.Sub(r.last) >= r.every {
		r.last, r.held = now, nil
		r.send(string(mcp.MethodNotificationProgress), n)
	} else {
		r.held = n
	}
}

func (r *reporter) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.held != nil && r.ctx.Err() == nil {
		r.send(string(mcp.MethodNotificationProgress), r.held)
	}
	r.ended = true
}

// say puts progress in words: "index 120/7700", or "clone 120" of an unknown total.
func say(p kb.Progress) string {
	switch {
	case p.Total > 0:
		return fmt.Sprintf("%s %d/%d", p.Phase, p.Done, p.Total)
	case p.Done > 0:
		return fmt.Sprintf("%s %d", p.Phase, p.Done)
	default:
		return p.Phase
	}
}
