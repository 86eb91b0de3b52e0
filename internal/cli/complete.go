package cli

import (
	"github.com/spf13/cobra"

	"github.com/seed-4f2d999b/knowledge/internal/command"
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
		if f := s.completeValue(p); f != nil {
			return f(cmd, args, start)
		}
		if p.Name == "source" || c.Audience == command.Person {
			return nil, cobra.ShellCompDirectiveDefault // a path
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
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
	case "jobId":
		return func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			var ids []string
			if a, err := s.open(); err == nil {
				if list, err := a.Jobs(cmd.Context(), "", false); err == nil {
					for _, j := range list.Jobs {
						ids = append(ids, cobra.CompletionWithDesc(j.ID, string(j.State)+" "+j.Message))
					}
				}
			}
			return ids, cobra.ShellCompDirectiveNoFileComp
		}
	}
	return nil
}
