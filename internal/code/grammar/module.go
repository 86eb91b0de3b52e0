package grammar

import (
	"context"
	"errors"
	"path"
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

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
			// The end of one caller's context would fail all that wait for it.
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
