package catalog

import (
	"database/sql"
	"sync"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// parsed is a row of stores taken apart. Its texts are kept beside it: a row with
// the same texts needs no parsing, which is half of what reading one costs, and a
// search reads each of its stores twice.
type parsed struct {
	specText string
	headText sql.NullString
	check    int64
	spec     kb.Spec
	head     kb.Head
}

// memory holds the rows parsed last, of this process.
type memory struct {
	mu   sync.Mutex
	rows map[kb.StoreID]parsed
}

// memo is one for all catalogs: what it answers follows from the texts alone.
var memo memory

// mostRows bounds the memory; when it is full it starts anew.
const mostRows = 2048

// get returns the row with these texts, or one that holds just the texts and
// their checksum, and false. What the head's maps and lists hold is shared
// between callers, who do not write to it.
func (m *memory) get(id kb.StoreID, spec string, head sql.NullString) (parsed, bool) {
	m.mu.Lock()
	p, ok := m.rows[id]
	m.mu.Unlock()
	if ok && p.specText == spec && p.headText == head {
		return p, true
	}
	return parsed{specText: spec, headText: head, check: sum(spec, head.String)}, false
}

func (m *memory) put(id kb.StoreID, p parsed) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.rows == nil || len(m.rows) >= mostRows {
		m.rows = map[kb.StoreID]parsed{}
	}
	m.rows[id] = p
}
