package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/httpguard"
	"github.com/seed-4f2d999b/knowledge/internal/platform/visible"
	"github.com/seed-4f2d999b/knowledge/internal/product"
)

// root builds the whole tree of commands. It opens nothing.
func (s *session) root() *cobra.Command {
	var version bool
	root := &cobra.Command{
		Use:           "knowledge",
		Short:         "Ranked, cited knowledge of code for agents and people",
		Long:          about,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return s.unknownCommand(cmd, args)
			}
			if version {
				_, err := io.WriteString(cmd.OutOrStdout(), versionLine())
				return err
			}
			if s.Terminal && !s.json {
				return s.home(cmd.Context(), cmd)
			}
			return cmd.Help()
		},
	}
	// Cobra's own flag prints through text/template, which keeps the linker
	// from dropping any method of any type: 4 MB of the program.
	root.Flags().BoolVarP(&version, "version", "v", false, "version for knowledge")
	s.globalFlags(root)
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if cmd.HasParent() {
			s.running = strings.TrimPrefix(cmd.CommandPath(), "knowledge ")
		}
		return s.chooseFormat()
	}
	if !s.addOnly(root) {
		s.addCommands(root)
		s.addAliases(root)
	}
	root.AddGroup(&cobra.Group{ID: faceGroup, Title: "Faces:"})
	root.AddCommand(s.mcp(), s.serve(), s.ui(), s.watch(), s.work(), s.version(), s.man(), completion(root))
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetHelpCommand(s.help(root))
	usual := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		_ = s.page() // there is nothing to write yet
		if cmd == root {
			s.fit(briefHelp(root))
			return
		}
		var text strings.Builder
		cmd.SetOut(&text)
		usual(cmd, args)
		cmd.SetOut(nil)
		s.fit(text.String())
	})
	root.SetHelpCommandGroupID("help")
	return root
}

// globalFlags adds the flags that every command has.
func (s *session) globalFlags(root *cobra.Command) {
	root.SetFlagErrorFunc(s.flagError)
	flags := root.PersistentFlags()
	flags.StringVar(&s.dataDir, "data-dir", "", "where stores are kept (default: $KNOWLEDGE_DATA_DIR, else the platform's place)")
	flags.StringVarP(&s.project, "project", "C", "", "the project to work in (default: the repository around the working directory)")
	flags.BoolVarP(&s.json, "json", "j", false, "print JSON")
	flags.StringVar(&s.format, "format", "", "how to print: json, table (as on a terminal) or plain (tab-separated, as in a pipe)")
	flags.StringVar(&s.color, "color", "", "colour `WHEN`: auto (heeds $NO_COLOR and $CLICOLOR_FORCE), always or never")
	flags.BoolVar(&s.noPager, "no-pager", false, "print long results at once, not page by page with $KNOWLEDGE_PAGER, $PAGER or less")
	flags.BoolVarP(&s.quiet, "quiet", "q", false, "show no progress")
	flags.Bool("cli", false, "ask specifications as the original engine is asked: --cli search \"how does auth work\" --limit 3")
	_ = flags.MarkHidden("cli") // fails only for an unknown flag
	complete(root, "format", formats...)
	complete(root, "color", colorings...)
	for _, dir := range []string{"data-dir", "project"} {
		_ = root.MarkPersistentFlagDirname(dir) // fails only for an unknown flag
	}
}

// addCommands adds those of the table, each of a group also below the group:
// `store create` is `store:create`.
func (s *session) addCommands(root *cobra.Command) {
	for _, c := range product.Commands().All() {
		if c.Name == "help" {
			continue // cobra's does the same, with flags instead of a schema
		}
		cmd := s.command(c)
		if !root.ContainsGroup(c.Group) {
			root.AddGroup(&cobra.Group{ID: c.Group, Title: groupTitle(c.Group)})
		}
		cmd.GroupID = c.Group
		root.AddCommand(cmd)
		if group, verb, ok := strings.Cut(c.Name, ":"); ok {
			child := s.command(c)
			child.Use = verb + strings.TrimPrefix(child.Use, c.Word())
			child.Aliases = nil
			s.group(root, group).AddCommand(child)
		}
	}
}

// addOnly adds nothing but the one command of the table that the words name, or none when they
// name a face: whoever starts the program for that waits for the others, of which there
// are more than a hundred. It reports false, and adds nothing, when others may be needed:
// for groups, aliases, help, and what is no command.
func (s *session) addOnly(root *cobra.Command) bool {
	i := firstWord(s.words)
	if i == len(s.words) {
		return false
	}
	word := s.words[i]
	if slices.Contains([]string{"mcp", "serve", "watch", "work"}, word) {
		root.AddGroup(&cobra.Group{ID: "help", Title: groupTitle("help")})
		return true
	}
	c, err := product.Commands().Find(word)
	if err != nil || c.Word() != word || c.Name == "help" || c.Group == "help" || s.heads(word) {
		return false
	}
	root.AddGroup(&cobra.Group{ID: c.Group, Title: groupTitle(c.Group)}, &cobra.Group{ID: "help", Title: groupTitle("help")})
	cmd := s.command(c)
	cmd.GroupID = c.Group
	root.AddCommand(cmd)
	return true
}

// heads reports whether other commands stand below a word.
func (s *session) heads(word string) bool {
	for _, c := range product.Commands().All() {
		if group, _, ok := strings.Cut(c.Name, ":"); ok && group == word {
			return true
		}
	}
	for _, x := range aliases {
		if strings.HasPrefix(x.use, word+" ") {
			return true
		}
	}
	return false
}

// group returns the command that a group's are below, which is made hidden
// where no command has that name, as "stores" does.
func (s *session) group(root *cobra.Command, group string) *cobra.Command {
	for _, x := range root.Commands() {
		if x.Name() == group {
			return x
		}
	}
	parent := &cobra.Command{Use: group, Short: "Commands of " + group, Hidden: true, Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return s.unknownCommand(cmd, args)
			}
			s.fit(topicText(root, []string{group}))
			return nil
		}}
	root.AddCommand(parent)
	return parent
}

const faceGroup = "face"

func groupTitle(group string) string { return strings.ToUpper(group[:1]) + group[1:] + ":" }

func versionLine() string {
	return fmt.Sprintf("knowledge %s %s/%s %s\n", command.Version, runtime.GOOS, runtime.GOARCH, runtime.Version())
}

func (s *session) version() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: noArgs, GroupID: "help",
		RunE: func(*cobra.Command, []string) error {
			if s.json {
				return s.print(map[string]string{"version": command.Version, "os": runtime.GOOS, "arch": runtime.GOARCH, "go": runtime.Version()})
			}
			_, err := s.Out.WriteString(versionLine())
			return err
		},
	}
}

func (s *session) mcp() *cobra.Command {
	o := MCPOptions{Stdin: s.env.Stdin, Stdout: s.env.Stdout, Stderr: visible.Writer{W: s.env.Stderr}}
	var tokenFile string
	cmd := &cobra.Command{
		Use: "mcp", Short: "Serve agents over the Model Context Protocol", Args: noArgs, GroupID: faceGroup,
		Long: "Serve agents over the Model Context Protocol: on standard input and output, or over HTTP with --http.\n" + fixedToken,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.Tools != "default" && o.Tools != "kdd" && !strings.HasPrefix(o.Tools, "apis:") {
				return kb.Errorf(kb.Invalid, "flag --tools must be one of default, kdd, apis:CODE, not %q", clip(o.Tools)).WithHint("leave it out for default")
			}
			if o.NoAuth && o.HTTP == "" {
				return kb.Errorf(kb.Invalid, "flag --no-auth is for --http only").WithHint("standard input needs no token")
			}
			if o.HTTP != "" && !o.NoAuth {
				var err error
				if o.Token, err = s.token(tokenFile); err != nil {
					return err
				}
			}
			return s.start(cmd.Context(), s.faces.MCP != nil, func(ctx context.Context) error { return s.faces.MCP(ctx, s.app, o) })
		},
	}
	cmd.Flags().StringVar(&o.Tools, "tools", "default", "which tools to offer: default, kdd, or apis:CODE, the operations of a declared API")
	cmd.Flags().StringVar(&o.HTTP, "http", "", "listen on `HOST:PORT` instead of standard input")
	cmd.Flags().BoolVar(&o.NoAuth, "no-auth", false, "ask for no token over HTTP")
	cmd.Flags().StringVar(&tokenFile, "token-file", "", "keep the token in a `FILE`, made at the first start, instead of a new one at each")
	complete(cmd, "tools", "default", "kdd")
	return cmd
}

const fixedToken = "Each start makes a new token. --token-file FILE keeps one, so that clients stay valid: the first start makes the\n" +
	"file, readable by you alone. $KNOWLEDGE_TOKEN holds one of your own, of 32 characters or more."

// token returns the token that the user keeps, and says where a new one lies.
func (s *session) token(file string) (httpguard.Given, error) {
	g, err := httpguard.GivenToken(os.Getenv, file)
	if g.New {
		fmt.Fprintf(s.env.Stderr, "made the token file %s\n", g.From)
	}
	return g, err
}

func (s *session) serve() *cobra.Command {
	o := ServeOptions{Stdout: visible.Writer{W: s.env.Stdout}, Stderr: visible.Writer{W: s.env.Stderr}}
	var tokenFile string
	var enterprise bool
	cmd := &cobra.Command{
		Use: "serve", Short: "Serve HTTP on this machine", Args: noArgs, GroupID: faceGroup,
		Long: "Serve HTTP on this machine: the API and, when something asks for them, on ports of their own the evidence (7341) and\n" +
			"enterprise (7391) servers. --evidence or --enterprise asks for both, as does a port of theirs, a variable that moves\n" +
			"them ($KNOWLEDGE_EVIDENCE_HOST, _PORT, _ROUTE, $KNOWLEDGE_ENTERPRISE_HOST, _PORT, any $PUMUKI_…), and a file\n" +
			".ai_evidence.json in the project at the start. Port 0 takes a free one.\n" +
			"All but questions to public stores, open APIs and those two servers needs the token, on this machine too.\n" + fixedToken + "\n" +
			"--team serves several users instead, each with a token and rights of their own, and opens nothing else: see docs/team.md.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, p := range []struct {
				name string
				to   **int
			}{{"evidence-port", &o.EvidencePort}, {"enterprise-port", &o.EnterprisePort}} {
				n, err := cmd.Flags().GetUint16(p.name)
				if err != nil {
					return err
				}
				if cmd.Flags().Changed(p.name) {
					*p.to = new(int(n))
				}
			}
			o.Beside = o.Beside || enterprise
			if o.OpenRead && o.RequireToken {
				return kb.Errorf(kb.Invalid, "flags --open-read and --require-token ask for opposites").WithHint("leave out one of them")
			}
			if o.Team != "" {
				for _, name := range []string{"addr", "public", "open-read", "require-token", "token-file", "evidence", "enterprise", "evidence-port", "enterprise-port"} {
					if cmd.Flags().Changed(name) {
						return kb.Errorf(kb.Invalid, "flag --team opens one address for users with tokens of their own, and --%s is about another", name).
							WithHint("start a second server for the other, on the same data directory")
					}
				}
				return s.start(cmd.Context(), s.faces.Serve != nil, func(ctx context.Context) error { return s.faces.Serve(ctx, s.app, o) })
			}
			var err error
			if o.Token, err = s.token(tokenFile); err != nil {
				return err
			}
			return s.start(cmd.Context(), s.faces.Serve != nil, func(ctx context.Context) error { return s.faces.Serve(ctx, s.app, o) })
		},
	}
	cmd.Flags().StringVar(&o.Addr, "addr", "127.0.0.1:7390", "listen on `HOST:PORT`")
	cmd.Flags().StringVar(&o.Public, "public", "", "listen on a second `HOST:PORT` that knows only answers from public stores and the widget")
	cmd.Flags().StringVar(&o.Team, "team", "", "listen on `HOST:PORT` for the users of a team, and open nothing else")
	cmd.Flags().BoolVar(&o.OpenRead, "open-read", false, "let every user and program of this machine read without the token")
	cmd.Flags().BoolVar(&o.RequireToken, "require-token", false, "ask for the token also for what is public or open")
	cmd.Flags().StringVar(&tokenFile, "token-file", "", "keep the token in a `FILE`, made at the first start, instead of a new one at each")
	cmd.Flags().BoolVar(&o.Beside, "evidence", false, "open the evidence and enterprise servers")
	cmd.Flags().BoolVar(&enterprise, "enterprise", false, "the same")
	cmd.Flags().BoolVar(&o.NoEvidence, "no-evidence", false, "leave out the evidence server")
	cmd.Flags().BoolVar(&o.NoEnterprise, "no-enterprise", false, "leave out the enterprise server")
	cmd.Flags().Uint16("evidence-port", 7341, "`PORT` of the evidence server")
	cmd.Flags().Uint16("enterprise-port", 7391, "`PORT` of the enterprise server")
	return cmd
}

// start opens the app for a face and hands over to it.
func (s *session) start(ctx context.Context, there bool, face func(context.Context) error) error {
	if !there {
		return kb.Errorf(kb.Unsupported, "this build of knowledge has no such face").WithHint("install a full build")
	}
	if _, err := s.open(); err != nil {
		return err
	}
	err := face(ctx)
	if ctx.Err() != nil && kb.CodeOf(err) == kb.Canceled {
		return nil // stopping a server is no failure
	}
	return err
}

func (s *session) work() *cobra.Command {
	return &cobra.Command{
		Use: "work JOB", Short: "Run one job in this process, then those that nobody runs", Hidden: true, Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return kb.Errorf(kb.Invalid, "work takes the id of one job").WithHint("see how jobs stand with: knowledge jobs")
			}
			a, err := s.open()
			if err != nil {
				return err
			}
			return a.Work(cmd.Context(), args[0])
		},
	}
}

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return kb.Errorf(kb.Invalid, "%s takes no argument, and %q is one", cmd.Name(), clip(args[0])).WithHint("see: %s --help", cmd.CommandPath())
}
