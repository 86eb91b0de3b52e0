package gain

import (
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/gain/sessionlog"
	"github.com/seed-4f2d999b/knowledge/internal/platform/shell"
)

// kind is what a call was for.
type kind int

// The kinds, in the order of reports. A shell's line that starts programs of
// several goes by the first of these.
const (
	ours kind = iota // this product, "search" in reports
	grep
	read
	list
	other
	kinds // how many there are
)

var kindNames = [kinds]string{"search", "grep", "read", "list", "other"}

// programs are those of a shell that are looked at, by their names.
var programs = map[string]kind{
	"knowledge": ours, "grep": grep, "egrep": grep, "fgrep": grep, "rg": grep, "ag": grep, "ack": grep,
	"cat": read, "head": read, "tail": read, "nl": read, "less": read, "more": read, "bat": read, "sed": read, "awk": read,
	"find": list, "fd": list, "ls": list, "tree": list, "wc": list, "stat": list, "file": list,
}

// glue are programs of a shell that look at nothing themselves.
var glue = []string{"", "cd", "pushd", "popd", "pwd", "echo", "printf", "true", "false", "test", "[", "[[",
	"export", "set", "for", "done", "fi", "esac"}

// tool is a call as it is counted: its kind, and the name that reports show.
type tool struct {
	kind   kind
	name   string
	search bool // asks the product for places
	span   span // what a read is of
}

// span is a range of lines of a file, to 0 for its end; path "" for none.
type span struct {
	path     string
	from, to int
}

// toolOf says what a call is for.
func toolOf(c sessionlog.Call) tool {
	switch c.Name {
	case "Grep":
		return tool{kind: grep, name: c.Name}
	case "Glob", "LS":
		return tool{kind: list, name: c.Name}
	case "Read", "NotebookRead":
		return tool{kind: read, name: c.Name, span: readSpan(c.Input)}
	case "Bash", "PowerShell":
		var in struct {
			Command string `json:"command"`
		}
		_ = json.Unmarshal(c.Input, &in) // of another form: no program
		return shellTool(c.Name, in.Command)
	}
	if rest, ok := strings.CutPrefix(c.Name, "mcp__"); ok {
		server, name, _ := strings.Cut(rest, "__")
		if server == "knowledge" || strings.HasSuffix(server, "_knowledge") {
			return tool{kind: ours, name: name, search: name == "search"}
		}
	}
	return tool{kind: other, name: "other tools"}
}

// readSpan reads the arguments of Read: offset is the first line, limit how
// many there are.
func readSpan(input json.RawMessage) span {
	var in struct {
		FilePath string  `json:"file_path"`
		Offset   float64 `json:"offset"`
		Limit    float64 `json:"limit"`
	}
	if json.Unmarshal(input, &in) != nil {
		return span{}
	}
	s := span{path: slashed(in.FilePath), from: max(1, int(in.Offset))}
	if in.Limit > 0 {
		s.to = s.from + int(in.Limit) - 1
	}
	return s
}

// shellTool goes by the programs that a line starts. What only reads what another
// program prints is passed over, and so is what prints into a file; a line that
// starts anything else besides is no look, since nobody can say whose its reply is.
func shellTool(name, line string) tool {
	best := tool{kind: other, name: name + ", other programs"}
	mixed := false
	for _, c := range shell.Commands(line) {
		program, args, piped := c.Program()
		program = strings.TrimSuffix(program, ".exe")
		if piped || slices.Contains(glue, program) {
			continue
		}
		k, looks := programs[program]
		if program == "git" && len(args) > 0 && (args[0] == "grep" || args[0] == "ls-files") {
			k, looks = map[string]kind{"grep": grep, "ls-files": list}[args[0]], true
			program += " " + args[0]
		}
		if !looks || c.File || program == "sed" && slices.ContainsFunc(args, inPlace) {
			mixed = true
			continue
		}
		if k >= best.kind {
			continue
		}
		best = tool{kind: k, name: name + " " + program}
		switch k {
		case ours:
			best.search = len(args) > 0 && args[0] == "search"
		case read:
			best.span = shellSpan(program, args)
		}
	}
	if mixed && best.kind != other {
		return tool{kind: other, name: name + ", a look among others"}
	}
	return best
}

func inPlace(flag string) bool { return strings.HasPrefix(flag, "-i") || flag == "--in-place" }

// shellSpan reads "sed -n 3,9p FILE" and "cat FILE"; other forms have no span.
func shellSpan(program string, args []string) span {
	var rest []string
	for _, a := range args {
		if !strings.HasPrefix(a, "-") {
			rest = append(rest, a)
		}
	}
	switch {
	case program == "sed" && len(rest) == 2:
		from, to, two := strings.Cut(strings.TrimSuffix(rest[0], "p"), ",")
		a, err := strconv.Atoi(from)
		b := a
		if two {
			b, _ = strconv.Atoi(to) // "$" is the end
		}
		if err == nil {
			return span{path: slashed(rest[1]), from: a, to: b}
		}
	case (program == "cat" || program == "nl") && len(rest) == 1:
		return span{path: slashed(rest[0]), from: 1}
	}
	return span{}
}

// slashed writes a path as replies write theirs.
func slashed(p string) string {
	if p == "" {
		return ""
	}
	return path.Clean(strings.ReplaceAll(p, `\`, "/"))
}

// maxPath is how far before a colon a path is looked for, in bytes.
const maxPath = 300

// named returns the places that a reply of the product names, at most most of
// them: "path:12-40", "path:L12-40".
func named(text string, most int) []span {
	var out []span
	for at := 0; len(out) < most; {
		i := strings.IndexByte(text[at:], ':')
		if i < 0 {
			break
		}
		at += i + 1
		file := text[max(0, at-maxPath) : at-1]
		file = file[strings.LastIndexAny(file, " \t\n\"'`(),[]{}<>=")+1:]
		rest := strings.TrimPrefix(text[at:], "L")
		from, rest := number(rest)
		if file == "" || from == 0 {
			continue
		}
		s := span{path: file, from: from, to: from}
		if strings.HasPrefix(rest, "-") {
			if to, _ := number(strings.TrimPrefix(rest[1:], "L")); to >= from {
				s.to = to
			}
		}
		out = append(out, s)
	}
	return out
}

// number reads the digits that a text begins with.
func number(s string) (n int, rest string) {
	i := 0
	for ; i < len(s) && i < 9 && s[i] >= '0' && s[i] <= '9'; i++ {
		n = n*10 + int(s[i]-'0')
	}
	return n, s[i:]
}

// within reports whether a read meets one of the places.
func within(s span, places []span) bool {
	return s.path != "" && slices.ContainsFunc(places, func(p span) bool {
		same := s.path == p.path || strings.HasSuffix(s.path, "/"+p.path) || strings.HasSuffix(p.path, "/"+s.path)
		return same && s.from <= p.to && (s.to == 0 || p.from <= s.to)
	})
}
