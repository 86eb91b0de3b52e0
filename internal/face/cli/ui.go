package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/visible"
)

// ui is `knowledge ui`.
func (s *session) ui() *cobra.Command {
	o := UIOptions{Stdout: visible.Writer{W: s.env.Stdout}}
	cmd := &cobra.Command{
		Use: "ui [QUERY]", Short: "Find things on a full screen: type, look at the code beside, open it in an editor", Args: cobra.ArbitraryArgs, GroupID: faceGroup,
		Long: "Find things on a full screen. What is typed is searched as it is typed; beside the hits is the code of the one that is chosen.\n\n" +
			"  enter                  open it in $VISUAL or $EDITOR, and come back\n" +
			"  up, down, ctrl-p, -n   choose a hit\n" +
			"  pgup, pgdn, shift-up   move in the code\n" +
			"  tab, shift-tab         ask one store, the next, all\n" +
			"  ctrl-o                 leave, and print PATH:LINE\n" +
			"  ctrl-u, ctrl-w         delete what is typed, a word of it\n" +
			"  esc, ctrl-c            leave",
		Example: "  knowledge ui\n  knowledge ui retry with backoff",
		RunE: func(cmd *cobra.Command, args []string) error {
			if !s.env.InTerminal || s.json {
				return kb.Errorf(kb.Unsupported, "ui needs a terminal").WithHint("without one there is: knowledge search WORDS")
			}
			o.Query, o.Color = strings.Join(args, " "), s.errs.Color
			return s.start(command.FromCLI(cmd.Context()), s.faces.UI != nil, func(ctx context.Context) error { return s.faces.UI(ctx, s.app, o) })
		},
	}
	cmd.Flags().StringSliceVarP(&o.Stores, "stores", "s", nil, "ask these stores, `a,b`")
	cmd.Flags().BoolVar(&o.Print, "print", false, "print PATH:LINE of what is chosen, in place of opening it")
	_ = cmd.RegisterFlagCompletionFunc("stores", s.completeValue(command.Param{Name: "stores"})) // fails only for an unknown flag
	return cmd
}
