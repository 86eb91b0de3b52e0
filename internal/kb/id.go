package kb

import "strings"

// An id is shown as 11 base32 characters: 8 for the 40 bits that name a place
// (store, path, declaration, ordinal among the chunks of that declaration)
// and 3 for 15 bits of a hash of the chunk's text. An edit elsewhere in the
// file changes neither; an edit inside changes the last three.
const (
	// IDLen is the length of an id.
	IDLen    = placeLen + 3
	placeLen = 8

	idAlphabet = "abcdefghijklmnopqrstuvwxyz234567"
)

// PlaceKey is the 40 bits that name a place.
type PlaceKey [5]byte

// FormatID returns the id of a place whose text hashes to the 15 bits of text.
func FormatID(place PlaceKey, text uint16) string {
	id := make([]byte, IDLen)
	IDEncoding.Encode(id, place[:])
	id[placeLen] = idAlphabet[text>>10&31]
	id[placeLen+1] = idAlphabet[text>>5&31]
	id[placeLen+2] = idAlphabet[text&31]
	return string(id)
}

// ParseID splits an id; ok is false when s cannot be one.
func ParseID(s string) (place PlaceKey, text uint16, ok bool) {
	if len(s) != IDLen {
		return place, 0, false
	}
	s = strings.ToLower(s)
	b, err := IDEncoding.DecodeString(s[:placeLen])
	if err != nil || len(b) != len(place) {
		return place, 0, false
	}
	copy(place[:], b)
	for i := placeLen; i < IDLen; i++ {
		v := strings.IndexByte(idAlphabet, s[i])
		if v < 0 {
			return place, 0, false
		}
		text = text<<5 | uint16(v)
	}
	return place, text, true
}

// Misspelt returns the ids that one slip of the finger may have made s of: a
// letter wrong, missing, too many, or two neighbours swapped. They are a few
// hundred, of which Resolve finds those that exist.
func Misspelt(s string) []string {
	s = strings.ToLower(strings.TrimSpace(s))
	var out []string
	add := func(id string) {
		if _, _, ok := ParseID(id); ok && id != s {
			out = append(out, id)
		}
	}
	switch len(s) {
	case IDLen:
		for i := range s {
			for _, c := range idAlphabet {
				add(s[:i] + string(c) + s[i+1:])
			}
			if i > 0 {
				add(s[:i-1] + s[i:i+1] + s[i-1:i] + s[i+1:])
			}
		}
	case IDLen - 1:
		for i := 0; i <= len(s); i++ {
			for _, c := range idAlphabet {
				add(s[:i] + string(c) + s[i:])
			}
		}
	case IDLen + 1:
		for i := range s {
			add(s[:i] + s[i+1:])
		}
	}
	return out
}
