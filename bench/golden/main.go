// Command golden replays recorded replies of the original evidence and
// enterprise servers against ours: it rebuilds the repository that they were
// recorded in, starts `knowledge serve` in it, asks what was asked, and
// compares field by field. What differs is either in the list of differences
// that are meant, or fails the run.
//
//	golden [-replies FILE] [-out FILE]
//
// FILE holds a transcript: "### ARGUMENTS-OF-CURL" or "### BODY" of the next
// request, then what was answered, then "[STATUS]". Long answers were cut
// when they were recorded; what is left of them is compared.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

func main() {
	replies := flag.String("replies", "../shared/specs/golden/evidence-and-enterprise.txt", "the transcript")
	out := flag.String("out", "", "write the report there")
	flag.Parse()
	if err := run(*replies, *out); err != nil {
		fmt.Fprintln(os.Stderr, "golden:", err)
		os.Exit(1)
	}
}

// exchange is one request of the transcript and its answer.
type exchange struct {
	port    string // of the original: 17341, 17391 or 17392 (with the bypass)
	method  string
	path    string
	body    *string
	answer  string
	status  string // "" when the answer was cut
	heading string // the part of the transcript
}

var request = regexp.MustCompile(`^### (?:-X (\S+) )?(?:-I )?http://127\.0\.0\.1:(\d+)(\S*)(?: -H content-type: application/json -d ?(.*))?$`)

func read(path string) ([]exchange, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []exchange
	heading, port := "recorded evidence", ""
	var open *exchange
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		l := s.Text()
		switch m := request.FindStringSubmatch(l); {
		case m != nil:
			x := exchange{method: m[1], port: m[2], path: m[3], heading: heading}
			if x.method == "" {
				x.method = http.MethodGet
			}
			if strings.Contains(l, "-H content-type") {
				x.body = &m[4]
			}
			port = m[2]
			all = append(all, x)
			open = &all[len(all)-1]
		case strings.HasPrefix(l, "### {"):
			all = append(all, exchange{method: http.MethodPost, port: port, path: "/tool", body: new(l[4:]), heading: heading})
			open = &all[len(all)-1]
		case strings.HasPrefix(l, "===== "), strings.HasPrefix(l, "-- "), strings.HasSuffix(l, ":") && !strings.Contains(l, "{") && open == nil:
			heading, open = strings.Trim(l, "=-: "), nil
			if strings.Contains(heading, "second run") {
				port = "17392"
			}
			if heading == "detached" { // its request is not in the transcript
				all = append(all, exchange{method: http.MethodGet, port: port, path: "/resource?uri=gitflow://state", heading: heading})
				open = &all[len(all)-1]
			}
		case open != nil && strings.HasPrefix(l, "[") && len(l) == 5:
			open.status = l[1:4]
			open = nil
		case open != nil:
			if open.answer != "" {
				open.answer += "\n"
			}
			open.answer += l
		}
	}
	return all, s.Err()
}

// meant lists the differences that are wanted, by request and field; both are
// regular expressions.
var meant = []struct{ path, field, why string }{
	{`.*`, `suppressed_`, "the original derives 134 facets of suppressed findings that its specification does not have; the six plain counts are answered"},
	{`.*`, `\.unstaged$`, "the original counts untracked files as unstaged; here they have a count of their own"},
	{`.*`, `\.staged$`, "the original trims the output of git status and so takes the first unstaged file for a staged one"},
	{`.*`, `\.untracked$`, "added: see unstaged"},
	{`^/status$`, `^\.evidence\.(exists|present|valid)$`, "added: flat, as the original's document has them, and nested, as it answers"},
	{`/tool .*`, `\.age_seconds$|^\.result\.violations\[\d+\]\.message$`, "the clock: the age of the evidence when the reply was recorded"},
	{`bogus`, `^\.warnings(\[0\])?$`, "added: a stage that there is not is still taken for PRE_COMMIT, is said, and never allowed"},
	{`^/tool( (\{\}|\[\]))?$`, `^(status|\.error|\.requestedTool)$`, "the seed's text wins over the reply: a body that names no tool is invalid, 400, not a tool that is unknown, 404"},
}

func justified(ask, field string) string {
	for _, m := range meant {
		if regexp.MustCompile(m.path).MatchString(ask) && regexp.MustCompile(m.field).MatchString(field) {
			return m.why
		}
	}
	return ""
}

// leaves flattens JSON in order; what is cut ends with the last whole value.
func leaves(text string) (keys []string, values map[string]string, whole bool) {
	values = map[string]string{}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var value func(at string) error
	value = func(at string) error {
		t, err := d.Token()
		if err != nil {
			return err
		}
		put := func(v string) { keys = append(keys, at); values[at] = v }
		switch t {
		case json.Delim('{'):
			n := 0
			for ; d.More(); n++ {
				k, err := d.Token()
				if err != nil {
					return err
				}
				if err := value(at + "." + fmt.Sprint(k)); err != nil {
					return err
				}
			}
			if _, err := d.Token(); err != nil {
				return err
			}
			if n == 0 {
				put("{}")
			}
		case json.Delim('['):
			n := 0
			for ; d.More(); n++ {
				if err := value(fmt.Sprintf("%s[%d]", at, n)); err != nil {
					return err
				}
			}
			if _, err := d.Token(); err != nil {
				return err
			}
			if n == 0 {
				put("[]")
			}
		default:
			b, err := json.Marshal(t)
			if err != nil {
				return err
			}
			put(string(b))
		}
		return nil
	}
	err := value("")
	return keys, values, err == nil
}

// report is what came of the comparison.
type report struct {
	requests, fields int
	meant            map[string][]string // fields by reason
	wrong            []string
}

func (r *report) differ(x exchange, field, how string) {
	ask := strings.TrimSpace(x.path + " " + deref(x.body))
	if why := justified(ask, field); why != "" {
		r.meant[why] = append(r.meant[why], ask+" "+field+": "+how)
		return
	}
	r.wrong = append(r.wrong, fmt.Sprintf("%s %s %s: %s", x.method, ask, field, how))
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func (r *report) compare(x exchange, status int, header http.Header, body, root string) {
	r.requests++
	if x.status != "" && x.status != fmt.Sprint(status) {
		r.differ(x, "status", fmt.Sprintf("%d, not %s", status, x.status))
	}
	if x.method == http.MethodHead {
		for _, l := range strings.Split(x.answer, "\n") {
			k, v, _ := strings.Cut(strings.TrimSpace(l), ": ")
			switch k {
			case "Content-Type", "Content-Length", "Cache-Control":
				r.fields++
				if header.Get(k) != v {
					r.differ(x, k, fmt.Sprintf("%q, not %q", header.Get(k), v))
				}
			}
		}
		return
	}
	want := strings.ReplaceAll(x.answer, `"/repo`, `"`+root)
	wantKeys, wantValues, whole := leaves(want)
	gotKeys, got, ok := leaves(body)
	if !ok {
		r.differ(x, "body", "no JSON: "+body)
		return
	}
	var common []string
	for _, k := range wantKeys {
		r.fields++
		v, there := got[k]
		switch {
		case !there:
			r.differ(x, k, "missing, was "+wantValues[k])
		case v != wantValues[k]:
			r.differ(x, k, v+", was "+wantValues[k])
			common = append(common, k)
		default:
			common = append(common, k)
		}
	}
	if whole {
		for _, k := range gotKeys {
			if _, there := wantValues[k]; !there {
				r.differ(x, k, "added: "+got[k])
			}
		}
	}
	order := slices.DeleteFunc(slices.Clone(gotKeys), func(k string) bool { _, there := wantValues[k]; return !there })
	if !slices.Equal(order, common) {
		r.differ(x, "order", fmt.Sprintf("%q, not %q", order, common))
	}
}

func run(replies, out string) error {
	all, err := read(replies)
	if errors.Is(err, os.ErrNotExist) {
		fmt.Printf("skipped: there is no transcript %s; name one with -replies\n", replies)
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := exec.LookPath("git"); err != nil {
		fmt.Println("skipped: no program git on the PATH")
		return nil
	}
	tmp, err := os.MkdirTemp("", "golden")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if tmp, err = filepath.EvalSymlinks(tmp); err != nil {
		return err
	}
	program := filepath.Join(tmp, "knowledge")
	if said, err := exec.Command("go", "build", "-o", program, "./cmd/knowledge").CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w: %s", err, said)
	}
	fix, err := rebuild(filepath.Join(tmp, "repo"))
	if err != nil {
		return err
	}
	r := &report{meant: map[string][]string{}}
	var server *served
	defer func() { server.stop() }()
	bypass, heading := false, ""
	for _, x := range all {
		if server == nil || bypass != (x.port == "17392") {
			server.stop()
			bypass = x.port == "17392"
			if server, err = serve(program, fix.root, tmp, bypass); err != nil {
				return err
			}
		}
		if x.heading != heading {
			heading = x.heading
			if err := fix.become(heading); err != nil {
				return err
			}
		}
		base := server.enterprise
		if x.port == "17341" {
			base = server.evidence
		}
		status, header, body, err := ask(base, x)
		if err != nil {
			return err
		}
		r.compare(x, status, header, body, fix.root)
	}
	text := r.text()
	fmt.Print(text)
	if out != "" {
		if err := os.WriteFile(out, []byte(text), 0o644); err != nil {
			return err
		}
	}
	if len(r.wrong) > 0 {
		return fmt.Errorf("%d differences are not meant", len(r.wrong))
	}
	return nil
}

func (r *report) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Recorded replies of the evidence and enterprise servers, replayed\n\n%s. The repository that they were recorded in is rebuilt, `knowledge serve` answers in it,\nand every field of every reply is compared, with its place among the others.\n\n    .ci/extra golden\n\n", time.Now().UTC().Format(time.DateOnly))
	n := 0
	for _, list := range r.meant {
		n += len(list)
	}
	fmt.Fprintf(&b, "%d requests, %d recorded fields: %d differences are meant, %d are not.\n\n| difference | fields | for example |\n|---|---:|---|\n", r.requests, r.fields, n, len(r.wrong))
	for _, m := range meant {
		if list := r.meant[m.why]; len(list) > 0 {
			fmt.Fprintf(&b, "| %s | %d | `%s` |\n", m.why, len(list), strings.ReplaceAll(list[0], "|", `\|`))
		}
	}
	for _, w := range r.wrong {
		fmt.Fprintf(&b, "\n- NOT MEANT: %s", w)
	}
	if len(r.wrong) > 0 {
		b.WriteByte('\n')
	}
	return b.String()
}

func ask(base string, x exchange) (int, http.Header, string, error) {
	var body io.Reader
	if x.body != nil {
		body = strings.NewReader(*x.body)
	}
	req, err := http.NewRequestWithContext(context.Background(), x.method, base+x.path, body)
	if err != nil {
		return 0, nil, "", err
	}
	if x.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, "", err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	return res.StatusCode, res.Header, string(raw), err
}
