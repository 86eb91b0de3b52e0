package cli

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/product"
)

// bare is a session in an empty folder that prints nothing.
func bare(t *testing.T) *session {
	s := newSession(Faces{}, Env{Dir: t.TempDir(), Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard})
	s.dataDir = t.TempDir()
	return s
}

// commandNamed returns the command of a name at the top, nil when there is none.
func commandNamed(root *cobra.Command, name string) *cobra.Command {
	for _, c := range root.Commands() {
		if c.Name() == name || slices.Contains(c.Aliases, name) {
			return c
		}
	}
	return nil
}

// TestTables: what the tables of words and flags of other programs propose
// exists, parses where it is complete, and what they answer to does not exist.
func TestTables(t *testing.T) {
	s := bare(t)
	root := s.root()
	for word, to := range synonyms {
		if commandNamed(root, word) != nil {
			t.Errorf("%s is a command, and its synonym is never looked at", word)
		}
		words := strings.Fields(to)
		if len(words) == 0 {
			continue
		}
		c := commandNamed(root, words[0])
		if words[0] == "help" && len(words) > 1 {
			c = s.help(root)
		}
		if c == nil {
			t.Errorf("%s: there is no command %q", word, to)
		} else if r, err := product.Commands().Find(words[0]); len(words) > 1 || err == nil && !slices.ContainsFunc(r.Params, func(p command.Param) bool { return p.Required }) {
			if !s.works(words) && r.Group != "setup" { // install asks
				t.Errorf("%s: %q does not parse", word, to)
			}
		}
	}
	flags := map[string]bool{}
	root.PersistentFlags().VisitAll(func(f *pflag.Flag) { flags[f.Name] = true })
	for _, c := range root.Commands() {
		c.Flags().VisitAll(func(f *pflag.Flag) { flags[f.Name] = true })
	}
	for name, to := range flagsElsewhere {
		if to != "" && !flags[to] {
			t.Errorf("-%s: no command has a flag --%s", name, to)
		}
	}
	for name, words := range atTop {
		if !s.works(words) {
			t.Errorf("--%s: %q does not parse", name, words)
		}
	}
	for _, h := range habits {
		for _, name := range strings.Fields(h.commands) {
			c := commandNamed(root, name)
			if c == nil {
				t.Fatalf("there is no command %q", name)
			}
			for _, f := range strings.Fields(h.names) {
				dashes := "--"
				if len(f) == 1 {
					dashes = "-"
				}
				if len(f) == 1 && c.Flags().ShorthandLookup(f) != nil || len(f) > 1 && c.Flags().Lookup(f) != nil {
					t.Errorf("%s has a flag %s%s, and the habit is never looked at", name, dashes, f)
				}
				typed := []string{name, dashes + f}
				if h.valued {
					typed = append(typed, "9")
				}
				if name != "serve" && name != "mcp" {
					typed = append(typed, "word")
				}
				s := bare(t)
				s.words = typed
				hint := s.habit(c, dashes, f)
				_, next, ok := strings.Cut(hint, ": knowledge ")
				words, err := command.Words(next)
				if !ok && name != "files" || err != nil || ok && !s.works(words) && !strings.HasSuffix(next, "--help") {
					t.Errorf("%q: %q", typed, hint)
				}
				if strings.HasSuffix(next, "--help") && name != "files" {
					t.Errorf("%q: %q is no line to paste", typed, hint)
				}
			}
		}
	}
}
