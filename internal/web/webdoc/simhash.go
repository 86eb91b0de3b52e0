package webdoc

import "math/bits"

// Near is the distance of fingerprints up to which two pages of at least
// NearWords words count as the same. Of 590 pages of documentation of five
// projects, compared each with each, no two lie below 12, and the count falls
// to less than half with every bit; so that of ten thousand pages hardly two
// different ones are taken for the same. A page with a line of nine words more
// lies at 3 or less in 75 of 100 cases, at 6 or less in 96: what is not folded
// is only kept twice, what is folded wrongly is lost.
const (
	Near      = 3
	NearWords = 64
)

// Distance counts the bits in which two fingerprints differ.
//
// A fingerprint is a simhash (Charikar, "Similarity estimation techniques from
// rounding algorithms", 2002) over runs of three words: every run is hashed to
// 64 bits, and a bit of the fingerprint is set when more runs have it than not.
func Distance(a, b uint64) int { return bits.OnesCount64(a ^ b) }

// fingerprint takes letters and digits of the text alone, in lower case, so
// that marks of Markdown do not count.
func fingerprint(text []byte) uint64 {
	var sums [64]int32
	var run [3]uint64
	n := 0
	end := func(h uint64) {
		run[0], run[1], run[2] = run[1], run[2], h
		if n++; n < 3 {
			return
		}
		x := mix(run[0]*0x9e3779b97f4a7c15 + mix(run[1]*0xc2b2ae3d27d4eb4f+mix(run[2])))
		for i := range sums {
			sums[i] += int32(x>>i&1)<<1 - 1
		}
	}
	const offset, prime = 14695981039346656037, 1099511628211 // FNV-1a
	h, in := uint64(offset), false
	for _, c := range text {
		switch {
		case c >= 'A' && c <= 'Z':
			c += 'a' - 'A'
			fallthrough
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c >= 0x80:
			h = (h ^ uint64(c)) * prime
			in = true
		case in:
			end(h)
			h, in = offset, false
		}
	}
	if in {
		end(h)
	}
	var out uint64
	for i, s := range sums {
		if s > 0 {
			out |= 1 << i
		}
	}
	return out
}

// mix is the finaliser of splitmix64.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
