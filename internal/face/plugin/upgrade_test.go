package plugin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// sideBySide is how long two versions share a data directory; $KNOWLEDGE_SOAK
// asks for longer.
const sideBySide = 10 * time.Second

// TestUpgrade lets the program and the one of the commit before, or of
// $KNOWLEDGE_PREVIOUS, index and search the same data directory at once. None
// may fail, and what one wrote the other does not write again in turns.
func TestUpgrade(t *testing.T) {
	program := os.Getenv("KNOWLEDGE_PROGRAM")
	if program == "" {
		t.Skip("two builds are tried by .ci/clients")
	}
	span := sideBySide
	if v := os.Getenv("KNOWLEDGE_SOAK"); v != "" {
		var err error
		if span, err = time.ParseDuration(v); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	programs := map[string]string{"previous": buildPrevious(t, dir), "current": program}
	project := filepath.Join(dir, "project")
	const files = 40
	edit := func(i, round int) {
		t.Helper()
		text := fmt.Sprintf("package p\n\n// Pause%d waits in round %d.\nfunc Pause%d() {}\n", i, round, i)
		if err := os.WriteFile(filepath.Join(project, fmt.Sprintf("f%02d.go", i)), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(project, 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range files {
		edit(i, 0)
	}
	run := func(which string, into any, args ...string) error {
		cmd := exec.Command(programs[which], append(args, "--json", "--quiet")...)
		cmd.Dir = project
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "KNOWLEDGE_DATA_DIR=" + filepath.Join(dir, "data"), "CLAUDE_PROJECT_DIR=" + project}
		var out, complaint bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &complaint
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("%s %s: %w: %s", which, strings.Join(args, " "), err, &complaint)
		}
		return json.Unmarshal(out.Bytes(), into)
	}
	// index returns how many documents were indexed. That the other version is
	// newer and wrote what this one may not is an answer, not a failure.
	index := func(which string) (indexed int, told bool, _ error) {
		var started struct{ JobID, Status string }
		err := run(which, &started, "store:index", "demo")
		if e := (*exec.ExitError)(nil); errors.As(err, &e) && e.ExitCode() == 7 && strings.Contains(err.Error(), "newer") {
			return 0, true, nil
		}
		if err != nil {
			return 0, false, err
		}
		var job struct {
			Status  string
			Details struct{ Indexed int }
		}
		if err := run(which, &job, "job:status", started.JobID); err != nil {
			return 0, false, err
		}
		if job.Status != "completed" {
			return 0, false, fmt.Errorf("%s: job %s", which, job.Status)
		}
		return job.Details.Indexed, false, nil
	}
	if err := run("previous", new(any), "store:create", "demo", ".", "--type", "file"); err != nil {
		t.Fatal(err)
	}

	end := time.Now().Add(span)
	var searches sync.WaitGroup
	count := map[string]*int{"previous": new(int), "current": new(int)}
	for which, n := range count {
		searches.Go(func() {
			for time.Now().Before(end) {
				var reply struct{ Hits []any }
				if err := run(which, &reply, "search", fmt.Sprintf("Pause%d", *n%files), "--stores", "demo"); err != nil || len(reply.Hits) == 0 {
					t.Errorf("%d hits: %v", len(reply.Hits), err)
					return
				}
				*n++
			}
		})
	}
	rebuilt := map[string]int{}
	rounds, told := 0, 0
	for time.Now().Before(end) {
		rounds++
		edit(rounds%files, rounds)
		order := []string{"previous", "current"}
		if rounds%2 == 0 {
			order = []string{"current", "previous"}
		}
		for turn, which := range order {
			n, newer, err := index(which)
			if err != nil {
				t.Fatal(err)
			}
			if newer {
				told++
				continue
			}
			// A search of the other version may have brought the store up to date first.
			var found struct{ Total int }
			if err := run(which, &found, "grep", fmt.Sprintf(`Pause%d waits in round %d\.`, rounds%files, rounds), "--store", "demo"); err != nil || turn == 0 && told == 0 && found.Total != 1 {
				t.Errorf("%s did not index an edit: %d lines, %v", which, found.Total, err)
			}
			if n > 1 {
				rebuilt[which]++
			}
		}
	}
	searches.Wait()
	t.Logf("%v: %d rounds of edits, searches %d and %d, rebuilt %v, told to restart %d times", span, rounds, *count["previous"], *count["current"], rebuilt, told)
	// The current version may rebuild once what the previous one wrote.
	if rebuilt["current"] > 1 || rebuilt["previous"] > 0 {
		t.Errorf("the versions rebuild what the other wrote: %v", rebuilt)
	}
	if rounds < 2 || *count["previous"] == 0 || *count["current"] == 0 {
		t.Error("too little happened to tell anything")
	}
}

// buildPrevious builds the program of the commit before.
func buildPrevious(t *testing.T, dir string) string {
	t.Helper()
	commit := os.Getenv("KNOWLEDGE_PREVIOUS")
	if commit == "" {
		commit = "HEAD~1"
	}
	source := filepath.Join(dir, "previous")
	if err := os.MkdirAll(source, 0o755); err != nil {
		t.Fatal(err)
	}
	archive, err := exec.Command("git", "-C", root, "archive", commit).Output()
	if err != nil {
		t.Skipf("there is no commit %s here: a shallow clone, or no git", commit)
	}
	untar := exec.Command("tar", "-x", "-C", source)
	untar.Stdin = bytes.NewReader(archive)
	if out, err := untar.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return buildIn(t, source, filepath.Join(dir, "knowledge-previous"))
}
