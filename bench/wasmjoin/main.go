// Command wasmjoin joins the data of WebAssembly modules, in place:
//
//	wasmjoin FILE...
//
// wasm-opt leaves zeros out of the data, so that a sparse table of a parser
// becomes tens of thousands of segments, each with an address that no
// compression foresees. With its zeros, in one segment, the table packs to half
// the bytes, and a module is read and instantiated faster.
package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
)

// Ids of sections.
const (
	sectionData      = 11
	sectionDataCount = 12
)

func main() {
	for _, name := range os.Args[1:] {
		if err := rewrite(name); err != nil {
			fmt.Fprintf(os.Stderr, "wasmjoin: %s: %v\n", name, err)
			os.Exit(1)
		}
	}
}

func rewrite(name string) error {
	module, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if module, err = Join(module); err != nil {
		return err
	}
	return os.WriteFile(name, module, 0o644)
}

// errForm is the error of a module that is damaged, or has data of another kind
// than segments at constant addresses of the first memory.
var errForm = errors.New("not a module that can be joined")

// Join returns a module with one segment of data in place of all.
func Join(module []byte) (out []byte, err error) {
	defer func() {
		if recover() != nil { // an index beyond the end
			out, err = nil, errForm
		}
	}()
	r := reader{module[8:]}
	out = append(out, module[:8]...)
	for len(r.b) > 0 {
		id, body := r.take(1)[0], r.take(int(r.uint()))
		switch id {
		case sectionData:
			if body, err = joined(body); err != nil {
				return nil, err
			}
		case sectionDataCount:
			body = []byte{1}
		}
		out = append(out, id)
		out = binary.AppendUvarint(out, uint64(len(body)))
		out = append(out, body...)
	}
	return out, nil
}

// joined joins the segments of a section, which ascend.
func joined(section []byte) ([]byte, error) {
	r := reader{section}
	var image bytes.Buffer
	first := int64(-1)
	for range r.uint() {
		if r.uint() != 0 || r.take(1)[0] != 0x41 { // active, i32.const
			return nil, errForm
		}
		at := r.int()
		if r.take(1)[0] != 0x0b { // end
			return nil, errForm
		}
		if first < 0 {
			first = at
		}
		gap := at - first - int64(image.Len())
		if gap < 0 || gap > 64<<20 {
			return nil, errForm
		}
		image.Write(make([]byte, gap))
		image.Write(r.take(int(r.uint())))
	}
	if first < 0 {
		return section, nil
	}
	out := append([]byte{1, 0, 0x41}, signed(first)...)
	out = append(out, 0x0b)
	out = binary.AppendUvarint(out, uint64(image.Len()))
	return append(out, image.Bytes()...), nil
}

// reader reads the numbers of a module, which are LEB128.
type reader struct{ b []byte }

func (r *reader) take(n int) []byte {
	out := r.b[:n:n]
	r.b = r.b[n:]
	return out
}

func (r *reader) uint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		panic(errForm)
	}
	r.take(n)
	return v
}

func (r *reader) int() int64 {
	var v int64
	for shift := uint(0); ; shift += 7 {
		c := r.take(1)[0]
		v |= int64(c&0x7f) << shift
		if c < 0x80 {
			if c&0x40 != 0 {
				v |= -1 << (shift + 7)
			}
			return v
		}
	}
}

// signed returns a number of no fewer than 0 as signed LEB128.
func signed(v int64) (out []byte) {
	for v > 0x3f {
		out = append(out, byte(v&0x7f|0x80))
		v >>= 7
	}
	return append(out, byte(v))
}
