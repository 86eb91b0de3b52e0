// Package grammar parses source code with tree-sitter grammars. Each grammar
// is a WebAssembly module of its own, built from the C sources of tree-sitter
// and of the grammar by build/build.sh, compressed into the binary, and run by
// wazero: no C compiler, no shared library, and a grammar that misbehaves
// costs the file it misbehaved at.
//
// A module is compiled at the first file of its language and kept, as machine
// code, in a folder for later processes (see kept.go). An instance parses one file at a
// time; instances are pooled. What a module may do is bounded three ways: by
// the parser's own steps, so that the same text gives the same tree on every
// machine; by memory; and by the context.
package grammar

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"github.com/klauspost/compress/zstd"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

//go:embed wasm/*.wasm.zst
var modules embed.FS

const (
	// memoryPages of 64 KiB are what one instance may have. A file of a
	// megabyte, the largest that is indexed by default, takes up to 60 MB.
	memoryPages = 160 << 20 / (64 << 10)
	// keepBytes is the memory above which an instance is given up after use:
	// the memory of a module never shrinks.
	keepBytes = 24 << 20
	// firstBytes is what an instance has room for at once; see room.
	firstBytes = 4 << 20
	// A parse may take stepsLeast hundreds of the parser's steps, and one more
	// for every bytesPerStep bytes. Real code takes a third of a step a byte.
	bytesPerStep = 8
	stepsLeast   = 4_000
)

// Node is one node of a tree, as a module writes it.
type Node struct {
	Symbol     uint16 // index into Language.Symbols; ErrorSymbol for an error
	Field      uint8  // index into Language.Fields, 0 for none
	Flags      Flags
	Start, End uint32 // bytes of the text, half open
	Next       uint32 // index of the first node behind its subtree
}

// ErrorSymbol is the symbol of what does not parse.
const ErrorSymbol = 0xffff

// Flags are facts about a node.
type Flags uint8

// The flags of a node.
const (
	Named    Flags = 1 << iota // a rule of the grammar rather than a literal token
	IsError                    // a piece that does not parse
	Missing                    // put in by the parser to go on
	HasError                   // something in it does not parse
)

// Language is what a grammar calls things.
type Language struct {
	Name    string
	Symbols []string // types of nodes by number: "call_expression", "+"
	Named   []bool   // by the same number
	Fields  []string // by number; [0] is ""
}

// Symbol returns the numbers of the named node types called name; a grammar
// may have several for aliases.
func (l *Language) Symbol(name string) []uint16 {
	var out []uint16
	for i, s := range l.Symbols {
		if s == name && l.Named[i] {
			out = append(out, uint16(i))
		}
	}
	return out
}

// Field returns the number of a field, 0 when the grammar has none of that name.
func (l *Language) Field(name string) uint8 {
	return uint8(max(0, slices.Index(l.Fields, name)))
}

// Want says what of a node comes out of a parse.
type Want = byte

// What can be wanted. The children of a node that is passed over come out as
// if they were its parent's.
const (
	Skip Want = iota // pass over it
	Emit             // it and what is in it
	Leaf             // it, without what is in it
)

// Tree is the outcome of a parse: the wanted nodes in document order, parents
// before children. Nodes is only valid while the function it was given to runs.
type Tree struct {
	*Language
	Source string
	Nodes  []Node
}

// Text returns the bytes of a node.
func (t *Tree) Text(n *Node) string { return t.Source[n.Start:n.End] }

// Set holds the grammars. The zero value works, without keeping machine code.
// It is safe for concurrent use.
type Set struct {
	// Folder keeps compiled modules for later processes; "" does not.
	Folder string
	// Wanted says which nodes of a language come out; nil is all named ones.
	Wanted func(language, node string, named bool) Want

	mu    sync.Mutex
	langs map[string]*module
}

// module is one language: compiled once, with instances at rest.
type module struct {
	ready    chan struct{} // closed when it is compiled, or err says why not
	err      error
	runtime  wazero.Runtime
	cache    wazero.CompilationCache // nil when machine code is not kept
	compiled wazero.CompiledModule
	lang     *Language
	want     []byte

	mu   sync.Mutex
	rest []*instance
}

type instance struct {
	mod                    api.Module
	buffer, parse, results api.Function
	room                   *room
	stop                   uint32 // where the word lies that ends a parse
}

// Languages lists what there is a grammar for.
func Languages() []string {
	entries, err := modules.ReadDir("wasm")
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		out = append(out, strings.TrimSuffix(e.Name(), ".wasm.zst"))
	}
	return out
}

// Has reports whether there is a grammar for a language.
func Has(language string) bool {
	f, err := modules.Open(path.Join("wasm", language+".wasm.zst"))
	if err == nil {
		f.Close()
	}
	return err == nil
}

// Language returns what a grammar calls things. The first call compiles it.
func (s *Set) Language(ctx context.Context, language string) (*Language, error) {
	m, err := s.module(ctx, language)
	if err != nil {
		return nil, err
	}
	return m.lang, nil
}

// Parse parses a text and calls f with its tree. The errors: NotFound when
// there is no grammar; Unsupported when this text is too much for it (steps,
// memory, a trap), which says nothing about other texts; the context's own;
// and what f returns.
func (s *Set) Parse(ctx context.Context, language, text string, f func(*Tree) error) error {
	m, err := s.module(ctx, language)
	if err != nil {
		return err
	}
	in, err := s.instance(ctx, m)
	if err != nil {
		return err
	}
	nodes, err := in.run(ctx, text)
	if err != nil {
		in.mod.Close(context.WithoutCancel(ctx))
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return kb.Errorf(kb.Unsupported, "the grammar of %s cannot read this text: %v", language, trapped(err))
	}
	err = f(&Tree{Language: m.lang, Source: text, Nodes: nodes})
	if in.mod.Memory().Size() > keepBytes {
		in.mod.Close(ctx)
		return err
	}
	m.mu.Lock()
	m.rest = append(m.rest, in)
	m.mu.Unlock()
	return err
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

// Close gives up everything.
func (s *Set) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	for _, m := range s.langs {
		select {
		case <-m.ready:
			err = errors.Join(err, m.close())
		default: // it takes seconds, which who was cancelled does not have
			go func() {
				<-m.ready
				_ = m.close()
			}()
		}
	}
	s.langs = nil
	return err
}

func (s *Set) module(ctx context.Context, language string) (*module, error) {
	s.mu.Lock()
	m := s.langs[language]
	if m == nil {
		if !Has(language) {
			s.mu.Unlock()
			return nil, kb.Errorf(kb.NotFound, "there is no grammar for %q", language)
		}
		m = &module{ready: make(chan struct{})}
		if err := m.start(context.WithoutCancel(ctx), s.folder(language)); err != nil {
			s.mu.Unlock()
			return nil, err
		}
		if s.langs == nil {
			s.langs = map[string]*module{}
		}
		s.langs[language] = m
		go func() {
			defer close(m.ready)
			// What one caller's context ends would fail all who wait for it.
			m.err = s.compile(context.WithoutCancel(ctx), m, language)
		}()
	}
	s.mu.Unlock()
	select {
	case <-m.ready:
		return m, m.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// start makes the runtime, of each language its own, since its machine code
// lies in a folder of its own. folder is "" when none is kept.
func (m *module) start(ctx context.Context, folder string) error {
	// wazero's own WithCloseOnContextDone makes parsing three times slower
	// (0.85 instead of 2.4 MB/s): it leaves the machine code at every loop.
	// The modules look at a word of memory instead, see run.
	config := wazero.NewRuntimeConfig().WithMemoryLimitPages(memoryPages)
	var cache wazero.CompilationCache
	if folder != "" && clean(folder) {
		// Machine code that cannot be kept is made again by every process.
		var err error
		if cache, err = wazero.NewCompilationCacheWithDir(folder); err == nil {
			config = config.WithCompilationCache(cache)
		} else {
			cache = nil
		}
	}
	r := wazero.NewRuntimeWithConfig(ctx, config)
	m.runtime, m.cache = r, cache
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, r); err != nil {
		return kb.Errorf(kb.Internal, "start the runtime of the grammars: %w", errors.Join(err, m.close()))
	}
	return nil
}

func (m *module) close() error {
	err := m.runtime.Close(context.Background())
	if m.cache != nil {
		err = errors.Join(err, m.cache.Close(context.Background()))
	}
	return err
}

// packedAgainst is the grammar whose module every other one is packed
// against: all hold the same runtime, and that way only once.
const packedAgainst = "json"

// unpack returns the module of a language.
func unpack(language string) ([]byte, error) {
	raw, err := modules.ReadFile(path.Join("wasm", language+".wasm.zst"))
	if err != nil {
		return nil, kb.Errorf(kb.NotFound, "there is no grammar for %q", language)
	}
	options := []zstd.DOption{zstd.WithDecoderConcurrency(1)}
	if language != packedAgainst {
		base, err := unpack(packedAgainst)
		if err != nil {
			return nil, err
		}
		options = append(options, zstd.WithDecoderDictRaw(0, base))
	}
	d, err := zstd.NewReader(nil, options...)
	if err != nil {
		return nil, kb.Errorf(kb.Internal, "unpack the grammar of %s: %w", language, err)
	}
	defer d.Close()
	code, err := d.DecodeAll(raw, nil)
	if err != nil {
		return nil, kb.Errorf(kb.Internal, "unpack the grammar of %s: %w", language, err)
	}
	return code, nil
}

func (s *Set) compile(ctx context.Context, m *module, language string) error {
	code, err := unpack(language)
	if err != nil {
		return err
	}
	s.mu.Lock()
	r, kept := m.runtime, m.cache != nil
	s.mu.Unlock()
	if m.compiled, err = r.CompileModule(ctx, code); err != nil && kept {
		// The machine code cannot be written, or be read: then without keeping it.
		if r, err = s.restart(ctx, m, language); err == nil {
			m.compiled, err = r.CompileModule(ctx, code)
		}
	} else if err == nil && kept {
		sign(s.folder(language))
	}
	if err != nil {
		return kb.Errorf(kb.Internal, "compile the grammar of %s: %w", language, err)
	}
	in, err := s.fresh(ctx, m)
	if err != nil {
		return err
	}
	if m.lang, err = in.names(ctx, language); err != nil {
		return kb.Errorf(kb.Internal, "read the names of the grammar of %s: %w", language, err)
	}
	m.want = make([]byte, len(m.lang.Symbols))
	for i, name := range m.lang.Symbols {
		switch {
		case s.Wanted != nil:
			m.want[i] = s.Wanted(language, name, m.lang.Named[i])
		case m.lang.Named[i]:
			m.want[i] = Emit
		}
	}
	if err := in.filter(ctx, m.want); err != nil {
		return err
	}
	m.rest = append(m.rest, in)
	return nil
}

// restart gives a module a runtime that keeps no machine code.
func (s *Set) restart(ctx context.Context, m *module, language string) (wazero.Runtime, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.langs[language] != m {
		return nil, kb.Errorf(kb.Canceled, "the grammars are closed")
	}
	err := m.close()
	if e := m.start(ctx, ""); e != nil {
		delete(s.langs, language)
		return nil, errors.Join(err, e)
	}
	return m.runtime, nil
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

// room is an instance's memory. A module asks for it in small steps, and
// wazero's own way of growing copies all of it at each quarter more.
type room struct {
	mu  sync.Mutex // between growing and stop
	b   []byte
	max uint64
}

// stop sets the word at an address, whoever is running in the memory.
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

// filter tells the module which nodes are wanted.
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
