package command

import "strings"

// Reach is what a command that agents may run does beyond reading stores and
// the files of the project. Empty fields are for what it does not do.
type Reach struct {
	Project  string // what it writes in the project's folder
	Data     string // what it writes in the data directory
	Deletes  string
	Programs string // which programs it may start, beside this one's own workers
}

const (
	ownIndex    = "the index of the own folder, which is brought up to date first"
	fetchers    = "the installed git, where ours does not get through, and its credential helpers; Chrome or Chromium for pages that only scripts fill"
	gitPrograms = "the installed git, where ours does not get through, and its credential helpers"
	askGit      = "the installed git, unless it lies in the project, without the repository's hooks and filters"
	openspec    = "openspec, if it lies outside the project or a person has vouched for the file"
)

// reaches has a row for every command of agents that does more than read. A
// test holds it against the table of commands.
var reaches = map[string]Reach{
	"search":           {Data: ownIndex},
	"get_full_context": {Data: ownIndex},
	"read":             {Data: ownIndex},
	"files":            {Data: ownIndex},
	"grep":             {Data: ownIndex},
	"code:callees":     {Data: ownIndex}, "code:callers": {Data: ownIndex}, "code:definition": {Data: ownIndex},
	"code:outline": {Data: ownIndex}, "code:references": {Data: ownIndex}, "code:symbols": {Data: ownIndex},
	"kdd:check": {Data: ownIndex}, "kdd:context": {Data: ownIndex}, "kdd:find": {Data: ownIndex}, "kdd:graph": {Data: ownIndex}, "kdd:impact": {Data: ownIndex},
	"kdd:list": {Data: ownIndex}, "kdd:related": {Data: ownIndex}, "kdd:search": {Data: ownIndex}, "kdd:section": {Data: ownIndex}, "kdd:stats": {Data: ownIndex},
	"answer:ask": {Data: ownIndex},

	"store:create":    {Project: "`.knowledge/stores.json`, with save or where it exists", Data: "a store and its index", Programs: fetchers},
	"store:index":     {Data: "a new generation of a store", Programs: fetchers},
	"store:update":    {Data: "new generations of stores", Programs: fetchers},
	"stores:sync":     {Data: "stores and their indexes", Deletes: "with prune, stores that are defined no more", Programs: fetchers},
	"stores:defaults": {Data: "with add, stores and their indexes", Programs: gitPrograms},
	"suggest":         {Project: "with save, `.knowledge/stores.json`", Data: "with add, stores and their indexes; what registries answered", Programs: gitPrograms},
	"store:schedule":  {Data: "when a store is brought up to date"},
	"store:delete":    {Deletes: "a store's name here, and its index when nobody else uses it; with everywhere, for all who do"},
	"uninstall":       {Deletes: "every store of this project; with keepDefinitions false, its `.knowledge/stores.json`"},
	"job:cancel":      {Data: "the state of a job"},

	"api:call": {Data: "a line in the log of calls; with save, the reply"},

	"answer:forget": {Deletes: "a conversation, which is in memory"},
	"feedback:add":  {Data: "a rating"},

	"repo:state": {Programs: askGit}, "repo:context": {Programs: askGit + "; " + openspec}, "repo:validate": {Programs: askGit + "; " + openspec},
	"repo:sync-plan": {Programs: askGit}, "repo:cleanup-plan": {Programs: askGit}, "gate:check": {Programs: askGit},
	"sdd:status":  {Programs: askGit + "; " + openspec},
	"sdd:open":    {Project: "keys `pumuki.sdd.session.*` in `.git/config`", Programs: askGit + "; " + openspec},
	"sdd:refresh": {Project: "keys `pumuki.sdd.session.*` in `.git/config`", Programs: askGit + "; " + openspec},
	"sdd:close":   {Project: "keys `pumuki.sdd.session.*` in `.git/config`", Programs: askGit + "; " + openspec},

	"doctor":   {Programs: askGit},
	"selftest": {Data: "files of its own, in a temporary folder that it removes"},
}

// Reach returns what a command of agents does beyond reading.
func (c Command) Reach() Reach { return reaches[c.Name] }

// Class names what a command of agents does, in a few words.
func (c Command) Class() string {
	r := c.Reach()
	out := []string{"reads"}
	for _, x := range []struct {
		does bool
		word string
	}{
		{r.Project != "", "writes project files"}, {r.Data != "", "writes the data directory"}, {c.Network != NoNetwork, "network"},
		{r.Programs != "", "runs programs"}, {r.Deletes != "", "deletes"},
	} {
		if x.does {
			out = append(out, x.word)
		}
	}
	return strings.Join(out, ", ")
}
