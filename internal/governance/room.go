package governance

import "github.com/seed-4f2d999b/knowledge/internal/command"

// Room is the room.
func Room() command.Room {
	return command.Room{
		Name: "governance", App: hooks(), Commands: addCommands, Resources: evidenceResources,
		Reaches: map[string]command.Reach{
			"repo:state":        {Programs: command.AskGit},
			"repo:context":      {Programs: command.AskGit + "; " + openspec},
			"repo:validate":     {Programs: command.AskGit + "; " + openspec},
			"repo:sync-plan":    {Programs: command.AskGit},
			"repo:cleanup-plan": {Programs: command.AskGit},
			"gate:check":        {Programs: command.AskGit},
			"sdd:status":        {Programs: command.AskGit + "; " + openspec},
			"sdd:open":          {Project: "keys `pumuki.sdd.session.*` in `.git/config`", Programs: command.AskGit + "; " + openspec},
			"sdd:refresh":       {Project: "keys `pumuki.sdd.session.*` in `.git/config`", Programs: command.AskGit + "; " + openspec},
			"sdd:close":         {Project: "keys `pumuki.sdd.session.*` in `.git/config`", Programs: command.AskGit + "; " + openspec},
		},
	}
}

const openspec = "openspec, if it lies outside the project or a person has vouched for the file"
