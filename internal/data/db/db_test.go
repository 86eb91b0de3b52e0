package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

const helperEnv = "DB_TEST_WRITE"

func TestMain(m *testing.M) {
	if arg := os.Getenv(helperEnv); arg != "" {
		if err := helper(arg); err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// helper is what other processes do: "N PATH" adds 1 to a counter N times.
func helper(arg string) error {
	n, path, _ := strings.Cut(arg, " ")
	times, err := strconv.Atoi(n)
	if err != nil {
		return err
	}
	ctx := context.Background()
	d, err := Open(ctx, path)
	if err != nil {
		return err
	}
	defer d.Close()
	for i := range times {
		write := d.Write
		if i%2 == 0 {
			write = d.WriteSoon
		}
		if err := write(ctx, func(tx *sql.Tx) error { return add(tx) }); err != nil {
			return err
		}
	}
	return nil
}

// add reads the counter and writes it back plus one, so that a lost write shows.
func add(tx *sql.Tx) error {
	var s string
	err := tx.QueryRow("SELECT hash FROM trust WHERE path = 'counter'").Scan(&s)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	n, _ := strconv.Atoi(s)
	_, err = tx.Exec("INSERT OR REPLACE INTO trust VALUES ('counter', ?, 0)", strconv.Itoa(n+1))
	return err
}

func counter(t *testing.T, d *DB) string {
	t.Helper()
	var s string
	if err := d.Read(t.Context(), func(tx *sql.Tx) error {
		return tx.QueryRow("SELECT hash FROM trust WHERE path = 'counter'").Scan(&s)
	}); err != nil {
		t.Fatal(err)
	}
	return s
}

func openAt(t testing.TB, path string) *DB {
	t.Helper()
	d, err := Open(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func fresh(t testing.TB) *DB {
	t.Helper()
	// Characters that mean something in a URI, as user directories have them.
	return openAt(t, filepath.Join(t.TempDir(), "a b#c%20?&d", "knowledge.db"))
}

func TestProcessesLoseNoWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data", "knowledge.db")
	const processes, writes = 6, 40
	var wg sync.WaitGroup
	for range processes {
		wg.Go(func() { // all of them also race to create and migrate
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), helperEnv+"="+strconv.Itoa(writes)+" "+path)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	wg.Wait()
	d := openAt(t, path)
	var goroutines sync.WaitGroup
	for range 4 {
		goroutines.Go(func() {
			for range 10 {
				if err := d.Write(t.Context(), add); err != nil {
					t.Error(err)
				}
			}
		})
	}
	goroutines.Wait()
	if got, want := counter(t, d), strconv.Itoa(processes*writes+40); got != want {
		t.Errorf("counted %s, want %s", got, want)
	}
	if err := d.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestFilesArePrivate(t *testing.T) {
	d := fresh(t)
	if err := d.Write(t.Context(), add); err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS == "windows" {
		t.Skip("modes mean nothing here")
	}
	for p, want := range map[string]os.FileMode{d.Path(): 0o600, d.Path() + "-wal": 0o600, filepath.Dir(d.Path()): 0o700} {
		st, err := os.Stat(p)
		if err != nil {
			t.Fatal(err)
		}
		if st.Mode().Perm() != want {
			t.Errorf("%s has mode %o, want %o", filepath.Base(p), st.Mode().Perm(), want)
		}
	}
}

func TestWriteIsAllOrNothing(t *testing.T) {
	d := fresh(t)
	boom := errors.New("boom")
	if err := d.Write(t.Context(), func(tx *sql.Tx) error { return errors.Join(add(tx), boom) }); !errors.Is(err, boom) {
		t.Errorf("got %v", err)
	}
	func() {
		defer func() { recover() }()
		_ = d.Write(t.Context(), func(tx *sql.Tx) error { add(tx); panic("x") })
	}()
	ctx, cancel := context.WithCancel(t.Context())
	if err := d.Write(ctx, func(tx *sql.Tx) error { err := add(tx); cancel(); return err }); kb.CodeOf(err) != kb.Canceled {
		t.Errorf("got %v", err)
	}
	// The same, but with the transaction already rolled back when f returns.
	ctx, cancel = context.WithCancel(t.Context())
	if err := d.Write(ctx, func(tx *sql.Tx) error {
		if err := add(tx); err != nil {
			return err
		}
		cancel()
		for {
			if _, err := tx.Exec("SELECT 1"); errors.Is(err, sql.ErrTxDone) {
				return nil
			}
		}
	}); kb.CodeOf(err) != kb.Canceled {
		t.Errorf("got %v", err)
	}
	if err := d.Write(t.Context(), add); err != nil {
		t.Fatal(err)
	}
	if got := counter(t, d); got != "1" {
		t.Errorf("counted %s", got)
	}
	if err := d.Write(t.Context(), func(tx *sql.Tx) error { return fmt.Errorf("no: %w", kb.Errorf(kb.Exists, "there")) }); kb.CodeOf(err) != kb.Exists {
		t.Errorf("an error of ours became %v", err)
	}
	if err := d.Write(t.Context(), func(tx *sql.Tx) error { _, err := tx.Exec("INSERT INTO nowhere VALUES (1)"); return err }); kb.CodeOf(err) != kb.Internal {
		t.Errorf("a wrong statement became %v", err)
	}
	if err := d.Write(t.Context(), func(tx *sql.Tx) error {
		_, err := tx.Exec("INSERT INTO names VALUES ('', 'x', 'nostore', '', '[]', 0)")
		return err
	}); err == nil {
		t.Error("foreign keys are not checked")
	}
}

func TestReadersSeeOneStateAndCannotWrite(t *testing.T) {
	d := fresh(t)
	if err := d.Write(t.Context(), add); err != nil {
		t.Fatal(err)
	}
	err := d.Read(t.Context(), func(tx *sql.Tx) error {
		for range 3 {
			var s string
			if err := tx.QueryRow("SELECT hash FROM trust").Scan(&s); err != nil {
				return err
			}
			if s != "1" {
				t.Errorf("read %s", s)
			}
			if err := d.Write(t.Context(), add); err != nil { // does not wait for the reader
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Read(t.Context(), add); err == nil {
		t.Error("wrote in a Read")
	}
	if got := counter(t, d); got != "4" {
		t.Errorf("counted %s", got)
	}
}

func TestNewerSchemaIsReadAndNeverWritten(t *testing.T) {
	d := fresh(t)
	if err := d.Write(t.Context(), add); err != nil {
		t.Fatal(err)
	}
	if d.Newer() {
		t.Error("newer too early")
	}
	// Another process of a newer version migrates under our feet.
	if err := d.Write(t.Context(), func(tx *sql.Tx) error {
		_, err := tx.Exec("ALTER TABLE trust ADD COLUMN later TEXT; PRAGMA user_version = 1000")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	reopened := openAt(t, d.Path())
	if !reopened.Newer() {
		t.Error("not seen when opened")
	}
	for _, d := range []*DB{d, reopened} {
		for range 2 {
			err := d.Write(t.Context(), add)
			if kb.CodeOf(err) != kb.Newer || !strings.Contains(kb.HintOf(err), "restart this session") {
				t.Errorf("got %v", err)
			}
		}
		if got := counter(t, d); got != "1" || !d.Newer() {
			t.Errorf("counted %s, newer %v", got, d.Newer())
		}
	}
}

func TestALockedDatabaseIsWaitedForAsLongAsTheContext(t *testing.T) {
	d := fresh(t)
	other := openAt(t, d.Path())
	locked, release := make(chan struct{}), make(chan struct{})
	done := make(chan error)
	go func() {
		done <- other.Write(context.Background(), func(tx *sql.Tx) error {
			close(locked)
			<-release
			return add(tx)
		})
	}()
	<-locked
	ctx, cancel := context.WithTimeout(t.Context(), 150*time.Millisecond)
	defer cancel()
	if err := d.Write(ctx, add); kb.CodeOf(err) != kb.Canceled {
		t.Errorf("got %v", err)
	}
	go func() { done <- d.Write(context.Background(), add) }()
	time.Sleep(30 * time.Millisecond)
	close(release)
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if got := counter(t, d); got != "2" {
		t.Errorf("counted %s", got)
	}
}

func TestDamageIsNamed(t *testing.T) {
	dir := t.TempDir()
	garbage := filepath.Join(dir, "garbage.db")
	if err := os.WriteFile(garbage, []byte(strings.Repeat("not a database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), garbage); kb.CodeOf(err) != kb.Corrupt || kb.HintOf(err) == "" {
		t.Errorf("got %v", err)
	}

	path := filepath.Join(dir, "d.db")
	d := openAt(t, path)
	if err := d.Write(t.Context(), add); err != nil {
		t.Fatal(err)
	}
	d.Close() // moves the log into the file
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 4096; i < len(b); i++ {
		b[i] = 0xa5
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	d = openAt(t, path)
	if err := d.Check(t.Context()); kb.CodeOf(err) != kb.Corrupt || kb.HintOf(err) == "" {
		t.Errorf("Check: %v", err)
	}
	if err := d.Write(t.Context(), add); kb.CodeOf(err) != kb.Corrupt {
		t.Errorf("Write: %v", err)
	}
}

func TestAFullDiskIsNamedAndChangesNothing(t *testing.T) {
	d := fresh(t)
	if err := d.Write(t.Context(), add); err != nil {
		t.Fatal(err)
	}
	if _, err := d.conns.full.Exec("PRAGMA max_page_count = 1"); err != nil { // SQLite's own limit answers like a full disk
		t.Fatal(err)
	}
	err := d.Write(t.Context(), func(tx *sql.Tx) error {
		if err := add(tx); err != nil {
			return err
		}
		_, err := tx.Exec("INSERT INTO trust SELECT 'p' || value, hex(zeroblob(4000)), 0 FROM json_each('[1,2,3,4,5,6,7,8]')")
		return err
	})
	if kb.CodeOf(err) != kb.Full || kb.HintOf(err) == "" || err.Error() != fmt.Sprintf("no space left to write %q", d.Path()) {
		t.Errorf("got %v", err)
	}
	if got := counter(t, d); got != "1" {
		t.Errorf("counted %s", got)
	}
}

func TestWhatCannotBeWrittenIsReadAndSaysSo(t *testing.T) {
	d := fresh(t)
	if err := d.Write(t.Context(), add); err != nil {
		t.Fatal(err)
	}
	d.Close()
	dir := filepath.Dir(d.Path())
	if err := os.Chmod(d.Path(), 0o400); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(dir, 0o700) })
	if f, err := os.Create(filepath.Join(dir, "probe")); err == nil {
		f.Close()
		t.Skip("this user may write anywhere")
	}
	d = openAt(t, d.Path())
	if got := counter(t, d); got != "1" {
		t.Errorf("counted %s", got)
	}
	if err := d.Write(t.Context(), add); kb.CodeOf(err) != kb.Denied || kb.HintOf(err) == "" {
		t.Errorf("got %v", err)
	}
	if _, err := Open(t.Context(), filepath.Join(dir, "new.db")); kb.CodeOf(err) != kb.Denied {
		t.Errorf("got %v", err)
	}
}

func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "d.db")
	openAt(b, path)
	for b.Loop() {
		d, err := Open(context.Background(), path)
		if err != nil {
			b.Fatal(err)
		}
		d.Close()
	}
}

func BenchmarkWrite(b *testing.B) {
	d := fresh(b)
	for name, write := range map[string]func(context.Context, func(*sql.Tx) error) error{"full": d.Write, "soon": d.WriteSoon, "read": d.Read} {
		b.Run(name, func(b *testing.B) {
			f := add
			if name == "read" {
				f = func(tx *sql.Tx) error {
					var s string
					return tx.QueryRow("SELECT hash FROM trust WHERE path = 'counter'").Scan(&s)
				}
			}
			for b.Loop() {
				if err := write(context.Background(), f); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A look sees what is committed, beside writers and alone, and leaves no trace.
func TestALookLeavesNoTrace(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "data", "knowledge.db")
	if _, err := Look(ctx, path); kb.CodeOf(err) != kb.NotFound {
		t.Errorf("without a database: %v", err)
	}
	if _, err := os.Stat(filepath.Dir(path)); err == nil {
		t.Error("the directory was made")
	}
	files := func() string {
		entries, err := os.ReadDir(filepath.Dir(path))
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return strings.Join(names, " ")
	}
	look := func() (n int) {
		t.Helper()
		d, err := Look(ctx, path)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		if err := d.Read(ctx, func(tx *sql.Tx) error {
			return tx.QueryRowContext(ctx, "SELECT count(*) FROM projects").Scan(&n)
		}); err != nil {
			t.Error(err)
		}
		if err := d.Write(ctx, func(*sql.Tx) error { return nil }); kb.CodeOf(err) != kb.Denied {
			t.Errorf("a write through a look: %v", err)
		}
		return n
	}
	d, err := Open(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if err := d.Write(ctx, func(tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, "INSERT INTO projects (id, dir, seen) VALUES (?, '/x', 1)", strconv.Itoa(i))
			return err
		}); err != nil {
			t.Fatal(err)
		}
		before := files()
		if n := look(); n != i+1 || files() != before {
			t.Errorf("beside a writer: %d rows of %d; %s, then %s", n, i+1, before, files())
		}
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	before := files()
	if n := look(); n != 3 || files() != before {
		t.Errorf("alone: %d rows of 3; %s, then %s", n, before, files())
	}
}
