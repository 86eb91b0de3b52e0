package db

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// copied returns the path of a copy of an open database, with its log as it
// stands: what a process that was killed leaves.
func copied(t *testing.T, d *DB) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "knowledge.db")
	for _, ext := range []string{"", "-wal"} {
		b, err := os.ReadFile(d.Path() + ext)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to+ext, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// withoutShm keeps SQLite from making the log's shared memory, as a full disk
// does, until restore is called.
func withoutShm(t *testing.T, path string) (restore func()) {
	t.Helper()
	if err := os.Symlink(filepath.Join("nowhere", "at", "all"), path+"-shm"); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := os.Remove(path + "-shm"); err != nil {
			t.Fatal(err)
		}
	}
}

// What was committed is read where SQLite cannot work, with what stands in the
// log alone; writes say why, and all is as ever when it can work again.
func TestADatabaseThatCannotBeUsedIsRead(t *testing.T) {
	d := fresh(t)
	for range 3 {
		if err := d.Write(t.Context(), add); err != nil {
			t.Fatal(err)
		}
	}
	path := copied(t, d)
	restore := withoutShm(t, path)
	frozen := openAt(t, path)
	if got := counter(t, frozen); got != "3" {
		t.Errorf("counted %s of 3", got)
	}
	if err := frozen.Frozen(); err == nil || kb.HintOf(err) == "" {
		t.Errorf("it says %v", err)
	}
	for _, write := range []func(context.Context, func(*sql.Tx) error) error{frozen.Write, frozen.WriteSoon} {
		if err := write(t.Context(), add); kb.CodeOf(err) != kb.Internal || !strings.Contains(err.Error(), "cannot read or write") || kb.HintOf(err) == "" {
			t.Errorf("a write: %v", err)
		}
	}
	if err := frozen.Check(t.Context()); err != nil {
		t.Error(err)
	}
	looked, err := Look(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if got := counter(t, looked); got != "3" {
		t.Errorf("a look counted %s of 3", got)
	}
	looked.Close()

	restore()
	if err := frozen.Write(t.Context(), add); err != nil {
		t.Errorf("a write when it can be used again: %v", err)
	}
	if got := counter(t, frozen); got != "4" || frozen.Frozen() != nil {
		t.Errorf("counted %s of 4; frozen: %v", got, frozen.Frozen())
	}
}

// A snapshot is taken anew when the files have changed: another process may
// well be able to write.
func TestASnapshotFollowsItsDatabase(t *testing.T) {
	d := fresh(t)
	if err := d.Write(t.Context(), add); err != nil {
		t.Fatal(err)
	}
	path := copied(t, d)
	withoutShm(t, path)
	frozen := openAt(t, path)
	if got := counter(t, frozen); got != "1" {
		t.Errorf("counted %s of 1", got)
	}
	if err := d.Write(t.Context(), add); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(d.Path() + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+"-wal", b, 0o600); err != nil {
		t.Fatal(err)
	}
	frozen.mu.Lock()
	frozen.tried = time.Time{} // as if some time had passed
	frozen.mu.Unlock()
	// A reader that has begun finishes on what it began with.
	if err := frozen.Read(t.Context(), func(tx *sql.Tx) error {
		for range 2 {
			var s string
			if err := tx.QueryRow("SELECT hash FROM trust").Scan(&s); err != nil || s != "2" {
				t.Errorf("read %s, %v", s, err)
			}
			frozen.mu.Lock()
			frozen.tried = time.Time{}
			frozen.mu.Unlock()
			if got := counter(t, frozen); got != "2" {
				t.Errorf("counted %s of 2", got)
			}
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

// replay agrees with what SQLite itself makes of a log, wherever it ends.
func TestReplayAgreesWithSQLite(t *testing.T) {
	d := fresh(t)
	for range 6 {
		if err := d.Write(t.Context(), add); err != nil {
			t.Fatal(err)
		}
	}
	from := copied(t, d)
	main, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	wal, err := os.ReadFile(from + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	const frame = 24 + 4096
	var ends []int
	for at := 32; at <= len(wal); at += frame {
		ends = append(ends, at, at+1000) // whole, and torn in its last frame
	}
	seen := map[string]bool{}
	for _, end := range slices.Compact(ends) {
		dir := t.TempDir()
		path := filepath.Join(dir, "knowledge.db")
		for ext, b := range map[string][]byte{"": main, "-wal": wal[:min(end, len(wal))]} {
			if err := os.WriteFile(path+ext, b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		restore := withoutShm(t, path)
		frozen, err := Open(t.Context(), path)
		restore()
		if err != nil {
			continue // the log ends before the schema
		}
		got := what(frozen)
		frozen.Close()
		want := what(openAt(t, path))
		if got != want {
			t.Errorf("log of %d bytes: %q instead of %q", end, got, want)
		}
		seen[want] = true
	}
	if len(seen) < 3 {
		t.Errorf("the logs say nothing: %v", seen)
	}
}

// what tells the state of a database.
func what(d *DB) string {
	var s string
	err := d.Read(context.Background(), func(tx *sql.Tx) error {
		return tx.QueryRow("SELECT (SELECT count(*) FROM sqlite_master) || ' ' || coalesce((SELECT hash FROM trust), '')").Scan(&s)
	})
	if err != nil {
		return fmt.Sprint(kb.CodeOf(err), ": ", err)
	}
	return s
}

// A log whose database was deleted is not read into the next one.
func TestALogWithoutItsDatabaseIsForgotten(t *testing.T) {
	d := fresh(t)
	if err := d.Write(t.Context(), add); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(d.Path()); err != nil {
		t.Skip("a file in use cannot be removed here")
	}
	second := openAt(t, d.Path()) // while the first still has the old one open
	if got := what(second); !strings.HasSuffix(got, " ") {
		t.Errorf("the new database has what the old one had: %q", got)
	}
	if err := second.Write(t.Context(), add); err != nil {
		t.Fatal(err)
	}
	d.Close() // and takes nothing of the new one along
	third := openAt(t, d.Path())
	if got := counter(t, third); got != "1" {
		t.Errorf("counted %s of 1", got)
	}
	if err := third.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestEveryResultCodeHasAMeaning reads the result codes out of the source of
// the library: none means something by accident, and each is told with what to
// do next.
func TestEveryResultCodeHasAMeaning(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", "{{.Dir}}", "modernc.org/sqlite/lib").Output()
	if err != nil {
		t.Skipf("no go command: %v", err)
	}
	sources, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(out)), "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	constant := regexp.MustCompile(`(?m)^(?:const |\t)SQLITE_([A-Z0-9_]+) += +([0-9]+)$`)
	values := map[string]int{}
	for _, s := range sources {
		b, err := os.ReadFile(s)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range constant.FindAllStringSubmatch(string(b), -1) {
			values[m[1]], _ = strconv.Atoi(m[2])
		}
	}
	primaries := strings.Fields("ERROR INTERNAL PERM ABORT BUSY LOCKED NOMEM READONLY INTERRUPT IOERR CORRUPT NOTFOUND FULL CANTOPEN " +
		"PROTOCOL EMPTY SCHEMA TOOBIG CONSTRAINT MISMATCH MISUSE NOLFS AUTH FORMAT RANGE NOTADB NOTICE WARNING ROW DONE")
	codes := map[int]string{}
	for _, p := range primaries {
		if values[p] == 0 {
			t.Fatalf("SQLITE_%s is not defined", p)
		}
		codes[values[p]] = p
		for name, v := range values {
			if strings.HasPrefix(name, p+"_") && v > 0xff && v&0xff == values[p] {
				codes[v] = name
			}
		}
	}
	if len(codes) < 100 {
		t.Fatalf("%d codes: the source is not understood", len(codes))
	}
	d := fresh(t)
	for code, name := range codes {
		m, ok := meanings[code]
		if !ok {
			t.Errorf("SQLITE_%s (%d) has no meaning", name, code)
			continue
		}
		if strings.HasPrefix(name, "IOERR") && m == ours {
			t.Errorf("SQLITE_%s is taken for a defect of ours", name)
		}
		err := d.translate(t.Context(), resultCode(code))
		if kb.HintOf(err) == "" && kb.CodeOf(err) != kb.Canceled {
			t.Errorf("SQLITE_%s: %v says not what to do", name, err)
		}
	}
	for code, want := range map[string]kb.Code{"FULL": kb.Full, "BUSY_SNAPSHOT": kb.Busy, "NOTADB": kb.Corrupt, "IOERR_SHORT_READ": kb.Corrupt,
		"READONLY_DBMOVED": kb.Corrupt, "READONLY_DIRECTORY": kb.Denied, "IOERR_SHMSIZE": kb.Internal, "INTERRUPT": kb.Canceled, "TOOBIG": kb.TooLarge, "MISUSE": kb.Internal} {
		if got := kb.CodeOf(d.translate(t.Context(), resultCode(values[code]))); got != want {
			t.Errorf("SQLITE_%s is %q, not %q", code, got, want)
		}
	}
}

// resultCode is an error of SQLite, which has no way to make one.
type resultCode int

func (c resultCode) Error() string { return "SQLite: " + strconv.Itoa(int(c)) }
func (c resultCode) Code() int     { return int(c) }
