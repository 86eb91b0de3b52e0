package cli

import (
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/product"
)

// seedVerbs are what may follow --cli.
var seedVerbs = []string{"search", "related", "list", "impact", "context", "find", "section", "graph", "stats", "check"}

// seedFlags are the original engine's other spellings of flags.
var seedFlags = map[string]string{
	"-l": "--limit", "-k": "--kind", "-s": "--status", "-d": "--depth",
	"--type": "--chunk_types", "--chunk-type": "--chunk_types", "--tag": "--tags", "--edge-type": "--edge_types", "--threshold": "--score_threshold",
}

// seedForm understands how the original engine is asked without a client,
//
//	knowledge --cli search "how does auth work" --limit 3
//
// which is the command kdd:search, printed as indented JSON.
func (s *session) seedForm(args []string) ([]string, error) {
	at := slices.Index(args, "--cli")
	if end := slices.Index(args, "--"); at < 0 || end >= 0 && end < at {
		return args, nil
	}
	out := slices.Clone(args[:at])
	rest := args[at+1:]
	if len(rest) == 0 || strings.HasPrefix(rest[0], "-") {
		return nil, kb.Errorf(kb.Invalid, "--cli needs the name of a command after it").WithHint("there are %s; for example: knowledge --cli list", strings.Join(seedVerbs, ", "))
	}
	verb := strings.TrimPrefix(strings.TrimPrefix(rest[0], "kdd:"), "kdd_")
	if !slices.Contains(seedVerbs, verb) {
		e := kb.Errorf(kb.Invalid, "--cli knows no command %q", clip(rest[0]))
		if near := kb.Nearest(verb, seedVerbs); near != "" {
			return nil, e.WithHint("did you mean %s? see: knowledge kdd:%s --help", near, near)
		}
		return nil, e.WithHint("there are %s; see: knowledge help kdd", strings.Join(seedVerbs, ", "))
	}
	s.indent = true
	out = append(out, "--json", "kdd:"+verb)
	for i, a := range rest[1:] {
		if a == "--" {
			return append(out, rest[1+i:]...), nil
		}
		name, value, given := strings.Cut(a, "=")
		if name == "--domain" && verb == "search" {
			name = "--domains"
		} else if n := seedFlags[name]; n != "" && (verb == "search" || !strings.HasPrefix(n, "--chunk")) {
			name = n
		}
		if given {
			name += "=" + value
		}
		out = append(out, name)
	}
	return out, nil
}

// print shows a result: JSON when asked for, indented where the original engine
// does, else as its row of the registry says. In a pipe standard output holds
// the answer alone; remarks go to standard error.
func (s *session) print(result any) error {
	switch {
	case s.json:
		return s.JSON(result, s.indent)
	case !product.Commands().Print(s.Printer, result):
		s.Other(result)
	}
	return nil
}
