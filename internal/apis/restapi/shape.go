package restapi

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/jmespath-community/go-jmespath"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/text/tokens"
)

// Shape says what of a reply is wanted. The zero value wants all of it.
type Shape struct {
	Query  string   // JMESPath
	Fields []string // of each element of a list, or of the object: id, user.login
	First  int      // that many elements of each list; 0 is all
	Table  bool     // a list of objects as columns and rows
}

// Wants reports whether anything is wanted but the whole.
func (s Shape) Wants() bool { return s.Query != "" || len(s.Fields) > 0 || s.First > 0 || s.Table }

// Check reports what of a shape cannot be, before anything is sent.
func (s Shape) Check() error {
	if s.First < 0 {
		return kb.Errorf(kb.Invalid, "first must not be negative").WithHint("leave it out for all")
	}
	if s.Query == "" {
		return nil
	}
	if len(s.Query) > 2000 {
		return kb.Errorf(kb.TooLarge, "the query is longer than 2000 characters").WithHint("take fields instead")
	}
	if _, err := jmespath.Compile(s.Query); err != nil {
		return kb.Errorf(kb.Invalid, "the query is no JMESPath: %s", clip(oneLine(err.Error()), 200)).
			WithHint("write it like items[?state=='open'].{id: id, title: title}")
	}
	return nil
}

// Of returns what is wanted of a reply's JSON. Digits are kept but where a query
// computes with a number that no float64 holds: there it is a string.
func (s Shape) Of(v json.RawMessage) (json.RawMessage, error) {
	if s.Query != "" {
		made, err := s.search(v)
		if err != nil {
			return nil, err
		}
		v = made
	}
	if len(s.Fields) > 0 {
		v = pick(v, s.Fields)
	}
	if s.First > 0 {
		v = first(v, s.First, 0)
	}
	if s.Table {
		v = table(v)
	}
	return v, nil
}

func (s Shape) search(v json.RawMessage) (out json.RawMessage, err error) {
	dec := json.NewDecoder(bytes.NewReader(v))
	dec.UseNumber()
	var data any
	if err := dec.Decode(&data); err != nil {
		return nil, kb.Errorf(kb.Invalid, "the reply is not JSON, and a query is of JSON").WithHint("leave query out")
	}
	defer func() {
		if p := recover(); p != nil { // the library's, on an odd query
			out, err = nil, kb.Errorf(kb.Invalid, "the query cannot be applied to this reply").WithHint("take fields instead")
		}
	}()
	found, err := jmespath.Search(s.Query, floats(data))
	if err != nil {
		return nil, kb.Errorf(kb.Invalid, "the query cannot be applied to this reply: %s", clip(oneLine(err.Error()), 200)).
			WithHint("ask without it and look at the reply")
	}
	return mustJSON(found), nil
}

// floats makes numbers of json.Number where no digit is lost.
func floats(v any) any {
	switch v := v.(type) {
	case json.Number:
		f, err := v.Float64()
		if err != nil || f != float64(int64(f)) && len(v) > 17 || f > 1<<53 || f < -1<<53 {
			return v.String()
		}
		return f
	case []any:
		for i := range v {
			v[i] = floats(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = floats(v[k])
		}
	}
	return v
}

// listOf returns the list that a reply is about: itself, or the one member of an
// object that is a list; nil when there is none. key is that member.
func listOf(v json.RawMessage) (list []json.RawMessage, key string) {
	if kindOf(v) == '[' {
		return elements(v), ""
	}
	for _, f := range fields(v) {
		if kindOf(f.raw) != '[' {
			continue
		}
		if key != "" {
			for _, usual := range []string{"items", "data", "results", "value", "values", "entries", "records"} {
				if x := get(v, usual); kindOf(x) == '[' {
					return elements(x), usual
				}
			}
			return nil, ""
		}
		list, key = elements(f.raw), f.key
	}
	return list, key
}

// pick takes fields out of an object, or out of each element of a list.
func pick(v json.RawMessage, names []string) json.RawMessage {
	if list, _ := listOf(v); list != nil && (kindOf(v) == '[' || !hasAny(v, names)) {
		var out []string
		for _, x := range list {
			out = append(out, string(pick(x, names)))
		}
		return json.RawMessage("[" + strings.Join(out, ",") + "]")
	}
	if kindOf(v) != '{' {
		return v
	}
	var words []string
	for _, name := range names {
		if x := dig(v, name); x != nil {
			words = append(words, string(mustJSON(name))+":"+string(x))
		}
	}
	return json.RawMessage("{" + strings.Join(words, ",") + "}")
}

func hasAny(v json.RawMessage, names []string) bool {
	for _, n := range names {
		if dig(v, n) != nil {
			return true
		}
	}
	return false
}

// dig returns what a name with dots means: a member of that name, or one within.
// Of a list it takes it from each element.
func dig(v json.RawMessage, name string) json.RawMessage {
	if x := get(v, name); x != nil {
		return x
	}
	if kindOf(v) == '[' {
		var out []string
		for _, x := range elements(v) {
			if y := dig(x, name); y != nil {
				out = append(out, string(y))
			}
		}
		return json.RawMessage("[" + strings.Join(out, ",") + "]")
	}
	head, rest, ok := strings.Cut(name, ".")
	if !ok {
		return nil
	}
	x := get(v, head)
	if x == nil {
		return nil
	}
	return dig(x, rest)
}

// first shortens lists to n elements: the reply itself, or those within it.
func first(v json.RawMessage, n, depth int) json.RawMessage {
	switch {
	case depth > 3:
	case kindOf(v) == '[':
		list := elements(v)
		words := make([]string, 0, n)
		for _, x := range list[:min(n, len(list))] {
			words = append(words, string(x))
		}
		return json.RawMessage("[" + strings.Join(words, ",") + "]")
	case kindOf(v) == '{':
		var words []string
		for _, f := range fields(v) {
			words = append(words, string(mustJSON(f.key))+":"+string(first(f.raw, n, depth+1)))
		}
		return json.RawMessage("{" + strings.Join(words, ",") + "}")
	}
	return v
}

// table writes a list of objects as the names of their members once and a row of
// values each, which costs an agent less.
func table(v json.RawMessage) json.RawMessage {
	list, _ := listOf(v)
	if len(list) == 0 {
		return v
	}
	var columns []string
	at := map[string]int{}
	for _, x := range list {
		if kindOf(x) != '{' {
			return v
		}
		for _, f := range fields(x) {
			if _, ok := at[f.key]; !ok && len(columns) < 100 {
				at[f.key] = len(columns)
				columns = append(columns, f.key)
			}
		}
	}
	var rows []string
	for _, x := range list {
		row := make([]string, len(columns))
		for i := range row {
			row[i] = "null"
		}
		for _, f := range fields(x) {
			if i, ok := at[f.key]; ok {
				row[i] = string(f.raw)
			}
		}
		rows = append(rows, "["+strings.Join(row, ",")+"]")
	}
	return json.RawMessage(`{"columns":` + string(mustJSON(columns)) + `,"rows":[` + strings.Join(rows, ",") + `]}`)
}

// Cost estimates what a text costs a language model, in tokens.
func Cost(s string) int { return tokens.Estimate(s) }

// Summary says what a reply holds that is too large to be shown: its members with
// their kinds, and how many elements lists have.
func Summary(v json.RawMessage) string {
	switch list, key := listOf(v); {
	case list != nil:
		s := strconv.Itoa(len(list)) + " elements"
		if key != "" {
			s += " in " + key
		}
		if len(list) > 0 {
			if names := memberNames(list[0], 20); names != "" {
				s += ", each with " + names
			}
		}
		return s
	case kindOf(v) == '{':
		return "an object with " + memberNames(v, 30)
	}
	return strconv.Itoa(len(v)) + " bytes"
}

func memberNames(v json.RawMessage, most int) string {
	var names []string
	for _, f := range fields(v) {
		if len(names) == most {
			names = append(names, "…")
			break
		}
		names = append(names, clip(f.key, 40)+map[byte]string{'[': "[]", '{': "{}"}[kindOf(f.raw)])
	}
	return strings.Join(names, ", ")
}
