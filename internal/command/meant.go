package command

import (
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Spoken is how other programs call what ours do.
type Spoken struct {
	Deeds map[string][]string          // words for what is done to a thing, each deed by one of them
	Doers map[string]map[string]string // by group, the commands that do these to its things
	Meant map[string]string            // names that are no deed and thing
}

// Meant returns the command that a name of two words means in the words of
// other programs: job:stop, list_jobs and "stores remove". ok is false when
// there is none.
func (t *Table) Meant(name string) (c Command, ok bool) {
	name = strings.ReplaceAll(strings.ToLower(name), "_", ":")
	if to := t.words.Meant[name]; to != "" {
		return t.Lookup(to)
	}
	one, two, _ := strings.Cut(name, ":")
	for _, x := range [][2]string{{one, two}, {two, one}} {
		does := t.words.Doers[strings.TrimSuffix(x[0], "s")]
		for deed, to := range does {
			if slices.Contains(t.words.Deeds[deed], x[1]) {
				return t.Lookup(to)
			}
		}
	}
	return Command{}, false
}

// Near returns the name, of those given, that a word was most likely meant to
// be; "" when none is near. Behind a group that there is, verbs are compared
// and not whole names, and what changes something must be nearer than the rest.
func (t *Table) Near(word string, names []string) string {
	word = strings.ToLower(word)
	prefix, verb := "", word
	if group, after, ok := strings.Cut(word, ":"); ok {
		prefix, verb = group+":", after
		if !slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, prefix) }) {
			prefix, verb = "", word
		}
	}
	var near []string
	for _, n := range names {
		rest, ok := strings.CutPrefix(n, prefix)
		if ok && t.likely(verb, rest, n) {
			near = append(near, rest)
		}
	}
	if n := kb.Nearest(verb, near); n != "" {
		return prefix + n
	}
	return ""
}

// likely reports whether a word may be a slip for a name: where the command
// changes something, one of a letter, two in a long word, or its beginning.
func (t *Table) likely(word, name, whole string) bool {
	if c, ok := t.Lookup(whole); !ok || c.Effect == Reads {
		return true
	}
	if len(word) >= 4 && strings.HasPrefix(name, word) {
		return true
	}
	return len(word) <= 2*len(name) && kb.Distance(word, name) <= max(1, len(name)/4)
}
