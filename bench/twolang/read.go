package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// readPO reads messages of gettext: those that are translated and not fuzzy.
func readPO(file, _ string) ([]pair, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var out []pair
	for entry := range strings.SplitSeq(strings.ReplaceAll(string(raw), "\r\n", "\n"), "\n\n") {
		if strings.Contains(entry, "#, fuzzy") || strings.Contains(entry, "\n#~") {
			continue
		}
		says := map[string]*strings.Builder{}
		var at *strings.Builder
		for line := range strings.Lines(entry) {
			line = strings.TrimSpace(line)
			if key, rest, ok := strings.Cut(line, ` "`); ok && strings.HasPrefix(key, "msg") {
				at, line = &strings.Builder{}, `"`+rest
				says[key] = at
			}
			if at != nil && strings.HasPrefix(line, `"`) {
				if s, err := strconv.Unquote(line); err == nil {
					at.WriteString(s)
				}
			}
		}
		en, es := says["msgid"], says["msgstr"]
		if es == nil {
			es = says["msgstr[0]"]
		}
		if en != nil && es != nil && en.Len() > 0 && es.Len() > 0 {
			out = append(out, sentencePairs(message(en.String()), message(es.String()))...)
		}
	}
	return out, nil
}

// message drops what marks a key of a menu or a context in a message.
func message(s string) string {
	if i := strings.IndexByte(s, '\x04'); i >= 0 {
		s = s[i+1:]
	}
	return strings.NewReplacer("&", "", "_", "", `\n`, " ").Replace(s)
}

// readMO reads compiled messages of gettext.
func readMO(file, _ string) ([]pair, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	le := binary.LittleEndian
	if len(raw) < 28 || le.Uint32(raw) != 0x950412de {
		return nil, fmt.Errorf("%s is no file of messages", file)
	}
	n, from, to := int(le.Uint32(raw[8:])), int(le.Uint32(raw[12:])), int(le.Uint32(raw[16:]))
	text := func(table, i int) string {
		size, at := int(le.Uint32(raw[table+8*i:])), int(le.Uint32(raw[table+8*i+4:]))
		s, _, _ := bytes.Cut(raw[at:at+size], []byte{0}) // the singular
		return message(string(s))
	}
	var out []pair
	for i := range n {
		if en, es := text(from, i), text(to, i); en != "" && es != "" {
			out = append(out, sentencePairs(en, es)...)
		}
	}
	return out, nil
}

// readTSV reads lines of English, tab, Spanish.
func readTSV(file, _ string) ([]pair, error) {
	raw, err := os.ReadFile(file)
	var out []pair
	for line := range strings.Lines(string(raw)) {
		if f := strings.Split(strings.TrimSpace(line), "\t"); len(f) >= 2 {
			out = append(out, pair{translated, f[0], f[1]})
		}
	}
	return out, err
}

var ymlLine = regexp.MustCompile(`^( *)([\w.\-"']+): ?(.*)$`)

// readYML reads the messages of en.yml and of es.yml beside it.
func readYML(file, _ string) ([]pair, error) {
	read := func(file string) (map[string]string, []string, error) {
		raw, err := os.ReadFile(file)
		says, order := map[string]string{}, []string{}
		var path []string
		for line := range strings.Lines(string(raw)) {
			g := ymlLine.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
			if g == nil {
				continue
			}
			depth := len(g[1]) / 2
			path = append(path[:min(depth, len(path))], g[2])
			if v := strings.Trim(g[3], `"'`); v != "" && len(path) > 1 {
				key := strings.Join(path[1:], ".")
				says[key] = v
				order = append(order, key)
			}
		}
		return says, order, err
	}
	en, order, err := read(file)
	if err != nil {
		return nil, err
	}
	es, _, err := read(filepath.Join(filepath.Dir(file), "es.yml"))
	var out []pair
	for _, k := range order {
		if es[k] != "" {
			out = append(out, sentencePairs(en[k], es[k])...)
		}
	}
	return out, err
}

// readSQuAD reads questions and the paragraphs that answer them.
func readSQuAD(file, _ string) ([]pair, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var all struct {
		Data []struct {
			Paragraphs []struct {
				Context string
				QAs     []struct{ Question string }
			}
		}
	}
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, err
	}
	var out []pair
	for _, d := range all.Data {
		for _, p := range d.Paragraphs {
			for _, q := range p.QAs {
				out = append(out, pair{asked, q.Question, p.Context})
			}
		}
	}
	return out, nil
}

// readMarkdown reads a page and its translation.
func readMarkdown(file, other string) ([]pair, error) {
	a, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	b, err := os.ReadFile(other)
	if err != nil {
		return nil, nil // not translated
	}
	en, es := blocks(string(a)), blocks(string(b))
	out := align(en, es)
	return slices.Concat(out, sectionPairs(en), sectionPairs(es)), nil
}

var (
	htmlBlock = regexp.MustCompile(`(?i)</?(?:p|div|li|ul|ol|td|th|tr|dt|dd|h[1-6]|title|table|br)\b[^>]*>`)
	htmlHead  = regexp.MustCompile(`(?is)<h([1-6])[^>]*>(.*?)</h[1-6]>`)
	htmlDrop  = regexp.MustCompile(`(?is)<head>.*?</head>|<script.*?</script>|<style.*?</style>|<pre.*?</pre>|<code[^>]*>.*?</code>`)
	htmlTag   = regexp.MustCompile(`(?s)<[^>]*>`)
	entities  = strings.NewReplacer("&nbsp;", " ", "&amp;", "&", "&lt;", "<", "&gt;", ">", "&quot;", `"`, "\u00a0", " ")
)

// readHTML reads a page and its translation.
func readHTML(file, other string) ([]pair, error) {
	read := func(file string) ([]block, error) {
		raw, err := os.ReadFile(file)
		s := htmlDrop.ReplaceAllString(string(raw), " ")
		s = strings.ReplaceAll(s, "\n", " ")
		s = htmlHead.ReplaceAllString(s, "\n\n## $2\n\n")
		s = htmlTag.ReplaceAllString(htmlBlock.ReplaceAllString(s, "\n\n"), " ")
		return blocks(entities.Replace(s)), err
	}
	en, err := read(file)
	if err != nil {
		return nil, err
	}
	es, err := read(other)
	if err != nil {
		return nil, nil // not translated
	}
	return slices.Concat(align(en, es), sectionPairs(en), sectionPairs(es)), nil
}

// readSections reads the headings and sections of one page.
func readSections(file, _ string) ([]pair, error) {
	raw, err := os.ReadFile(file)
	return sectionPairs(blocks(string(raw))), err
}
