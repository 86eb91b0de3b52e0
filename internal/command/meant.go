package command

import (
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// deeds are words that other programs have for what is done to a thing, each
// deed by one of them.
var deeds = map[string][]string{
	"delete": {"remove", "rm", "delete", "del", "drop", "destroy", "forget", "unregister", "erase"},
	"create": {"add", "new", "create", "make", "register", "clone"},
	"list":   {"list", "ls", "all"},
	"show":   {"show", "get", "view", "describe", "inspect", "info", "cat", "details", "status", "stat"},
	"stop":   {"stop", "kill", "cancel", "abort", "end", "terminate", "interrupt"},
	"update": {"update", "refresh", "pull", "fetch", "upgrade", "sync"},
	"index":  {"index", "reindex", "rebuild", "build"},
	"follow": {"follow", "wait", "watch", "tail", "attach", "log", "logs", "progress"},
	"check":  {"check", "validate", "lint", "test", "verify"},
	"find":   {"find", "search", "query", "lookup", "grep"},
	"call":   {"call", "run", "exec", "execute", "invoke"},
	"log":    {"log", "logs", "history"},
}

// doers are the commands that do these to the things of a group. What is not
// here is not guessed: a guess must not change more than was asked for.
var doers = map[string]map[string]string{
	"store": {"delete": "store:delete", "create": "store:create", "list": "stores", "show": "store:info", "update": "store:update",
		"index": "store:index", "find": "search", "check": "verify", "follow": "jobs"},
	"job":      {"list": "jobs", "show": "job:status", "follow": "job:status", "stop": "job:cancel", "delete": "job:cancel"},
	"api":      {"list": "apis", "delete": "api:remove", "create": "api:import", "show": "api:help", "check": "api:check", "call": "api:call", "log": "api:log"},
	"kdd":      {"list": "kdd:list", "show": "kdd:section", "check": "kdd:check", "find": "kdd:search"},
	"spec":     {"list": "kdd:list", "show": "kdd:section", "check": "kdd:check", "find": "kdd:search"},
	"answer":   {"delete": "answer:forget", "list": "answer:session", "show": "answer:session"},
	"feedback": {"create": "feedback:add", "list": "feedback:list", "show": "feedback:list"},
	"evidence": {"list": "evidence:findings", "show": "evidence:status"},
	"schedule": {"list": "schedules", "show": "schedules", "create": "store:schedule"},
	"client":   {"list": "clients", "show": "clients"},
	"resource": {"list": "resources", "show": "resource:read"},
	"command":  {"list": "commands", "show": "help"},
	"file":     {"list": "files", "show": "read", "find": "grep"},
	"repo":     {"show": "repo:state", "check": "repo:validate", "create": "store:create"},
	"code":     {"find": "code:symbols", "list": "code:symbols", "show": "code:definition"},
}

// meant are names of other programs that are no deed and thing.
var meant = map[string]string{
	"list": "commands", "store:sync": "stores:sync", "code:def": "code:definition", "code:refs": "code:references", "code:uses": "code:references", "code:usages": "code:references",
	"code:calls": "code:callees", "code:tree": "code:outline", "repo:status": "repo:state",
}

// Meant returns the command that a name of two words means in the words of
// other programs: job:stop, list_jobs and "stores remove". ok is false when
// there is none.
func Meant(name string) (c Command, ok bool) {
	name = strings.ReplaceAll(strings.ToLower(name), "_", ":")
	if to := meant[name]; to != "" {
		return lookup(to)
	}
	one, two, _ := strings.Cut(name, ":")
	for _, x := range [][2]string{{one, two}, {two, one}} {
		does := doers[strings.TrimSuffix(x[0], "s")]
		for deed, to := range does {
			if slices.Contains(deeds[deed], x[1]) {
				return lookup(to)
			}
		}
	}
	return Command{}, false
}

// Near returns the name, of those given, that a word was most likely meant to
// be; "" when none is near. Behind a group that there is, verbs are compared
// and not whole names, and what changes something must be nearer than the rest.
func Near(word string, names []string) string {
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
		if ok && likely(verb, rest, n) {
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
func likely(word, name, whole string) bool {
	if c, ok := lookup(whole); !ok || c.Effect == Reads {
		return true
	}
	if len(word) >= 4 && strings.HasPrefix(name, word) {
		return true
	}
	return len(word) <= 2*len(name) && kb.Distance(word, name) <= max(1, len(name)/4)
}
