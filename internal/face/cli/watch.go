package cli

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
	"github.com/seed-4f2d999b/knowledge/internal/follow"
)

// watch is `knowledge watch`.
func (s *session) watch() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "watch [STORE…]", Short: "Keep folders indexed while they change", Args: cobra.ArbitraryArgs, GroupID: faceGroup,
		Long: "Follow the folders of stores, or this project's own folder, and bring their index up to date soon after each change, until interrupted.\n" +
			"A session of an agent does this by itself for its project. One process at a time follows a folder; when it ends, another takes over.\n" +
			"Schedules run meanwhile, too.",
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := s.open()
			if err != nil {
				return err
			}
			err = follow.Watch(cmd.Context(), a, args, yes, s.happened)
			if errors.Is(err, context.Canceled) {
				return nil // how watching ends
			}
			return err
		},
	}
	cmd.ValidArgsFunction = s.completeValue(command.Param{Name: "stores"})
	cmd.Flags().BoolVar(&yes, "yes", false, "index a home directory, a file-system root or a very large folder")
	return cmd
}

// happened prints one event, at once.
func (s *session) happened(e follow.WatchEvent) {
	if s.quiet && e.Kind == "updated" {
		return
	}
	defer s.buffer.Flush()
	if s.json {
		s.Out.WriteString(printer.JSON(e) + "\n")
		return
	}
	s.Line(e.Time.Format(time.TimeOnly) + "  " + e.Store + ": " + e.Text)
	if e.Hint != "" {
		s.Line("          " + s.forTerminal(e.Hint))
	}
}
