package command

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
)

// Hints and notes name commands, and are written once, in either of two forms:
//
//	list its paths with: files {"store":"web","glob":"**/nope.go"}
//	list its paths with: knowledge files web --glob '**/nope.go'
//
// An agent can act on the first and a person on the second. ForAgent and
// ForShell turn each into the other by the registry, and leave alone what is
// in the right form already.

// worded returns err with its hint as the reader of ctx can use it.
func (t *Table) worded(ctx context.Context, err error) error {
	hint := kb.HintOf(err)
	if hint == "" {
		return err
	}
	if IsCLI(ctx) {
		return withHint(err, hint, t.ForShell(hint))
	}
	return withHint(err, hint, t.ForAgent(hint))
}

func withHint(err error, was, hint string) error {
	if hint == was {
		return err
	}
	return &kb.Error{Code: kb.CodeOf(err), Message: err.Error(), Hint: hint, Err: err}
}

// Lookup finds a command by one of its names, exactly.
func (t *Table) Lookup(name string) (Command, bool) {
	for _, c := range t.All() {
		if c.Name == name || slices.Contains(c.Aliases, name) || strings.ReplaceAll(c.Name, ":", "_") == name {
			return c, true
		}
	}
	return Command{}, false
}

// mention finds what may be the name of a command.
var mention = lazyregexp.New(`[a-z]+(?:[:_][a-z]+(?:[-_][a-z]+)*)*`)

// ForShell returns a hint or note in which commands are lines for a shell:
// `files {"store":"web"}` becomes `knowledge files web`. A command's bare name
// is replaced where it cannot be an ordinary word: with a colon or an
// underscore in it, in quotes, or as all that follows a colon.
func (t *Table) ForShell(text string) string {
	var b strings.Builder
	done := 0
	for _, m := range mention.FindAllStringIndex(text, -1) {
		i, j := m[0], m[1]
		if i < done || strings.HasSuffix(text[:i], "did you mean ") || inLine(b.String()+text[done:i]) || i > 0 && strings.IndexByte("-./_", text[i-1]) >= 0 || j < len(text) && strings.IndexByte("./-=", text[j]) >= 0 && !endsSentence(text[j:]) {
			continue
		}
		name := text[i:j]
		c, ok := t.Lookup(name)
		if !ok {
			continue
		}
		before, after := text[:i], text[j:]
		var line string
		switch quoted := strings.HasSuffix(before, `"`) && strings.HasPrefix(after, `"`); {
		case strings.HasPrefix(after, " {"):
			dec := json.NewDecoder(strings.NewReader(after[1:]))
			var args json.RawMessage
			if dec.Decode(&args) != nil {
				continue
			}
			line = CommandLine(c, string(args))
			j += 1 + int(dec.InputOffset())
		case quoted && (strings.ContainsAny(name, ":_") || name == "commands"):
			line, i, j = "knowledge "+typed(c), i-1, j+1
		case strings.ContainsAny(name, ":_"), t.alone(before, after):
			line = "knowledge " + typed(c)
			if ends(after) && strings.HasSuffix(before, ": ") && needy(c) {
				line += " --help" // alone it would ask for what it needs
			}
		default:
			continue
		}
		b.WriteString(text[done:i])
		b.WriteString(line)
		done = j
	}
	b.WriteString(text[done:])
	return t.FlagNames(strings.ReplaceAll(b.String(), `["*"]`, `--stores '*'`))
}

var (
	argument   = lazyregexp.New(`argument "([A-Za-z_]+)"`)
	plainNames = lazyregexp.New(`\b(raise|give|use|with|or|out) (limit|depth|paths|save|force|scope user|type (?:file|folder|repo|web))\b`)
	mixedNames = lazyregexp.New(`(?:^|[ (])([a-z]+(?:[A-Z][a-z]+|_[a-z]+)+)\b`)
)

// FlagNames returns a text in which parameters are called as the command line
// calls them: `argument "limit"` is --limit, "raise limit" raise --limit, and
// maxPages --max-pages. Names that keys of files have too are left alone.
func (t *Table) FlagNames(text string) string {
	text = plainNames.Regexp().ReplaceAllString(text, "$1 --$2")
	text = argument.Regexp().ReplaceAllStringFunc(text, func(m string) string {
		return "--" + kb.Kebab(strings.Trim(strings.TrimPrefix(m, "argument "), `"`))
	})
	return mixedNames.Regexp().ReplaceAllStringFunc(text, func(m string) string {
		name := strings.TrimLeft(m, " (")
		if name == "baseUrl" || name == "maxFileBytes" || !t.isParam(name) {
			return m
		}
		return m[:len(m)-len(name)] + "--" + kb.Kebab(name)
	})
}

func (t *Table) isParam(name string) bool {
	return slices.ContainsFunc(t.All(), func(c Command) bool {
		return slices.ContainsFunc(c.Params, func(p Param) bool { return p.Name == name })
	})
}

// typed is what a person types for a command; the lists of all commands and
// of one's parameters are topics of help.
func typed(c Command) string {
	if c.Name == "commands" {
		return "help all"
	}
	return c.Word()
}

// inLine reports whether what follows before is part of a line for a shell.
func inLine(before string) bool {
	i := strings.LastIndex(before, "knowledge ")
	return i >= 0 && !strings.Contains(before[i:], ";") && !strings.Contains(before[i:], ", ")
}

func endsSentence(after string) bool {
	return after[0] == '.' && (len(after) == 1 || after[1] == ' ')
}

// alone reports whether a name is what a hint says to run: it follows a
// colon, and a clause or the hint ends after it, or after the words of help.
func (t *Table) alone(before, after string) bool {
	if !strings.HasSuffix(before, ": ") {
		return false
	}
	if ends(after) {
		return true
	}
	rest := strings.TrimLeft(after, " ")
	word, _, _ := strings.Cut(rest, " ")
	_, ok := t.Lookup(strings.TrimRight(word, ";,."))
	return ok // help NAME
}

// ends reports whether a clause ends here.
func ends(after string) bool {
	rest := strings.TrimLeft(after, " ")
	return rest == "" || strings.IndexByte(";,.)", rest[0]) >= 0
}

// needy reports whether a command does nothing without arguments.
func needy(c Command) bool {
	return slices.ContainsFunc(c.Params, func(p Param) bool { return p.Required })
}

// ForAgent returns a hint or note in which commands are calls: `knowledge
// files web` becomes `files {"store":"web"}`. The line for a shell reaches to
// a semicolon or the end. What only a person may run stays as it is.
func (t *Table) ForAgent(text string) string {
	i := strings.Index(text, "knowledge ")
	if i < 0 || i > 0 && text[i-1] != ' ' {
		return text
	}
	line, rest := text[i:], ""
	if j := strings.Index(line, "; "); j > 0 {
		line, rest = line[:j], line[j:]
	}
	words, err := Words(line)
	if err != nil {
		return text
	}
	call, ok := t.callOf(words[1:])
	if !ok {
		return text
	}
	return text[:i] + call + t.ForAgent(rest)
}

// callOf returns the call that words after "knowledge" make: the name of a
// command and its arguments as JSON.
func (t *Table) callOf(words []string) (string, bool) {
	if len(words) == 0 {
		return "", false
	}
	if words[0] == "help" && len(words) == 2 && words[1] == "all" {
		return "commands", true
	}
	c, ok := t.Lookup(words[0])
	if !ok || c.Audience != Agent {
		return "", false
	}
	values := map[string]any{}
	var free []string
	for rest := words[1:]; len(rest) > 0; rest = rest[1:] {
		name, isFlag := strings.CutPrefix(rest[0], "-")
		if !isFlag {
			free = append(free, rest[0])
			continue
		}
		name, value, given := strings.Cut(strings.TrimPrefix(name, "-"), "=")
		i := slices.IndexFunc(c.Params, func(p Param) bool { return p.Flag() == name || p.Name == name || p.Short == name })
		if i < 0 || c.Params[i].CLIOnly {
			return "", false
		}
		switch p := c.Params[i]; {
		case given:
			values[p.Name] = valueOf(p, value)
		case p.Type == "boolean":
			values[p.Name] = true
		case len(rest) > 1:
			rest = rest[1:]
			values[p.Name] = valueOf(p, rest[0])
		default:
			return "", false
		}
	}
	if !Place(c.Params, free, func(p Param) bool { return values[p.Name] != nil }, func(p Param, w string) { values[p.Name] = valueOf(p, w) }) {
		return "", false
	}
	if len(values) == 0 {
		return c.Name, true
	}
	var parts []string // in the order of the parameters
	for _, p := range c.Params {
		if v, ok := values[p.Name]; ok {
			parts = append(parts, printer.JSON(p.Name)+":"+printer.JSON(v))
		}
	}
	return c.Name + " {" + strings.Join(parts, ",") + "}", true
}

// Place gives words to positional parameters that have no value yet, in order;
// when the words are too few for all, they go to the required ones. It
// reports false when words are left over.
func Place(params []Param, words []string, given func(Param) bool, set func(Param, string)) bool {
	var open []Param
	spare := len(words) // words that optional parameters may take
	for _, p := range params {
		if p.Unless != "" && slices.ContainsFunc(params, func(o Param) bool { return o.Name == p.Unless && given(o) }) {
			p.Required = false
		}
		if p.Arg && !given(p) {
			open = append(open, p)
			if p.Required {
				spare--
			}
		}
	}
	for _, p := range open {
		switch {
		case len(words) == 0:
			return true // decoding says what is missing
		case p.Rest:
			set(p, strings.Join(words, " "))
			return true
		case !p.Required && spare <= 0:
			continue
		case !p.Required:
			spare--
		}
		set(p, words[0])
		words = words[1:]
	}
	return len(words) == 0
}

// valueOf is a word as JSON has it.
func valueOf(p Param, word string) any {
	switch p.Type {
	case "strings":
		return strings.Split(word, ",")
	case "integer", "number", "boolean", "object":
		if json.Valid([]byte(word)) {
			return json.RawMessage(word)
		}
	}
	return word
}

var errQuote = errors.New("a quote is open")

// Words splits a line as a POSIX shell does that expands nothing.
func Words(line string) ([]string, error) {
	var words []string
	var b strings.Builder
	inWord, quote := false, byte(0)
	for i := 0; i < len(line); i++ {
		ch := line[i]
		switch {
		case quote != 0 && ch == quote:
			quote = 0
		case ch == '\\' && quote != '\'' && i+1 < len(line):
			i++
			b.WriteByte(line[i])
			inWord = true
		case quote != 0:
			b.WriteByte(ch)
		case ch == '\'' || ch == '"':
			quote, inWord = ch, true
		case ch == ' ':
			if inWord {
				words = append(words, b.String())
				b.Reset()
				inWord = false
			}
		default:
			b.WriteByte(ch)
			inWord = true
		}
	}
	if quote != 0 {
		return nil, errQuote
	}
	if inWord {
		words = append(words, b.String())
	}
	return words, nil
}
