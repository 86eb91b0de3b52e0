package gain

import (
	"context"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Room is the room. A session's log is its user's: agents cannot ask for it.
func Room() command.Room {
	return command.Room{Name: "gain", Commands: addGain}
}

type gainIn struct {
	Since string `json:"since,omitempty" default:"30d" help:"only sessions written to since then: 30d, 12h, 2w, 2026-11-01 (default 30d)"`
	Limit int    `json:"limit,omitempty" default:"10" help:"list at most this many sessions, the newest (default 10); all are counted"`
}

func addGain(t *command.Table) {
	const summary = "Count what search, grep and reading have cost in your sessions of Claude Code"
	c := t.Add("setup", command.New("gain", summary, command.Reads, run).Prints(printer.Of(printReport)),
		`{}`, `{"since":"7d","limit":50}`)
	c.Help = "Reads the client's own logs below $CLAUDE_CONFIG_DIR or ~/.claude, and nothing else: calls, tokens in " +
		"and out, what replies cost again as context, and what was left in the window, per project and session, with " +
		"the arithmetic. With --project, only sessions in that folder. Nothing is kept or sent, and no text of a " +
		"session is shown. docs/agents.md says what is counted."
}

func run(ctx context.Context, a *app.App, in gainIn) (Report, error) {
	since, err := sinceOf(in.Since, time.Now())
	if err != nil {
		return Report{}, err
	}
	if in.Limit < 0 {
		return Report{}, kb.Errorf(kb.Invalid, "limit is %d", in.Limit).WithHint("0 lists no session").About("limit")
	}
	folder, err := where(a)
	if err != nil {
		return Report{}, err
	}
	q := request{folder: folder, since: since, sessions: in.Limit}
	if p := a.Config.Project; p != "" {
		if !filepath.IsAbs(p) {
			p = filepath.Join(a.Config.Dir, p)
		}
		q.project = p
	}
	return Count(ctx, q)
}

// units are lengths of time that --since is written in.
var units = map[byte]time.Duration{'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour}

// sinceOf reads "30d" or a day.
func sinceOf(text string, now time.Time) (time.Time, error) {
	if t, err := time.ParseInLocation(time.DateOnly, text, now.Location()); err == nil {
		return t, nil
	}
	if text != "" {
		unit, known := units[text[len(text)-1]]
		n, err := strconv.Atoi(strings.TrimRight(text, "hdw"))
		if known && err == nil && n > 0 && n <= 10_000 {
			return now.Add(-time.Duration(n) * unit), nil
		}
	}
	return time.Time{}, kb.Errorf(kb.Invalid, "%q is no time to look back", kb.Clip(text, 40)).
		WithHint("the last week: knowledge gain --since 7d").About("since")
}
