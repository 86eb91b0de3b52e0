package command

import (
	"encoding/json"
	"strings"
)

// Word returns the name that people type: the first alias, if there is one.
// Names with underscores are those of other programs' tools.
func (c Command) Word() string {
	for _, a := range c.Aliases {
		if !strings.Contains(a, "_") {
			return a
		}
	}
	return c.Name
}

// CommandLine returns how a person would type a command with these arguments,
// a JSON object: positional ones first, flags for the rest, quoted for a POSIX shell.
func CommandLine(c Command, args string) string {
	words := []string{"knowledge", c.Word()}
	var values map[string]json.RawMessage
	if json.Unmarshal([]byte(args), &values) != nil {
		return strings.Join(words, " ")
	}
	for _, p := range c.Params {
		v, ok := values[p.Name]
		if !ok {
			continue
		}
		word := string(v)
		var one string
		var list []string
		switch {
		case json.Unmarshal(v, &one) == nil:
			word = one
		case json.Unmarshal(v, &list) == nil:
			word = strings.Join(list, ",")
		}
		switch {
		case p.Arg:
			words = append(words, quote(word))
		case p.Type == "boolean" && word == "true":
			words = append(words, "--"+p.Name)
		default:
			words = append(words, "--"+p.Name, quote(word))
		}
	}
	return strings.Join(words, " ")
}

// quote puts single quotes around what a POSIX shell would not take as one plain word.
func quote(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:,@%+=", r)
	}
	if s != "" && strings.TrimFunc(s, plain) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
