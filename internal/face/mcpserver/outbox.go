package mcpserver

import (
	"io"
	"runtime/debug"
	"sync"
	"time"
)

// mostNotes is how many notifications of one call may wait for the client;
// of more, the newest takes the place of the one before.
const mostNotes = 8

// outbox writes to the client, one message at a time, from one goroutine, so
// that only it waits in a write. Whoever hands in a reply waits until the
// client has taken those before it: that is what holds the calls back. A
// notification waits for no client.
type outbox struct {
	out     io.Writer
	replies chan outgoing
	wake    chan struct{} // holds a token when there are notifications
	end     chan struct{} // closed when nothing more is written
	fail    func(error)

	mu    sync.Mutex
	notes []waitingNote
}

// outgoing is one message on its way; taken is closed when it was written.
type outgoing struct {
	data  []byte
	taken chan struct{}
}

// waitingNote is a notification of a call.
type waitingNote struct {
	of   any
	data []byte
}

func newOutbox(out io.Writer, fail func(error)) *outbox {
	return &outbox{out: out, fail: fail, replies: make(chan outgoing), wake: make(chan struct{}, 1), end: make(chan struct{})}
}

// run writes until close, or until out is gone.
func (o *outbox) run() {
	for {
		var m outgoing
		select {
		case <-o.end:
			return
		case m = <-o.replies:
		case <-o.wake:
		}
		// What a call reported of its progress goes before its result.
		for _, n := range o.takeNotes() {
			if !o.write(n.data) {
				return
			}
		}
		if m.taken != nil {
			ok := o.write(m.data)
			close(m.taken)
			if !ok {
				return
			}
		}
	}
}

// stalled is how long a client takes nothing until what its calls have left in
// memory is given back to the system: nothing else happens meanwhile that would.
const stalled = 2 * time.Second

func (o *outbox) write(b []byte) bool {
	defer time.AfterFunc(stalled, debug.FreeOSMemory).Stop()
	defer time.AfterFunc(5*stalled, debug.FreeOSMemory).Stop() // what calls left that were at work then
	if _, err := o.out.Write(b); err != nil {
		o.fail(err)
		return false
	}
	return true
}

func (o *outbox) takeNotes() []waitingNote {
	o.mu.Lock()
	defer o.mu.Unlock()
	notes := o.notes
	o.notes = nil
	return notes
}

// reply returns when b was written, when stop is closed, or when nothing is
// written any more.
func (o *outbox) reply(b []byte, stop <-chan struct{}) {
	m := outgoing{b, make(chan struct{})}
	select {
	case o.replies <- m:
	case <-stop:
		return
	case <-o.end:
		return
	}
	select {
	case <-m.taken:
	case <-stop:
	case <-o.end:
	}
}

// note lets b be written before the next reply. of is the call that it is
// about.
func (o *outbox) note(of any, b []byte) {
	o.mu.Lock()
	n, last := 0, -1
	for i := range o.notes {
		if o.notes[i].of == of {
			n, last = n+1, i
		}
	}
	if n < mostNotes {
		o.notes = append(o.notes, waitingNote{of, b})
	} else {
		o.notes[last].data = b
	}
	o.mu.Unlock()
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// forget drops the notifications of a call that no client waits for any more.
func (o *outbox) forget(of any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	kept := o.notes[:0]
	for _, n := range o.notes {
		if n.of != of {
			kept = append(kept, n)
		}
	}
	o.notes = kept
}
