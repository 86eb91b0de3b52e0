package install

import (
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/install/configedit"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

var update = flag.Bool("update", false, "rewrite the goldens")

// world is a home directory and a project without anything in them.
func world(t *testing.T) Options {
	t.Helper()
	dir := t.TempDir()
	vars := map[string]string{"PATH": filepath.Join(dir, "bin")}
	o := Options{
		Place:   Place{GOOS: runtime.GOOS, Home: filepath.Join(dir, "home"), Root: filepath.Join(dir, "project"), Env: func(k string) string { return vars[k] }},
		DataDir: filepath.Join(dir, "data"), Command: "/opt/knowledge/bin/knowledge", Args: []string{"mcp"}, Again: "knowledge install",
	}
	for _, d := range []string{o.Place.Home, o.Place.Root, o.DataDir} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return o
}

func put(t *testing.T, path, text string, mode fs.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func apply(t *testing.T, o Options, steps []Step, err error) []Step {
	t.Helper()
	for i := range steps {
		if err == nil {
			err = o.Apply(&steps[i])
		}
	}
	if err != nil {
		t.Fatalf("%v; %s", err, kb.HintOf(err))
	}
	return steps
}

func (o Options) add(t *testing.T, c Client, scope string) []Step {
	t.Helper()
	steps, err := o.Add(c, scope)
	return apply(t, o, steps, err)
}

func (o Options) remove(t *testing.T, c Client, scope string) []Step {
	t.Helper()
	steps, err := o.Remove(c, scope, nil)
	return apply(t, o, steps, err)
}

// tree lists a folder: paths, modes and contents.
func tree(t *testing.T, dirs ...string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := e.Info()
			if err != nil {
				return err
			}
			all[path] = info.Mode().String()
			if e.Type().IsRegular() {
				all[path] += "\n" + get(t, path)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func sample(t *testing.T, c Client) string {
	t.Helper()
	ext := ".json"
	if c.Format == (configedit.TOML{}) {
		ext = ".toml"
	}
	return get(t, filepath.Join("testdata", c.Name+ext))
}

// variants are the ways in which the same file may be written.
func variants(c Client, text string) map[string]string {
	v := map[string]string{
		"as it is":         text,
		"CRLF":             strings.ReplaceAll(text, "\n", "\r\n"),
		"no last newline":  strings.TrimRight(text, "\n"),
		"three last lines": text + "\n\n\n",
		"empty":            "",
		"white space":      " \n\t\n",
	}
	if c.Format == (configedit.TOML{}) {
		v["comment only"] = "# nothing yet"
		v["not a number"] = "f = nan\n" + text
		v["table open"] = text + "\n[tui]\n"
		return v
	}
	v["byte order mark"] = "\xef\xbb\xbf" + text
	v["tabs"] = strings.ReplaceAll(text, "  ", "\t")
	v["four spaces"] = strings.ReplaceAll(text, "  ", "    ")
	v["empty object"] = "{}"
	v["empty object with comments"] = "// head\n{ // open\n  /* in */\n}\n// foot"
	v["spread empty object"] = "{\n\n}\n"
	v["one member in a line"] = `{ "x": [1, 2, {"y": "}"}] }`
	return v
}

// TestEveryClient installs into each client's file in each way in which it may
// be written, upgrades, and removes: what was not ours is the same to the byte.
func TestEveryClient(t *testing.T) {
	var n atomic.Int32
	t.Cleanup(func() { t.Logf("%d comparisons to the byte", n.Load()) })
	for _, c := range Clients() {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			for _, scope := range []string{User, Project} {
				for name, text := range variants(c, sample(t, c)) {
					o := world(t)
					file := c.file(o.Place, scope)
					if file == "" || scope == Project && name != "as it is" && name != "CRLF" {
						continue // the same code
					}
					put(t, file, text, 0o640)
					before := tree(t, o.Place.Home, o.Place.Root)
					check := func(what string) {
						t.Helper()
						if diff := cmp.Diff(before, tree(t, o.Place.Home, o.Place.Root)); diff != "" {
							t.Errorf("%s, %s, %s (-want +got)\n%s", scope, name, what, diff)
						}
						n.Add(1)
					}
					o.add(t, c, scope)
					installed := get(t, file)
					if in, err := o.Installed(c, scope); !strings.Contains(installed, `"/opt/knowledge/bin/knowledge"`) || !in || err != nil {
						t.Fatalf("%s, %s: not installed:\n%s", scope, name, installed)
					}
					if steps := o.add(t, c, scope); steps[0].Action != "unchanged" || get(t, file) != installed {
						t.Errorf("%s, %s: two are not one: %+v", scope, name, steps)
					}
					o.remove(t, c, scope)
					check("removed")

					// An older form, elsewhere, with a setting of the user's.
					old := o
					old.Command = `C:\old\knowledge.exe`
					old.add(t, c, scope)
					if steps := o.add(t, c, scope); steps[0].Action != "updated" || get(t, file) != installed {
						t.Errorf("%s, %s: upgraded %+v\n%s", scope, name, steps, cmp.Diff(installed, get(t, file)))
					}
					o.remove(t, c, scope)
					check("upgraded and removed")

					// Without a receipt, or when the file was changed meanwhile,
					// the entry goes by itself.
					o.add(t, c, scope)
					steps, err := o.Remove(c, scope, nil)
					if err != nil || len(steps) != 1 {
						t.Fatalf("%s, %s: %v %+v", scope, name, err, steps)
					}
					if err := os.RemoveAll(o.DataDir); err != nil {
						t.Fatal(err)
					}
					o.remove(t, c, scope)
					if strings.Contains(get(t, file), "/opt/knowledge") {
						t.Errorf("%s, %s: without a receipt it stays:\n%s", scope, name, get(t, file))
					}
					if name == "as it is" && c.Name != "zed" { // which had no object for servers
						check("removed without a receipt")
					}
				}
			}
		})
	}
}

// TestGolden keeps how each client's file looks with the entry in it.
func TestGolden(t *testing.T) {
	for _, c := range Clients() {
		o := world(t)
		put(t, c.User(o.Place), sample(t, c), 0o600)
		steps, err := o.Add(c, User)
		if err != nil {
			t.Fatal(err)
		}
		lines := steps[0].Lines()
		apply(t, o, steps, nil)
		got := get(t, c.User(o.Place)) + "--- dry run\n" + lines
		path := filepath.Join("testdata", c.Name+".golden")
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if diff := cmp.Diff(get(t, path), got); diff != "" {
			t.Errorf("%s (-want +got; refresh with -update)\n%s", c.Name, diff)
		}
	}
}

// TestNoFile: what was not there is not there afterwards, folders included.
func TestNoFile(t *testing.T) {
	for _, c := range Clients() {
		for _, scope := range []string{User, Project} {
			o := world(t)
			o.Text = "Ask the tool first."
			before := tree(t, o.Place.Home, o.Place.Root)
			steps := o.add(t, c, scope)
			if steps[0].Action == "skipped" {
				continue
			}
			info, err := os.Stat(steps[0].File)
			if want := map[string]fs.FileMode{User: 0o600, Project: 0o644}[scope]; err != nil || runtime.GOOS != "windows" && info.Mode() != want {
				t.Errorf("%s, %s: %v, %v, want %v", c.Name, scope, err, info.Mode(), want)
			}
			o.remove(t, c, scope)
			if diff := cmp.Diff(before, tree(t, o.Place.Home, o.Place.Root)); diff != "" {
				t.Errorf("%s, %s (-want +got)\n%s", c.Name, scope, diff)
			}
			if left, _ := filepath.Glob(filepath.Join(o.DataDir, "*")); len(left) > 0 {
				t.Errorf("%s, %s: receipts stay: %v", c.Name, scope, left)
			}
		}
	}
}

// TestEditedMeanwhile: a client writes its file anew, and a person adds to it;
// only our entry goes.
func TestEditedMeanwhile(t *testing.T) {
	o := world(t)
	c := Clients()[0]
	file := c.User(o.Place)
	o.add(t, c, User)
	put(t, file, "{\n  \"numStartups\": 1,\n"+strings.TrimPrefix(get(t, file), "{\n"), 0o600)
	o.remove(t, c, User)
	if got := get(t, file); got != "{\n  \"numStartups\": 1\n}\n" {
		t.Errorf("left: %q", got)
	}
	// A key of the user's in our entry outlives an upgrade.
	o.Command = "/old/knowledge"
	o.add(t, c, User)
	put(t, file, strings.Replace(get(t, file), `"type": "stdio"`, `"timeout": 5000, // mine
      "type": "stdio"`, 1), 0o600)
	o.Command = "/new/knowledge"
	o.add(t, c, User)
	if got := get(t, file); !strings.Contains(got, `"timeout": 5000, // mine`) || !strings.Contains(got, "/new/knowledge") || strings.Contains(got, "/old/") {
		t.Errorf("upgraded:\n%s", got)
	}
	o.remove(t, c, User)
	if got := get(t, file); got != "{\n  \"numStartups\": 1\n}\n" {
		t.Errorf("left: %q", got)
	}
}

// TestWrittenBelow: what somebody wrote below the end of a TOML file stays, and
// the blank line before our entry goes with it, when the receipt shows that it
// is ours.
func TestWrittenBelow(t *testing.T) {
	codex := Clients()[1]
	for _, x := range []struct{ before, edit, want string }{
		{"a = 1\n", "%s# user line\n", "a = 1\n# user line\n"},
		{"a = 1\n", "%s\n# user line\n", "a = 1\n\n# user line\n"},
		{"a = 1\r\n", "%s# user line\r\n", "a = 1\r\n# user line\r\n"},
		{"a = 1", "%s# user line\n", "a = 1\n# user line\n"},
		{"a = 1\n\n", "%s[z]\nb = 2\n", "a = 1\n\n[z]\nb = 2\n"},
		{"", "%s# user line\n", "# user line\n"},
		// Nothing shows whose a blank line is when the text above changed too.
		{"a = 1\n", "# top\n%s# user line\n", "# top\na = 1\n\n# user line\n"},
	} {
		o := world(t)
		file := codex.User(o.Place)
		put(t, file, x.before, 0o600)
		for _, step := range []func() ([]Step, error){
			func() ([]Step, error) { return o.Add(codex, User) },
			func() ([]Step, error) { return o.Remove(codex, User, nil) },
		} {
			steps, err := step()
			if err != nil {
				t.Fatal(err)
			}
			for i := range steps {
				if err := o.Apply(&steps[i]); err != nil {
					t.Fatal(err)
				}
			}
			now, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(now), "[mcp_servers.knowledge]") {
				put(t, file, strings.Replace(x.edit, "%s", string(now), 1), 0o600)
			} else if string(now) != x.want {
				t.Errorf("%q with %q: %q, want %q", x.before, x.edit, now, x.want)
			}
		}
	}
}

// TestSomebodyElses: an entry of that name that runs something else is left
// alone, until --force; then its removal brings it back.
func TestSomebodyElses(t *testing.T) {
	for _, c := range Clients() {
		o := world(t)
		other := o
		other.Command, other.Args = "/usr/bin/wiki", []string{"serve"}
		file := c.User(o.Place)
		put(t, file, sample(t, c), 0o600)
		other.add(t, c, User)
		if err := os.RemoveAll(o.DataDir); err != nil {
			t.Fatal(err)
		}
		theirs := get(t, file)
		for what, steps := range map[string][]Step{"add": o.add(t, c, User), "remove": o.remove(t, c, User)} {
			if len(steps) != 1 || steps[0].Action != "skipped" || !strings.Contains(steps[0].Note, "/usr/bin/wiki") || !strings.Contains(steps[0].Note, ": knowledge ") || get(t, file) != theirs {
				t.Errorf("%s: %s: %+v", c.Name, what, steps)
			}
		}
		o.Force = true
		o.add(t, c, User)
		if got := get(t, file); strings.Contains(got, "wiki") || !strings.Contains(got, "/opt/knowledge") {
			t.Errorf("%s: forced:\n%s", c.Name, got)
		}
		o.remove(t, c, User)
		if got := get(t, file); got != theirs {
			t.Errorf("%s: it is not back (-want +got)\n%s", c.Name, cmp.Diff(theirs, got))
		}
	}
}

// TestWrittenByHand: an entry that runs this program, with more in it than it
// writes and no receipt, is somebody's own: only --force replaces or removes
// it, and a removal after that gives it back.
func TestWrittenByHand(t *testing.T) {
	codex := Clients()[1]
	for _, text := range []string{
		"[mcp_servers]\nknowledge = { command = \"/x/knowledge\", args = [\"mcp\"], env = { A = \"b\" } }\n",
		"[\"mcp_servers\".\"knowledge\"]\ncommand = \"/x/knowledge\"\nargs = [\"mcp\"]\n[mcp_servers.knowledge.env]\nK=\"v\"\n",
		"[mcp_servers.knowledge]\ncommand = \"/opt/knowledge/bin/knowledge\"\nargs = [\"mcp\"]\nenv = { A = \"b\" }\n",
	} {
		o := world(t)
		file := codex.User(o.Place)
		put(t, file, text, 0o600)
		for _, steps := range [][]Step{o.add(t, codex, User), o.remove(t, codex, User)} {
			if len(steps) != 1 || steps[0].Changes() || get(t, file) != text {
				t.Fatalf("%q: %+v: %s", text, steps, get(t, file))
			}
			if s := steps[0]; s.Action == "skipped" && !strings.Contains(s.Note, "--force --client codex") {
				t.Errorf("%q: %s", text, s.Note)
			}
		}
		o.Force = true
		forced := o.add(t, codex, User)
		if forced[0].Action == "updated" {
			o.Force = false
		}
		o.remove(t, codex, User)
		if got := get(t, file); (got == text) != (forced[0].Action == "updated") || strings.Contains(got, "/opt/") {
			t.Errorf("%q: %s, then removed:\n%s", text, forced[0].Action, got)
		}
	}
}

// TestBroken: a file that does not parse is told with its place, and stays.
func TestBroken(t *testing.T) {
	for _, c := range Clients() {
		texts := []string{"{\n  \"a\": [1,\n}\n", "[]", "{\"mcpServers\": [], \"mcp\": 1, \"servers\": \"\", \"context_servers\": []}", "{} {}"}
		if c.Format == (configedit.TOML{}) {
			texts = []string{"a = 1\nb = \n", "mcp_servers = { a = { command = \"x\" } }", "mcp_servers = 1", "a = 1\na = 2\n"}
		}
		for _, text := range texts {
			o := world(t)
			file := c.User(o.Place)
			put(t, file, text, 0o600)
			_, err := o.Add(c, User)
			if kb.CodeOf(err) != kb.Invalid || !strings.Contains(err.Error(), file) || !strings.HasSuffix(kb.HintOf(err), ": knowledge clients") {
				t.Errorf("%s: %q: %v; %s", c.Name, text, err, kb.HintOf(err))
			}
			if text == texts[0] && !strings.Contains(err.Error(), "line ") {
				t.Errorf("%s: no line: %v", c.Name, err)
			}
			if get(t, file) != text {
				t.Errorf("%s: %q was changed", c.Name, text)
			}
		}
	}
}

// TestLinks: of a link into a folder of dotfiles the file is edited, and the
// link stays.
func TestLinks(t *testing.T) {
	o := world(t)
	c := Clients()[0]
	file, real := c.User(o.Place), filepath.Join(o.Place.Home, "dotfiles", "claude.json")
	put(t, real, sample(t, c), 0o644)
	if err := os.Symlink(real, file); err != nil {
		t.Skip(err)
	}
	before := tree(t, o.Place.Home)
	o.add(t, c, User)
	if l, err := os.Readlink(file); err != nil || l != real || !strings.Contains(get(t, real), "/opt/knowledge") {
		t.Errorf("the link: %q, %v", l, err)
	}
	o.remove(t, c, User)
	if diff := cmp.Diff(before, tree(t, o.Place.Home)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if err := os.Remove(real); err != nil {
		t.Fatal(err)
	}
	if _, err := o.Add(c, User); kb.CodeOf(err) != kb.Invalid {
		t.Errorf("a link to nothing: %v", err)
	}
}

// TestChangedJustNow: what another program writes between plan and edit is not lost.
func TestChangedJustNow(t *testing.T) {
	o := world(t)
	c := Clients()[0]
	steps, err := o.Add(c, User)
	if err != nil {
		t.Fatal(err)
	}
	put(t, c.User(o.Place), "{\"theirs\": 1}", 0o600)
	if err := o.Apply(&steps[0]); kb.CodeOf(err) != kb.Busy || get(t, c.User(o.Place)) != "{\"theirs\": 1}" {
		t.Errorf("%v: %s", err, get(t, c.User(o.Place)))
	}
}

// TestPlugin: beside our plugin there is no second server.
func TestPlugin(t *testing.T) {
	o := world(t)
	c := Clients()[0]
	settings := filepath.Join(o.Place.Home, ".claude", "settings.json")
	put(t, settings, `{"enabledPlugins": {"knowledge@market": true, "other@market": true}}`, 0o600)
	steps := o.add(t, c, User)
	if len(steps) != 1 || steps[0].Action != "present" || !strings.Contains(steps[0].Note, settings) {
		t.Errorf("%+v", steps)
	}
	put(t, settings, `{"enabledPlugins": {"knowledge@market": false}}`, 0o600)
	if steps := o.add(t, c, User); steps[0].Action != "added" {
		t.Errorf("%+v", steps)
	}
}

// TestOpenCodeTwo: a file in the form of version 2 keeps it.
func TestOpenCodeTwo(t *testing.T) {
	o := world(t)
	var c Client
	for _, x := range Clients() {
		if x.Name == "opencode" {
			c = x
		}
	}
	file := c.User(o.Place)
	for text, want := range map[string][]string{
		`{"mcp": {"timeout": {"startup": 1}, "servers": {"a": {"type": "local", "command": ["x"]}}}}`: {"mcp", "servers", "knowledge"},
		`{"mcp": {"servers": {"type": "local", "command": ["x"]}}}`:                                   {"mcp", "knowledge"},
		`{"mcp": {}}`: {"mcp", "knowledge"},
	} {
		put(t, file, text, 0o600)
		o.add(t, c, User)
		v, ok, err := c.Format.Get([]byte(get(t, file)), want)
		if err != nil || !ok {
			t.Errorf("%s: %v %v\n%s", text, v, err, get(t, file))
		}
		o.remove(t, c, User)
		if get(t, file) != text {
			t.Errorf("%s became %s", text, get(t, file))
		}
	}
}

// TestPlaces pins where each client keeps its files on the three systems.
func TestPlaces(t *testing.T) {
	type files map[string]string
	got := map[string]files{}
	for _, goos := range []string{"linux", "darwin", "windows"} {
		p := Place{GOOS: goos, Home: "/home/kim", Root: "/src", Env: func(string) string { return "" }}
		if goos == "windows" {
			p.Home, p.Root = `C:\Users\kim`, `C:\src`
			p.Env = func(k string) string { return map[string]string{"APPDATA": `C:\Users\kim\AppData\Roaming`}[k] }
		}
		for _, c := range Clients() {
			if got[c.Name] == nil {
				got[c.Name] = files{}
			}
			got[c.Name][goos], got[c.Name][goos+" project"] = c.User(p), c.Project(p)
		}
	}
	moved := Place{GOOS: "linux", Home: "/home/kim", Root: "/src", Env: func(k string) string { return "/moved/" + strings.ToLower(k) }}
	for _, c := range Clients() {
		if f := c.User(moved); strings.HasPrefix(f, "/moved/") {
			got[c.Name]["moved"] = f
		}
	}
	text, err := json.MarshalIndent(got, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", "places.golden")
	if *update {
		if err := os.WriteFile(path, append(text, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(get(t, path), string(text)+"\n"); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// Installs of several clients at once each keep their receipt.
func TestReceiptsOfManyAtOnce(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			name := fmt.Sprintf("/clients/%d.json", i)
			if err := save(dir, &Step{File: name, receipt: &receipt{File: name}}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if r, err := load(dir); err != nil || len(r.Files) != 16 {
		t.Errorf("%d receipts, %v", len(r.Files), err)
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 1 {
		t.Errorf("beside the receipts lies something: %v, %v", list, err)
	}
}
