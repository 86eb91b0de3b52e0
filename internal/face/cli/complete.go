package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/code"
	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/find"
	"github.com/seed-4f2d999b/knowledge/internal/install"
)

type completer = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective)

// complete offers fixed choices for a flag.
func complete(cmd *cobra.Command, flag string, choices ...string) {
	// It fails only for an unknown or doubled flag.
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(choices, cobra.ShellCompDirectiveNoFileComp))
}

// completeWords offers what the next word may be.
func (s *session) completeWords(c command.Command) completer {
	var words []command.Param
	for _, p := range c.Params {
		if p.Arg {
			words = append(words, p)
		}
	}
	return func(cmd *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective) {
		if len(args) >= len(words) {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		p := words[len(args)]
		switch f := s.completeValue(p); {
		case p.Name == "path" && len(args) > 0 && words[0].Name == "store":
			return s.completePath(cmd.Context(), args[0], start)
		case f != nil:
			names, directive := f(cmd, args, start)
			if p.Name == "store" && !p.Required { // a path may be in its place
				names = slices.DeleteFunc(names, func(n string) bool { return !strings.HasPrefix(n, start) })
				directive = cobra.ShellCompDirectiveDefault
			}
			return names, directive
		case p.Name == "source" || p.Name == "path" || c.Audience == command.Person:
			return nil, cobra.ShellCompDirectiveDefault // a path
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

// completePath offers the documents and folders of a store that begin so.
func (s *session) completePath(ctx context.Context, store, start string) ([]string, cobra.ShellCompDirective) {
	const most = 500
	a, err := s.open()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	list, err := find.Files(ctx, a, store, globQuote(start)+"**", most, app.Waiting{})
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	directive := cobra.ShellCompDirectiveNoFileComp
	var out []string
	for _, f := range list.Files {
		if next := strings.IndexByte(f[min(len(start), len(f)):], '/'); next >= 0 { // one step at a time, as shells do
			f = f[:len(start)+next+1]
			directive |= cobra.ShellCompDirectiveNoSpace
		}
		if !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	return out, directive
}

// globQuote makes the characters of a text mean themselves in a glob.
func globQuote(text string) string {
	return strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]").Replace(text)
}

// completeValue offers the names of what exists for parameters that name a
// thing; nil for all others. It opens the app when asked, not before, and
// offers nothing when that fails.
func (s *session) completeValue(p command.Param) completer {
	switch p.Name {
	case "store", "stores":
		return func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			var names []string
			if a, err := s.open(); err == nil {
				if list, err := a.Stores(cmd.Context(), "", false); err == nil {
					for _, row := range list.Stores {
						names = append(names, cobra.CompletionWithDesc(row.Name, row.Source))
					}
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		}
	case "symbol":
		return s.completeSymbol
	case "resultId": // a declaration, or a place in a file
		return func(cmd *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective) {
			names, _ := s.completeSymbol(cmd, args, start)
			return names, cobra.ShellCompDirectiveDefault
		}
	case "client":
		return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return append(install.ClientNames(), "all-found"), cobra.ShellCompDirectiveNoFileComp
		}
	case "jobId":
		return func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			var ids []string
			if a, err := s.open(); err == nil {
				if list, err := a.Jobs(cmd.Context(), app.JobFilter{Active: strings.HasSuffix(cmd.Name(), "cancel")}); err == nil {
					for _, j := range list.Jobs {
						ids = append(ids, cobra.CompletionWithDesc(j.ID, strings.Join([]string{j.Type, j.Name, j.Now(), j.Message}, " ")))
					}
				}
			}
			return ids, cobra.ShellCompDirectiveNoFileComp
		}
	}
	return nil
}

// completeSymbol offers the declarations that begin so.
func (s *session) completeSymbol(cmd *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) {
	a, err := s.open()
	if err != nil || start == "" {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	if h, err := a.Home(cmd.Context()); err != nil || h.Own == nil { // asking would begin to index
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	var ask code.SymbolsRequest
	ask.Name, ask.Limit = start, 50
	if r, err := code.Symbols(cmd.Context(), a, ask); err == nil {
		for _, p := range r.Symbols {
			if _, last, _ := strings.Cut(p.Symbol, "."); strings.HasPrefix(p.Symbol, start) {
				names = append(names, cobra.CompletionWithDesc(p.Symbol, p.At))
			} else if strings.HasPrefix(last, start) {
				names = append(names, cobra.CompletionWithDesc(last, p.At))
			}
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
