package cli

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
	"github.com/seed-4f2d999b/knowledge/internal/platform/config"
	"github.com/seed-4f2d999b/knowledge/internal/product"
)

// common are the commands that people use, in the order in which they meet
// them: the head of the help.
var common = []struct{ name, words, about string }{
	{"search", "QUERY", "find code and docs by what they do"},
	{"ui", "", "the same while you type, with the code beside; opens your editor"},
	{"show", "ID", "the whole place of a hit, who calls it, what it calls"},
	{"ask", "QUESTION", "an answer, each sentence cited"},
	{"grep", "PATTERN", "lines that match a regular expression"},
	{"read", "PATH", "lines of one document"},
	{"files", "", "the paths of what is indexed"},
	{"store:create", "NAME SOURCE", "name a folder, repository, site or package, and index it"},
	{"stores", "", "what is indexed here"},
	{"jobs", "", "what is being indexed"},
	{"install", "", "give it to your agents"},
}

// topics are the groups of commands as help lists them, in this order. A group
// without a row comes last under its own name.
var topics = []struct{ name, about string }{
	{"find", "search, read and grep what is indexed"},
	{"code", "definitions, references, callers, outlines"},
	{"answer", "ask questions, rate the answers"},
	{"store", "folders, repositories, sites and packages; schedules; definitions of a project"},
	{"job", "what is being indexed"},
	{"api", "HTTP APIs that you declare, called as tools"},
	{"kdd", "specifications: what is related, touched, missing"},
	{"evidence", "what a governance tool found in the project"},
	{"gate", "may I write, commit or push"},
	{"sdd", "specified changes: open, refresh, close"},
	{"repo", "how the repository stands"},
	{"setup", "give it to your agents, take it away, upgrade it, count what they pay"},
	{"trust", "vouch for files of a project; tokens and rights of a team"},
	{"data", "export, import, back up, verify, clean up"},
	{faceGroup, "find on a full screen, serve agents and programs, watch folders"},
	{"help", "version, doctor, completion"},
}

// helpTopics are texts that explain no command.
var helpTopics = []struct {
	name, about string
	text        func() string
}{
	{"exit-codes", "the exit statuses", func() string { return "The exit statuses of every command:\n\n" + exitTable() }},
	{"configuration", "where settings stand", configurationText},
}

func configurationText() string {
	path, named := config.Path(os.Getenv)
	why := ""
	if named {
		why = ", as $" + config.Variable + " says"
	}
	return "Nothing has to be configured. What can be stands in one YAML file of yours:\n\n  " + path + why + "\n\n" +
		"  dataDir: ~/knowledge     where stores are kept; also --data-dir and $KNOWLEDGE_DATA_DIR\n\n" +
		"docs/configuration.md lists every key. A wrong key is refused with its line;\n\"knowledge doctor\" says whether the file is read.\n"
}

const about = `knowledge answers from the code you depend on, your own folders and documentation.
`

// briefHelp is what --help says: the common commands, and a line a topic.
func briefHelp(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString(about + "\n")
	for _, x := range common {
		if slices.ContainsFunc(root.Commands(), func(c *cobra.Command) bool { return c.Name() == x.name }) {
			fmt.Fprintf(&b, "  %-34s %s\n", strings.TrimSpace("knowledge "+x.name+" "+x.words), x.about)
		}
	}
	b.WriteString("\nMore by topic, with: knowledge help TOPIC\n")
	for _, t := range topicsOf(root) {
		fmt.Fprintf(&b, "  %-14s %s\n", t.name, t.about)
	}
	for _, t := range helpTopics {
		fmt.Fprintf(&b, "  %-14s %s\n", t.name, t.about)
	}
	b.WriteString("\nFlags of every command:\n" + globalFlags(root))
	b.WriteString("\nOutput is a table on a terminal and tab-separated lines in a pipe, where search has text for agents.\n" +
		"One command: knowledge COMMAND --help; all of them: knowledge help all\n")
	return b.String()
}

func globalFlags(root *cobra.Command) string {
	return strings.TrimRight(root.PersistentFlags().FlagUsages(), "\n") + "\n"
}

type topic struct {
	name, about string
	commands    []*cobra.Command
}

// topicsOf are the topics that have commands.
func topicsOf(root *cobra.Command) []topic {
	by := map[string][]*cobra.Command{}
	var groups []string
	for _, c := range root.Commands() {
		if c.Hidden || c.GroupID == "" {
			continue
		}
		if by[c.GroupID] == nil {
			groups = append(groups, c.GroupID)
		}
		by[c.GroupID] = append(by[c.GroupID], c)
	}
	var out []topic
	for _, t := range topics {
		if by[t.name] != nil {
			out = append(out, topic{topicName(t.name), t.about, by[t.name]})
		}
		groups = slices.DeleteFunc(groups, func(g string) bool { return g == t.name })
	}
	slices.Sort(groups)
	for _, g := range groups {
		var names []string
		for _, c := range by[g] {
			names = append(names, c.Name())
		}
		out = append(out, topic{g, strings.Join(names, ", "), by[g]})
	}
	return out
}

func topicName(group string) string {
	if group == faceGroup {
		return "serving"
	}
	return group
}

// text lists the commands of a topic, one a line.
func (t topic) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n\n", t.name, t.about)
	for _, c := range t.commands {
		fmt.Fprintf(&b, "  %-18s %s\n", c.Name(), c.Short)
	}
	return b.String()
}

// help explains a command or topic; with --json it gives the registry's own help.
func (s *session) help(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND|TOPIC]",
		Short: "Explain a command or topic",
		ValidArgsFunction: func(_ *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			return helpNames(root), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := s.page(); err != nil || len(args) == 0 {
				s.fit(briefHelp(root))
				return err
			}
			if s.json {
				c, err := product.Commands().Find("help")
				if err != nil {
					return err
				}
				return s.run(cmd.Context(), c, map[string]any{"command": strings.Join(args, " ")})
			}
			if text := topicText(root, args); text != "" {
				s.fit(text)
				return nil
			}
			target, rest, err := root.Find(underscored(args))
			if err != nil || len(rest) > 0 || target == root {
				return s.unknownTopic(root, args)
			}
			target.InitDefaultHelpFlag()
			return target.Help()
		},
	}
}

// topicText is the text of a topic; "" when the words name none.
func topicText(root *cobra.Command, words []string) string {
	if len(words) != 1 {
		return ""
	}
	all := topicsOf(root)
	if words[0] == "all" {
		var parts []string
		for _, t := range all {
			parts = append(parts, t.text())
		}
		return strings.Join(parts, "\n")
	}
	for _, t := range helpTopics {
		if t.name == words[0] {
			return t.text()
		}
	}
	for _, c := range root.Commands() {
		if (c.Name() == words[0] || c.HasAlias(words[0])) && !c.Hidden {
			return "" // a command of that name is meant
		}
	}
	for _, t := range all {
		if t.name == words[0] {
			return t.text()
		}
	}
	return ""
}

// helpNames is what may follow help.
func helpNames(root *cobra.Command) []string {
	names := []string{"all"}
	for _, t := range helpTopics {
		names = append(names, t.name)
	}
	for _, t := range topicsOf(root) {
		names = append(names, t.name)
	}
	for _, c := range root.Commands() {
		if !c.Hidden {
			names = append(names, c.Name())
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// columns is where the second column of a line of help begins.
var columns = regexp.MustCompile(`^ {2,}\S+(?: \S+)* {2,}`)

// fit prints help; on a terminal that is too narrow its second columns go on
// below themselves.
func (s *session) fit(text string) {
	for l := range strings.Lines(text) {
		l = strings.TrimSuffix(l, "\n")
		if head := columns.FindString(l); s.Terminal && s.Width > 0 && printer.Width(l) > s.Width && head != "" && len(head) < s.Width-14 {
			s.Hang(head, l[len(head):])
			continue
		}
		s.Line(l)
	}
}
