// Package forwarder makes the one library of Windows that Go's runtime needs
// and older versions of Wine lack.
package forwarder

import (
	"bytes"
	"encoding/binary"
)

// ProcessPrng fills a buffer with random bytes. Our library holds no
// code. It forwards the call to SystemFunction036 of advapi32.dll, which does
// the same and which every Wine has.
const (
	Library  = "bcryptprimitives.dll" // its name in the folder of the system
	exported = "ProcessPrng"
	forward  = "advapi32.SystemFunction036"
)

// Bytes returns a PE32+ library of one section, which holds the export table.
func Bytes() []byte {
	const (
		fileAlign = 0x200
		base      = 0x1000 // of the section, relative to the image
	)
	le := binary.LittleEndian

	// The export directory (40 bytes), then the address of the one function,
	// of its name, its ordinal, and the strings.
	text := []byte(Library + "\x00" + exported + "\x00" + forward + "\x00")
	const functions, names, ordinals, strings = base + 40, base + 44, base + 48, base + 50
	name := uint32(strings + len(Library) + 1)
	target := name + uint32(len(exported)) + 1
	table := make([]byte, 0, fileAlign)
	for _, v := range []uint32{0, 0, 0, strings, 1, 1, 1, functions, names, ordinals} {
		table = le.AppendUint32(table, v)
	}
	table = le.AppendUint32(table, target) // an address inside the table forwards
	table = le.AppendUint32(table, name)
	table = le.AppendUint16(table, 0)
	table = append(table, text...)
	size := uint32(len(table))

	var b bytes.Buffer
	put := func(values ...any) {
		for _, v := range values {
			binary.Write(&b, le, v) // a bytes.Buffer does not fail
		}
	}
	dos := make([]byte, 64)
	copy(dos, "MZ")
	le.PutUint32(dos[60:], 64)
	put(dos, []byte("PE\x00\x00"))
	// Machine, sections, time, symbols (2), size of the optional header, flags: executable, large addresses, DLL.
	put(uint16(0x8664), uint16(1), uint32(0), uint32(0), uint32(0), uint16(240), uint16(0x2022))
	// Magic, linker (2), code, data, bss, entry point: none, base of code.
	put(uint16(0x20b), uint8(14), uint8(0), uint32(0), uint32(fileAlign), uint32(0), uint32(0), uint32(base))
	// Image base, alignments, versions (6), reserved, sizes of image and headers, checksum, subsystem, flags.
	put(uint64(0x180000000), uint32(0x1000), uint32(fileAlign), uint16(6), uint16(0), uint16(0), uint16(0), uint16(6), uint16(0), uint32(0))
	put(uint32(0x2000), uint32(fileAlign), uint32(0), uint16(3), uint16(0x160))
	put(uint64(1<<20), uint64(1<<12), uint64(1<<20), uint64(1<<12), uint32(0), uint32(16))
	put(uint32(base), size) // the export table; fifteen others are empty
	put(make([]byte, 15*8))
	put([]byte(".edata\x00\x00"), size, uint32(base), uint32(fileAlign), uint32(fileAlign), make([]byte, 12), uint32(0x40000040))
	put(make([]byte, fileAlign-b.Len()))
	put(table, make([]byte, fileAlign-len(table)))
	return b.Bytes()
}
