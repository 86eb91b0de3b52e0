package search

import (
	"context"
	"hash/fnv"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// rememberedTokens is after how many tokens of replies a place counts as not
	// given: by then a client may have dropped it from the context.
	rememberedTokens = 40_000
	// rememberedPlaces is how many places are remembered.
	rememberedPlaces = 1000
)

// A Memory knows which places a session has been given whole, so that later
// replies name them and show others. What has changed since counts as not
// given, and a nil Memory remembers nothing.
type Memory struct {
	mu    sync.Mutex
	given map[uint64]int // by what it was, the tokens of all replies before it
	said  int            // tokens of all replies
	began time.Time
}

// Given reports whether a place was given as it is now.
func (m *Memory) Given(key uint64) bool {
	if m == nil {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	at, ok := m.given[key]
	return ok && m.said-at < rememberedTokens
}

// Note remembers the places of a reply of so many tokens.
func (m *Memory) Note(keys []uint64, tokens int) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.given == nil || len(m.given)+len(keys) > rememberedPlaces {
		m.given = map[uint64]int{}
	}
	for _, k := range keys {
		m.given[k] = m.said
	}
	m.said += tokens
}

// Forget makes a session begin anew, at a time of which nothing was known
// before: what it was given is out of its context.
func (m *Memory) Forget(at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if at.After(m.began) {
		m.began, m.given = at, nil
	}
}

// placeKey is what a place was when it was given: where it stands, and its text
// but for blank lines at its end.
func placeKey(t *Target, path string, line int, text string) uint64 {
	h := fnv.New64a()
	for _, s := range []string{string(t.Store.ID), path, strconv.Itoa(line), strings.TrimRight(text, " \t\r\n")} {
		_, _ = io.WriteString(h, s+"\x00") // never fails
	}
	return h.Sum64()
}

type memoryKey struct{}

// WithMemory returns a context in which replies remember what they have given.
func WithMemory(ctx context.Context, m *Memory) context.Context {
	return context.WithValue(ctx, memoryKey{}, m)
}

// MemoryOf returns the memory of a context, nil without one.
func MemoryOf(ctx context.Context) *Memory {
	m, _ := ctx.Value(memoryKey{}).(*Memory)
	return m
}
