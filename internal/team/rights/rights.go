// Package rights knows who may do what on a server for several users: groups,
// the stores that each may read or write, and limits, from a file that a person
// writes; and the tokens of users without a login of their own, hashed, from a
// second one. Nothing is allowed that is not written there. Both files are read
// again when they change; while one cannot be understood, what held before holds,
// and Problem says why.
//
//	groups:
//	  docs: [ann, bob]
//	stores:                # by the names that this machine gives its stores
//	  handbook: {read: ["*"], write: ["@docs"]}
//	sources: ["https://github.com/acme/"]   # what users may make stores of
//	operators: [prometheus]                 # who may read the figures of the server
//	off: [carl]                             # who is locked out, whatever token there is
//	limits: {requests: 600, bytes: 67108864, jobs: 2, stores: 10}
package rights

import (
	"bytes"
	"errors"
	"io"
	"net/url"
	"slices"
	"strings"

	yaml "github.com/oasdiff/yaml3"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// maxBytes bounds each of the files.
const maxBytes = 4 << 20

// Rights is the content of the file of rights. The zero value allows nothing.
type Rights struct {
	Groups    map[string][]string `yaml:"groups"`
	Stores    map[string]Right    `yaml:"stores"`
	Sources   []string            `yaml:"sources"`
	Operators []string            `yaml:"operators"`
	Off       []string            `yaml:"off"`
	Limits    Limits              `yaml:"limits"`
}

// Right says who may read and write a store: users, "@group", or "*" for everybody
// who is known. Who may write may read.
type Right struct {
	Read  []string `yaml:"read"`
	Write []string `yaml:"write"`
}

// Limits bound each user.
type Limits struct {
	Requests int   `yaml:"requests"` // a minute
	Bytes    int64 `yaml:"bytes"`    // of replies, a minute
	Jobs     int   `yaml:"jobs"`     // under way, of stores of the user's own
	Stores   int   `yaml:"stores"`   // of the user's own
}

// What holds without a limit in the file.
var defaults = Limits{Requests: 600, Bytes: 64 << 20, Jobs: 2, Stores: 10}

// User is somebody who is known: by a token of the file, or by a login elsewhere,
// which may bring groups along.
type User struct {
	Name   string
	Groups []string
}

// Parse reads the text of a file of rights; path is for messages.
func Parse(path string, text []byte) (*Rights, error) {
	r := &Rights{Limits: defaults}
	if len(text) > maxBytes {
		return nil, kb.Errorf(kb.TooLarge, "the rights file %q has more than %d MiB", path, maxBytes>>20).WithHint("name groups in the place of users")
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	if err := dec.Decode(r); err != nil && !errors.Is(err, io.EOF) {
		return nil, kb.Errorf(kb.Invalid, "the rights file %q is not understood: %w", path, err).WithHint("docs/team.md has an example")
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, kb.Errorf(kb.Invalid, "the rights file %q holds more than one document", path).WithHint("remove the lines --- between them")
	}
	return r, r.check(path)
}

// check refuses what would never match, or would match more than is meant.
func (r *Rights) check(path string) error {
	wrong := func(format string, args ...any) error {
		return kb.Errorf(kb.Invalid, "the rights file %q: "+format, append([]any{path}, args...)...).WithHint("docs/team.md has an example")
	}
	who := func(at string, list []string) error {
		for _, w := range list {
			name, group := strings.CutPrefix(w, "@")
			switch {
			case w == "*":
			case group && len(r.Groups[name]) == 0 && !validName(name), !group && !validName(w):
				return wrong("%s names %q, which is neither a user, an @group, nor *", at, kb.Clip(w, 100))
			}
		}
		return nil
	}
	for name, list := range r.Groups {
		for _, w := range list {
			if !validName(w) {
				return wrong("group %q names %q, which is no user", name, kb.Clip(w, 100))
			}
		}
		if !validName(name) {
			return wrong("%q cannot name a group", kb.Clip(name, 100))
		}
	}
	for name, s := range r.Stores {
		if err := errors.Join(who("store "+name, s.Read), who("store "+name, s.Write)); err != nil {
			return err
		}
	}
	for _, s := range r.Sources {
		u, err := url.Parse(s)
		if err != nil || u.Scheme == "" || u.Scheme == "file" || u.Opaque == "" && (u.Host == "" || !strings.HasPrefix(u.Path, "/")) && !strings.HasSuffix(s, ":") {
			return wrong("%q is no source: it must be an address, or the beginning of one up to a slash, as https://github.com/acme/", kb.Clip(s, 200))
		}
	}
	if l := r.Limits; l.Requests < 1 || l.Bytes < 1 || l.Jobs < 0 || l.Stores < 0 {
		return wrong("limits must be above 0; jobs and stores may be 0")
	}
	return errors.Join(who("operators", r.Operators), who("off", r.Off))
}

// validName reports whether a text can name a user or a group: what a login may
// be called, in print, without signs that mean something here or in a log.
func validName(s string) bool {
	return s != "" && len(s) <= 200 && s[0] != '@' && s != "*" &&
		!strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"'\,;/`, r) })
}

// Known returns the user of that name, with the groups of the file beside those
// that the login brought; ok is false for a name that cannot be one, and for
// who is locked out.
func (r *Rights) Known(name string, groups []string) (u User, ok bool) {
	u = User{Name: name}
	for _, g := range groups {
		if validName(g) && len(u.Groups) < 500 {
			u.Groups = append(u.Groups, g)
		}
	}
	for g, list := range r.Groups {
		if slices.Contains(list, name) {
			u.Groups = append(u.Groups, g)
		}
	}
	return u, validName(name) && !r.named(r.Off, u)
}

func (r *Rights) named(list []string, u User) bool {
	return slices.ContainsFunc(list, func(w string) bool {
		group, ok := strings.CutPrefix(w, "@")
		return w == "*" || w == u.Name || ok && slices.Contains(u.Groups, group)
	})
}

// Reads reports whether a user may read what the machine calls so.
func (r *Rights) Reads(u User, store string) bool {
	s, ok := r.Stores[store]
	return ok && (r.named(s.Read, u) || r.named(s.Write, u))
}

// Writes reports whether a user may bring that store up to date.
func (r *Rights) Writes(u User, store string) bool {
	s, ok := r.Stores[store]
	return ok && r.named(s.Write, u)
}

// Operates reports whether a user may read the figures of the server.
func (r *Rights) Operates(u User) bool { return r.named(r.Operators, u) }
