package cli

import (
	"context"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/product"
)

// complain prints an error: its sentence, and below it what to do next.
func (s *session) complain(err error) {
	if s.json {
		io.WriteString(s.env.Stderr, printer.JSON(failure{kb.CodeOf(err), product.Commands().FlagNames(err.Error()), s.nextStep(err)})+"\n")
		return
	}
	s.errs.Parts("", " ", printer.Bad.Text("knowledge:"), printer.Plain.Text(oneLine(product.Commands().FlagNames(err.Error()))))
	if hint := s.nextStep(err); hint != "" {
		s.errs.Parts("  ", "", printer.Plain.Text(oneLine(hint)))
	}
}

type failure struct {
	Code    kb.Code `json:"code"`
	Message string  `json:"message"`
	Hint    string  `json:"hint,omitempty"`
}

// oneLine makes what others wrote fit for one line of a terminal.
func oneLine(text string) string {
	return printer.Clean(strings.TrimSpace(strings.NewReplacer("\r\n", " ", "\n", " ", "\t", " ").Replace(text)))
}

// nextStep is the hint of an error as a line for this terminal. It ends with a
// command that can be pasted, whatever the hint says.
func (s *session) nextStep(err error) string {
	hint := s.forTerminal(kb.HintOf(err))
	if kb.CodeOf(err) == kb.Canceled || strings.Contains(hint, ": knowledge") {
		return hint
	}
	next := "see: knowledge --help"
	if s.running != "" {
		next = "see: knowledge " + s.running + " --help"
	}
	switch code := kb.CodeOf(err); {
	case strings.Contains(hint, "docs/configuration.md"):
		next = "see: knowledge help configuration"
	case code == kb.Corrupt, code == kb.Full, code == kb.Denied, code == kb.Internal:
		next = "look for what is wrong with: knowledge doctor"
	}
	if hint == "" {
		return next
	}
	return strings.TrimRight(hint, ".;") + "; " + next
}

// forTerminal words a hint or note for who sits here: commands are lines of a
// shell, and run where this one ran.
func (s *session) forTerminal(text string) string {
	text = product.Commands().ForShell(text)
	var place string
	for _, f := range []struct{ name, value string }{{"--data-dir", s.dataDir}, {"--project", s.project}} {
		if f.value != "" {
			place += f.name + " " + kb.ShellWord(f.value) + " "
		}
	}
	if place == "" || strings.HasSuffix(text, " --help") {
		return text
	}
	var b strings.Builder
	for {
		i := strings.Index(text, ": knowledge ")
		if i < 0 {
			return b.String() + text
		}
		i += len(": knowledge ")
		b.WriteString(text[:i])
		if !strings.HasPrefix(text[i:], "--") && !strings.HasPrefix(text[i:], "help") {
			b.WriteString(place)
		}
		text = text[i:]
	}
}

// interrupted says of a command that was stopped what goes on without it:
// jobs run in processes of their own.
func (s *session) interrupted(ctx context.Context, err error) error {
	if ctx.Err() == nil || kb.CodeOf(err) != kb.Canceled || len(s.faces.Worker) == 0 || s.app == nil {
		return err
	}
	after, done := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer done()
	h, e := s.app.Home(after)
	if e != nil || h.Job == nil {
		return err
	}
	return kb.Errorf(kb.Canceled, "interrupted: this folder is still being indexed, by job %s", h.Job.ID).
		WithHint("stop it with: knowledge job:cancel %s", h.Job.ID)
}

// clip shortens what was typed for use in a message.
func clip(s string) string {
	const most = 60
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "…"
}
