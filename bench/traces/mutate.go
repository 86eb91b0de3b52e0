package main

import (
	"regexp"
	"strconv"
	"strings"
)

// An operator changes one line of code. It returns the line as it becomes, or ""
// where it has nothing to change.
type operator struct {
	name string
	do   func(line, lang string) string
}

var operators = []operator{
	{"negate", exchange(` == `, ` != `, ` != `, ` == `, ` < `, ` >= `, ` > `, ` <= `, ` is not None`, ` is None`, ` is None`, ` is not None`,
		` === `, ` !== `, ` !== `, ` === `, ` not in `, ` in `)},
	{"bound", exchange(` <= `, ` < `, ` >= `, ` > `, ` < `, ` <= `, ` > `, ` >= `)},
	{"logic", exchange(` and `, ` or `, ` or `, ` and `, ` && `, ` || `, ` || `, ` && `)},
	{"sign", exchange(` + `, ` - `, ` - `, ` + `, ` += `, ` -= `, `++`, `--`)},
	{"truth", exchange(`True`, `False`, `False`, `True`, `true`, `false`, `false`, `true`)},
	{"number", number},
	{"condition", condition},
	{"nothing", nothing},
	{"drop", drop},
	{"swap", swap},
	{"text", text},
}

// exchange puts in the place of the first of several texts that a line has the
// one after it.
func exchange(pairs ...string) func(string, string) string {
	return func(line, _ string) string {
		at, k := -1, 0
		for i := 0; i < len(pairs); i += 2 {
			if j := strings.Index(line, pairs[i]); j >= 0 && (at < 0 || j < at) {
				at, k = j, i
			}
		}
		if at < 0 {
			return ""
		}
		return line[:at] + pairs[k+1] + line[at+len(pairs[k]):]
	}
}

var (
	numberRE = regexp.MustCompile(`(^|[^\w."'])(\d{1,4})($|[^\w."'])`)
	ifRE     = regexp.MustCompile(`^(\s*(?:\} )?(?:if|elif|else if|while)\s+\(?)(not |!)?(.*?)(\)?\s*[:{]\s*)$`)
	returnRE = regexp.MustCompile(`^(\s*return )\S.*$`)
	dropRE   = regexp.MustCompile(`^\s*(?:(?:self|this)\.[\w.]+\s*=\s*\S|[\w.]+\([^{]*\);?\s*$|[\w.\[\]"']+\s*[-+|]?=\s*[^=]\S*)`)
	swapRE   = regexp.MustCompile(`(\w\()([\w.]+), ([\w.]+)\)`)
	textRE   = regexp.MustCompile(`(["'])([\w/.-]{2,30})(["'])`)
)

func number(line, _ string) string {
	m := numberRE.FindStringSubmatchIndex(line)
	if m == nil {
		return ""
	}
	n, _ := strconv.Atoi(line[m[4]:m[5]])
	return line[:m[4]] + strconv.Itoa(n+1) + line[m[5]:]
}

func condition(line, lang string) string {
	m := ifRE.FindStringSubmatch(line)
	if m == nil || m[3] == "" || strings.Contains(m[3], ";") || strings.Contains(m[3], ":=") {
		return ""
	}
	if m[2] != "" {
		return m[1] + m[3] + m[4]
	}
	if lang == "python" {
		return m[1] + "not (" + m[3] + ")" + m[4]
	}
	return m[1] + "!(" + m[3] + ")" + m[4]
}

func nothing(line, lang string) string {
	m := returnRE.FindStringSubmatch(line)
	if m == nil || strings.HasSuffix(strings.TrimSpace(line), "(") || strings.HasSuffix(strings.TrimSpace(line), "{") {
		return ""
	}
	return m[1] + map[string]string{"python": "None", "go": "nil", "javascript": "undefined;"}[lang]
}

func drop(line, lang string) string {
	if !dropRE.MatchString(line) || strings.Count(line, "(") != strings.Count(line, ")") || strings.Count(line, "[") != strings.Count(line, "]") ||
		strings.HasSuffix(strings.TrimSpace(line), ",") || strings.Contains(line, ":=") || strings.HasSuffix(strings.TrimSpace(line), "\\") {
		return ""
	}
	space := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	return space + map[string]string{"python": "pass", "go": "_ = 0", "javascript": ";"}[lang]
}

func swap(line, _ string) string {
	m := swapRE.FindStringSubmatchIndex(line)
	if m == nil || strings.HasPrefix(strings.TrimSpace(line), "def ") || strings.HasPrefix(strings.TrimSpace(line), "func") {
		return ""
	}
	a, b := line[m[4]:m[5]], line[m[6]:m[7]]
	if a == b {
		return ""
	}
	return line[:m[4]] + b + ", " + a + line[m[7]:]
}

func text(line, _ string) string {
	m := textRE.FindStringSubmatchIndex(line)
	if m == nil || line[m[2]:m[3]] != line[m[6]:m[7]] || strings.Contains(line, `"""`) {
		return ""
	}
	return line[:m[5]] + "_" + line[m[5]:]
}
