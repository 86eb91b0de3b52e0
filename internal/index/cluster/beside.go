package cluster

import (
	"context"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/weaviate"
)

// What one machine has derived from a store, such as its resolved references, lies beside
// it for the others: of each kind the last, as a file whose name says what it was
// derived from. A register says which that is, so that a file that is being
// replaced is not read.

func lentFile(id kb.StoreID, kind, name string) string {
	return "lent " + kind + " " + string(id) + " " + name
}

func lentRegister(id kb.StoreID, kind string) string { return "lent " + kind + " " + string(id) }

// Lend puts what was derived from a store beside it, unless it is there. What was
// there of that kind goes.
func (x *Indexes) Lend(ctx context.Context, id kb.StoreID, kind, name string, raw []byte) error {
	ctx = weaviate.Patient(ctx)
	before, err := x.Lent(ctx, id, kind)
	if err != nil || before == name {
		return err
	}
	file := lentFile(id, kind, name)
	return x.holding(ctx, []string{file}, func(h *hold) error {
		if err := x.put(ctx, h.epoch, file, raw, nil); err != nil {
			return err
		}
		return x.write(ctx, lentRegister(id, kind), name) // what was there before goes with Collect
	})
}

// lentOf takes the name of a file apart, or of a register, whose last part is "".
func lentOf(name string) (id kb.StoreID, kind, last string, ok bool) {
	parts := strings.SplitN(name, " ", 4)
	if len(parts) < 3 || parts[0] != "lent" {
		return "", "", "", false
	}
	if len(parts) == 4 {
		last = parts[3]
	}
	return kb.StoreID(parts[2]), parts[1], last, true
}

// Lent returns the name of what lies beside a store of a kind, "" for nothing.
func (x *Indexes) Lent(ctx context.Context, id kb.StoreID, kind string) (string, error) {
	return x.read(ctx, lentRegister(id, kind))
}

// Borrow returns what lies beside a store under a name; NotFound when it was
// replaced meanwhile.
func (x *Indexes) Borrow(ctx context.Context, id kb.StoreID, kind, name string) ([]byte, error) {
	raw, _, err := x.get(ctx, lentFile(id, kind, name))
	return raw, err
}
