package chunk

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/code/lang"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// notebookEncoding is what the Encoding of a rendered notebook says.
const notebookEncoding = "ipynb"

// ipynb is what is read of a notebook, formats 3 and 4. Outputs and
// attachments are not.
type ipynb struct {
	Metadata struct {
		LanguageInfo struct{ Name string }     `json:"language_info"`
		KernelSpec   struct{ Language string } `json:"kernelspec"`
	}
	Cells      []ipynbCell
	Worksheets []struct{ Cells []ipynbCell } // format 3
}

type ipynbCell struct {
	Type     string `json:"cell_type"`
	Source   ipynbText
	Input    ipynbText // the source of code in format 3
	Language string    // of code in format 3
	Level    int       // of a heading in format 3
}

// ipynbText is a string or a list of strings, which are joined.
type ipynbText string

func (t *ipynbText) UnmarshalJSON(raw []byte) error {
	if raw[0] == '[' {
		var parts []string
		err := json.Unmarshal(raw, &parts)
		*t = ipynbText(strings.Join(parts, ""))
		return err
	}
	var s string
	err := json.Unmarshal(raw, &s)
	*t = ipynbText(s)
	return err
}

// notebook renders a notebook as the text that is kept of it and reports
// whether most of that is prose. It reports false for what is no notebook.
//
// Each cell is introduced by a comment line with its number, counted from 1
// over all cells: "# %% cell 4" for code in Python, "# %% [r] cell 4" for code in
// another language, "# %% [markdown] cell 3", "# %% [raw] cell 5". An empty
// line ends it. Outputs, attachments and pictures within the text are left out.
func notebook(body string) (text string, prose, ok bool) {
	var nb ipynb
	if err := json.Unmarshal([]byte(strings.TrimPrefix(body, bom)), &nb); err != nil {
		return "", false, false
	}
	cells := nb.Cells
	for _, w := range nb.Worksheets {
		cells = append(cells, w.Cells...)
	}
	if cells == nil {
		return "", false, false
	}
	language := nb.Metadata.LanguageInfo.Name
	if language == "" {
		language = nb.Metadata.KernelSpec.Language
	}
	var b strings.Builder
	words, code := 0, 0
	for k, c := range cells {
		source, kind := string(c.Source), c.Type
		switch kind {
		case "code":
			if source == "" {
				source = string(c.Input)
			}
			if kind = cellLanguage(c.Language, language); kind == "python" {
				kind = ""
			}
			code += len(source)
		case "heading":
			kind = "markdown"
			source = strings.Repeat("#", min(max(c.Level, 1), 6)) + " " + source
			words += len(source)
		case "markdown":
			source = dropData(source)
			words += len(source)
		default:
			kind = "raw"
		}
		if k > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(cellMark(kind, k+1))
		b.WriteByte('\n')
		if source = strings.TrimRight(strings.ReplaceAll(source, "\r\n", "\n"), " \t\r\n"); source != "" {
			b.WriteString(strings.ReplaceAll(source, "\x00", "\ufffd"))
			b.WriteByte('\n')
		}
	}
	return b.String(), words > code, true
}

// cellLanguage returns the name that this package has for the language of a
// cell, "python" unless one says something else.
func cellLanguage(names ...string) string {
	for _, name := range names {
		name = strings.ToLower(name)
		if name == "" || len(name) > 32 || strings.ContainsAny(name, "[] \t\r\n\x00") {
			continue
		}
		switch {
		case name == "ipython":
			return "python"
		case name == "c++" || strings.HasPrefix(name, "c++"):
			return "cpp"
		case name == "c#":
			return "csharp"
		case name == "f#":
			return "fsharp"
		}
		return cmp.Or(lang.ByProgram(name), name)
	}
	return "python"
}

// cellMark returns the line that introduces cell n.
func cellMark(kind string, n int) string {
	if kind != "" {
		kind = "[" + kind + "] "
	}
	return "# %% " + kind + "cell " + strconv.Itoa(n)
}

// isCellMark reports whether a line introduces cell n, and what kind it is.
func isCellMark(s string, n int) (kind string, ok bool) {
	rest, ok := strings.CutPrefix(s, "# %% ")
	if !ok {
		return "", false
	}
	if strings.HasPrefix(rest, "[") {
		kind, _, ok = strings.Cut(rest[1:], "] ")
	}
	return kind, ok && s == cellMark(kind, n)
}

// dropData cuts what Markdown holds of pictures as data: the text of a
// "data:image/png;base64,…" URI.
func dropData(s string) string {
	const mark, short = ";base64,", 64
	if !strings.Contains(s, mark) {
		return s
	}
	var b strings.Builder
	for {
		n := strings.Index(s, mark)
		if n < 0 {
			b.WriteString(s)
			return b.String()
		}
		n += len(mark)
		b.WriteString(s[:n])
		s = s[n:]
		m := 0
		for m < len(s) && (s[m]|0x20 >= 'a' && s[m]|0x20 <= 'z' || s[m] >= '0' && s[m] <= '9' || s[m] == '+' || s[m] == '/' || s[m] == '=') {
			m++
		}
		if m > short {
			b.WriteString("…")
			s = s[m:]
		}
	}
}

// splitNotebook cuts the text that notebook gives by its cells. The path of
// every unit begins with "cell 4"; the sections of a Markdown cell and the
// declarations of a code cell follow.
func splitNotebook(_ kb.Text, ls *lines) (outline, bool) {
	o := outline{class: make([]class, ls.len())}
	n, at, kind := 0, 0, ""
	end := func(to int) {
		if n > 0 {
			o.cell(ls, at, to, n, kind)
		}
	}
	for i := 0; i < ls.len(); i++ {
		if k, ok := isCellMark(ls.text(i), n+1); ok {
			end(i)
			n, at, kind = n+1, i, k
		}
	}
	end(ls.len())
	return o, n > 0
}

// pythonCells returns the text of a notebook with every line that is no Python
// blanked, so that all lines and bytes keep their places: other cells, and what
// speaks to the notebook or the shell ("%timeit f()", "!ls", "f?").
func pythonCells(ls *lines) string {
	b := []byte(ls.body)
	n, python := 0, false
	for i := 0; i < ls.len(); i++ {
		s := ls.text(i)
		kind, mark := isCellMark(s, n+1)
		if mark {
			n, python = n+1, kind == ""
		} else if l, ok := magic(s); ok && python && i > 0 {
			_, above := isCellMark(ls.text(i-1), n)
			python = !above || l == "python"
		}
		s = strings.TrimSpace(s)
		if !mark && python && s != "" && s[0] != '%' && s[0] != '!' && s[0] != '?' && s[len(s)-1] != '?' {
			continue
		}
		for k := ls.at[i]; k < ls.at[i+1]; k++ {
			if b[k] != '\n' {
				b[k] = ' '
			}
		}
	}
	return string(b)
}

// belowHeadings is the level of what is no heading in a notebook.
const belowHeadings = 7

// cell adds the units of cell n, whose mark is on line at and which
// reaches to line to.
func (o *outline) cell(ls *lines, at, to, n int, kind string) {
	name := "cell " + strconv.Itoa(n)
	o.class[at] = classComment
	whole := unit{start: at, level: belowHeadings, kind: "cell", path: []string{name}}
	from := at + 1
	for from < to && ls.blank(from) {
		from++
	}
	if from >= to {
		o.units = append(o.units, whole)
		return
	}
	text := kb.Text{Body: ls.body[ls.at[from]:ls.at[to]], Language: kind}
	in := newLines(text.Body)
	var inner outline
	switch kind {
	case "markdown":
		inner, _ = splitMarkdown(text, in)
	case "raw":
		inner.units = []unit{{kind: "cell"}}
	case "":
		text.Language = "python"
		fallthrough
	default:
		if l, ok := magic(in.text(0)); ok {
			text.Language = l
		}
		inner = splitWindow(text, in)
	}
	copy(o.class[from:to], inner.class)
	first := len(o.units)
	for _, u := range inner.units {
		if kind != "markdown" || len(u.symbols) == 0 {
			u.level += belowHeadings
			if kind == "markdown" {
				u.kind = "cell"
			} else if len(u.path) > 0 {
				u.level++ // the text right above introduces it
			}
		}
		if u.kind == "block" || u.kind == "imports" {
			u.kind = "cell" // imports say less than the text above them, which they join
		}
		if u.start += from; u.start == from {
			u.start = at
		}
		if u.end > 0 {
			u.end += from
		}
		u.path = append([]string{name}, u.path...)
		for k := range u.symbols {
			s := &u.symbols[k]
			s.line, s.Start, s.End = s.line+from, s.Start+from, s.End+from
		}
		if k := len(o.units) - 1; k >= first && o.units[k].start == u.start && len(o.units[k].symbols) == 0 {
			o.units[k] = u
			continue
		}
		o.units = append(o.units, u)
	}
	if first == len(o.units) || o.units[first].start > at {
		o.units = append(o.units, whole)
	}
}

// magic returns the language that the first line of a cell sets, such as
// "%%bash" or "%%writefile util.py".
func magic(s string) (language string, ok bool) {
	s, ok = strings.CutPrefix(strings.TrimSpace(s), "%%")
	if !ok {
		return "", false
	}
	f := strings.Fields(s)
	if len(f) == 0 {
		return "", false
	}
	switch name := strings.ToLower(f[0]); name {
	case "bash", "sh", "script":
		return "bash", true
	case "js", "javascript":
		return "javascript", true
	case "html", "latex", "svg", "markdown", "sql", "perl", "ruby", "r", "cython":
		if name == "cython" {
			name = "python"
		}
		return name, true
	case "writefile", "file":
		return lang.Of(f[len(f)-1], nil), true
	}
	return "", false
}
