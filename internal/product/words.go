package product

import "github.com/seed-4f2d999b/knowledge/internal/command"

// Spoken returns the words of other programs for what ours do.
func Spoken() command.Spoken { return command.Spoken{Deeds: deeds, Doers: doers, Meant: meant} }

// deeds are words that other programs have for what is done to a thing, each
// deed by one of them.
var deeds = map[string][]string{
	"rename": {"rename", "mv", "move"},
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
	"store": {"rename": "store:rename", "delete": "store:delete", "create": "store:create", "list": "stores", "show": "store:info", "update": "store:update",
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
