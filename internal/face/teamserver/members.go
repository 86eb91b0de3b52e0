package teamserver

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
)

const (
	// idle is after how long what is kept of a user is given up.
	idle = 30 * time.Minute
	// mostMembers is how many users are kept who ask nothing just now.
	mostMembers = 256
)

// member is one user's App and the faces over it. A user whose login brings other
// groups is another member.
type member struct {
	key      string
	app      *app.App
	mcp, api http.Handler
	stop     context.CancelFunc
	active   int
	used     time.Time
}

// members are those that were here lately. The zero value has none.
type members struct {
	mu  sync.Mutex
	all map[string]*member
}

// get returns the member of a caller, made at the first request; put gives it back.
func (l *members) get(s *server, who caller) (*member, error) {
	key := who.Name + "\x00" + strings.Join(who.login, "\x00")
	l.mu.Lock()
	defer l.mu.Unlock()
	m := l.all[key]
	if m == nil {
		var err error
		if m, err = s.member(key, who); err != nil {
			return nil, err
		}
		if l.all == nil {
			l.all = map[string]*member{}
		}
		l.makeRoom()
		l.all[key] = m
	}
	m.active++
	m.used = time.Now()
	return m, nil
}

func (l *members) put(m *member) {
	l.mu.Lock()
	defer l.mu.Unlock()
	m.active--
	m.used = time.Now()
}

// makeRoom gives up the one that has rested for longest. l.mu is held.
func (l *members) makeRoom() {
	if len(l.all) < mostMembers {
		return
	}
	var oldest *member
	for _, m := range l.all {
		if m.active == 0 && (oldest == nil || m.used.Before(oldest.used)) {
			oldest = m
		}
	}
	if oldest != nil {
		l.drop(oldest)
	}
}

// rest gives up the members that have asked nothing for that long.
func (l *members) rest(after time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range l.all {
		if m.active == 0 && time.Since(m.used) >= after {
			l.drop(m)
		}
	}
}

// drop gives up a member. l.mu is held.
func (l *members) drop(m *member) {
	delete(l.all, m.key)
	m.stop()
	_ = m.app.Close() // of what was kept in memory
}

// open returns how many there are.
func (l *members) open() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.all)
}

// member makes the App and the faces of a caller, who has the rights of the moment
// at each use.
func (s *server) member(key string, who caller) (*member, error) {
	reads := func(store string) bool {
		held, _ := s.book.Now()
		u, ok := held.Known(who.Name, who.login)
		return ok && held.Reads(u, store)
	}
	writes := func(store string) bool {
		held, _ := s.book.Now()
		u, ok := held.Known(who.Name, who.login)
		return ok && held.Writes(u, store)
	}
	m := &member{key: key, app: s.app.For(app.Member{
		Name: who.Name, Reads: reads, Writes: writes,
		Sources: func() []string { held, _ := s.book.Now(); return held.Sources },
		Stores:  func() int { held, _ := s.book.Now(); return held.Limits.Stores },
		Jobs:    func() int { held, _ := s.book.Now(); return held.Limits.Jobs },
	})}
	ctx, stop := context.WithCancel(context.Background())
	m.stop = stop
	var err error
	if m.mcp, err = s.o.MCP(ctx, m.app, s.table, s.guard, lines{s.log}); err == nil {
		m.api, err = s.o.API(ctx, m.app, s.table, s.guard, lines{s.log})
	}
	if err != nil {
		stop()
	}
	return m, err
}

// lines writes what faces say of their defects as one event each.
type lines struct{ log *slog.Logger }

func (l lines) Write(p []byte) (int, error) {
	l.log.Error("a face met a defect", "text", strings.TrimSpace(string(p)))
	return len(p), nil
}
