package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/product"
)

const ping = `{"jsonrpc":"2.0","id":"ping","method":"ping"}`

func withToken(id int, name string, args string, token any) string {
	b, _ := json.Marshal(token)
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":{"progressToken":%s}}}`, id, name, args, b)
}

var steps = tool("steps", func(ctx context.Context, i in) (string, error) {
	var wg sync.WaitGroup
	for n := range i.N {
		wg.Go(func() { kb.Report(ctx, kb.Progress{Phase: "index", Done: int64(n + 1), Total: int64(i.N)}) })
	}
	wg.Wait()
	kb.Report(ctx, kb.Progress{Phase: "write", Done: 1, Total: 1})
	go kb.Report(ctx, kb.Progress{Phase: "late", Done: 1}) // may lose the race, then it is void
	return "done", nil
})

// TestProgressBeforeResult: 200 calls at once; all progress of a call is
// written before its result, growing, and nothing after.
func TestProgressBeforeResult(t *testing.T) {
	const n = 200
	f := fake(t, steps)
	f.every = 0
	c := dial(t, f)
	go func() {
		for i := range n {
			io.WriteString(c.in, withToken(i, "steps", `{"n":5}`, fmt.Sprint("t", i))+"\n")
		}
	}()
	last, ended := map[string]float64{}, map[string]bool{}
	for len(ended) < n {
		r := c.read()
		if r.Method == "" {
			token := fmt.Sprint("t", r.ID)
			if last[token] == 0 || r.text() != "done" {
				t.Errorf("%s: result %q after progress %v", token, r.text(), last[token])
			}
			ended[token] = true
			continue
		}
		token := r.Params.ProgressToken.(string)
		if ended[token] {
			t.Errorf("%s: progress after its result: %+v", token, r.Params)
		}
		if r.Params.Progress <= last[token] {
			t.Errorf("%s: %v after %v", token, r.Params.Progress, last[token])
		}
		last[token] = r.Params.Progress
	}
	c.end()
}

// TestProgressRate: the first and the newest event are written, and what lies between is not.
func TestProgressRate(t *testing.T) {
	slow := tool("slow", func(ctx context.Context, _ in) (string, error) {
		for i := range 1000 {
			kb.Report(ctx, kb.Progress{Phase: "clone", Done: int64(i + 1)})
		}
		kb.Report(ctx, kb.Progress{Phase: "index", Done: 3, Total: 4})
		return "done", nil
	})
	f := fake(t, slow)
	f.every = time.Hour
	c := dial(t, f)
	for _, token := range []any{"a", 7} {
		first := c.ask(withToken(1, "slow", "{}", token))
		newest := c.read()
		if first.Params.Progress != 1 || first.Params.Message != "clone 1" || first.Params.Total != 0 {
			t.Errorf("first: %+v", first.Params)
		}
		if newest.Params.Progress != 1003 || newest.Params.Total != 1004 || newest.Params.Message != "index 3/4" {
			t.Errorf("newest: %+v", newest.Params)
		}
		if fmt.Sprint(newest.Params.ProgressToken) != fmt.Sprint(token) {
			t.Errorf("token %v came back as %v", token, newest.Params.ProgressToken)
		}
		if r := c.read(); r.text() != "done" {
			t.Errorf("result: %+v", r)
		}
	}
	for _, token := range []any{nil, 1.5, true, []int{1}} { // no token, or none that the protocol knows
		if r := c.ask(withToken(2, "slow", "{}", token)); r.text() != "done" {
			t.Errorf("token %v: %+v", token, r)
		}
	}
	c.end()
}

// blocker is a tool that runs until its context ends, or for ever when deaf.
func blocker(began chan<- context.Context, free <-chan struct{}) func(context.Context, in) (string, error) {
	return func(ctx context.Context, _ in) (string, error) {
		began <- ctx
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-free:
			return "free", nil
		}
	}
}

// TestCancel: the call's context ends, no reply follows, others go on.
func TestCancel(t *testing.T) {
	began, free := make(chan context.Context, 4), make(chan struct{})
	c := dial(t, fake(t, echo, tool("block", blocker(began, free))))
	c.send(withToken(1, "block", "{}", "p"))
	first := <-began
	c.send(toolCall("1", "block", "{}")) // another id: a string
	second := <-began
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"no need"}}`)
	<-first.Done()
	if second.Err() != nil {
		t.Error("the other call was cancelled too")
	}
	if r := c.ask(ping); r.ID != "ping" {
		t.Errorf("after the cancellation: %+v", r)
	}
	close(free)
	if r := c.read(); r.ID != "1" || r.text() != "free" {
		t.Errorf("the other call: %+v", r)
	}
	c.end()
	if rest, _ := io.ReadAll(c.out); len(rest) > 0 {
		t.Errorf("a cancelled call was answered: %s", rest)
	}
}

// TestSlowCallsBlockNothing: with every slot taken, the rest is answered and
// further calls wait their turn.
func TestSlowCallsBlockNothing(t *testing.T) {
	began, free := make(chan context.Context, 100), make(chan struct{})
	c := dial(t, fake(t, echo, tool("block", blocker(began, free))))
	for i := range running + 3 {
		c.send(toolCall(i, "block", "{}"))
	}
	for range running {
		<-began
	}
	if r := c.ask(ping); r.ID != "ping" {
		t.Errorf("ping: %+v", r)
	}
	if r := c.ask(`{"jsonrpc":"2.0","id":"list","method":"tools/list"}`); r.ID != "list" {
		t.Errorf("tools/list: %+v", r)
	}
	if n := len(began); n != 0 {
		t.Errorf("%d calls over the bound have begun", n)
	}
	// One that waits can be cancelled as well.
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, running+2))
	close(free)
	for range running + 2 {
		if r := c.read(); r.text() != "free" {
			t.Errorf("%+v", r)
		}
	}
	c.end()
}

// TestEndOfInput: a call under way may still be answered; one that takes too
// long is told to stop; one that does not listen is left behind.
func TestEndOfInput(t *testing.T) {
	for _, tc := range []struct {
		name     string
		run      func(ctx context.Context, gone <-chan struct{}) string
		limit    time.Duration
		answered string
	}{
		{"quick", func(context.Context, <-chan struct{}) string { time.Sleep(100 * time.Millisecond); return "quick" }, 100 * time.Millisecond, "quick"},
		{"slow", func(ctx context.Context, _ <-chan struct{}) string { <-ctx.Done(); return "stopped" }, endGrace, "stopped"},
		{"deaf", func(_ context.Context, gone <-chan struct{}) string { <-gone; return "" }, endGrace + endCancel, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := newFace(newApp(t), product.Commands(), nil, io.Discard)
			synctest.Test(t, func(t *testing.T) {
				gone := make(chan struct{})
				c := tool("work", func(ctx context.Context, _ in) (string, error) { return tc.run(ctx, gone), nil })
				f.tools["work"] = true
				f.slots = make(chan struct{}, running)
				f.mcp.AddTool(toolOf(c), f.handler(c))
				var out bytes.Buffer
				start := time.Now()
				if err := f.serve(t.Context(), strings.NewReader(toolCall(1, "work", "{}")), &out); err != nil {
					t.Error(err)
				}
				if took := time.Since(start); took > tc.limit {
					t.Errorf("returned after %v, want at most %v", took, tc.limit)
				}
				if !strings.Contains(out.String(), tc.answered) || tc.answered == "" && out.Len() > 0 {
					t.Errorf("answered %q, want %q", out.String(), tc.answered)
				}
				close(gone)
				synctest.Wait()
			})
		})
	}
}

func TestContextEnds(t *testing.T) {
	began := make(chan context.Context, 1)
	f := fake(t, tool("block", blocker(began, nil)))
	ctx, cancel := context.WithCancel(t.Context())
	inR, inW := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- f.serve(ctx, inR, io.Discard) }()
	io.WriteString(inW, toolCall(1, "block", "{}")+"\n")
	call := <-began
	cancel()
	if err := <-done; err != context.Canceled {
		t.Errorf("serve: %v", err)
	}
	if call.Err() == nil {
		t.Error("the call goes on")
	}
	inW.Close()
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// TestClientGone: nobody reads any more, so the server ends.
func TestClientGone(t *testing.T) {
	inR, inW := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- fake(t, echo).serve(t.Context(), inR, broken{}) }()
	io.WriteString(inW, ping+"\n")
	if err := <-done; err == nil {
		t.Error("no error")
	}
	inW.Close()
}

// TestLongLines: a line over the limit gets an error with its id and the
// connection lives; one of a megabyte reaches the command.
func TestLongLines(t *testing.T) {
	f := fake(t, tool("length", func(_ context.Context, i in) (string, error) {
		if len(i.Text) > 8<<10 {
			return "", kb.Errorf(kb.TooLarge, "the query is %d bytes", len(i.Text)).WithHint("at most 8 KiB are allowed")
		}
		return "short", nil
	}))
	c := dial(t, f)
	long := func(n int) string { return fmt.Sprintf(`{"text":%q}`, strings.Repeat("q", n)) }
	r := c.ask(toolCall(5, "length", long(1_000_000)))
	if !r.Result.IsError || r.text() != "the query is 1000000 bytes. at most 8 KiB are allowed" {
		t.Errorf("a megabyte: %+v", r)
	}
	for _, n := range []int{maxMessage, maxMessage + 200_000} {
		r = c.ask(toolCall(6, "length", long(n)))
		if r.Error == nil || r.Error.Code != -32600 || !strings.Contains(r.Error.Message, "4 MiB") || r.ID != 6.0 {
			t.Errorf("%d bytes: %+v", n, r)
		}
	}
	if r := c.ask(toolCall(7, "length", "{}")); r.text() != "short" {
		t.Errorf("afterwards: %+v", r)
	}
	c.end()
}

// TestLastLineWithoutNewline is answered too, and so is what a shell pipes in.
func TestLastLineWithoutNewline(t *testing.T) {
	var out bytes.Buffer
	in := toolCall(1, "echo", `{"text":"one"}`) + "\r\n\n" + toolCall(2, "echo", `{"text":"two"}`)
	if err := fake(t, echo).serve(t.Context(), strings.NewReader(in), &out); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "\n"); n != 2 || !strings.Contains(out.String(), "one") || !strings.Contains(out.String(), "two") {
		t.Errorf("%q", out.String())
	}
}

// FuzzMessage: whatever comes in, each line gives at most one answer that is
// JSON, and the connection goes on.
func FuzzMessage(f *testing.F) {
	for _, s := range []string{ping, `[]`, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"x"}}}`,
		`{"jsonrpc":"2.0","id":1e400,"method":"ping"}`, `{"jsonrpc":"2.0","id":-1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
		`{"jsonrpc":"2.0","id":"x","method":"initialize","params":{"protocolVersion":"x"}}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		s = strings.ReplaceAll(s, "\n", " ")
		var out bytes.Buffer
		face := newFace(newApp(t), product.Commands(), nil, io.Discard)
		face.tools["echo"] = true
		face.mcp.AddTool(toolOf(echo), face.handler(echo))
		if err := face.serve(t.Context(), strings.NewReader(s+"\n"+ping), &out); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		pong := false
		for _, l := range lines {
			if !json.Valid([]byte(l)) {
				t.Errorf("answered %q", l)
			}
			pong = pong || strings.Contains(l, `"id":"ping"`)
		}
		if !pong || len(lines) > 3 {
			t.Errorf("%q: %q", s, lines)
		}
	})
}

// stuck is a client's end of the output that takes nothing until it is opened.
type stuck struct {
	open  chan struct{}
	lines int
}

func (s *stuck) Write(p []byte) (int, error) {
	<-s.open
	s.lines += bytes.Count(p, []byte("\n"))
	return len(p), nil
}

// TestClientThatNeverReads: what it asks is left in its pipe beyond a bound,
// and is answered when it reads at last.
func TestClientThatNeverReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 20 * unanswered
		inR, inW := io.Pipe()
		out := &stuck{open: make(chan struct{})}
		f := fake(t, echo)
		done := make(chan error, 1)
		go func() { done <- f.serve(t.Context(), inR, out) }()
		var taken int
		go func() {
			for i := range n {
				if _, err := io.WriteString(inW, toolCall(i, "echo", `{"text":"x"}`)+"\n"); err != nil {
					break
				}
				taken = i + 1
			}
			inW.Close()
		}()
		synctest.Wait()
		// One more in the hands of the loop, one in those of the reader.
		if taken > unanswered+3 {
			t.Errorf("%d calls were read while no reply was taken, at most %d are to be", taken, unanswered)
		}
		close(out.open)
		if err := <-done; err != nil {
			t.Error(err)
		}
		if taken != n || out.lines != n {
			t.Errorf("%d calls were read and %d answered in the end, of %d", taken, out.lines, n)
		}
	})
}

// TestUnreadRepliesLeaveLittleInMemory: what calls took while they were at work
// is given back once a client has read nothing for a while; what stays are the
// requests that were read and the replies of those that had a turn.
func TestUnreadRepliesLeaveLittleInMemory(t *testing.T) {
	const most = 32 << 20 // bytes; replies of 100 kB are larger than any of ours
	waste := tool("waste", func(context.Context, in) (string, error) {
		texts := make([][]byte, 8)
		for i := range texts {
			texts[i] = bytes.Repeat([]byte{'x'}, 1<<20)
		}
		time.Sleep(time.Millisecond) // until all that have a turn hold theirs
		runtime.KeepAlive(texts[1:])
		return string(texts[0][:100<<10]), nil
	})
	inUse := func() int64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapInuse + m.HeapIdle - m.HeapReleased + m.StackInuse)
	}
	synctest.Test(t, func(t *testing.T) {
		f := fake(t, waste)
		debug.FreeOSMemory()
		before := inUse()
		inR, inW := io.Pipe()
		out := &stuck{open: make(chan struct{})}
		served := make(chan error, 1)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { served <- f.serve(ctx, inR, out) }()
		go func() {
			for i := range 2 * unanswered {
				io.WriteString(inW, toolCall(i, "waste", fmt.Sprintf(`{"text":%q}`, strings.Repeat("x", 10<<10)))+"\n")
			}
		}()
		time.Sleep(6 * stalled) // while which nothing but the clock moves
		if took := inUse() - before; took > most {
			t.Errorf("%d bytes are taken for a client that does not read, at most %d are to be", took, most)
		}
		cancel()
		if err := <-served; err != context.Canceled {
			t.Errorf("serve: %v", err)
		}
		inR.Close()
		close(out.open)
	})
}

// countdown tells of a thousand steps, and how far it is at the end.
var countdown = tool("countdown", func(ctx context.Context, _ in) (string, error) {
	for i := range 1000 {
		kb.Report(ctx, kb.Progress{Phase: "step", Done: int64(i + 1), Total: 1000})
	}
	return "done", nil
})

// TestProgressWaitsForNobody: a call whose progress nobody takes comes to its
// end, and what is kept of its progress is bounded.
func TestProgressWaitsForNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fake(t, countdown)
		f.every = 0
		out := &stuck{open: make(chan struct{})}
		inR, inW := io.Pipe()
		served := make(chan error, 1)
		go func() { served <- f.serve(t.Context(), inR, out) }()
		io.WriteString(inW, withToken(1, "countdown", "{}", "p")+"\n")
		synctest.Wait()
		if n := f.queue.Load(); n != 0 {
			t.Errorf("%d calls wait for a client that does not read", n)
		}
		close(out.open)
		inW.Close()
		if err := <-served; err != nil {
			t.Error(err)
		}
		// What was being written, what is kept, and the reply.
		if out.lines < 2 || out.lines > 2*mostNotes+1 {
			t.Errorf("%d messages of 1,001 were written, want at most %d", out.lines, 2*mostNotes+1)
		}
	})
}

// TestRepliesAreMadeAsTheyAreTaken: while nobody reads, as many calls run as
// there are turns, whatever was asked; a slow reader gets every reply, and none
// of them says that too much was asked.
func TestRepliesAreMadeAsTheyAreTaken(t *testing.T) {
	const n = 600
	var ran atomic.Int64
	large := tool("large", func(context.Context, in) (string, error) {
		ran.Add(1)
		return strings.Repeat("x", 100<<10), nil
	})
	synctest.Test(t, func(t *testing.T) {
		inR, inW := io.Pipe()
		outR, outW := io.Pipe()
		served := make(chan error, 1)
		f := fake(t, large)
		go func() { served <- f.serve(t.Context(), inR, outW); outW.Close() }()
		go func() {
			for i := range n {
				io.WriteString(inW, toolCall(i, "large", "{}")+"\n")
			}
			inW.Close()
		}()
		synctest.Wait()
		if got := ran.Load(); got > running {
			t.Errorf("%d replies were made that nobody takes, at most %d are to be", got, running)
		}
		seen := map[string]bool{}
		lines := bufio.NewReader(outR)
		for range n {
			line, err := lines.ReadBytes('\n')
			var r reply
			if err != nil || json.Unmarshal(line, &r) != nil || r.Result.IsError || len(r.text()) != 100<<10 {
				t.Fatalf("after %d replies: %v in %.200s", len(seen), err, line)
			}
			seen[fmt.Sprint(r.ID)] = true
			time.Sleep(time.Millisecond)
		}
		if len(seen) != n {
			t.Errorf("%d calls of %d were answered", len(seen), n)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
}

// TestLargeRequestsTakeTurns: requests that wait are bounded by their bytes too.
func TestLargeRequestsTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n, size = 40, 1 << 20
		inR, inW := io.Pipe()
		out := &stuck{open: make(chan struct{})}
		served := make(chan error, 1)
		f := fake(t, echo)
		go func() { served <- f.serve(t.Context(), inR, out) }()
		taken := 0
		go func() {
			for i := range n {
				io.WriteString(inW, toolCall(i, "echo", fmt.Sprintf(`{"text":%q}`, strings.Repeat("x", size)))+"\n")
				taken = i + 1
			}
			inW.Close()
		}()
		synctest.Wait()
		if most := heldBytes/size + 3; taken > most {
			t.Errorf("%d requests of 1 MiB were read while no reply was taken, at most %d are to be", taken, most)
		}
		close(out.open)
		if err := <-served; err != nil || out.lines != n {
			t.Errorf("%d of %d were answered, %v", out.lines, n, err)
		}
	})
}

// TestStopWhileNobodyReads: the end of the context ends the connection also
// when the loop itself waits for a client to take a reply.
func TestStopWhileNobodyReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		inR, inW := io.Pipe()
		out := &stuck{open: make(chan struct{})}
		served := make(chan error, 1)
		f := fake(t, echo)
		go func() { served <- f.serve(ctx, inR, out) }()
		io.WriteString(inW, ping+"\n"+ping+"\n")
		synctest.Wait()
		cancel()
		if err := <-served; err != context.Canceled {
			t.Errorf("serve: %v", err)
		}
		close(out.open)
		inW.Close()
	})
}

// TestTheClientsOwnWordsComeBack: a request is found by its id and progress by
// its token, byte for byte, whatever stands in them. What a stranger wrote is
// shown escaped beside them.
func TestTheClientsOwnWordsComeBack(t *testing.T) {
	stranger := tool("stranger", func(ctx context.Context, _ in) (string, error) {
		kb.Report(ctx, kb.Progress{Phase: "index", Done: 1, Total: 2})
		return "turn\u202eed", nil
	})
	for _, own := range []string{
		"\"a\u202eb\"", `"a\u202eb"`, "\"tag \U000e0041\"", `"\u0007"`, "\"\u009b31m\"", `"<&>"`, `"\/"`, `"\ud83d\ude00"`,
		"1.5", "1e2", "99999999999999999999999", "-0",
	} {
		f := fake(t, stranger)
		c := dial(t, f)
		call := `{"jsonrpc":"2.0","id":` + own + `,"method":"tools/call","params":{"name":"stranger","arguments":{},"_meta":{"progressToken":` + own + `}}}`
		c.send(call)
		said := c.line()
		if own != "1.5" { // which is no token
			if !strings.Contains(said, `"progressToken":`+own+`,`) {
				t.Errorf("token %s: %s", own, said)
			}
			said = c.line()
		}
		over := post(handler(f), call, set("Accept", "application/json")).Body.String()
		for _, reply := range []string{said, strings.TrimSpace(over)} {
			if !strings.HasPrefix(reply, `{"jsonrpc":"2.0","id":`+own+`,"result":`) || strings.Contains(strings.ReplaceAll(reply, own, ""), "\u202e") || !strings.Contains(reply, `turn\\u202eed`) {
				t.Errorf("id %s: %s", own, reply)
			}
		}
		for _, wrong := range []string{
			`{"jsonrpc":"2.0","id":` + own + `,"method":"none"}`,
			`{"jsonrpc":"1.0","id":` + own + `,"method":"ping"}`,
			`{"jsonrpc":"2.0","id":` + own + `,"method":"ping","x":"` + strings.Repeat("x", maxMessage) + `"}`,
		} {
			c.send(wrong)
			if reply := c.line(); !strings.HasPrefix(reply, `{"jsonrpc":"2.0","id":`+own+`,"error":`) {
				t.Errorf("id %s: %s", own, reply)
			}
		}
		c.end()
	}
	c := dial(t, fake(t))
	const own = "\"a\u202eb\""
	c.send(`{"jsonrpc":"2.0","id":` + own + `,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` + modernMeta + `}}`)
	for range 2 { // the acknowledgement, and the result
		if said := c.line(); !strings.Contains(said, `"io.modelcontextprotocol/subscriptionId":`+own) {
			t.Errorf("subscription %s: %s", own, said)
		}
	}
	c.end()
}
