package sessionlog

import (
	"bytes"
	"encoding/json"
)

// A line may be megabytes long and is read for a few of its members: what
// follows takes JSON apart in place, once, where decoding would copy every part of
// it at every depth. The text must be valid.

// object calls each with the members of an object; of anything else nothing.
func object(raw []byte, each func(name string, value json.RawMessage)) {
	i := blank(raw, 0)
	if i == len(raw) || raw[i] != '{' {
		return
	}
	for i = blank(raw, i+1); i < len(raw) && raw[i] == '"'; i = blank(raw, i) {
		end := value(raw, i)
		var name string
		text(raw[i:end], &name)
		i = blank(raw, blank(raw, end)+1) // behind the colon
		end = value(raw, i)
		each(name, raw[i:end])
		if i = blank(raw, end); i < len(raw) && raw[i] == ',' {
			i++
		}
	}
}

// array calls each with the elements of an array, and reports whether it is one.
func array(raw []byte, each func(value json.RawMessage)) bool {
	i := blank(raw, 0)
	if i == len(raw) || raw[i] != '[' {
		return false
	}
	for i = blank(raw, i+1); i < len(raw) && raw[i] != ']'; i = blank(raw, i) {
		end := value(raw, i)
		each(raw[i:end])
		if i = blank(raw, end); i < len(raw) && raw[i] == ',' {
			i++
		}
	}
	return true
}

// blank returns the index of what follows the white space at i.
func blank(raw []byte, i int) int {
	for i < len(raw) && (raw[i] == ' ' || raw[i] == '\t' || raw[i] == '\n' || raw[i] == '\r') {
		i++
	}
	return i
}

// value returns the index behind the value that begins at i.
func value(raw []byte, i int) int {
	depth := 0
	for i < len(raw) {
		switch raw[i] {
		case '"':
			i = closing(raw, i)
		case '{', '[':
			depth++
			i++
		case '}', ']':
			depth--
			i++
		case ',', ':', ' ', '\t', '\n', '\r':
			i++
		default: // a number or a word
			for i < len(raw) && bytes.IndexByte([]byte(",]} \t\r\n"), raw[i]) < 0 {
				i++
			}
		}
		if depth == 0 {
			return i
		}
	}
	return i
}

// closing returns the index behind the string that begins at i.
func closing(raw []byte, i int) int {
	for i++; i < len(raw); i++ {
		n := bytes.IndexAny(raw[i:], `"\`)
		if n < 0 {
			return len(raw)
		}
		if i += n; raw[i] == '"' {
			return i + 1
		}
		i++ // what the backslash escapes
	}
	return len(raw)
}
