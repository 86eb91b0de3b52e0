package cli

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// flagsElsewhere are flags of grep, ripgrep and other tools: what they are
// here, "" where it needs no flag.
var flagsElsewhere = map[string]string{
	"l": "limit", "k": "limit", "m": "limit", "max": "limit", "max-count": "limit", "count": "limit", "top": "limit", "top-k": "limit", "num": "limit", "max-results": "limit",
	"r": "", "R": "", "recursive": "", "e": "", "E": "", "P": "", "H": "", "N": "", "line-number": "", "verbose": "", "force": "", "f": "", "y": "", "yes": "",
	"fix": "repair", "colour": "color", "output": "format", "o": "format", "dir": "in", "path": "in", "p": "in", "folder": "in", "repo": "source", "url": "source", "store": "stores", "include": "glob",
}

// habit is a flag of another search tool that needs more than another name.
type habit struct {
	commands string // where it is a habit: names, with spaces between
	names    string // of the flag, with spaces between
	valued   bool   // a value follows it
	says     string // what is here in its place
	// words returns the line that was meant, of the words without the flag and
	// its value; nil leaves them so.
	words func(rest []string, value string) []string
}

var habits = []habit{
	{commands: "grep search", names: "A B C after-context before-context context", valued: true, says: "the lines around a match are in \"knowledge show PATH:LINE\""},
	{commands: "grep", names: "l L files-with-matches files-without-match", says: "each line begins with its file"},
	{commands: "grep", names: "c count count-matches", says: "it shows the lines, and counts them when there are more than --limit"},
	{commands: "grep", names: "o only-matching", says: "whole lines are shown"},
	{commands: "grep", names: "h no-filename no-heading heading no-messages U multiline S smart-case z null 0 hidden u uu no-ignore a text", says: "it is not needed here"},
	{commands: "grep", names: "v invert-match", says: "lines that do not match are not looked for; those that do"},
	{commands: "grep", names: "F fixed-strings Q literal", says: "\\Q and \\E quote", words: inPattern(`\Q`, `\E`)},
	{commands: "grep", names: "w word-regexp", says: "\\b is the edge of a word", words: inPattern(`\b`, `\b`)},
	{commands: "grep", names: "x line-regexp", says: "^ and $ are the ends of a line", words: inPattern("^", "$")},
	{commands: "grep files", names: "t type ext", valued: true, says: "files are chosen by --glob", words: func(rest []string, value string) []string {
		return append(rest, "--glob", "*."+extension(value))
	}},
	{commands: "grep", names: "T type-not exclude exclude-dir ignore-file", valued: true, says: "what is left out follows .gitignore; files are chosen by --glob"},
	{commands: "read", names: "n lines-to head", valued: true, says: "lines are chosen by --lines", words: func(rest []string, value string) []string {
		return append(rest, "--lines", "1-"+value)
	}},
	{commands: "serve", names: "p port P", valued: true, says: "the address is one flag", words: func(rest []string, value string) []string {
		return append(rest, "--addr", "127.0.0.1:"+value)
	}},
	{commands: "serve", names: "host bind b listen H", valued: true, says: "the address is one flag", words: func(rest []string, value string) []string {
		if !strings.Contains(value, ":") {
			value += ":7390"
		}
		return append(rest, "--addr", value)
	}},
	{commands: "mcp", names: "p port P", valued: true, says: "over HTTP the address is one flag", words: func(rest []string, value string) []string {
		return append(rest, "--http", "127.0.0.1:"+value)
	}},
	{commands: "mcp", names: "stdio transport t", valued: true, says: "standard input and output are what it speaks over"},
	{commands: "search", names: "g glob include t type ext", valued: true, says: "a search is kept to a folder by --in, and a name can be part of the query"},
}

// atTop are flags of other programs that are commands here.
var atTop = map[string][]string{"files": {"files"}, "V": {"--version"}, "list": {"stores"}, "update": {"upgrade"}, "upgrade": {"upgrade"}, "init": {}, "stats": {}}

// extensions are those of ripgrep's types that differ from their names.
var extensions = map[string]string{"python": "py", "rust": "rs", "markdown": "md", "javascript": "js", "typescript": "ts", "ruby": "rb", "kotlin": "kt", "csharp": "cs", "cpp": "cpp", "shell": "sh"}

func extension(kind string) string {
	if e := extensions[kind]; e != "" {
		return e
	}
	return strings.TrimLeft(kind, "*.")
}

// inPattern puts marks around the pattern, which is the last word that is no
// flag's.
func inPattern(before, after string) func([]string, string) []string {
	return func(rest []string, _ string) []string {
		for i := len(rest) - 1; i > 0; i-- {
			if !strings.HasPrefix(rest[i], "-") && !strings.HasPrefix(rest[i-1], "-") {
				rest[i] = before + rest[i] + after
				break
			}
		}
		return rest
	}
}

// habit returns the hint about a flag that users of other tools type; "" when
// it is none of theirs.
func (s *session) habit(cmd *cobra.Command, dashes, name string) string {
	if cmd.Name() == "grep" || cmd.Name() == "search" {
		if rest := s.inPath(unclustered(cmd, s.words, name)); rest != nil && s.works(rest) {
			return "it is not needed here: " + line(rest)
		}
	}
	i := slices.IndexFunc(habits, func(h habit) bool {
		return slices.Contains(strings.Fields(h.commands), cmd.Name()) && slices.Contains(strings.Fields(h.names), name)
	})
	if i < 0 {
		return ""
	}
	h := habits[i]
	rest, value, ok := without(s.words, dashes, name, h.valued)
	if !ok {
		return ""
	}
	if rest = s.inPath(rest); h.words != nil {
		rest = h.words(rest, value)
	}
	if !s.works(rest) {
		return h.says + "; see: " + line([]string{cmd.Name()}) + " --help"
	}
	return h.says + ": " + line(rest)
}

// cluster reports whether a word is letters that are flags together, as in -rn.
func cluster(word string) bool {
	letters, ok := strings.CutPrefix(word, "-")
	return ok && len(letters) > 1 && !strings.ContainsFunc(letters, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}

// unclustered leaves of flags that are written together with name those that a
// command has and that take no value; nil when there are none such.
func unclustered(cmd *cobra.Command, words []string, name string) []string {
	i := slices.IndexFunc(words, func(w string) bool { return cluster(w) && strings.Contains(w, name) })
	if i < 0 || len(name) != 1 {
		return nil
	}
	kept := "-"
	for _, letter := range words[i][1:] {
		if f := cmd.Flags().ShorthandLookup(string(letter)); f != nil && f.NoOptDefVal != "" {
			kept += string(letter)
		}
	}
	if kept == "-" {
		return slices.Delete(slices.Clone(words), i, i+1)
	}
	words = slices.Clone(words)
	words[i] = kept
	return words
}

// without takes a flag out of words, and its value: -C 3, -C3, --context=3.
func without(words []string, dashes, name string, valued bool) (rest []string, value string, ok bool) {
	for i, w := range words {
		given, value, has := strings.Cut(w, "=")
		tail, glued := strings.CutPrefix(w, dashes+name)
		switch {
		case w == "--":
			return nil, "", false
		case given == dashes+name && has:
			return slices.Delete(slices.Clone(words), i, i+1), value, true
		case w == dashes+name && valued && i+1 < len(words):
			return slices.Delete(slices.Clone(words), i, i+2), words[i+1], true
		case w == dashes+name:
			return slices.Delete(slices.Clone(words), i, i+1), "", true
		case dashes == "-" && valued && glued:
			return slices.Delete(slices.Clone(words), i, i+1), tail, true
		}
	}
	return nil, "", false
}

// around distinguishes -C 3, which is three lines of context elsewhere, from the
// project that it names here.
func (s *session) around(c command.Command) error {
	if c.Name != "grep" && c.Name != "search" || s.project == "" || strings.Trim(s.project, "0123456789") != "" {
		return nil
	}
	if _, err := os.Stat(filepath.Join(s.env.Dir, s.project)); err == nil {
		return nil
	}
	rest, _, ok := without(s.words, "-", "C", true)
	if !ok {
		return nil
	}
	e := kb.Errorf(kb.Invalid, "-C names a project here, and there is no folder %q", s.project)
	s.project = ""
	return e.WithHint("%s: %s", habits[0].says, line(rest))
}

// inPath makes of grep PATTERN PATH, where the last word is a path that is
// there, what chooses its files here.
func (s *session) inPath(words []string) []string {
	last := len(words) - 1
	if firstWord(words) > last-2 || words[firstWord(words)] != "grep" || strings.HasPrefix(words[last-1], "-") {
		return words
	}
	if glob, ok := s.globOf(words[last]); ok {
		words = slices.Clone(words[:last])
		if glob != "" {
			words = append(words, "--glob", glob)
		}
	}
	return words
}

// globOf is the glob of what lies at a path that is there; "" for everything.
func (s *session) globOf(word string) (glob string, ok bool) {
	if filepath.IsAbs(word) {
		return "", false
	}
	info, err := os.Stat(filepath.Join(s.env.Dir, word))
	clean := filepath.ToSlash(filepath.Clean(word))
	switch {
	case err != nil || strings.HasPrefix(clean, ".."):
		return "", false
	case clean == ".":
		return "", true
	case info.IsDir():
		return clean + "/**", true
	}
	return clean, true
}

// rephrased answers words in the order or form of other programs: a place as
// a browser has it, read PATH LINES, grep PATTERN PATH.
func (s *session) rephrased(c command.Command, values map[string]any, err error) error {
	anchor := regexp.MustCompile(`#L([0-9]+)(?:-L?([0-9]+))?$`) // in addresses of lines in a browser
	for i, w := range s.words {
		if at := anchor.FindStringIndex(w); at != nil {
			words := slices.Clone(s.words)
			words[i] = strings.Replace(strings.Replace(w[:at[0]]+":"+w[at[0]+2:], "-L", "-", 1), ":L", ":", 1)
			return hinted(err, "did you mean: "+line(words))
		}
	}
	if lines, _ := values["path"].(string); c.Name == "read" && lines != "" && strings.Trim(lines, "0123456789-") == "" {
		if file, _ := values["store"].(string); file != "" && values["lines"] == nil {
			return hinted(err, "did you mean: "+line([]string{"read", file, "--lines", lines}))
		}
	}
	return s.globMeant(c, values, err)
}

// globMeant answers grep PATTERN PATH, where this one takes STORE PATTERN: the
// second word chooses files.
func (s *session) globMeant(c command.Command, values map[string]any, err error) error {
	store, _ := values["store"].(string)
	pattern, _ := values["pattern"].(string)
	if c.Name != "grep" || store == "" || pattern == "" || kb.CodeOf(err) != kb.Invalid && kb.CodeOf(err) != kb.NotFound {
		return err
	}
	glob, ok := s.globOf(pattern)
	if !ok && (strings.HasPrefix(pattern, "*") || strings.Contains(pattern, "/*")) {
		glob, ok = pattern, true
	}
	if !ok {
		return err
	}
	fixed := maps.Clone(values)
	delete(fixed, "store")
	if fixed["pattern"] = store; glob != "" {
		fixed["glob"] = glob
	}
	return hinted(err, "did you mean: "+command.CommandLine(c, printer.JSON(fixed)))
}

// flagError says in one sentence what is wrong with the flags.
func (s *session) flagError(cmd *cobra.Command, err error) error {
	s.running = strings.TrimPrefix(strings.TrimPrefix(cmd.CommandPath(), "knowledge"), " ")
	if i := firstWord(s.words); !cmd.HasParent() && i < len(s.words) && s.words[i] != "--" {
		return s.unknownCommand(cmd, s.words[i:i+1]) // whose flags these are
	}
	var unknown *pflag.NotExistError
	var noValue *pflag.ValueRequiredError
	var badValue *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown):
		name, dashes := unknown.GetSpecifiedName(), "--"
		if unknown.GetSpecifiedShortnames() != "" {
			dashes = "-"
		}
		of := strings.TrimPrefix(cmd.CommandPath(), "knowledge ") // "knowledge" itself at the top
		e := kb.Errorf(kb.Invalid, "%s has no flag %q", of, dashes+clip(name))
		if words, ok := atTop[name]; ok && !cmd.HasParent() {
			return e.WithHint("did you mean: %s", line(words))
		}
		if hint := s.habit(cmd, dashes, name); hint != "" {
			return e.WithHint("%s", hint)
		}
		meant, words := s.meantFlag(cmd, dashes, name)
		switch {
		case words != nil && s.works(words):
			return e.WithHint("did you mean: %s", line(words))
		case meant != "":
			return e.WithHint("did you mean --%s? see: %s --help", meant, cmd.CommandPath())
		}
		return e
	case errors.As(err, &noValue):
		dashes := "--"
		if noValue.GetSpecifiedShortnames() != "" {
			dashes = "-"
		}
		return kb.Errorf(kb.Invalid, "flag %s%s needs a value", dashes, noValue.GetSpecifiedName())
	case errors.As(err, &badValue):
		return kb.Errorf(kb.Invalid, "flag --%s cannot be %q", badValue.GetFlag().Name, clip(badValue.GetValue()))
	case errors.Is(err, pflag.ErrHelp):
		return err
	}
	return kb.Errorf(kb.Invalid, "%w", err)
}

// meantFlag returns the flag that was probably meant and the words with it in
// its place; no words when they cannot be made.
func (s *session) meantFlag(cmd *cobra.Command, dashes, name string) (meant string, words []string) {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	low := strings.ToLower(kb.Kebab(name))
	drop := false
	if m, ok := flagsElsewhere[name]; ok && (m == "" || slices.Contains(names, m)) {
		meant, drop = m, m == ""
	} else if len(low) > 1 {
		meant = kb.Nearest(low, names)
	}
	if meant == "" && !drop {
		return "", nil
	}
	for i, w := range s.words {
		given, value, hasValue := strings.Cut(w, "=")
		if given != dashes+name {
			continue
		}
		words = slices.Clone(s.words)
		switch {
		case drop:
			return "", s.inPath(slices.Delete(words, i, i+1))
		case hasValue:
			words[i] = "--" + meant + "=" + value
		default:
			words[i] = "--" + meant
		}
		return meant, words
	}
	return meant, nil
}
