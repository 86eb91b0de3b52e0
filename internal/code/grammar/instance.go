package grammar

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"unsafe"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

type instance struct {
	mod                    api.Module
	buffer, parse, results api.Function
	room                   *room
	stop                   uint32 // where the word lies that ends a parse
}

// trapped says in a line why a module ended; wazero's own errors hold a stack.
func trapped(err error) error {
	if err == errMemory || err == errSteps {
		return err
	}
	what, _, _ := strings.Cut(err.Error(), "\n")
	if strings.Contains(what, "unreachable") {
		return errSteps
	}
	return errors.New(what)
}

// room is an instance's memory. A module asks for it in small steps, and
// wazero's own way of growing copies all of it at each quarter more.
type room struct {
	mu  sync.Mutex // between growing and stop
	b   []byte
	max uint64
}

// stop sets the word at an address, also while the module runs.
func (r *room) stop(at uint32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if int(at) < len(r.b) {
		r.b[at] = 1
	}
}

func (r *room) Reallocate(size uint64) []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	if size > uint64(cap(r.b)) {
		b := make([]byte, len(r.b), min(max(size, 2*uint64(cap(r.b))), max(size, r.max)))
		copy(b, r.b)
		r.b = b
	}
	r.b = r.b[:size]
	return r.b
}

// Free gives the memory up.
func (r *room) Free() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.b = nil
}

func (in *instance) call(ctx context.Context, f api.Function, args ...uint64) (uint32, error) {
	r, err := f.Call(ctx, args...)
	if err != nil {
		return 0, err
	}
	return uint32(r[0]), nil
}

// names reads the grammar's tables of node types and fields.
func (in *instance) names(ctx context.Context, language string) (*Language, error) {
	l := &Language{Name: language}
	get := func(f string, args ...uint64) uint32 {
		v, err := in.mod.ExportedFunction(f).Call(ctx, args...)
		if err != nil || len(v) == 0 {
			return 0
		}
		return uint32(v[0])
	}
	str := func(p uint32) string {
		var b []byte
		for p != 0 {
			c, ok := in.mod.Memory().ReadByte(p)
			if !ok || c == 0 {
				break
			}
			b = append(b, c)
			p++
		}
		return string(b)
	}
	n := get("symbols")
	if n == 0 || n > 1<<16 {
		return nil, fmt.Errorf("it has %d types of nodes", n)
	}
	for i := range n {
		l.Symbols = append(l.Symbols, str(get("symbol_name", uint64(i))))
		l.Named = append(l.Named, get("symbol_named", uint64(i)) != 0)
	}
	l.Fields = append(l.Fields, "")
	for i := range get("fields") {
		l.Fields = append(l.Fields, str(get("field_name", uint64(i+1))))
	}
	return l, nil
}

// filter writes the table of wanted nodes into the module.
func (in *instance) filter(ctx context.Context, want []byte) error {
	p, err := in.call(ctx, in.mod.ExportedFunction("wanted"))
	if err != nil {
		return kb.Errorf(kb.Internal, "start a grammar: %w", err)
	}
	if !in.mod.Memory().Write(p, want) {
		return kb.Errorf(kb.Internal, "start a grammar: its table of nodes lies outside its memory")
	}
	return nil
}

var (
	errSteps  = errors.New("it takes too many steps")
	errMemory = errors.New("it takes too much memory")
)

// run parses a text; the nodes lie in the module's memory.
func (in *instance) run(ctx context.Context, text string) ([]Node, error) {
	p, err := in.call(ctx, in.buffer, uint64(max(1, len(text))))
	if err != nil {
		return nil, err
	}
	mem := in.mod.Memory()
	if p == 0 || !mem.WriteString(p, text) {
		return nil, errMemory
	}
	limit := uint64(len(text)/bytesPerStep + stepsLeast)
	mem.WriteUint32Le(in.stop, 0)
	// The parser sees the word within a hundred of its steps.
	defer context.AfterFunc(ctx, func() { in.room.stop(in.stop) })()
	r, err := in.call(ctx, in.parse, uint64(len(text)), limit)
	if err != nil {
		return nil, err
	}
	switch n := int32(r); {
	case n == -1:
		return nil, errSteps
	case n < 0:
		return nil, errMemory
	case n == 0:
		return nil, nil
	default:
		at, err := in.call(ctx, in.results)
		if err != nil {
			return nil, err
		}
		b, ok := mem.Read(at, uint32(n)*uint32(unsafe.Sizeof(Node{})))
		if !ok || at%4 != 0 {
			return nil, errors.New("its tree lies outside its memory")
		}
		// All platforms that wazero compiles for are little endian, as wasm is.
		nodes := unsafe.Slice((*Node)(unsafe.Pointer(unsafe.SliceData(b))), n)
		for i := range nodes {
			if d := &nodes[i]; d.Start > d.End || int(d.End) > len(text) || int(d.Next) > len(nodes) || int(d.Next) <= i {
				return nil, errors.New("its tree is out of order")
			}
		}
		return nodes, nil
	}
}

// instance returns one that is at rest, or a new one.
func (s *Set) instance(ctx context.Context, m *module) (*instance, error) {
	m.mu.Lock()
	if n := len(m.rest); n > 0 {
		in := m.rest[n-1]
		m.rest = m.rest[:n-1]
		m.mu.Unlock()
		return in, nil
	}
	m.mu.Unlock()
	in, err := s.fresh(ctx, m)
	if err != nil {
		return nil, err
	}
	return in, in.filter(ctx, m.want)
}

func (s *Set) fresh(ctx context.Context, m *module) (*instance, error) {
	var memory *room
	ctx = experimental.WithMemoryAllocator(ctx, experimental.MemoryAllocatorFunc(func(_, limit uint64) experimental.LinearMemory {
		memory = &room{b: make([]byte, 0, min(firstBytes, limit)), max: limit}
		return memory
	}))
	mod, err := m.runtime.InstantiateModule(ctx, m.compiled, wazero.NewModuleConfig().WithName("").WithStartFunctions("_initialize"))
	if err != nil {
		return nil, kb.Errorf(kb.Internal, "start a grammar: %w", err)
	}
	in := &instance{mod: mod, room: memory, buffer: mod.ExportedFunction("buffer"), parse: mod.ExportedFunction("parse"), results: mod.ExportedFunction("results")}
	if n, err := in.call(ctx, mod.ExportedFunction("init")); err != nil || int32(n) <= 0 {
		mod.Close(ctx)
		return nil, kb.Errorf(kb.Internal, "start a grammar: it is of another version of tree-sitter (%d, %v)", int32(n), err)
	}
	if in.stop, err = in.call(ctx, mod.ExportedFunction("stopper")); err != nil {
		mod.Close(ctx)
		return nil, kb.Errorf(kb.Internal, "start a grammar: %w", err)
	}
	return in, nil
}
