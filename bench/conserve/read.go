package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
	"github.com/seed-4f2d999b/knowledge/internal/text/chunk"
)

// tally is what reading one store back came to.
type tally struct {
	files, documents, decoded, replies int
	bytes                              int64
	left                               map[string]int // files that are no documents, by reason of our own
	queries, hits                      int
	bad                                []string
}

func (t *tally) fail(format string, args ...any) {
	if len(t.bad) < 20 {
		t.bad = append(t.bad, fmt.Sprintf(format, args...))
	}
}

// readBack indexes each tree and compares what the product says of it with
// the files, all over stdio in a process that did not index it.
func readBack(bin, scratch string, trees []corpus, r *lab.Report) (bool, error) {
	r.Printf("## Read back\n\nEach tree is indexed with everything that may be kept (vendored trees, lockfiles, minified files, files of up to 64 MiB). Then a new process reads every file on disk through `read`, page by page, and the joined lines must be the file's; and the lines of the hits and of their full contexts, for words of the files, must stand at the lines they name.\n\n")
	rows := [][]string{{"tree", "files", "documents", "text", "replies of read", "queries", "hits checked", "verdict"}}
	var notes []string
	ok := true
	for _, c := range trees {
		fmt.Fprintln(os.Stderr, "reading back", c.title)
		t, info, err := check(bin, filepath.Join(scratch, "data-"+c.name), c)
		if err != nil {
			return false, fmt.Errorf("%s: %w", c.title, err)
		}
		if t.documents != info.Documents {
			t.fail("%d files can be read, and the store says %d documents", t.documents, info.Documents)
		}
		verdict := "the same"
		if len(t.bad) > 0 {
			verdict, ok = fmt.Sprintf("**%d differences or more**", len(t.bad)), false
		}
		rows = append(rows, []string{c.title, fmt.Sprint(t.files), fmt.Sprint(t.documents), lab.MB(t.bytes), fmt.Sprint(t.replies), fmt.Sprint(t.queries), fmt.Sprint(t.hits), verdict})
		notes = append(notes, fmt.Sprintf("- %s: left out: %s. The store says: %s. %d documents were decoded from another encoding than UTF-8 and compared with the decoded text.",
			c.title, counts(t.left), counts(info.Skipped), t.decoded))
		for _, b := range t.bad {
			notes = append(notes, "  - "+hide(b, trees))
			fmt.Fprintln(os.Stderr, "  ", b)
		}
	}
	r.Table(rows...)
	r.Printf("%s\n\n", strings.Join(notes, "\n"))
	r.Printf("A reply of `read` does not tell whether the last line ends with a newline, so that one byte a document is not compared here; the property test above compares it.\n")
	return ok, nil
}

func counts(m map[string]int) string {
	if len(m) == 0 {
		return "nothing"
	}
	var parts []string
	for _, k := range lab.Keys(m) {
		parts = append(parts, fmt.Sprintf("%d %s", m[k], k))
	}
	return strings.Join(parts, ", ")
}

type storeInfo struct {
	Documents int
	Skipped   map[string]int
}

const store = "tree"

func check(bin, data string, c corpus) (*tally, storeInfo, error) {
	var info storeInfo
	if err := os.MkdirAll(data, 0o700); err != nil {
		return nil, info, err
	}
	defer os.RemoveAll(data)
	env := lab.Env(data)
	if _, err := lab.Command(data, env, bin, "--quiet", "store:create", store, c.dir, "--all", "--maxFileBytes", "67108864"); err != nil {
		return nil, info, err
	}
	client, err := lab.Dial(data, env, bin, lab.Stateless)
	if err != nil {
		return nil, info, err
	}
	defer client.Close()
	if err := client.Execute("store:info", map[string]any{"store": store}, &info); err != nil {
		return nil, info, err
	}
	t := &tally{left: map[string]int{}}
	var asked []string
	err = filepath.WalkDir(c.dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(c.dir, p)
		if err != nil {
			return err
		}
		raw, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		t.files++
		if t.files%37 == 0 {
			if q := question(raw); q != "" && len(asked) < 200 {
				asked = append(asked, q)
			}
		}
		return t.read(client, filepath.ToSlash(rel), raw)
	})
	if err != nil {
		return t, info, err
	}
	for _, q := range append(asked, "parse the options", "error handling", "default value") {
		if err := t.search(client, c.dir, q); err != nil {
			return t, info, err
		}
	}
	return t, info, nil
}

// text returns what the lines of a document are: its bytes, or what they
// decode to when they are not UTF-8.
func text(rel string, raw []byte) (body string, decoded bool, err error) {
	t, err := chunk.Decode(rel, raw)
	if err != nil {
		return "", false, err
	}
	if t.Encoding == "" {
		return string(raw), false, nil
	}
	return t.Body, true, nil
}

func split(body string) []string { return strings.Split(strings.TrimSuffix(body, "\n"), "\n") }

// read asks for a whole document, page by page.
func (t *tally) read(client *lab.Client, rel string, raw []byte) error {
	var got []string
	next := 1
	for {
		var page struct {
			Path              string
			Start, End, Lines int
			Text, Note        string
		}
		err := client.Execute("read", map[string]any{"store": store, "path": rel, "lines": fmt.Sprintf("%d-", next)}, &page)
		if err != nil {
			if next == 1 && strings.Contains(err.Error(), "has no document") {
				t.left[reason(rel, raw)]++
				return nil
			}
			t.fail("%s: line %d: %v", rel, next, err)
			return nil
		}
		t.replies++
		lines := strings.Split(page.Text, "\n")
		if page.Path != rel || page.Start != next || page.End-page.Start+1 != len(lines) {
			t.fail("%s: asked for lines %d and on, got %s lines %d to %d with %d lines", rel, next, page.Path, page.Start, page.End, len(lines))
			return nil
		}
		got = append(got, lines...)
		if next = page.End + 1; next > page.Lines {
			break
		}
	}
	t.documents++
	t.bytes += int64(len(raw))
	body, decoded, err := text(rel, raw)
	if err != nil {
		t.fail("%s: is a document, and %v", rel, err)
		return nil
	}
	if decoded {
		t.decoded++
	}
	want := split(body)
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.fail("%s: line %d differs; %d lines read, %d in the file", rel, i+1, len(got), len(want))
			break
		}
	}
	return nil
}

// reason says why a file may be left out, told by other means than the
// product's; "unexplained" is for people to look at.
func reason(rel string, raw []byte) string {
	switch _, err := chunk.Decode(rel, raw); {
	case err != nil:
		return "binary"
	case !utf8.ValidString(rel):
		return "with a name that is not UTF-8"
	case path.Ext(rel) != "":
		return "*" + path.Ext(rel)
	default:
		return path.Base(rel)
	}
}

var wordRE = regexp.MustCompile(`[A-Za-z_]{7,40}`)

// question takes three words out of the middle of a file.
func question(raw []byte) string {
	words := wordRE.FindAllString(string(raw[:min(len(raw), 1<<20)]), -1)
	if len(words) < 3 {
		return ""
	}
	m := len(words) / 2
	return strings.Join(words[m-1:m+2], " ")
}

var (
	atRE   = regexp.MustCompile(`^(.*):L\d+(?:-\d+)?$`)
	partRE = regexp.MustCompile(`^(.*):L\d+:c\d+-\d+$`)
)

// search checks the lines of every hit, and of the full context of the best.
func (t *tally) search(client *lab.Client, dir, query string) error {
	said, err := client.Call("search", map[string]any{"query": query, "form": "json"})
	if err != nil {
		return err
	}
	var reply struct {
		Hits []struct {
			ID, At, Code string
			Line         int
		}
	}
	if err := json.Unmarshal([]byte(said), &reply); err != nil {
		return err
	}
	t.queries++
	for i, h := range reply.Hits {
		m, part := atRE.FindStringSubmatch(h.At), partRE.FindStringSubmatch(h.At)
		if m == nil {
			m = part
		}
		if m == nil {
			t.fail("%q: a hit is at %q", query, h.At)
			continue
		}
		raw, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(m[1])))
		if err != nil {
			t.fail("%q: a hit at %s: %v", query, h.At, err)
			continue
		}
		body, _, err := text(m[1], raw)
		if err != nil {
			t.fail("%q: a hit at %s: %v", query, h.At, err)
			continue
		}
		t.hits++
		all := split(body)
		for j, shown := range strings.Split(h.Code, "\n") {
			n := h.Line + j
			if n < 1 || n > len(all) {
				t.fail("%s shows line %d of %d", h.At, n, len(all))
				break
			}
			line := strings.TrimRight(all[n-1], " \t\r")
			head, cut := strings.CutSuffix(shown, "…")
			switch {
			case shown == line, cut && strings.HasPrefix(line, head), part != nil && strings.Contains(line, head):
			default:
				t.fail("%s shows %q as line %d, which is %q", h.At, shown, n, line)
			}
		}
		if i == 0 && part == nil {
			if err := t.context(client, h.ID, m[1], all); err != nil {
				t.fail("%s %s: %v", h.ID, h.At, err)
			}
		}
	}
	return nil
}

// context checks what get_full_context gives for a hit.
func (t *tally) context(client *lab.Client, id, file string, all []string) error {
	said, err := client.Call("get_full_context", map[string]any{"resultId": id, "form": "json"})
	if err != nil {
		return err
	}
	var c struct {
		Path, Code, At string
		Start, End     int
	}
	if err := json.Unmarshal([]byte(said), &c); err != nil {
		return err
	}
	if partRE.MatchString(c.At) {
		return nil
	}
	if c.Path != file || c.Start < 1 || c.End > len(all) || c.Start > c.End {
		return fmt.Errorf("the context is %s lines %d to %d of %d", c.Path, c.Start, c.End, len(all))
	}
	if strings.TrimSuffix(c.Code, "\n") != strings.TrimSuffix(strings.Join(all[c.Start-1:c.End], "\n"), "\n") {
		return fmt.Errorf("the context of lines %d to %d is not the file's", c.Start, c.End)
	}
	return nil
}
