package stores

import "github.com/seed-4f2d999b/knowledge/internal/command"

// Room is the room.
func Room() command.Room {
	return command.Room{
		Name: "stores", Commands: addStores,
		People: map[string]command.Wording{
			"store:create": {
				Help: "Without NAME and --type both follow from the source: a URL is a repository, npm: and go: are packages, a path is a folder, a repository, or an archive where it ends in .zip or begins with zip:. " +
					"--type web makes a URL a site, which is crawled: its llms.txt and sitemap first, then links, within the host and what --include and --exclude leave. " +
					"At most one of --branch, --tag and --commit. --save, or a file .knowledge/stores.json that exists, keeps the store in the project's definitions, for \"knowledge sync\". " +
					"Ctrl-C stops the indexing; \"knowledge jobs\" tells how far it is. " +
					"Of an npm package README, guides and type declarations are indexed, of a Go module also its sources.",
			},
		},
		Reaches: map[string]command.Reach{
			"store:create": {Project: "`.knowledge/stores.json`, with save or where it exists", Data: "a store and its index", Programs: command.Fetchers},
			"store:index":  {Data: "a new generation of a store", Programs: command.Fetchers},
			"store:rename": {Project: "`.knowledge/stores.json`, where it defines the store", Data: "a store's name here"},
			"store:delete": {Deletes: "a store's name here, and its index when nobody else uses it; with everywhere, for all who do"},
			"job:cancel":   {Data: "the state of a job"},
		},
	}
}
