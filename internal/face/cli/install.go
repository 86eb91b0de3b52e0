package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/install"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// prepare completes what a person typed for the verbs that change clients: it
// asks where something is left open. ok is false when the person said no.
func (s *session) prepare(ctx context.Context, c command.Command, values map[string]any) (ok bool, err error) {
	switch c.Name {
	case "install":
		if err := s.clientsAsWords(values); err != nil {
			return false, err
		}
		s.projectFolder(values)
		if values["client"] == nil && values["yes"] == nil {
			return s.askClients(ctx, values)
		}
	case "uninstall":
		s.projectFolder(values)
		if on(values["dryRun"]) || on(values["yes"]) || on(values["stores"]) || values["keepDefinitions"] == "false" {
			return true, nil
		}
		all := on(values["purge"]) || on(values["global"])
		if values["client"] != nil && !all {
			return true, nil
		}
		return s.askRemoval(ctx, c, values, all)
	}
	return true, nil
}

// on reports whether a boolean flag was given, and not as false.
func on(v any) bool { return v != nil && v != "false" && v != false }

// clientsAsWords answers "install cursor": a word is the folder of --project,
// and means nothing without it.
func (s *session) clientsAsWords(values map[string]any) error {
	word, _ := values["folder"].(string)
	if word == "" || values["project"] != nil {
		return nil
	}
	at := slices.Index(s.words, word)
	if at < 0 { // --folder=WORD
		return kb.Errorf(kb.Invalid, "a folder is for --project").WithHint("did you mean: %s", line([]string{"install", "--project", word}))
	}
	if client := clientNamed(word); client != "" {
		return kb.Errorf(kb.Invalid, "clients are named with --client, and %q is a word", clip(word)).
			WithHint("did you mean: %s", line(slices.Concat(s.words[:at], []string{"--client", client}, s.words[at+1:])))
	}
	if info, err := os.Stat(filepath.Join(s.env.Dir, word)); err == nil && info.IsDir() {
		return kb.Errorf(kb.Invalid, "a folder is for --project, and install was given %q alone", clip(word)).
			WithHint("did you mean: %s", line(slices.Concat(s.words[:at], []string{"--project"}, s.words[at:])))
	}
	return kb.Errorf(kb.Invalid, "there is no client %q, only %s", clip(word), strings.Join(install.ClientNames(), ", ")).WithHint("see which are here: knowledge clients")
}

// clientNamed returns the names of clients that a word is, or is near to, with
// commas between; "" when one is none.
func clientNamed(word string) string {
	var names []string
	for w := range strings.SplitSeq(strings.ToLower(word), ",") {
		near := kb.Nearest(strings.TrimSuffix(strings.TrimSuffix(w, "-code"), "-cli"), append(install.ClientNames(), "all-found"))
		if w == "all" {
			near = "all-found"
		}
		if near == "" {
			return ""
		}
		names = append(names, near)
	}
	return strings.Join(names, ",")
}

// projectFolder takes "--project=FOLDER" and "--project FOLDER" for what they
// mean: the flag that says which project is called that too.
func (s *session) projectFolder(values map[string]any) {
	folder, _ := values["folder"].(string)
	delete(values, "folder")
	if p, ok := values["project"].(string); ok && p != "true" && p != "false" {
		folder = p
	}
	if folder != "" {
		s.project, values["project"] = folder, "true"
	}
}

// mayAsk reports whether a person can answer.
func (s *session) mayAsk() bool { return s.env.InTerminal && s.env.ErrTerminal && !s.json }

func (s *session) askClients(ctx context.Context, values map[string]any) (bool, error) {
	a, err := s.open()
	if err != nil {
		return false, err
	}
	list, err := install.List(ctx, a)
	if err != nil {
		return false, err
	}
	names := list.Names()
	if len(names) == 0 {
		return false, kb.Errorf(kb.NotFound, "none of the clients is on this machine: %s", strings.Join(install.ClientNames(), ", ")).
			WithHint("name one all the same: knowledge install --client claude")
	}
	if !s.mayAsk() {
		if !s.json {
			if err := s.print(list.Here()); err != nil {
				return false, err
			}
		}
		return false, kb.Errorf(kb.Invalid, "it is not said for which clients").WithHint("for all that are here: knowledge install --client all-found")
	}
	if err := s.print(list.Here()); err != nil {
		return false, err
	}
	answer, err := s.ask("Add knowledge to " + strings.Join(names, ", ") + "? [Y/n, or names] ")
	switch words := strings.FieldsFunc(answer, func(r rune) bool { return r == ' ' || r == ',' }); {
	case err != nil:
		return false, err
	case len(words) == 0, len(words) == 1 && yes(words[0]):
		values["client"] = names
	case len(words) == 1 && no(words[0]):
		s.Remark("nothing was changed")
		return false, nil
	default:
		values["client"] = words
	}
	return true, nil
}

// askRemoval shows what would go, and asks.
func (s *session) askRemoval(ctx context.Context, c command.Command, values map[string]any, all bool) (bool, error) {
	if !s.mayAsk() {
		hint := "see what would go: knowledge uninstall --dry-run"
		if all {
			hint = "see what would go: knowledge uninstall --purge --dry-run"
		}
		return false, kb.Errorf(kb.Invalid, "nobody is there to say yes, and --yes is not given").WithHint("%s", hint)
	}
	trial := maps.Clone(values)
	trial["dryRun"] = true
	args, err := json.Marshal(trial)
	if err != nil {
		return false, err
	}
	a, err := s.open()
	if err != nil {
		return false, err
	}
	result, err := c.Run(command.FromCLI(ctx), a, args)
	if err != nil {
		return false, err
	}
	nothing := false
	switch r := result.(type) {
	case install.Report:
		nothing = len(r.Steps) == 0
		for i := range r.Steps {
			r.Steps[i].Diff = ""
		}
	case install.Purge:
		nothing = len(r.Steps)+len(r.Items) == 0
		for i := range r.Steps {
			r.Steps[i].Diff = ""
		}
		if !nothing {
			r.Notes = nil // printed in the end
		}
		result = r
	}
	if err := s.print(result); err != nil {
		return false, err
	}
	if !all {
		s.Remark("stores and settings stay; with them: knowledge uninstall --purge")
	}
	if nothing {
		return false, nil
	}
	answer, err := s.ask("Go on? [y/N] ")
	if err != nil || yes(answer) {
		values["yes"] = true
		return err == nil, err
	}
	s.Remark("nothing was changed")
	return false, nil
}

func yes(s string) bool { return strings.EqualFold(s, "y") || strings.EqualFold(s, "yes") }

func no(s string) bool { return strings.EqualFold(s, "n") || strings.EqualFold(s, "no") }

// ask prints a question and returns the line that is typed; the end of input is no.
func (s *session) ask(question string) (string, error) {
	if err := s.buffer.Flush(); err != nil {
		return "", err
	}
	io.WriteString(s.env.Stderr, question)
	line, err := bufio.NewReader(s.env.Stdin).ReadString('\n')
	if err != nil {
		fmt.Fprintln(s.env.Stderr)
		return "no", nil
	}
	return strings.TrimSpace(line), nil
}
