package command

import (
	"bytes"
	"encoding/json"
)

// Render returns a result as an agent reads it: what its Text method says,
// else compact JSON.
func Render(result any) string {
	if t, ok := result.(interface{ Text() string }); ok {
		return t.Text()
	}
	return JSON(result)
}

// JSON returns v as compact JSON in which <, > and & stand as they are. What
// does not marshal comes out as null: no result of a command is such.
func JSON(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "null"
	}
	return string(bytes.TrimRight(b.Bytes(), "\n"))
}
