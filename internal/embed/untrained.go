package embed

import (
	"maps"
	"slices"
)

const (
	untrainedDims    = 256
	untrainedBuckets = 8192
	untrainedSeed    = 0x6b6e6f776c656467 // "knowledg"
)

// Untrained returns the file of the untrained model that the package comment
// describes, 2.2 MB, the same at every call.
func Untrained() []byte {
	weights := commonWords()
	words := slices.Sorted(maps.Keys(weights))
	m := NewModel("untrained", 1, untrainedDims, words, untrainedBuckets)
	const unit = 1.0 / 16 // 1/sqrt(256)
	for i := range m.Scales {
		m.Scales[i] = unit
		if i < len(words) {
			m.Scales[i] = weights[words[i]] * unit
		}
	}
	state := uint64(untrainedSeed)
	for i := 0; i < len(m.Codes); i += 64 {
		state += 0x9e3779b97f4a7c15
		bits := mix(state)
		for j := range m.Codes[i : i+64] {
			m.Codes[i+j] = int8(bits>>j&1)*2 - 1
		}
	}
	b, err := m.Encode()
	if err != nil {
		panic(err) // everything in it is ours
	}
	return b
}
