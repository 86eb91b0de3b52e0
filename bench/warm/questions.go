package main

import (
	"cmp"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// kinds are what is asked, in turns: a name, some words, how something works, a
// message that a program prints.
var kinds = []string{"name", "words", "how", "message"}

type question struct{ kind, text string }

var (
	nameRE    = regexp.MustCompile(`\b([A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+|[a-z0-9][A-Z][A-Za-z0-9]*)+)\(`)
	commentRE = regexp.MustCompile(`^\s*(?://|/?\*|#)\s+([A-Za-z][A-Za-z ,'-]{24,})`)
	messageRE = regexp.MustCompile(`"([A-Za-z][^"\\\n]*(?: [^"\\\n ]+){3,})(?:\\n)?"`)
	verbRE    = regexp.MustCompile(`%[-+#0-9.*lhz]*[a-zA-Z]`)
	wordRE    = regexp.MustCompile(`[A-Za-z]+`)
)

// mostRead is how much of a file is read for questions.
const mostRead = 256 << 10

// questions asks n things of the text files below dir: files in the order of the
// hashes of their paths, one question of each, of the kinds in turns, and of what a
// file has of that kind the one with the least hash. A file without one is passed over.
func questions(dir string, n int) ([]question, error) {
	var files []string
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && source(p) {
			files = append(files, p)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	key := func(p string) uint64 {
		rel, _ := filepath.Rel(dir, p)
		return hash(filepath.ToSlash(rel))
	}
	slices.SortFunc(files, func(a, b string) int { return cmp.Or(cmp.Compare(key(a), key(b)), strings.Compare(a, b)) })
	var out []question
	asked := map[string]bool{}
	for _, p := range files {
		if len(out) == n {
			break
		}
		raw, err := os.ReadFile(p)
		if err != nil {
			return nil, err
		}
		kind := kinds[len(out)%len(kinds)]
		all := slices.DeleteFunc(askable(kind, string(raw[:min(len(raw), mostRead)])), func(s string) bool { return asked[s] })
		if len(all) == 0 {
			continue
		}
		q := slices.MinFunc(all, func(a, b string) int { return cmp.Or(cmp.Compare(hash(a), hash(b)), strings.Compare(a, b)) })
		asked[q] = true
		out = append(out, question{kind, q})
	}
	return out, nil
}

// source reports whether a file is one of code that people ask about.
func source(p string) bool {
	return slices.Contains([]string{".c", ".h", ".go", ".py", ".rs", ".java", ".ts", ".js", ".S", ".sh"}, filepath.Ext(p))
}

// askable is what a text has to ask, of a kind.
func askable(kind, text string) (out []string) {
	for line := range strings.Lines(text) {
		switch kind {
		case "name":
			for _, m := range nameRE.FindAllStringSubmatch(line, -1) {
				if len(m[1]) >= 8 {
					out = append(out, m[1])
				}
			}
		case "message":
			for _, m := range messageRE.FindAllStringSubmatch(line, -1) {
				out = append(out, strings.Join(strings.Fields(verbRE.ReplaceAllString(m[1], "7")), " "))
			}
		default:
			m := commentRE.FindStringSubmatch(line)
			if m == nil {
				continue
			}
			var words, long []string
			for _, w := range wordRE.FindAllString(m[1], -1) {
				words = append(words, strings.ToLower(w))
				if len(w) >= 5 {
					long = append(long, strings.ToLower(w))
				}
			}
			if kind == "words" && len(long) >= 3 {
				out = append(out, strings.Join(long[:3], " "))
			}
			if kind == "how" && len(words) >= 5 && len(long) >= 2 {
				out = append(out, "how does it "+strings.Join(words[:min(len(words), 8)], " "))
			}
		}
	}
	return out
}

func hash(s string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(s))
	return h.Sum64()
}
