package search

import (
	"testing"
	"time"
)

// TestMemory: what was given is known until much else was said, there is too
// much of it, or the session begins anew.
func TestMemory(t *testing.T) {
	var none *Memory
	none.Note([]uint64{1}, 10)
	if none.Given(1) {
		t.Error("nothing remembers")
	}
	m := &Memory{}
	m.Note([]uint64{1}, rememberedTokens-1)
	if !m.Given(1) || m.Given(2) {
		t.Error("what was given is not known, or what was not is")
	}
	m.Note([]uint64{2}, 1)
	if m.Given(1) || !m.Given(2) {
		t.Error("after 40,000 tokens what was given counts as gone")
	}
	began := time.Now()
	m.Forget(began)
	if m.Given(2) {
		t.Error("a session that begins anew was given nothing")
	}
	m.Note([]uint64{3}, 1)
	m.Forget(began)
	if !m.Given(3) {
		t.Error("one beginning is forgotten for twice")
	}
	var many []uint64
	for i := range rememberedPlaces {
		many = append(many, uint64(i+10))
	}
	m.Note(many, 1)
	if m.Given(3) || !m.Given(10) {
		t.Error("more than 1,000 places are remembered")
	}
	if rememberedTokens != 40_000 || rememberedPlaces != 1000 {
		t.Error("docs/agents.md tells of other bounds")
	}
}
