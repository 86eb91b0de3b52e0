package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/config"
)

func (s *session) man() *cobra.Command {
	return &cobra.Command{
		Use: "man", Short: "Print the manual page, as in: knowledge man | man -l -", Args: noArgs, GroupID: "help",
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := s.Out.WriteString(manPage(cmd.Root()))
			return err
		},
	}
}

// manPage renders knowledge(1) with the macros of man(7), which every roff
// knows, see https://man7.org/linux/man-pages/man7/man.7.html. It is the same
// on every machine, and names no date: it is generated.
func manPage(root *cobra.Command) string {
	p := &roff{}
	p.macro("TH", "KNOWLEDGE", "1", "", "knowledge "+command.Version, "User Commands")
	p.macro("SH", "NAME")
	p.text("knowledge - " + strings.ToLower(root.Short[:1]) + root.Short[1:])
	p.macro("SH", "SYNOPSIS")
	p.macro("B", "knowledge")
	p.text("COMMAND [WORDS] [FLAGS]")
	p.macro("SH", "DESCRIPTION")
	p.paragraphs(root.Long)
	p.macro("SH", "COMMANDS")
	groups := slices.Clone(root.Groups())
	for _, g := range groups {
		var list []*cobra.Command
		for _, c := range root.Commands() {
			if c.GroupID == g.ID && !c.Hidden {
				list = append(list, c)
			}
		}
		if len(list) == 0 {
			continue
		}
		kb.SortFunc(list, func(a, b *cobra.Command) int { return strings.Compare(a.Name(), b.Name()) })
		p.macro("SS", strings.TrimSuffix(g.Title, ":"))
		for _, c := range list {
			p.command(c)
		}
	}
	p.macro("SH", "OPTIONS")
	p.text("These are taken by every command.")
	p.flags(root.PersistentFlags())
	p.macro("SH", "EXIT STATUS")
	for _, e := range command.Exits() {
		p.macro("TP")
		p.macro("B", fmt.Sprint(e.Status))
		p.text(e.Means)
	}
	p.macro("SH", "ENVIRONMENT")
	for _, v := range []struct{ name, text string }{
		{"KNOWLEDGE_DATA_DIR", "where stores are kept"},
		{config.Variable, "the configuration file"},
		{"KNOWLEDGE_VECTORS_ENGINE", "which engine searches vectors: flat or chromem"},
	} {
		p.macro("TP")
		p.macro("B", v.name)
		p.text(v.text)
	}
	p.macro("SH", "FILES")
	for _, f := range []struct{ name, text string }{
		{"~/.local/share/knowledge", "stores; below $XDG_DATA_HOME where that is set, in ~/Library/Application Support/knowledge on macOS, in %LocalAppData%\\knowledge on Windows"},
		{"~/.config/knowledge/config.yaml", "the configuration; below $XDG_CONFIG_HOME where that is set"},
		{".knowledge/stores.json", "the stores that a project defines"},
	} {
		p.macro("TP")
		p.macro("I", f.name)
		p.text(f.text)
	}
	p.macro("SH", "SEE ALSO")
	p.text("The reference of all commands and parameters is docs/commands.md, and knowledge help COMMAND prints any part of it.")
	return p.b.String()
}

// roff writes lines of a manual page.
type roff struct{ b strings.Builder }

// escape makes text literal in roff.
func escape(s string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`, "…", "...", "→", `\(->`, "–", `\(en`).Replace(s)
}

// macro writes a request with its arguments, each as one word.
func (p *roff) macro(name string, args ...string) {
	p.b.WriteString("." + name)
	for _, a := range args {
		p.b.WriteString(` "` + strings.ReplaceAll(escape(a), `"`, `\(dq`) + `"`)
	}
	p.b.WriteByte('\n')
}

// text writes a paragraph; a line that would be a request is none.
func (p *roff) text(s string) {
	for l := range strings.SplitSeq(strings.TrimSpace(s), "\n") {
		if l = escape(strings.Join(strings.Fields(l), " ")); l == "" {
			continue
		}
		if l[0] == '.' {
			l = `\&` + l
		}
		p.b.WriteString(l + "\n")
	}
}

// paragraphs writes text whose empty lines part it; lines that are indented
// stay as they are.
func (p *roff) paragraphs(s string) {
	for i, part := range strings.Split(strings.TrimSpace(s), "\n\n") {
		if i > 0 {
			p.macro("PP")
		}
		if strings.HasPrefix(part, " ") {
			p.verbatim(part)
			continue
		}
		p.text(part)
	}
}

func (p *roff) verbatim(s string) {
	p.macro("nf")
	for l := range strings.SplitSeq(strings.Trim(s, "\n"), "\n") {
		l = escape(strings.TrimRight(l, " "))
		if l == "" || l[0] == '.' {
			l = `\&` + l
		}
		p.b.WriteString(l + "\n")
	}
	p.macro("fi")
}

func (p *roff) command(c *cobra.Command) {
	p.macro("TP")
	p.macro("B", strings.TrimSuffix(strings.TrimPrefix(c.UseLine(), "knowledge "), " [flags]"))
	p.text(strings.TrimSuffix(c.Short, ".") + ".")
	if extra, ok := strings.CutPrefix(c.Long, c.Short); ok {
		prose, _, _ := strings.Cut(strings.TrimPrefix(extra, "."), "\n  ") // the words of a command are flags too
		p.text(prose)
	}
	if c.HasAvailableLocalFlags() {
		p.macro("RS")
		p.flags(c.LocalNonPersistentFlags())
		p.macro("RE")
	}
}

func (p *roff) flags(set *pflag.FlagSet) {
	set.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		value, usage := pflag.UnquoteUsage(f)
		if value != "" {
			name += " " + value
		}
		p.macro("TP")
		p.macro("B", name)
		p.text(usage)
	})
}
