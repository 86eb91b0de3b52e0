package command

import "github.com/seed-4f2d999b/knowledge/internal/app"

// GovernanceRoom is the room.
func GovernanceRoom() Room {
	return Room{
		Name: "governance", App: app.GovernanceHooks(), Commands: addEvidence, Resources: evidenceResources,
		Reaches: map[string]Reach{
			"repo:state":        {Programs: AskGit},
			"repo:context":      {Programs: AskGit + "; " + openspec},
			"repo:validate":     {Programs: AskGit + "; " + openspec},
			"repo:sync-plan":    {Programs: AskGit},
			"repo:cleanup-plan": {Programs: AskGit},
			"gate:check":        {Programs: AskGit},
			"sdd:status":        {Programs: AskGit + "; " + openspec},
			"sdd:open":          {Project: "keys `pumuki.sdd.session.*` in `.git/config`", Programs: AskGit + "; " + openspec},
			"sdd:refresh":       {Project: "keys `pumuki.sdd.session.*` in `.git/config`", Programs: AskGit + "; " + openspec},
			"sdd:close":         {Project: "keys `pumuki.sdd.session.*` in `.git/config`", Programs: AskGit + "; " + openspec},
		},
	}
}

const openspec = "openspec, if it lies outside the project or a person has vouched for the file"
