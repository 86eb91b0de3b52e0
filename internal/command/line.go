package command

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
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

// Flag returns the parameter's name on the command line: minRelevance and
// session_id are min-relevance and session-id there.
func (p Param) Flag() string { return kb.Kebab(p.Name) }

// Word returns what a positional parameter is called in a line of usage.
func (p Param) Word() string {
	w := strings.ToUpper(strings.ReplaceAll(kb.Kebab(p.Name), "-", "_"))
	switch {
	case w == "RESULT_ID", w == "JOB_ID", w == "SESSION_ID", w == "FEEDBACK_ID":
		return "ID"
	case p.Rest:
		return w + "..."
	}
	return w
}

// ForPerson returns the help of the parameter as a person reads it.
func (p Param) ForPerson() string { return cmp.Or(p.Person, p.Help) }

// CommandLine returns how a person would type a command with these arguments,
// a JSON object: positional ones first, flags for the rest, quoted for a POSIX shell.
func CommandLine(c Command, args string) string {
	words := []string{"knowledge", c.Word()}
	var values map[string]json.RawMessage
	if json.Unmarshal([]byte(args), &values) != nil {
		return strings.Join(words, " ")
	}
	given := true // every positional parameter so far
	for _, p := range c.Params {
		v, ok := values[p.Name]
		if !ok || string(v) == "null" {
			given = given && !p.Arg
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
		case p.Arg && (given || p.Required) && !strings.HasPrefix(word, "-"):
			words = append(words, kb.ShellWord(word))
		case p.Type == "boolean" && word == "true":
			words = append(words, "--"+p.Flag())
		case p.Type == "boolean":
			words = append(words, "--"+p.Flag()+"="+word)
		case strings.HasPrefix(word, "-"):
			words = append(words, "--"+p.Flag()+"="+kb.ShellWord(word))
		default:
			words = append(words, "--"+p.Flag(), kb.ShellWord(word))
		}
	}
	return strings.Join(words, " ")
}
