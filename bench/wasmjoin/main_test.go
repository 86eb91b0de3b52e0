package main

import (
	"bytes"
	"testing"
)

func TestJoin(t *testing.T) {
	head := []byte("\x00asm\x01\x00\x00\x00")
	segment := func(at byte, text string) []byte {
		return append([]byte{0, 0x41, at, 0x0b, byte(len(text))}, text...)
	}
	section := func(id byte, body ...[]byte) []byte {
		all := bytes.Join(body, nil)
		return append([]byte{id, byte(len(all))}, all...)
	}
	module := func(sections ...[]byte) []byte { return append(bytes.Clone(head), bytes.Join(sections, nil)...) }
	other := section(10, []byte{0})
	for _, tt := range []struct {
		name     string
		in, want []byte // want is nil for an error
	}{
		{"no data", module(other), module(other)},
		{"a gap", module(section(12, []byte{2}), other, section(11, []byte{2}, segment(8, "ab"), segment(12, "c"))),
			module(section(12, []byte{1}), other, section(11, []byte{1}, segment(8, "ab\x00\x00c")))},
		{"one", module(section(11, []byte{1}, segment(8, "ab"))), module(section(11, []byte{1}, segment(8, "ab")))},
		{"out of order", module(section(11, []byte{2}, segment(12, "ab"), segment(8, "c"))), nil},
		{"overlapping", module(section(11, []byte{2}, segment(8, "ab"), segment(9, "c"))), nil},
		{"passive", module(section(11, []byte{1, 1, 1, 'a'})), nil},
		{"cut short", module(section(11, []byte{2}, segment(8, "ab"))), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Join(tt.in)
			if (err != nil) != (tt.want == nil) || !bytes.Equal(got, tt.want) {
				t.Errorf("%q, %v, want %q", got, err, tt.want)
			}
		})
	}
}

func TestNumbers(t *testing.T) {
	for _, v := range []int64{0, 1, 63, 64, 127, 128, 8191, 8192, 1 << 30} {
		r := reader{signed(v)}
		if got := r.int(); got != v || len(r.b) > 0 {
			t.Errorf("%d is read as %d, %d bytes left", v, got, len(r.b))
		}
	}
	if r := (reader{[]byte{0x7f}}); r.int() != -1 {
		t.Error("a negative number is read as another")
	}
}
