// Package product is the whole program without a face: the middle, the rooms of
// its features and the table of their commands. A new feature is a row of Rooms.
package product

import (
	"sync"

	"github.com/seed-4f2d999b/knowledge/internal/answers"
	"github.com/seed-4f2d999b/knowledge/internal/apis"
	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/care"
	"github.com/seed-4f2d999b/knowledge/internal/code"
	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/elsewhere"
	"github.com/seed-4f2d999b/knowledge/internal/find"
	"github.com/seed-4f2d999b/knowledge/internal/follow"
	"github.com/seed-4f2d999b/knowledge/internal/gain"
	"github.com/seed-4f2d999b/knowledge/internal/governance"
	"github.com/seed-4f2d999b/knowledge/internal/history"
	"github.com/seed-4f2d999b/knowledge/internal/impact"
	"github.com/seed-4f2d999b/knowledge/internal/install"
	"github.com/seed-4f2d999b/knowledge/internal/publish"
	"github.com/seed-4f2d999b/knowledge/internal/revisions"
	"github.com/seed-4f2d999b/knowledge/internal/shared"
	"github.com/seed-4f2d999b/knowledge/internal/specs"
	"github.com/seed-4f2d999b/knowledge/internal/stores"
	"github.com/seed-4f2d999b/knowledge/internal/team"
	"github.com/seed-4f2d999b/knowledge/internal/traces"
	"github.com/seed-4f2d999b/knowledge/internal/upgrade"
	"github.com/seed-4f2d999b/knowledge/internal/web"
)

// Rooms returns the features of the program.
func Rooms() []command.Room {
	return []command.Room{
		find.Room(), stores.Room(), code.Room(), web.Room(), specs.Room(), answers.Room(),
		apis.Room(), governance.Room(), follow.Room(), care.Room(), publish.Room(), install.Room(), gain.Room(), history.Room(), team.Room(), shared.Room(), upgrade.Room(), impact.Room(), traces.Room(), elsewhere.Room(), revisions.Room(),
	}
}

var table = sync.OnceValue(func() *command.Table { return command.NewTable(Rooms(), Spoken()) })

// Commands returns the one table of commands.
func Commands() *command.Table { return table() }

// ForMembers returns a table of the commands that the users of a server for
// several may run: what reads and writes stores, and nothing about this machine,
// its folders, what its owner vouches for, or what others have asked.
func ForMembers() *command.Table {
	return command.NewTable(Rooms(), Spoken()).Only("search", "get_full_context", "read", "files", "grep",
		"code:callees", "code:callers", "code:definition", "code:files", "code:outline", "code:references", "code:symbols",
		"kdd:context", "kdd:find", "kdd:impact", "kdd:list", "kdd:related", "kdd:search", "kdd:section", "kdd:stats",
		"ask", "answer:ask", "stores", "store:info", "store:pages", "store:create", "store:index", "store:rename", "store:delete",
		"jobs", "job:status", "job:cancel", "execute", "help", "commands")
}

// New returns an App with every room; see app.New.
func New(cfg app.Config) (*app.App, error) {
	for _, r := range Rooms() {
		cfg.Rooms = append(cfg.Rooms, r.App)
	}
	return app.New(cfg)
}
