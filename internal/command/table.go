package command

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Room is a feature: what it adds to the program. Every field but Name may be empty.
type Room struct {
	Name      string
	Commands  func(*Table)
	Resources func() []Resource
	People    map[string]Wording // of its commands, as a person reads them where that differs
	Reaches   map[string]Reach   // of those of its commands that agents may run and that do more than read
	App       app.Room           // its hooks into the middle
}

// Table is the one table of commands.
type Table struct {
	rooms []Room
	words Spoken
	all   []Command
	// around, when not nil, is what every run goes through, see Watch.
	around func(context.Context, Command, *app.App, json.RawMessage, func() (any, error)) (any, error)
}

// NewTable makes the table of what rooms add, and of the commands about commands.
func NewTable(rooms []Room, words Spoken) *Table {
	t := &Table{rooms: rooms, words: words}
	meta := Room{People: metaPeople, Commands: func(t *Table) { t.addMeta(); t.addResources() }}
	for _, r := range append([]Room{meta}, rooms...) {
		if r.Commands != nil {
			r.Commands(t)
		}
		for i := range t.all {
			c := &t.all[i]
			if says, ok := r.People[c.Name]; ok {
				c.Person = says
			}
			if reach, ok := r.Reaches[c.Name]; ok {
				c.Reach = reach
			}
		}
	}
	kb.SortFunc(t.all, func(a, b Command) int {
		if n := strings.Compare(a.Group, b.Group); n != 0 {
			return n
		}
		return strings.Compare(a.Name, b.Name)
	})
	return t
}

// Add puts a command of a group, with examples of its arguments, into the
// table. What it returns may be changed until the next is added.
func (t *Table) Add(group string, c Command, examples ...string) *Command {
	c.Group, c.Examples, c.table = group, examples, t
	t.all = append(t.all, c)
	return &t.all[len(t.all)-1]
}

// All returns every command, sorted by group and then by name.
func (t *Table) All() []Command {
	if t == nil {
		return nil // of a command that is a row of none
	}
	return slices.Clone(t.all)
}

// Print prints a result as the row of its type says, and reports whether one does.
func (t *Table) Print(p *printer.Printer, result any) bool {
	of := reflect.TypeOf(result)
	for i := range t.all {
		for _, l := range t.all[i].Layouts {
			if l.Of == of {
				l.Print(p, result)
				return true
			}
		}
	}
	return false
}
