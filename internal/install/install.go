// Package install writes this program into the configuration of the programs
// that agents run in, and takes it out again. Clients is the table of them:
// where each keeps its servers, in which form, by whose documentation.
//
// A file changes in our entry alone, see package configedit. A receipt in the data
// directory records the insertion, so that a removal restores the former bytes; a
// file that changed in between loses our entry and nothing else. Files are
// replaced whole or not at all, and no copy stays behind.
package install

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/install/configedit"
)

// The scopes.
const (
	User    = "user"
	Project = "project"
)

// Kinds of what is written into a file.
const (
	kindServer = "server"
	kindText   = "text"
)

// Step is one file and what becomes of it.
type Step struct {
	Client string `json:"client"` // name in the table
	Scope  string `json:"scope"`  // user or project
	Kind   string `json:"kind"`   // server: the entry; text: the block of instructions
	File   string `json:"file"`
	Action string `json:"action"`         // added, updated, removed, deleted, unchanged, present (by a plugin), skipped; "" for nothing to report
	Note   string `json:"note,omitempty"` // why, when the action does not say it
	Diff   string `json:"diff,omitempty"` // the changed lines, in a dry run

	before, after []byte // after is nil for a file that goes
	exists        bool
	receipt       *receipt // to keep; nil drops the one there is
	drop          bool     // there is a receipt to drop
	dirs          []string // made by us, to go when empty
}

// Changes reports whether the step writes anything.
func (s *Step) Changes() bool {
	return slices.Contains([]string{"added", "updated", "removed", "deleted"}, s.Action)
}

// Options describe an installation.
type Options struct {
	Place   Place
	DataDir string // holds the receipts
	Command string // absolute path of the program
	Args    []string
	Text    string // of the block of instructions; "" for none
	Force   bool   // also foreign entries, also beside the plugin
	Again   string // the command that is given again after a fault; the client's name follows
}

// file is the file of a client in a scope, "" when it has none.
func (c *Client) file(p Place, scope string) string {
	if scope == Project {
		return c.Project(p)
	}
	return c.User(p)
}

func (c *Client) text(p Place, scope string) string {
	if scope == Project {
		return c.ProjectText(p)
	}
	return c.UserText(p)
}

// key is where the entry of this program is in a document.
func (c *Client) key(doc []byte) []string {
	if c.Newer != nil {
		if v, ok, err := c.Format.Get(doc, c.Newer); err == nil && ok {
			// A server may have that name too; then it has a command.
			if m, ok := v.(map[string]any); ok && m["type"] == nil && m["command"] == nil && m["enabled"] == nil {
				return append(slices.Clone(c.Newer), Server)
			}
		}
	}
	return append(slices.Clone(c.Key), Server)
}

// states of an entry.
const (
	absent   = "absent"
	current  = "current"  // ours, as it would be written now
	extended = "extended" // foreign, with all of ours in it
	old      = "old"      // ours, but for another program or in an older form
	foreign  = "foreign"  // not ours
)

// state compares the entry that is there with the one that would be written.
// One without a receipt that has keys that this program never writes is not its
// own, whatever it runs: what is in them would be lost.
func (c *Client) state(doc []byte, o Options, r *receipt) (state, command string, err error) {
	v, ok, err := c.Format.Get(doc, c.key(doc))
	if err != nil || !ok {
		return absent, "", err
	}
	wanted := c.Entry(o.Command, o.Args)
	m, _ := v.(map[string]any)
	var argv []string
	for _, key := range []string{"command", "args"} {
		switch x := m[key].(type) {
		case string:
			argv = append(argv, x)
		case []any:
			for _, a := range x {
				argv = append(argv, fmt.Sprint(a))
			}
		}
	}
	if len(argv) > 0 {
		command = argv[0]
	}
	same := true
	for _, f := range wanted {
		same = same && configedit.Same(m[f.Key], f.Value)
	}
	for key := range m {
		if r == nil && !slices.ContainsFunc(wanted, func(f configedit.Field) bool { return f.Key == key }) {
			if same {
				return extended, command, nil
			}
			return foreign, command, nil
		}
	}
	base := strings.ToLower(command[strings.LastIndexAny(command, `/\`)+1:])
	switch {
	case same:
		return current, command, nil
	case len(argv) > 1 && argv[1] == "mcp" && strings.TrimSuffix(base, ".exe") == Server, r != nil && r.Command == command:
		return old, command, nil
	}
	return foreign, command, nil
}

// Add plans the entry of a client, and the block of instructions when there is
// a text.
func (o Options) Add(c Client, scope string) ([]Step, error) {
	kept, err := load(o.DataDir)
	if err != nil {
		return nil, err
	}
	server := Step{Client: c.Name, Scope: scope, Kind: kindServer, File: c.file(o.Place, scope)}
	if server.File == "" {
		server.Action = "skipped"
		server.Note = c.Title + " has no file for a project; the user's own: knowledge install --client " + c.Name
		return []Step{server}, nil
	}
	if id, on := c.PluginOf(o.Place); on != "" && !o.Force {
		server.Action = "present"
		server.Note = "the plugin " + id + ", enabled in " + on + ", brings the server; for a second one: " +
			"knowledge install --force --client " + c.Name
		return []Step{server}, nil
	}
	if err := o.addServer(c, &server, kept); err != nil || o.Text == "" {
		return only(server, err)
	}
	text := Step{Client: c.Name, Scope: scope, Kind: kindText, File: c.text(o.Place, scope)}
	if text.File == "" {
		text.Action = "skipped"
		text.Note = c.Title + " reads instructions of projects only: knowledge install --instructions --project --client " + c.Name
		return []Step{server, text}, nil
	}
	if err := o.addText(&text, kept); err != nil {
		return nil, err
	}
	return []Step{server, text}, nil
}

func only(s Step, err error) ([]Step, error) {
	if err != nil {
		return nil, err
	}
	return []Step{s}, nil
}

// addServer plans the entry.
func (o Options) addServer(c Client, s *Step, kept *receipts) error {
	if err := s.read(); err != nil {
		return err
	}
	r := kept.find(s.File, kindServer)
	state, was, err := c.state(s.before, o, r)
	switch {
	case err != nil:
		return o.broken(*s, err)
	case state == current || state == extended:
		s.Action = "unchanged"
		return nil
	case state == foreign && !o.Force:
		s.Action = "skipped"
		s.Note = fmt.Sprintf("an entry %q that this program did not write runs %q; "+
			"to replace it: knowledge install --force --client %s", Server, was, c.Name)
		return nil
	}
	key, base, doc := c.key(s.before), s.before, s.before
	if state == foreign { // nothing of it stays
		if doc, err = c.Format.Remove(doc, key, 0); err != nil {
			return o.broken(*s, err)
		}
	}
	after, made, err := c.Format.Set(doc, key, c.Entry(o.Command, o.Args))
	if err != nil {
		return o.broken(*s, err)
	}
	s.Action, s.after = map[string]string{absent: "added", old: "updated", foreign: "updated"}[state], after
	if state == old {
		if was != o.Command {
			s.Note = "it ran " + was
		}
		made = 0
		if r != nil {
			made = r.Containers
		}
		if base = undo(s.before, r); base == nil {
			if base, err = c.Format.Remove(s.before, key, made); err != nil {
				return o.broken(*s, err)
			}
		}
	}
	s.receipt = newReceipt(o.Place, *s, base, after, r)
	s.receipt.Containers, s.receipt.Command = made, o.Command
	return nil
}

// addText plans the block of instructions.
func (o Options) addText(s *Step, kept *receipts) error {
	if err := s.read(); err != nil {
		return err
	}
	have, there, err := configedit.GetBlock(s.before)
	if err != nil {
		return o.broken(*s, err)
	}
	if there && have == o.Text {
		s.Action = "unchanged"
		return nil
	}
	if s.after, err = configedit.SetBlock(s.before, o.Text); err != nil {
		return o.broken(*s, err)
	}
	s.Action = "added"
	base, r := s.before, kept.find(s.File, kindText)
	if there {
		s.Action = "updated"
		if base = undo(s.before, r); base == nil {
			if base, err = configedit.RemoveBlock(s.before); err != nil {
				return o.broken(*s, err)
			}
		}
	}
	s.receipt = newReceipt(o.Place, *s, base, s.after, r)
	return nil
}

// Remove plans the removal of what Add wrote for a client. others are the
// clients that stay: a block of instructions that they read too stays with them.
func (o Options) Remove(c Client, scope string, others []Client) ([]Step, error) {
	kept, err := load(o.DataDir)
	if err != nil {
		return nil, err
	}
	var steps []Step
	if file := c.file(o.Place, scope); file != "" {
		s := Step{Client: c.Name, Scope: scope, Kind: kindServer, File: file}
		if err := s.read(); err != nil {
			return nil, err
		}
		r := kept.find(file, kindServer)
		state, was, err := c.state(s.before, o, r)
		if err != nil && r == nil && !bytes.Contains(s.before, []byte(Server)) {
			return nil, nil // broken, and we are not in it
		}
		if err != nil {
			return nil, o.broken(s, err)
		}
		switch {
		case state == absent:
			if s.drop = r != nil; s.drop { // it was taken out already
				steps = append(steps, s)
			}
		case (state == foreign || state == extended) && !o.Force:
			s.Action = "skipped"
			s.Note = fmt.Sprintf("an entry %q that this program did not write runs %q; "+
				"to remove it: knowledge uninstall --force --client %s", Server, was, c.Name)
			steps = append(steps, s)
		default:
			containers := 0
			if r != nil {
				containers = r.Containers
			}
			s.remove(r, func(doc []byte) ([]byte, error) { return c.Format.Remove(doc, c.key(doc), containers) }, blankJSON)
			if s.Note != "" {
				return nil, o.broken(s, errors.New(s.Note))
			}
			steps = append(steps, s)
		}
	}
	file := c.text(o.Place, scope)
	if file == "" || slices.ContainsFunc(others, func(x Client) bool { return x.text(o.Place, scope) == file }) {
		return steps, nil
	}
	s := Step{Client: c.Name, Scope: scope, Kind: kindText, File: file}
	if err := s.read(); err != nil {
		return nil, err
	}
	if _, there, err := configedit.GetBlock(s.before); err != nil {
		return nil, o.broken(s, err)
	} else if there {
		s.remove(kept.find(file, kindText), configedit.RemoveBlock, func(doc []byte) bool { return len(bytes.TrimSpace(doc)) == 0 })
		steps = append(steps, s)
	}
	return steps, nil
}

// remove plans the file as it was before, by the receipt or else by cut.
func (s *Step) remove(r *receipt, cut func([]byte) ([]byte, error), blank func([]byte) bool) {
	s.Action, s.drop = "removed", r != nil
	exact := undo(s.before, r)
	if s.after = exact; exact == nil {
		after, err := cut(s.before)
		if err != nil {
			s.Note = err.Error()
			return
		}
		s.after = after
		if s.Kind == kindServer {
			s.after = withoutBlank(s.before, after, r)
		}
	}
	if r != nil && r.Created && (exact != nil || blank(s.after)) {
		s.Action, s.after = "deleted", nil
	} else if s.after == nil {
		s.after = []byte{}
	}
}

// blankJSON reports whether nothing is left of a document.
func blankJSON(doc []byte) bool {
	rest := strings.NewReplacer("{", "", "}", "").Replace(string(bytes.TrimPrefix(doc, []byte("\xef\xbb\xbf"))))
	return strings.TrimSpace(rest) == ""
}
