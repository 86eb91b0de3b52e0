package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// wrongInput is one thing that somebody types and that cannot be done, with
// what the answer must speak of.
type wrongInput struct {
	title  string
	setup  []string // shell commands that come first
	run    string
	status string           // "0", "any", else anything but 0
	want   []*regexp.Regexp // in what is printed
}

// wrongInputs reads testdata/wrong-inputs.txt, which was written by somebody
// who does not know the code: blocks of "# title" and lines "key: value".
func wrongInputs(t *testing.T) []wrongInput {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "wrong-inputs.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var all []wrongInput
	for block := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n\n") {
		var w wrongInput
		for line := range strings.Lines(block) {
			line = strings.TrimRight(line, "\n")
			if title, ok := strings.CutPrefix(line, "# "); ok {
				w.title = title
				continue
			}
			key, value, ok := strings.Cut(line, ": ")
			switch {
			case !ok:
				t.Fatalf("not a line of a case: %q", line)
			case key == "setup":
				w.setup = append(w.setup, value)
			case key == "run":
				w.run = value
			case key == "status":
				w.status = value
			case key == "want":
				w.want = append(w.want, regexp.MustCompile(value))
			}
		}
		all = append(all, w)
	}
	return all
}

// pasted returns the command that a hint tells to run: the line for a shell at
// the end of what is printed; "" when there is none.
func pasted(printed string) string {
	lines := strings.Split(strings.TrimSpace(printed), "\n")
	last := lines[len(lines)-1]
	i := strings.LastIndex(last, ": knowledge")
	if i < 0 {
		return ""
	}
	return strings.TrimPrefix(last[i:], ": ")
}

// understood are inputs that are done by now as they were meant: there is
// nothing to answer.
var understood = map[string]string{
	"32": "files takes a pattern where a store could stand",
}

// TestWrongInputs types sixty wrong inputs. Each is answered by one sentence
// and one next step, and the step, pasted where the input was typed, works.
func TestWrongInputs(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell to type in")
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git to set up repositories with")
	}
	all := wrongInputs(t)
	if len(all) != 60 {
		t.Fatalf("%d cases, want 60", len(all))
	}
	for _, in := range all {
		t.Run(strings.ReplaceAll(in.title[:2], " ", "_"), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			bin, here := w.dir("bin"), w.dir("here")
			if err := os.Link(program, filepath.Join(bin, "knowledge")); err != nil {
				if err := os.Symlink(program, filepath.Join(bin, "knowledge")); err != nil {
					t.Skip(err)
				}
			}
			typed := func(line string) (printed string, status int) {
				cmd := w.command(here)
				cmd.Path, cmd.Args = shell, []string{"sh", "-c", line}
				for i, v := range cmd.Env {
					if path, ok := strings.CutPrefix(v, "PATH="); ok {
						cmd.Env[i] = "PATH=" + bin + string(os.PathListSeparator) + path
					}
				}
				cmd.Env = append(cmd.Env, "KNOWLEDGE="+filepath.Join(bin, "knowledge"))
				var out bytes.Buffer
				cmd.Stdout, cmd.Stderr = &out, &out
				err := cmd.Run()
				var exit *exec.ExitError
				if err != nil && !errors.As(err, &exit) {
					t.Fatal(err)
				}
				if defect.Match(out.Bytes()) {
					t.Errorf("%s shows a defect: %s", line, &out)
				}
				return out.String(), cmd.ProcessState.ExitCode()
			}
			for _, line := range in.setup {
				typed(line)
			}
			printed, status := typed(in.run)
			t.Logf("%s\n%s", in.run, printed)
			if why, ok := understood[in.title[:2]]; ok && status == 0 {
				t.Skip(why)
			}
			for _, re := range in.want {
				if !re.MatchString(printed) {
					t.Errorf("it does not speak of %s", re)
				}
			}
			if in.status == "0" && status != 0 || in.status == "" && status == 0 {
				t.Errorf("exit status %d", status)
			}
			if status == 0 {
				return
			}
			if lines := strings.Count(printed, "\n"); lines != 2 || !strings.HasPrefix(printed, "knowledge: ") {
				t.Errorf("one sentence and one next step are two lines, these are %d", lines)
			}
			next := pasted(printed)
			if next == "" {
				t.Fatal("there is no next step that could be pasted")
			}
			// What is away, or held by somebody else, may be so when it is tried again.
			if printed, again := typed(next); again != 0 && (again != status || status != 5 && status != 6) {
				t.Errorf("pasted, %s ends with status %d: %s", next, again, printed)
			}
		})
	}
}
