package plugin

// moments are when the client asks `knowledge hook EVENT`. A matcher names
// sources of a session or tools; if keeps the client from starting the
// program for shell commands that look for nothing. A session that is resumed
// has the line already; one that is compacted has lost it.
var moments = []struct {
	event, matcher string
	only           []string
}{
	{"SessionStart", "startup|clear|compact", nil},
	{"PreToolUse", "Grep|Read", nil},
	{"PreToolUse", "Bash", []string{"Bash(grep *)", "Bash(rg *)", "Bash(git grep *)"}},
	{"SubagentStart", "", nil},
}

type hookFile struct {
	Description string               `json:"description"`
	Hooks       map[string][]matched `json:"hooks"`
}

type matched struct {
	Matcher string `json:"matcher,omitempty"`
	Hooks   []run  `json:"hooks"`
}

type run struct {
	Type    string `json:"type"`
	Command string `json:"command"`
	If      string `json:"if,omitempty"`
	Timeout int    `json:"timeout"` // seconds
}

// hooks renders hooks/hooks.json.
func hooks() []byte {
	f := hookFile{
		Description: "Tells agents what is indexed, and once per session when search would have spared greps; set hints to false to be without",
		Hooks:       map[string][]matched{},
	}
	for _, m := range moments {
		x := matched{Matcher: m.matcher}
		if m.only == nil {
			x.Hooks = []run{hookRun(m.event, "")}
		}
		for _, rule := range m.only {
			x.Hooks = append(x.Hooks, hookRun(m.event, rule))
		}
		f.Hooks[m.event] = append(f.Hooks[m.event], x)
	}
	return indent(f)
}

// hookRun returns what runs for an event. The client hands the line to a
// POSIX shell, on Windows to Git's bash or, where there is none, to
// PowerShell, and both must read it. To a POSIX shell the backslash keeps the
// quotation open: it tests a string, and then runs the script. To PowerShell,
// in which a backslash is a letter, the quotation ends there: it misses a
// command "test", runs knowledge.cmd, and leaves. The status is 0 whatever
// becomes of it, since 2, which a crash would give, blocks the tool.
func hookRun(event, rule string) run {
	const at = "${CLAUDE_PLUGIN_ROOT}/bin/knowledge"
	return run{"command", `test "\"; & ` + at + `.cmd hook ` + event + `; exit 0 #"; "` + at + `" hook ` + event + `; exit 0`, rule, 5}
}
