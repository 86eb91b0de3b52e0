package blockfile

import (
	"runtime"
	"runtime/debug"
	"strings"
	"unsafe"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Guard runs f and turns a memory fault (a mapped file that was truncated, a
// disk that fails) and an index or slice out of range (what damaged content
// leads to) into kb.Corrupt. Other panics pass. Faults are caught only in the
// goroutine that called Guard: each goroutine that reads a map needs its own.
// It costs some 20 ns, so wrap whole queries rather than single reads.
func Guard(f func() error) error { return guard("", f) }

// Guard is the function Guard whose error names this file when the fault
// itself does not.
func (r *Reader) Guard(f func() error) error { return guard(r.path, f) }

func guard(path string, f func() error) (err error) {
	old := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(old)
		v := recover()
		if v == nil {
			return
		}
		re, ok := v.(runtime.Error)
		if !ok {
			panic(v)
		}
		// Faults carry the address; a nil pointer does not: that is a defect.
		if fault, ok := v.(interface{ Addr() uintptr }); ok {
			if p := pathAt(fault.Addr()); p != "" {
				path = p
			}
			err = unreadable(path, "a part of it cannot be read")
			return
		}
		for _, m := range outOfRange {
			if strings.HasPrefix(re.Error(), m) {
				err = unreadable(path, "its content makes no sense")
				return
			}
		}
		panic(v)
	}()
	return f()
}

// outOfRange begins the messages of the runtime's panics for values that came
// from content.
var outOfRange = []string{
	"runtime error: index out of range",
	"runtime error: slice bounds out of range",
	"runtime error: cannot convert slice with length",
	"runtime error: makeslice:",
}

func unreadable(path, why string) error {
	if path == "" {
		return kb.Errorf(kb.Corrupt, "a file of the index is damaged: %s", why).
			WithHint("index the store again to rebuild it")
	}
	return corrupt(path, why)
}

// pathAt returns the path of the file mapped at addr, if one is.
func pathAt(addr uintptr) string {
	open.Lock()
	defer open.Unlock()
	for r := range open.readers {
		if from := uintptr(unsafe.Pointer(unsafe.SliceData(r.data))); addr >= from && addr-from < uintptr(len(r.data)) {
			return r.path
		}
	}
	return ""
}
