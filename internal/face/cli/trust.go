package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// shownLines is how much of a file is shown before it is vouched for.
const shownLines = 200

// vouch makes sure that a person has seen what he trusts: it shows what it is
// and asks. Nobody else can answer: without a terminal nothing is trusted, and
// a script has the configuration or the environment for it.
func (s *session) vouch(ctx context.Context, c command.Command, a *app.App, values map[string]any) error {
	if c.Name != "trust" || fmt.Sprint(values["forget"]) == "true" {
		return nil
	}
	path := fmt.Sprint(values["path"])
	if !s.env.InTerminal || !s.env.ErrTerminal || s.json {
		return kb.Errorf(kb.Denied, "nobody can be asked here whether %q may be trusted", path).
			WithHint("a terminal can answer; a script or server is told by KNOWLEDGE_TRUST_PATHS in its environment, or by trust.paths in the configuration, see: knowledge help configuration")
	}
	subject, err := a.TrustSubject(ctx, path)
	if err != nil {
		return err
	}
	var b strings.Builder
	if subject.Folder {
		fmt.Fprintf(&b, "    %s\n    %s\n", printer.Name(subject.Path), printer.Clean(subject.About))
		b.WriteString("May agents index this folder and everything below it, now and later? [y/N] ")
	} else {
		lines := strings.Split(strings.TrimSuffix(subject.Text, "\n"), "\n")
		for _, l := range lines[:min(len(lines), shownLines)] {
			b.WriteString("    " + printer.Clean(strings.TrimSuffix(l, "\r")) + "\n")
		}
		if more := len(lines) - shownLines; more > 0 {
			fmt.Fprintf(&b, "    … and %s\n", kb.Count(more, "more line"))
		}
		fmt.Fprintf(&b, "Trust %s as it is now, and do what it asks for? [y/N] ", printer.Name(path))
	}
	io.WriteString(s.env.Stderr, b.String())
	answer, _ := bufio.NewReader(s.env.Stdin).ReadString('\n')
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	return kb.Errorf(kb.Canceled, "%q is not trusted; nothing was changed", path).WithHint("to trust it after all: knowledge trust %s", kb.ShellWord(path))
}
