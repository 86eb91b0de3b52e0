package rank

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
)

// Frame is a place that a stack trace, a log or a message names.
type Frame struct {
	Path   string // as it is written, with slashes
	Line   int    // 0 where the text has none
	Symbol string // the name of the function around the line, without what encloses it
}

// frameRow is how one language prints a frame: a pattern of a line with the
// groups path, line and sym, any of which may be missing.
type frameRow struct {
	language string
	has      string // a part of every such line; it keeps the pattern from most others
	line     lazyregexp.Regexp
	before   *lazyregexp.Regexp // of the line above, where that has the symbol
	last     bool               // the innermost frame is the last one
	packaged bool               // the symbol has the folders of the file
	keep     bool               // the line is more than a frame: its words stay in the query
}

func row(language, has, expr string) frameRow {
	return frameRow{language: language, has: has, line: lazyregexp.New(expr)}
}

func (r frameRow) above(expr string) frameRow { e := lazyregexp.New(expr); r.before = &e; return r }
func (r frameRow) innermostLast() frameRow    { r.last = true; return r }
func (r frameRow) inPackage() frameRow        { r.packaged = true; return r }
func (r frameRow) kept() frameRow             { r.keep = true; return r }

// file is the pattern of a path with an extension, after a scheme or a drive.
const file = `(?:file://|webpack://|node:)?(?P<path>(?:[A-Za-z]:)?[^\s():"'<>,]+)`

// frameRows are tried in their order; the first that fits a line counts.
var frameRows = []frameRow{
	row("python", `File "`, `^\s*File "(?P<path>[^"]+)", line (?P<line>\d+)(?:, in (?P<sym>\S+))?`).innermostLast(),
	row("python, as pytest shows it", ".py:",
		`^(?P<path>(?:[A-Za-z]:)?[^\s:()"']+\.py):(?P<line>\d+): (?:in (?P<sym>\S+)|[A-Z]\w*(?:\.\w+)*)?\s*$`).innermostLast(),
	row("java, kotlin, scala", "at ", `^\s*at (?:[\w.@$-]*/)*(?P<sym>[\w.$<>-]+)\((?P<path>[\w$-]+\.\w+):(?P<line>\d+)\)`).inPackage(),
	row("java, kotlin, scala", "at ", `^\s*at (?:[\w.@$-]*/)*[\w.$<>-]+\((?:Native Method|Unknown Source)\)`),
	row("rust", ".rs:", `^\s+at `+file+`:(?P<line>\d+)`).above(`^\s*\d+:\s+(?:0x[0-9a-f]+ - )?(?P<sym>\S.*)`),
	row("csharp", "at ", `^\s*at (?P<sym>[^\s(]+)\([^()]*\) in (?P<path>.+?):line (?P<line>\d+)`),
	row("javascript, typescript", "at ",
		`^\s*at (?:(?:async |new )*(?P<sym>[^(]+?)(?: \[as [^\]]+\])? \()?`+file+`:(?P<line>\d+):\d+\)?`),
	row("javascript, typescript", "at ", `^\s*at (?:(?:async |new )*[^\s(]+ \()?(?:<anonymous>|native|internal)\)?$`),
	row("csharp", "at ", `^\s+at (?P<sym>[A-Z][\w.+<>\x60|\[\]]+)\([^()]*\)\s*$`).inPackage(),
	row("go", ".go:", `^\s+`+file+`:(?P<line>\d+)(?: \+0x[0-9a-f]+)?`).above(`^(?:created by )?(?P<sym>\S+?)(?:\([^()]*\))?(?: in goroutine \d+)?$`),
	row("ruby", ":in ", `(?:^|\s)`+file+`:(?P<line>\d+):in [\x60'](?P<sym>[^']+)'`),
	row("php", "#", `^\s*#\d+ (?P<path>[^()\s]+)\((?P<line>\d+)\)(?:: .*)?`),
	row("php", " line ", `(?:thrown )?in (?P<path>\S+) on line (?P<line>\d+)`),
	row("php", ".php:", `\bin (?P<path>\S+\.php):(?P<line>\d+)`),
	row("elixir, erlang", ") ", `^\s*\(\w+ [\d.]+[^)]*\) `+file+`:(?P<line>\d+): (?P<sym>\S+)`),
	row("c, c++, swift", "#", `^\s*#\d+\s+(?:0x[0-9a-f]+ in )?(?P<sym>[^\s(]+) ?(?:\(.*\) at |\(.*\) |)(?P<path>[^\s():]+\.\w+):(?P<line>\d+)`),
	row("c, c++, swift", "#", `^\s*#\d+\s+(?:0x[0-9a-f]+ in )?[^\s(]+ ?\(.*\)(?: from \S+)?\s*$`),
	row("lua", "in ", `^\s*`+file+`:(?P<line>\d+): in (?:(?:function|method|upvalue|local|field|main) )?[<'\x60]?(?P<sym>[\w.:]+)`),
	row("zig", ": 0x", `^\s*`+file+`:(?P<line>\d+):\d+: 0x[0-9a-f]+ in (?P<sym>\S+)(?: \(.*\))?`),
	row("haskell", "called at ", `^\s*\S+, called at (?P<path>\S+?):(?P<line>\d+):\d+ in \S+`),
	row("bash", "called at ", `^\s*\S+ called at (?P<path>\S+?):(?P<line>\d+) in (?P<sym>\S+)`),
	row("bash", ": line ", `^(?P<path>\S+): line (?P<line>\d+):`),
	row("swift", ": file ", `: file (?P<path>\S+), line (?P<line>\d+)`),
	row("perl", " line ", ` at (?P<path>\S+) line (?P<line>\d+)\.?`),
	row("a link", "#lines-", `(?P<path>[\w./@+-]+\.\w+)#lines-(?P<line>\d+)(?::\d+)?`).kept(),
	row("a link", "#L", `(?P<path>[\w./@+-]+\.\w+)#L(?P<line>\d+)(?:-L?\d+)?`).kept(),
	row("a link", "://", `https?://[\w.-]+/\S*?/(?:blob|raw|src|tree|main|master)/(?P<path>[\w./@+-]+\.[A-Za-z]\w{0,9})(?:[?#\s)>\]]|$)`).kept(),
	row("any", " line ", `(?:^|[\s(])(?P<path>(?:[\w.@+~-]+/)*[\w@+~-][\w.@+~-]*\.[A-Za-z]\w{0,9}),? line (?P<line>\d+)\b`).kept(),
	row("any", ":", `(?P<path>(?:[A-Za-z]:[\\/])?[\w./\\@+~$-]*\w\.[A-Za-z]\w{0,9}):L?(?P<line>\d+)(?:[:-]L?\d+)*`).kept(),
}

// Frames returns the places that a text names, the innermost of a trace first
// and each once, and the text without the lines that are frames alone.
func Frames(text string) (frames []Frame, rest string) {
	if !strings.ContainsAny(text, ":#(\"") && !strings.Contains(text, " line ") {
		return nil, text
	}
	var b strings.Builder
	var blocks [][]Frame // of exceptions, each the cause of the one before
	var block, reversed []Frame
	end := func() {
		slices.Reverse(reversed)
		block = append(block, reversed...)
		reversed = nil
	}
	var above string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if strings.HasPrefix(strings.TrimSpace(line), "Caused by:") {
			end()
			blocks, block = append(blocks, block), nil
		}
		f, r, at := frameOf(line, above)
		above = line
		if r == nil {
			b.WriteString(line + "\n")
			continue
		}
		if f.Path != "" && r.last {
			reversed = append(reversed, f)
		} else if f.Path != "" {
			end()
			block = append(block, f)
		}
		if r.keep {
			b.WriteString(line)
		} else if left := line[:at[0]] + " " + line[at[1]:]; strings.TrimSpace(left) != "" {
			b.WriteString(left)
		}
		b.WriteByte('\n')
	}
	end()
	blocks = append(blocks, block)
	seen := map[Frame]bool{}
	for _, bl := range slices.Backward(blocks) {
		for _, f := range bl {
			if k := (Frame{Path: f.Path, Line: f.Line}); !seen[k] {
				seen[k] = true
				frames = append(frames, f)
			}
		}
	}
	return frames, b.String()
}

// frameOf reads a line as a frame; the row is nil for any other line.
func frameOf(line, above string) (f Frame, r *frameRow, at []int) {
	if len(line) > 2000 {
		return f, nil, nil
	}
	for i := range frameRows {
		r := &frameRows[i]
		if !strings.Contains(line, r.has) {
			continue
		}
		m := r.line.FindStringSubmatchIndex(line)
		if m == nil {
			continue
		}
		group := func(e *lazyregexp.Regexp, m []int, in, name string) string {
			if k := e.Regexp().SubexpIndex(name); k >= 0 && m[2*k] >= 0 {
				return in[m[2*k]:m[2*k+1]]
			}
			return ""
		}
		sym := group(&r.line, m, line, "sym")
		if r.before != nil {
			if a := r.before.FindStringSubmatchIndex(above); a != nil {
				sym = group(r.before, a, above, "sym")
			}
		}
		f.Path = strings.ReplaceAll(group(&r.line, m, line, "path"), `\`, "/")
		f.Line, _ = strconv.Atoi(group(&r.line, m, line, "line"))
		f.Symbol = lastName(sym)
		if names := strings.FieldsFunc(sym, func(c rune) bool { return c == '.' }); r.packaged && len(names) > 1 {
			if f.Path == "" { // the file of the class, which the line does not name
				f.Path = names[len(names)-2] + ".cs"
			}
			f.Path = path.Join(append(names[:len(names)-2:len(names)-2], f.Path)...)
		}
		return f, r, m
	}
	return f, nil, nil
}

// lastName is the name of the function that a symbol of a trace means: the
// last name in it that the source has.
func lastName(sym string) string {
	if _, fn, ok := strings.Cut(sym, " in "); ok { // block in Foo#bar
		sym = fn
	}
	if i := strings.LastIndexByte(sym, 0x2f); i >= 0 { // Plug.call/2, github.com/spf13/cobra.Execute
		if _, err := strconv.Atoi(sym[i+1:]); err == nil {
			sym = sym[:i]
		} else {
			sym = sym[i+1:]
		}
	}
	if i := strings.LastIndexByte(sym, ')'); strings.HasPrefix(sym, "(") && i > 0 {
		sym = sym[i:]
	}
	sym = generics.Regexp().ReplaceAllString(sym, "")
	names := strings.FieldsFunc(sym, func(c rune) bool { return !word(c) })
	for _, n := range slices.Backward(names) {
		if !compiled.MatchString(n) {
			return n
		}
	}
	return ""
}

// generics are parameters of types.
var generics = lazyregexp.New(`\[[^\[\]]*\]|<[^<>]*>`)

// compiled are names that compilers give: closures, anonymous functions, hashes.
var compiled = lazyregexp.New(`^(?:func\d+|\d+|lambda\d*|closure|anonymous|h[0-9a-f]{16}|invokeSuspend|apply|MoveNext|fn|fun|new|as|module|main|block|\$.*)$`)
