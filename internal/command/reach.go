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

// Class names what a command of agents does, in a few words.
func (c Command) Class() string {
	r := c.Reach
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

// What several commands do beyond reading.
const (
	OwnIndex    = "the index of the own folder, which is brought up to date first"
	Fetchers    = "the installed git, where ours does not get through, and its credential helpers; Chrome or Chromium for pages that only scripts fill"
	GitPrograms = "the installed git, where ours does not get through, and its credential helpers"
	AskGit      = "the installed git, unless it lies in the project, without the repository's hooks and filters"
)
