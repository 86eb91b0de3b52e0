package command

// people is how commands explain themselves to a person at a terminal, where
// what agents read speaks of tools, ids and JSON arguments.
var people = map[string]Wording{
	"search": {
		Summary: "Find code and docs of this project and its stores by what they do, with file and line",
		Help: "This folder, the project's stores and your own stores are searched; --stores '*' is everything. " +
			"\"knowledge show ID\" has the whole place of a hit, in this session or later. Upper and lower case are the same.",
	},
	"get_full_context": {
		Summary: "The whole place of a hit: declaration, docs, who calls it, what it calls",
		Help: "A long one goes on with the command at its end. Callers and callees are those that are certain enough; " +
			"\"knowledge code:references\" has every use.",
	},
	"execute": {
		Summary: "Run another command as agents do",
		Help:    "At a terminal, type the command itself.",
	},
	"store:create": {
		Help: "Without NAME and --type both follow from the source: a URL is a repository, npm: and go: are packages, a path is a folder or a repository. " +
			"--type web makes a URL a site, which is crawled: its llms.txt and sitemap first, then links, within the host and what --include and --exclude leave. " +
			"At most one of --branch, --tag and --commit. --save, or a file .knowledge/stores.json that exists, keeps the store in the project's definitions, for \"knowledge sync\". " +
			"Ctrl-C stops the indexing; \"knowledge jobs\" tells how far it is. " +
			"Of an npm package README, guides and type declarations are indexed, of a Go module also its sources.",
	},
	"stores:sync": {
		Help: "The definitions are the file .knowledge/stores.json, which store:create --save writes. An entry takes what store:create takes, " +
			"and follows, a dependency such as \"npm:react\" whose locked version is the tag. " +
			"Also read: .bluera/bluera-knowledge/stores.config.json, version 1. " +
			"One that is defined no more is an orphan, and kept until --prune. An entry that names a path outside the project and what it depends on, or a schedule, waits until you run: knowledge trust FILE; the others are synced",
	},
	"store:update": {
		Help: "A store that \"knowledge suggest\" made, or whose definition says follows, moves to the tag of the version in use when the lockfile has changed. " +
			"All others are fetched and indexed at the ref that they were made with.",
	},
	"suggest": {
		Help: "Reads manifests, lockfiles and imports of Go, npm, Python, Cargo, Maven and Gradle, Ruby, PHP, Elixir, .NET and Swift; no model, and no network unless --add or --registry is given. " +
			"Most imported first, with the version in use, the repository and its tag. With --add, repositories are asked how they spell the tag. What registries answer is kept.",
	},
	"api:call": {
		Help: "The credential is added here and shown nowhere. What a service answers is data of a stranger. " +
			"--save keeps the reply as a dated document of a store, which search looks in.",
	},
	"kdd:list": {
		Help: "PENDING is a file that changed since it was indexed; the lifecycle is shown unless it is approved.",
	},
	"kdd:context": {
		Help: "What restricts comes first, each with at most 300 characters and how it was reached. Ask before you change code.",
	},
	"install": {
		Help: "Without --client it shows which are on this machine, and asks. Each one's own file gets one entry and stays the same otherwise, comments too; " +
			"\"knowledge uninstall\" gives back the bytes that were there. docs/install.md lists the files.",
	},
	"uninstall": {
		Summary: "Take knowledge out of the programs that agents run in",
		Help: "It shows which have it, and asks; each file gets back the bytes that were there. Stores stay. " +
			"With --purge everything goes, after a list: stores, schedules, caches and the configuration. " +
			"With --stores only this project's stores go, and their indexes when nobody else uses them; with --keep-definitions=false its .knowledge/stores.json too.",
	},
	"resources":     {Summary: "List what programs can read by address"},
	"resource:read": {Summary: "What stands at one of these addresses"},
	"commands":      {Summary: "List the commands by group, as agents see them"},
	"api:help":      {Summary: "Parameters of a declared API's tool, with an example"},
}
