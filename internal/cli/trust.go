package cli

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// shownLines is how much of a file is shown before it is vouched for.
const shownLines = 200

// vouch makes sure that a person has seen what he trusts: it shows the file
// and asks. Where nobody can be asked, whoever runs the command has to say that
// somebody has read it.
func (s *session) vouch(c command.Command, values map[string]any) error {
	if c.Name != "trust" || fmt.Sprint(values["yes"]) == "true" {
		return nil
	}
	path := fmt.Sprint(values["path"])
	full := path
	if !filepath.IsAbs(full) {
		full = filepath.Join(s.env.Dir, full)
	}
	f, err := os.Open(full)
	if err != nil {
		return nil // the command says what is wrong with it
	}
	raw, err := io.ReadAll(io.LimitReader(f, 1<<20))
	f.Close()
	if err != nil {
		return nil
	}
	yes := "knowledge trust --yes " + kb.ShellWord(path)
	if !s.env.InTerminal || !s.env.ErrTerminal || s.json {
		return kb.Errorf(kb.Denied, "nobody can be asked here whether %q may be trusted", path).
			WithHint("when you have read it: %s", yes)
	}
	lines := strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n")
	var b strings.Builder
	for _, l := range lines[:min(len(lines), shownLines)] {
		b.WriteString("    " + clean(strings.TrimSuffix(l, "\r")) + "\n")
	}
	if more := len(lines) - shownLines; more > 0 {
		fmt.Fprintf(&b, "    … and %s\n", plural(more, "more line"))
	}
	fmt.Fprintf(&b, "Trust %s as it is now, and do what it asks for? [y/N] ", name(path))
	io.WriteString(s.env.Stderr, b.String())
	answer, _ := bufio.NewReader(s.env.Stdin).ReadString('\n')
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	return kb.Errorf(kb.Canceled, "%q is not trusted; nothing was changed", path).WithHint("to trust it after all: %s", yes)
}
