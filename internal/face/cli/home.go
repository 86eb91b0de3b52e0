package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// home is what `knowledge` alone says on a terminal: the state of this folder,
// what to type, and how agents get it. It starts nothing.
func (s *session) home(ctx context.Context, root *cobra.Command) error {
	a, err := s.open()
	if err != nil {
		return err
	}
	h, err := a.Home(ctx)
	if err != nil {
		return err
	}
	s.Line("knowledge finds code and documentation, ranked and cited.")
	s.Line("")
	s.fit("  this folder  " + folderLine(h))
	if line := storesLine(h.Stores); line != "" {
		s.fit("  stores       " + line)
	}
	s.Line("")
	first := "find code by what it does"
	if h.Own == nil {
		first += "; indexes this folder first"
	}
	rows := [][2]string{
		{`search "retry with backoff"`, first},
		{"ui", "the same while you type, with the code beside"},
		{"show PATH:LINE", "the whole declaration, who calls it, what it calls"},
		{`ask "how are orders cancelled?"`, "an answer, each sentence cited"},
		{"store:create URL|FOLDER", "index code that you depend on"},
	}
	if slices.ContainsFunc(root.Commands(), func(c *cobra.Command) bool { return c.Name() == "install" }) {
		rows = append(rows, [2]string{"install", "give it to your agents: Claude Code, Codex, Cursor, …"})
	} else {
		rows = append(rows, [2]string{"mcp", "what agents start: claude mcp add knowledge -- knowledge mcp"})
	}
	for _, r := range rows {
		s.fit(fmt.Sprintf("  knowledge %-32s  %s", r[0], r[1]))
	}
	s.Line("")
	s.Line("All commands: knowledge help")
	return nil
}

// folderLine says how complete the index of this folder is.
func folderLine(h app.Home) string {
	if h.Root == "" {
		return "is no project; your own stores are searched here"
	}
	at := tilde(h.Root) + ": "
	switch r := h.Own; {
	case r == nil && (tilde(h.Root) == "~" || filepath.Dir(h.Root) == h.Root):
		return at + "not indexed, as it is large; change to a project"
	case r == nil && h.Why != "":
		return at + "not indexed, as nothing in it can be: " + h.Why
	case r == nil:
		return at + "not indexed yet; the first search does that"
	case h.Job != nil:
		how := "waiting to be indexed"
		if h.Job.State == kb.JobRunning {
			how = "being indexed"
		}
		if p := printer.Percent(h.Job.Progress); p != "" {
			how += ", " + h.Job.Progress.Phase + " " + p
		}
		return at + how + " (job " + h.Job.ID + ")"
	case r.Status == "failed":
		return at + "could not be indexed; see: knowledge store:info ."
	case r.Indexed.IsZero():
		return at + "not indexed yet; the next search does that"
	case r.Documents == 0 && h.Left["ignored"] > 0:
		return at + "no documents, everything in it is ignored; see: knowledge store:info ."
	case r.Documents == 0:
		return at + "no documents: it is empty, or everything in it is ignored"
	default:
		return fmt.Sprintf("%s%s, indexed %s", at, kb.Count(r.Documents, "document"), ago(time.Since(r.Indexed)))
	}
}

// storesLine names the stores in scope.
func storesLine(rows []app.StoreRow) string {
	const most = 5
	var names []string
	for _, r := range rows[:min(most, len(rows))] {
		name := r.Name
		if r.Status != "ready" {
			name += " (" + r.Status + ")"
		}
		names = append(names, name)
	}
	if more := len(rows) - most; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}

// ago is how long ago something was, in the largest unit.
func ago(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return kb.Count(int(d.Minutes()), "minute") + " ago"
	case d < 48*time.Hour:
		return kb.Count(int(d.Hours()), "hour") + " ago"
	default:
		return kb.Count(int(d.Hours()/24), "day") + " ago"
	}
}

// tilde writes a path below the home directory as people do.
func tilde(path string) string {
	home, err := os.UserHomeDir()
	if err != nil || home == "" {
		return path
	}
	if path == home {
		return "~"
	}
	if rest, ok := strings.CutPrefix(path, home+string(filepath.Separator)); ok && home != "/" {
		return "~" + string(filepath.Separator) + rest
	}
	return path
}

// unknownTopic says which topic was probably meant.
func (s *session) unknownTopic(root *cobra.Command, args []string) error {
	err := kb.Errorf(kb.NotFound, "there is no command or topic %q", clip(strings.Join(args, " ")))
	if near := kb.Nearest(strings.Join(args, ":"), helpNames(root)); near != "" {
		return err.WithHint("did you mean: knowledge help %s", near)
	}
	if meant := strings.Fields(synonyms[args[0]]); len(meant) > 0 && meant[0] != "help" {
		return err.WithHint("did you mean: knowledge help %s", meant[0])
	}
	return err.WithHint("list all with: knowledge help all")
}

// completion prints what a shell needs to complete words.
func completion(root *cobra.Command) *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use: "completion SHELL", Short: "Print what a shell needs to complete words: bash, zsh, fish or powershell", GroupID: "help",
		Long: "Print what a shell needs to complete commands, flags, stores, paths and jobs.\n\n" +
			"  bash         source <(knowledge completion bash)      in ~/.bashrc\n" +
			"  zsh          source <(knowledge completion zsh)       in ~/.zshrc, after compinit\n" +
			"  fish         knowledge completion fish | source       in ~/.config/fish/config.fish\n" +
			"  powershell   knowledge completion powershell | Out-String | Invoke-Expression",
		ValidArgs: shells, Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 || !slices.Contains(shells, args[0]) {
				if len(args) == 0 {
					return kb.Errorf(kb.Invalid, "completion needs the name of a shell: %s", strings.Join(shells, ", ")).WithHint("see: knowledge completion --help")
				}
				return kb.Errorf(kb.Invalid, "there is no completion for %q, only for %s", clip(args[0]), strings.Join(shells, ", ")).
					WithHint("see: knowledge completion --help")
			}
			out := cmd.OutOrStdout()
			var err error
			switch args[0] {
			case "bash":
				err = root.GenBashCompletionV2(out, true)
			case "zsh":
				err = root.GenZshCompletion(out)
			case "fish":
				err = root.GenFishCompletion(out, true)
			default:
				err = root.GenPowerShellCompletionWithDesc(out)
			}
			return errors.Join(err)
		},
	}
}
