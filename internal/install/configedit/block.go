package configedit

import (
	"bytes"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// The lines around our text in a foreign Markdown file. Markdown
// shows neither.
const (
	BlockBegin = "<!-- knowledge:begin -->"
	BlockEnd   = "<!-- knowledge:end -->"
)

// block finds the lines of the block; ok is false when there is none.
func block(doc []byte) (start, end int, ok bool, err error) {
	start = bytes.Index(doc, []byte(BlockBegin))
	last := bytes.LastIndex(doc, []byte(BlockEnd))
	if start < 0 && last < 0 {
		return 0, 0, false, nil
	}
	if start < 0 || last < start || bytes.Count(doc, []byte(BlockBegin)) > 1 || bytes.Count(doc, []byte(BlockEnd)) > 1 {
		return 0, 0, false, kb.Errorf(kb.Invalid, "the lines %s and %s in it are no pair", BlockBegin, BlockEnd)
	}
	end = last + len(BlockEnd)
	for _, eol := range []string{"\r\n", "\n"} {
		if bytes.HasPrefix(doc[end:], []byte(eol)) {
			end += len(eol)
			break
		}
	}
	return start, end, true, nil
}

// GetBlock returns the text between the marks, with plain line ends.
func GetBlock(doc []byte) (text string, ok bool, err error) {
	start, end, ok, err := block(doc)
	if !ok {
		return "", false, err
	}
	text = strings.ReplaceAll(string(doc[start:end]), "\r\n", "\n")
	text = strings.TrimSuffix(strings.TrimSuffix(text, "\n"), BlockEnd)
	return strings.TrimSuffix(strings.TrimPrefix(text, BlockBegin+"\n"), "\n"), true, nil
}

// SetBlock puts text between the marks: where they are, else at the end after
// a blank line.
func SetBlock(doc []byte, text string) ([]byte, error) {
	start, end, ok, err := block(doc)
	if err != nil {
		return nil, err
	}
	eol := lineEnd(doc)
	whole := strings.ReplaceAll(BlockBegin+"\n"+text+"\n"+BlockEnd+"\n", "\n", eol)
	if ok {
		if end == len(doc) && doc[end-1] != '\n' {
			whole = strings.TrimSuffix(whole, eol)
		}
		return splice(doc, start, end, whole), nil
	}
	if len(doc) > 0 {
		if doc[len(doc)-1] != '\n' {
			whole = eol + whole
		}
		whole = eol + whole
	}
	return splice(doc, len(doc), len(doc), whole), nil
}

// RemoveBlock takes the block away, and the blank line before it at the end of a file.
func RemoveBlock(doc []byte) ([]byte, error) {
	start, end, ok, err := block(doc)
	if err != nil || !ok {
		return doc, err
	}
	if end == len(doc) {
		start = blankLineBefore(doc, start)
	}
	return splice(doc, start, end, ""), nil
}
