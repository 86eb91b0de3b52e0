package cli

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/product"
)

// aliases are shorter ways to type a command that differ from it in more than
// the name: in what is given already, and in the order of its words.
var aliases = []struct {
	use, short, command string
	words               []string // parameters that may be given as words, in order
	given               map[string]any
}{
	{"add-repo", "Index a git repository: add-repo URL [NAME]", "store:create", []string{"source", "name"}, map[string]any{"type": "repo"}},
	{"add-folder", "Index a folder: add-folder PATH [NAME]", "store:create", []string{"source", "name"}, map[string]any{"type": "file"}},
	{"crawl", "Crawl a documentation site: crawl URL [NAME]", "store:create", []string{"source", "name"}, map[string]any{"type": "web"}},
	{"index", "Bring a store up to date: index STORE [--force]", "store:index", []string{"store"}, nil},
	{"store list", "List the stores in scope", "stores", nil, nil},
	{"api list", "List the declared APIs and their tools", "apis", []string{"api"}, nil},
}

// addAliases adds them beside the commands of the registry.
func (s *session) addAliases(root *cobra.Command) {
	for _, x := range aliases {
		c, err := product.Commands().Find(x.command)
		if err != nil {
			panic(err) // found by any test
		}
		c.Name, c.Aliases, c.Examples = x.use, nil, nil
		place := func(p command.Param) int {
			if i := slices.Index(x.words, p.Name); i >= 0 {
				return i
			}
			return len(x.words)
		}
		params := slices.DeleteFunc(slices.Clone(c.Params), func(p command.Param) bool { _, ok := x.given[p.Name]; return ok })
		for i := range params {
			params[i].Arg = slices.Contains(x.words, params[i].Name)
		}
		kb.SortStableFunc(params, func(a, b command.Param) int { return place(a) - place(b) })
		c.Params = params
		parent := root
		if group, verb, ok := strings.Cut(x.use, " "); ok {
			c.Name = verb
			for _, sub := range root.Commands() {
				if sub.Name() == group {
					parent = sub
				}
			}
		}
		cmd := s.preset(c, x.given)
		cmd.Short = x.short
		if parent == root {
			cmd.GroupID = c.Group
		}
		parent.AddCommand(cmd)
	}
}

// formats are the ways to print.
var formats = []string{"json", "table", "plain"}

// chooseFormat makes --format as good as --json, a terminal or a pipe.
func (s *session) chooseFormat() error {
	if s.color = cmp.Or(s.color, "auto"); !slices.Contains(colorings, s.color) {
		e, bad := kb.Errorf(kb.Invalid, "flag --color must be one of auto, always, never, not %q", clip(s.color)), s.color
		if s.color = "auto"; kb.Nearest(bad, colorings) != "" {
			return e.WithHint("did you mean --color %s? see: knowledge --help", kb.Nearest(bad, colorings))
		}
		return e
	}
	s.paint(s.color)
	switch s.format {
	case "":
	case "json":
		s.json = true
	case "table", "plain":
		if s.json {
			s.json = false // neither of the two: a person has to read this
			return kb.Errorf(kb.Invalid, "--json and --format %s ask for two things", s.format).WithHint("choose one of them; see: knowledge --help")
		}
		s.Terminal = s.format == "table"
	default:
		e := kb.Errorf(kb.Invalid, "flag --format must be one of json, table, plain, not %q", clip(s.format))
		if near := kb.Nearest(s.format, formats); near != "" {
			return e.WithHint("did you mean --format %s? see: knowledge --help", near)
		}
		return e
	}
	return nil
}
