package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// verbOf is the annotation that holds the name of the registry's command.
const verbOf = "verb"

// command turns a verb of the registry into words and flags. Every parameter
// is a flag; positional ones may be given as words instead.
func (s *session) command(c command.Command) *cobra.Command { return s.preset(c, nil) }

// preset is command with some of its parameters given.
func (s *session) preset(c command.Command, given map[string]any) *cobra.Command {
	values := map[string]any{}
	use := c.Word()
	for _, p := range c.Params {
		if p.Arg {
			use += " " + optional(p)
		}
	}
	cmd := &cobra.Command{
		Use:     use,
		Short:   c.ForPerson().Summary,
		Long:    long(c),
		Aliases: otherNames(c),
		Example: examples(c),
		Args:    cobra.ArbitraryArgs,                         // fill says better what is wrong
		Hidden:  c.Name == "execute" || c.Name == "commands", // they are for agents; a shell and help do the same
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := fill(c, values, args); err != nil {
				return s.corrected(err)
			}
			maps.Copy(values, given)
			return s.run(cmd.Context(), c, values)
		},
		ValidArgsFunction: s.completeWords(c),
		Annotations:       map[string]string{verbOf: c.Name},
	}
	cmd.Flags().SortFlags = false
	names := map[string]string{}
	for _, p := range c.Params {
		if p.Unlisted {
			continue
		}
		names[camel(p.Name)] = p.Flag()
		f := cmd.Flags().VarPF(&flag{p, values}, p.Flag(), p.Short, usage(p))
		if p.Type == "boolean" {
			f.NoOptDefVal = "true"
		}
		if p.Arg {
			f.Hidden = p.Required
		}
		if p.Enum != nil {
			complete(cmd, p.Flag(), p.Enum...)
		} else if f := s.completeValue(p); f != nil {
			_ = cmd.RegisterFlagCompletionFunc(p.Flag(), f) // fails only for an unknown or doubled flag
		}
	}
	if c.Name == "search" { // which ignores case: the habit of grep -i must not eat the query
		cmd.Flags().BoolP("ignore-case", "i", false, "")
		cmd.Flags().Lookup("ignore-case").Hidden = true
	}
	// --minRelevance is --min-relevance, --chunk_types is --chunk-types: the
	// names of fields are understood, and shown nowhere.
	cmd.Flags().SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if n := names[camel(name)]; n != "" {
			name = n
		}
		return pflag.NormalizedName(name)
	})
	return cmd
}

// otherNames are the names of a command that people type less. Those with
// underscores are of agents' tools, and understood by underscored.
func otherNames(c command.Command) []string {
	return slices.DeleteFunc(append([]string{c.Name}, c.Aliases...), func(n string) bool { return n == c.Word() || strings.Contains(n, "_") })
}

var errNotThere = errors.New("what is named does not exist")

// run runs a command and prints its result, waiting for the job that it
// starts, if it starts one.
func (s *session) run(ctx context.Context, c command.Command, values map[string]any) error {
	if err := s.around(c); err != nil {
		return err
	}
	if ok, err := s.prepare(ctx, c, values); !ok {
		return err
	}
	args, err := json.Marshal(values)
	if err != nil {
		return err
	}
	ctx = command.FromCLI(ctx)
	if s.env.Stdin != nil && !s.env.InTerminal {
		ctx = command.WithInput(ctx, s.env.Stdin)
	}
	if !s.Terminal && !s.json && s.format == "" {
		ctx = command.AsText(ctx)
	}
	if err := c.Check(ctx, args); err != nil {
		return s.corrected(s.nearValue(c, values, err))
	}
	if s.dry {
		if !s.there(ctx, values) {
			return errNotThere
		}
		return nil
	}
	a, err := s.open()
	if err != nil {
		return err
	}
	if err := s.vouch(ctx, c, a, values); err != nil {
		return err
	}
	bar := s.progress()
	defer bar.stop()
	ctx = kb.WithProgress(ctx, bar.report)
	result, err := c.Run(ctx, a, args)
	if err != nil {
		bar.stop()
		return s.interrupted(ctx, s.rephrased(c, values, err))
	}
	if started, ok := result.(app.Started); ok {
		if result, err = wait(ctx, a, started); err != nil {
			return err
		}
	}
	var failed error
	if many, ok := result.(starter); ok {
		failed = s.waitAll(ctx, a, many.Started())
	}
	bar.stop()
	if err := s.page(); err != nil {
		return err
	}
	if err := s.print(result); err != nil {
		return err
	}
	if r, ok := result.(interface{ ExitStatus() int }); ok {
		s.status = r.ExitStatus() // a verdict is no failure, and shells ask for it
	}
	return failed
}

// fill puts words where flags have not.
func fill(c command.Command, values map[string]any, args []string) error {
	left := slices.Clone(args)
	if !command.Place(c.Params, args, func(p command.Param) bool { _, ok := values[p.Name]; return ok },
		func(p command.Param, w string) { values[p.Name], left = w, left[1:] }) {
		e := kb.Errorf(kb.Invalid, "%s does not know what to do with %q", c.Word(), clip(left[0]))
		if len(left) == len(args) {
			return e.WithHint("it takes no words; see: knowledge %s --help", c.Word())
		}
		return e.WithHint("quote what has spaces; see: knowledge %s --help", c.Word())
	}
	return nil
}

// flag is one parameter as pflag sees it. It keeps what is written; the
// registry says what is wrong with it.
type flag struct {
	param  command.Param
	values map[string]any
}

func (f *flag) String() string { return "" }

func (f *flag) Type() string {
	switch {
	case f.param.Type == "boolean":
		return "bool" // pflag leaves it out
	case f.param.Type == "strings":
		return "a,b"
	case f.param.Type == "integer" || f.param.Type == "number":
		return "n"
	default:
		return f.param.Type
	}
}

func (f *flag) Set(s string) error {
	if f.param.Type != "strings" {
		f.values[f.param.Name] = s
		return nil
	}
	list, _ := f.values[f.param.Name].([]string)
	for _, item := range strings.Split(s, ",") {
		if item = strings.TrimSpace(item); item != "" {
			list = append(list, item)
		}
	}
	f.values[f.param.Name] = list
	return nil
}

// optional is a positional parameter in a line of usage.
func optional(p command.Param) string {
	if !p.Required {
		return "[" + p.Word() + "]"
	}
	return p.Word()
}

func usage(p command.Param) string {
	text := p.ForPerson()
	if p.Enum != nil {
		text += ": " + strings.Join(p.Enum, ", ")
	}
	if p.Arg {
		text += "; may be given as a word"
	}
	return text
}

func long(c command.Command) string {
	var b strings.Builder
	says := c.ForPerson()
	b.WriteString(says.Summary + ".\n")
	if says.Help != "" {
		b.WriteString("\n" + wrapped(says.Help, 80) + "\n")
	}
	var words []string
	for _, p := range c.Params {
		if p.Arg {
			words = append(words, fmt.Sprintf("  %-10s %s", p.Word(), p.ForPerson()))
		}
	}
	if words != nil {
		b.WriteString("\n" + strings.Join(words, "\n") + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

// wrapped breaks a text into lines of at most width runes, between words.
func wrapped(text string, width int) string {
	var b strings.Builder
	n := 0
	for _, w := range strings.Fields(text) {
		l := utf8.RuneCountInString(w)
		switch {
		case n > 0 && n+1+l > width:
			b.WriteByte('\n')
			n = 0
		case n > 0:
			b.WriteByte(' ')
			n++
		}
		b.WriteString(w)
		n += l
	}
	return b.String()
}

func examples(c command.Command) string {
	var lines []string
	for _, e := range c.Examples {
		lines = append(lines, "  "+command.CommandLine(c, e))
	}
	return strings.Join(lines, "\n")
}

// camel turns min-relevance into minRelevance.
func camel(name string) string {
	var b strings.Builder
	up := false
	for _, r := range name {
		if r == '-' || r == '_' {
			up = b.Len() > 0
			continue
		}
		if up {
			r = unicode.ToUpper(r)
		}
		up = false
		b.WriteRune(r)
	}
	return b.String()
}
