package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// synonyms are verbs that other programs have: what is meant here. The words
// that follow the verb are kept where the result makes sense with them.
var synonyms = map[string]string{
	"init": "search", "setup": "install", "start": "serve", "server": "serve", "daemon": "watch",
	"config": "help configuration", "configure": "help configuration", "settings": "help configuration", "set": "help configuration", "env": "help configuration",
	"status": "", "home": "", "tui": "", "ui": "", "menu": "",
	"list": "stores", "ls": "stores", "info": "store:info", "describe": "store:info",
	"add": "add-folder", "create": "store:create", "new": "store:create", "clone": "add-repo", "pull": "store:update",
	"remove": "store:delete", "rm": "store:delete", "delete": "store:delete", "drop": "store:delete",
	"update": "store:update", "reindex": "index", "rebuild": "index", "refresh": "index", "upgrade": "store:update",
	"find": "search", "query": "search", "lookup": "search", "rg": "grep", "question": "ask", "chat": "ask",
	"cat": "read", "view": "show", "open": "show", "get": "show", "tree": "files",
	"log": "jobs", "logs": "jobs", "ps": "jobs", "queue": "jobs", "progress": "jobs --follow", "cancel": "job:cancel", "stop": "job:cancel", "kill": "job:cancel",
	"def": "code:definition", "definition": "code:definition", "goto": "code:definition", "refs": "code:references", "references": "code:references", "usages": "code:references",
	"callers": "code:callers", "callees": "code:callees", "symbols": "code:symbols", "outline": "code:outline",
	"health": "doctor", "check": "doctor", "diagnose": "doctor", "clean": "gc", "prune": "gc", "repair": "verify", "fsck": "verify", "test": "selftest",
	"backup": "export", "dump": "export", "restore": "import", "load": "import", "specs": "kdd:list", "spec": "kdd:find", "exit": "help exit-codes",
}

// flagsElsewhere are flags of grep, ripgrep and other tools: what they are
// here, "" where it needs no flag.
var flagsElsewhere = map[string]string{
	"l": "limit", "k": "limit", "m": "limit", "max": "limit", "max-count": "limit", "count": "limit", "top": "limit", "top-k": "limit", "num": "limit", "max-results": "limit",
	"r": "", "R": "", "recursive": "", "e": "", "E": "", "P": "", "H": "", "N": "", "line-number": "", "verbose": "", "color": "",
	"fix": "repair", "output": "format", "o": "format", "dir": "in", "path": "in", "p": "in", "folder": "in", "repo": "source", "url": "source", "store": "stores", "include": "glob",
}

// asks are words that begin a question.
var asks = []string{"how", "what", "why", "where", "who", "when", "which", "is", "are", "does", "do", "can", "could", "should"}

// firstWord returns the index of the first argument that is no flag nor a
// flag's value; len(args) when there is none.
func firstWord(args []string) int {
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case a == "--" || !strings.HasPrefix(a, "-"):
			return i
		case slices.Contains([]string{"--data-dir", "--project", "-C", "--format"}, a):
			i++
		}
	}
	return len(args)
}

// underscored turns store_info into store:info: agents' tools are named so.
func underscored(args []string) []string {
	i := firstWord(args)
	if i == len(args) || !strings.Contains(args[i], "_") {
		return args
	}
	c, err := command.Find(args[i])
	if err != nil {
		return args
	}
	args = slices.Clone(args)
	args[i] = c.Word()
	return args
}

// works reports whether words make sense as a command line: the command
// exists, its flags do, its arguments decode, and a store or folder that they
// name is there. It runs nothing.
func (s *session) works(words []string) bool {
	if s.dry {
		return false // one guess at a time
	}
	try := &session{faces: s.faces, dataDir: s.dataDir, project: s.project, env: Env{Dir: s.env.Dir, Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard},
		out: bufio.NewWriter(io.Discard), dry: true, words: words}
	root := try.root()
	var disarm func(*cobra.Command)
	disarm = func(c *cobra.Command) {
		if c.Annotations[verbOf] == "" && c.HasParent() && !c.HasSubCommands() && c.RunE != nil {
			c.RunE = func(*cobra.Command, []string) error { return nil }
		}
		for _, sub := range c.Commands() {
			disarm(sub)
		}
	}
	disarm(root)
	root.SetArgs(words)
	root.SetOut(io.Discard)
	root.SetErr(io.Discard)
	err := root.ExecuteContext(context.Background())
	return errors.Join(err, try.close()) == nil
}

// there reports whether what the values name exists, as far as that is known
// at once.
func (s *session) there(ctx context.Context, values map[string]any) bool {
	if source, ok := values["source"].(string); ok && !strings.Contains(source, ":") {
		if !filepath.IsAbs(source) {
			source = filepath.Join(s.env.Dir, source)
		}
		if _, err := os.Stat(source); err != nil {
			return false
		}
	}
	store, ok := values["store"].(string)
	if !ok || store == "." {
		return true
	}
	a, err := s.open()
	if err != nil {
		return false
	}
	h, err := a.Home(ctx)
	if h.Own != nil {
		h.Stores = append(h.Stores, *h.Own)
	}
	return err == nil && slices.ContainsFunc(h.Stores, func(r app.StoreRow) bool { return r.Name == store || r.ID == store })
}

// line is how words are typed.
func line(words []string) string {
	out := []string{"knowledge"}
	for _, w := range words {
		out = append(out, command.Quote(w))
	}
	return strings.Join(out, " ")
}

// suggestion is a hint with the words, if they make sense; else with the help
// of their command.
func (s *session) suggestion(words []string) string {
	if len(words) == 0 {
		return "see how things stand in this folder with: knowledge"
	}
	if s.works(words) {
		return "did you mean: " + line(words)
	}
	return "did you mean " + words[0] + "? see: " + line(words[:1]) + " --help"
}

// unknownCommand says what was probably meant.
func (s *session) unknownCommand(cmd *cobra.Command, args []string) error {
	name := strings.TrimPrefix(cmd.CommandPath()+" "+args[0], "knowledge ")
	err := kb.Errorf(kb.Invalid, "no command named %q", clip(name))
	at := slices.Index(s.words, args[0])
	if at < 0 {
		at = firstWord(s.words)
	}
	after := s.words[min(at+1, len(s.words)):]

	top := map[string]bool{}
	var names []string
	for _, c := range cmd.Root().Commands() {
		for _, n := range append([]string{c.Name()}, c.Aliases...) {
			top[n] = true
		}
	}
	for _, c := range cmd.Commands() {
		if !c.Hidden || cmd.HasParent() {
			names = append(append(names, c.Name()), c.Aliases...)
		}
	}
	if cmd.HasParent() {
		if near := kb.Nearest(args[0], names); near != "" {
			return err.WithHint("%s", s.suggestion(append([]string{cmd.Name() + ":" + near}, after...)))
		}
		return err.WithHint("list all with: knowledge help %s", cmd.Name())
	}
	if verb, noun, ok := strings.Cut(args[0], ":"); ok { // delete:store is store:delete
		for _, n := range []string{noun + ":" + verb, strings.TrimSuffix(noun, "s") + ":" + verb} {
			if top[n] {
				return err.WithHint("%s", s.suggestion(append([]string{n}, after...)))
			}
		}
	}
	if meant, ok := synonyms[strings.ToLower(args[0])]; ok {
		words := strings.Fields(meant)
		switch {
		case len(words) == 0:
			return err.WithHint("%s", s.suggestion(nil))
		case args[0] == "init":
			return err.WithHint("nothing has to be set up, the first search indexes this folder; see: knowledge search --help")
		case words[0] == "help":
			return err.WithHint("did you mean: %s", line(words))
		case meant == "add-folder" && len(after) > 0 && (strings.Contains(after[0], "://") || strings.HasPrefix(after[0], "git@")):
			words = []string{"add-repo"}
		}
		if top[words[0]] {
			if with := append(slices.Clone(words), after...); len(words) == 1 && s.works(with) {
				return err.WithHint("did you mean: %s", line(with))
			}
			return err.WithHint("did you mean %s? see: %s --help", words[0], line(words[:1]))
		}
	}
	if words := strings.Fields(args[0]); len(words) > 1 { // quoted as one
		if top[words[0]] {
			return err.WithHint("%s", s.suggestion(append(words, after...)))
		}
		verb := "search"
		if slices.Contains(asks, strings.ToLower(words[0])) {
			verb = "ask"
		}
		return err.WithHint("did you mean: %s", line(append([]string{verb, args[0]}, after...)))
	}
	if slices.Contains(asks, strings.ToLower(args[0])) && len(after) > 0 {
		return err.WithHint("did you mean: %s", line([]string{"ask", strings.Join(append([]string{args[0]}, after...), " ")}))
	}
	if near := kb.Nearest(args[0], names); near != "" {
		return err.WithHint("%s", s.suggestion(append([]string{near}, after...)))
	}
	if len(after) > 0 && !slices.ContainsFunc(after, func(w string) bool { return strings.HasPrefix(w, "-") }) {
		return err.WithHint("did you mean: %s", line([]string{"search", strings.Join(append([]string{args[0]}, after...), " ")}))
	}
	return err.WithHint("see what there is with: knowledge --help")
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
	low := strings.ToLower(command.Kebab(name))
	drop := false
	if m, ok := flagsElsewhere[name]; ok && !(name == "l" && cmd.Name() == "grep") && (m == "" || slices.Contains(names, m)) {
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
			return "", slices.Delete(words, i, i+1)
		case hasValue:
			words[i] = "--" + meant + "=" + value
		default:
			words[i] = "--" + meant
		}
		return meant, words
	}
	return meant, nil
}

// nearValue makes the hint about a wrong value the line with the right one,
// where that is known.
func (s *session) nearValue(c command.Command, values map[string]any, err error) error {
	fixed, changed := maps.Clone(values), false
	for _, p := range c.Params {
		text, ok := values[p.Name].(string)
		if !ok {
			continue
		}
		if p.Enum != nil && !slices.Contains(p.Enum, text) {
			near := kb.Nearest(text, p.Enum)
			for _, e := range p.Enum {
				if near == "" && len(text) > 2 && strings.Contains(e, strings.ToLower(text)) {
					near = e
				}
			}
			if near == "" {
				return err
			}
			fixed[p.Name], changed = near, true
		}
		// grep -n Retry: the other grep's -n takes no value.
		if i := slices.Index(s.words, "-"+p.Short); p.Short != "" && p.Type == "integer" && i >= 0 && i+1 < len(s.words) && s.words[i+1] == text {
			if words := slices.Delete(slices.Clone(s.words), i, i+1); !json.Valid([]byte(text)) && s.works(words) {
				return hinted(err, fmt.Sprintf("-%s is --%s here; without it: %s", p.Short, p.Flag(), line(words)))
			}
		}
	}
	if !changed {
		return err
	}
	args := command.JSON(fixed)
	if c.Check(command.FromCLI(context.Background()), json.RawMessage(args)) != nil {
		return err
	}
	return hinted(err, "did you mean: "+command.CommandLine(c, args))
}

// corrected makes the hint about words too many the line that was meant.
func (s *session) corrected(err error) error {
	i := firstWord(s.words)
	if i+3 == len(s.words) && s.words[i] == "show" && strings.Trim(s.words[i+2], "0123456789") == "" { // show a.go 3
		return hinted(err, "did you mean: "+line(append(slices.Clone(s.words[:i+1]), s.words[i+1]+":"+s.words[i+2])))
	}
	return err
}

// hinted is err with another hint.
func hinted(err error, hint string) error {
	return kb.Errorf(kb.CodeOf(err), "%w", err).WithHint("%s", hint)
}
