package cli

import (
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

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/product"
)

// synonyms are verbs that other programs have: what is meant here. The words
// that follow the verb are kept where the result makes sense with them.
var synonyms = map[string]string{
	"init": "search", "setup": "install", "start": "serve", "server": "serve", "daemon": "watch",
	"config": "help configuration", "configure": "help configuration", "settings": "help configuration", "set": "help configuration", "env": "help configuration",
	"status": "", "home": "", "tui": "ui", "fzf": "ui", "menu": "ui", "browse": "ui",
	"list": "stores", "ls": "stores", "info": "store:info", "describe": "store:info",
	"add": "add-folder", "create": "store:create", "new": "store:create", "clone": "add-repo", "pull": "store:update",
	"remove": "store:delete", "rm": "store:delete", "delete": "store:delete", "drop": "store:delete",
	"update": "store:update", "reindex": "index", "rebuild": "index", "refresh": "index", "self-update": "upgrade", "destroy": "store:delete", "del": "store:delete", "make": "store:create", "inspect": "store:info", "images": "stores",
	"find": "search", "query": "search", "lookup": "search", "rg": "grep", "question": "ask", "chat": "ask",
	"cat": "read", "head": "read", "tail": "read", "less": "read", "more": "read", "bat": "read", "explain": "ask", "view": "show", "open": "show", "get": "show", "tree": "files",
	"log": "jobs", "logs": "jobs", "ps": "jobs", "top": "jobs", "queue": "jobs", "progress": "jobs --follow", "cancel": "job:cancel", "stop": "job:cancel", "kill": "job:cancel",
	"def": "code:definition", "definition": "code:definition", "goto": "code:definition", "refs": "code:references", "references": "code:references", "usages": "code:references",
	"callers": "code:callers", "callees": "code:callees", "symbols": "code:symbols", "outline": "code:outline",
	"health": "doctor", "check": "doctor", "diagnose": "doctor", "clean": "gc", "prune": "gc", "repair": "verify", "fsck": "verify", "test": "selftest", "benchmark": "bench", "speed": "bench",
	"dump": "export", "load": "import", "specs": "kdd:list", "spec": "kdd:find", "exit": "help exit-codes",
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
	c, err := product.Commands().Find(args[i])
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
	try := newSession(s.faces, Env{Dir: s.env.Dir, Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard})
	try.dataDir, try.project, try.dry, try.words = s.dataDir, s.project, true, words
	root := try.root()
	try.dataDir, try.project = s.dataDir, s.project // flags begin with their defaults
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
	if !ok || store == "." || strings.ContainsAny(store, "*?[") { // files '*.go'
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
		out = append(out, kb.ShellWord(w))
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
		return err.WithHint("%s", s.meantBelow(cmd.Name(), args[0], after, names))
	}
	for _, guess := range []func(string, []string, map[string]bool) string{s.meantDeed, s.meantSynonym, s.meantQuestion} {
		if hint := guess(args[0], after, top); hint != "" {
			return err.WithHint("%s", hint)
		}
	}
	if near := product.Commands().Near(args[0], names); near != "" {
		return err.WithHint("%s", s.suggestion(append([]string{near}, after...)))
	}
	if group, _, ok := strings.Cut(args[0], ":"); ok && slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, group+":") }) {
		return err.WithHint("list all with: knowledge help %s", group)
	}
	if len(after) > 0 && !slices.ContainsFunc(after, func(w string) bool { return strings.HasPrefix(w, "-") }) {
		return err.WithHint("did you mean: %s", line([]string{"search", strings.Join(append([]string{args[0]}, after...), " ")}))
	}
	return err.WithHint("see what there is with: knowledge --help")
}

// meantBelow is the hint for a word that is no command of a group, whose
// commands are names.
func (s *session) meantBelow(group, word string, after, names []string) string {
	if c, ok := product.Commands().Meant(group + ":" + word); ok {
		return s.suggestion(append([]string{c.Word()}, after...))
	}
	for i := range names {
		names[i] = group + ":" + names[i]
	}
	if near := product.Commands().Near(group+":"+word, names); near != "" {
		return s.suggestion(append([]string{near}, after...))
	}
	return "list all with: knowledge help " + group
}

// meantDeed is the hint for a deed and a thing, in whatever order they come:
// delete:store, store_delete, delete store; "" for others.
func (s *session) meantDeed(word string, after []string, top map[string]bool) string {
	if verb, noun, ok := strings.Cut(word, ":"); ok { // delete:store is store:delete
		for _, n := range []string{noun + ":" + verb, strings.TrimSuffix(noun, "s") + ":" + verb} {
			if top[n] {
				return s.suggestion(append([]string{n}, after...))
			}
		}
	}
	if strings.ContainsAny(word, ":_") {
		if c, ok := product.Commands().Meant(word); ok {
			return s.suggestion(append([]string{c.Word()}, after...))
		}
	}
	if len(after) == 1 && strings.HasSuffix(after[0], "s") && slices.Contains([]string{"get", "show", "describe"}, word) { // get stores
		if c, ok := product.Commands().Meant("list:" + after[0]); ok {
			return s.suggestion([]string{c.Word()})
		}
	}
	if len(after) > 0 { // delete store ky
		if c, ok := product.Commands().Meant(word + ":" + after[0]); ok {
			return s.suggestion(append([]string{c.Word()}, after[1:]...))
		}
	}
	return ""
}

// meantSynonym is the hint for a verb of other programs; "" for others.
func (s *session) meantSynonym(word string, after []string, top map[string]bool) string {
	meant, ok := synonyms[strings.ToLower(word)]
	if !ok {
		return ""
	}
	words := strings.Fields(meant)
	switch {
	case len(words) == 0:
		return s.suggestion(nil)
	case word == "init":
		return "nothing has to be set up, the first search indexes this folder; see: knowledge search --help"
	case words[0] == "help":
		return "did you mean: " + line(words)
	case meant == "add-folder" && len(after) > 0 && (strings.Contains(after[0], "://") || strings.HasPrefix(after[0], "git@")):
		words = []string{"add-repo"}
	}
	if !top[words[0]] {
		return ""
	}
	if with := append(slices.Clone(words), after...); len(words) == 1 && s.works(with) {
		return "did you mean: " + line(with)
	}
	return fmt.Sprintf("did you mean %s? see: %s --help", words[0], line(words[:1]))
}

// meantQuestion is the hint for several words that were quoted as one, and for
// a question; "" for others.
func (s *session) meantQuestion(word string, after []string, top map[string]bool) string {
	if words := strings.Fields(word); len(words) > 1 { // quoted as one
		if top[words[0]] {
			return s.suggestion(append(words, after...))
		}
		verb := "search"
		if slices.Contains(asks, strings.ToLower(words[0])) {
			verb = "ask"
		}
		return "did you mean: " + line(append([]string{verb, word}, after...))
	}
	if slices.Contains(asks, strings.ToLower(word)) && len(after) > 0 {
		return "did you mean: " + line([]string{"ask", strings.Join(append([]string{word}, after...), " ")})
	}
	return ""
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
		// files -name '*.go': letters that another program takes together.
		if i := slices.Index(s.words, "-"+p.Short+text); p.Short != "" && p.Type == "integer" && i >= 0 && !json.Valid([]byte(text)) {
			if words := slices.Delete(slices.Clone(s.words), i, i+1); s.works(words) {
				return hinted(err, fmt.Sprintf("-%s is --%s here; without it: %s", p.Short, p.Flag(), line(words)))
			}
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
	args := printer.JSON(fixed)
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
	if i+1 < len(s.words) && slices.Contains([]string{"install", "uninstall", "upgrade"}, s.words[i]) { // upgrade cursor
		words, names := slices.Clone(s.words[:i+1]), []string(nil)
		for _, w := range s.words[i+1:] {
			if client := clientNamed(w); client != "" && !strings.HasPrefix(w, "-") {
				names = append(names, client)
				continue
			}
			words = append(words, w)
		}
		words = slices.DeleteFunc(words, func(w string) bool { return w == "--purge" || w == "--global" || w == "--stores" }) // more than was named
		if words = append(words, "--client", strings.Join(names, ",")); names != nil && (s.words[i] == "uninstall" || s.works(words)) {
			return hinted(err, "did you mean: "+line(words))
		}
	}
	if c, ok := product.Commands().Find(s.words[min(i, len(s.words)-1)]); ok == nil && c.Name == "grep" && i+3 < len(s.words) { // grep retry a.go b.go, as a shell makes of *.go
		for _, w := range s.words[i+2:] {
			if _, gone := os.Stat(filepath.Join(s.env.Dir, w)); gone != nil {
				return err
			}
		}
		return hinted(err, "all files are searched, or those of --glob: "+line(s.words[:i+2]))
	}
	if i+1 < len(s.words) { // jobs list
		if c, ok := product.Commands().Meant(s.words[i] + ":" + s.words[i+1]); ok {
			return hinted(err, s.suggestion(append([]string{c.Word()}, s.words[i+2:]...)))
		}
	}
	if one := map[string]string{"stores": "store:info", "jobs": "job:status"}[s.words[i]]; one != "" && i+2 == len(s.words) { // jobs abc
		if words := []string{one, s.words[i+1]}; s.works(words) {
			return hinted(err, "did you mean: "+line(words))
		}
	}
	if words := s.words[:len(s.words)-1]; len(words) == i+2 && (strings.HasPrefix(words[i], "store:") || strings.HasPrefix(words[i], "job:")) && s.works(words) { // store:delete a b
		return hinted(err, "one at a time: "+line(words))
	}
	return err
}

// hinted is err with another hint.
func hinted(err error, hint string) error {
	return kb.Errorf(kb.CodeOf(err), "%w", err).WithHint("%s", hint)
}
