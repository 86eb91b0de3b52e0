package kb

import (
	"bytes"
	"encoding/json"
)

// Extra is what a feature adds to a hit or a place.
type Extra struct {
	Members []Member // of its JSON, in this order
	Lines   []string // the same for a person
}

// Member is one member of an object.
type Member struct {
	Name  string
	Value any
}

// Extras are those of one hit or place.
type Extras []Extra

// Value returns the value of a member, nil when there is none.
func (x Extras) Value(name string) any {
	for _, e := range x {
		for _, m := range e.Members {
			if m.Name == name {
				return m.Value
			}
		}
	}
	return nil
}

// MarshalJSON returns the members as an object.
func (x Extras) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for _, e := range x {
		for _, m := range e.Members {
			if len(b) > 1 {
				b = append(b, ',')
			}
			name, err := plainJSON(m.Name)
			if err != nil {
				return nil, err
			}
			value, err := plainJSON(m.Value)
			if err != nil {
				return nil, err
			}
			b = append(append(append(b, name...), ':'), value...)
		}
	}
	return append(b, '}'), nil
}

// Inlined returns the JSON of v with the members of its member "extras", which
// are x, in the place of that.
func Inlined(v any, x Extras) ([]byte, error) {
	all, err := plainJSON(v)
	if err != nil || len(x) == 0 {
		return all, err
	}
	inner, err := x.MarshalJSON()
	if err != nil {
		return nil, err
	}
	return bytes.Replace(all, append([]byte(`"extras":`), inner...), inner[1:len(inner)-1], 1), nil
}

// plainJSON is JSON in which <, > and & are as they are: who embeds it escapes them.
func plainJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimRight(b.Bytes(), "\n"), err
}
