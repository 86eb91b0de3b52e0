package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
)

// judgeData: a disk that is full, gone or damaged; small limits.
func judgeData(s *seen) {
	at := func(head string) string { return s.section("== "+head, "==") }
	answered := func(text string) bool {
		return strings.Contains(text, "   status 0") && strings.Count(text, "\n") > 1 && !strings.Contains(text, "knowledge: ")
	}
	s.expect("the script's baseline stands", answered(at("baseline")), "%s", short(at("baseline")))
	for _, head := range []string{"ulimit -n 64", "ulimit -n 20", "index under ulimit -n 32", "ulimit -v 2000000 kB search", "ulimit -v 1000000 kB search", "truncated WAL", "empty knowledge.db", "garbage WAL", "missing knowledge.db only"} {
		s.expect("3 searches answer: "+head, answered(at(head)), "%s", short(at(head)))
	}
	for _, kb := range []string{"500000", "200000"} {
		// Go's runtime reserves more before it runs a line of the program: there
		// the launcher has the word. Between that and enough the program has it.
		text := at("ulimit -v " + kb + " kB")
		launcher := s.limited(kb, filepath.Join(s.place.dir, "attacks-src", "bin", "knowledge"))
		s.expect("address space "+kb+" kB: nothing is answered wrongly, and the launcher says in a sentence what is needed", text != "" && !strings.Contains(text, "   status 0") && strings.HasPrefix(launcher, "knowledge: the address space") && !crashed.MatchString(launcher), "%s", short(launcher))
	}
	program := s.limited("850000", s.place.bin)
	s.expect("address space 850000 kB: the program says in a sentence what it needs", strings.HasPrefix(program, "knowledge: the address space") && !crashed.MatchString(program), "%s", short(program))
	limit := at("ulimit -u/-f")
	s.expect("3 a limit on the size of files ends in a sentence that names the file", strings.Contains(limit, "   status 0") || !crashed.MatchString(limit) && strings.Contains(limit, "knowledge: ") && strings.Contains(limit, "knowledge.db"), "%s", short(limit))
	garbage := at("garbage knowledge.db")
	s.expect("4 a foreign database is said, with a status of its own", strings.Contains(garbage, "damaged") && strings.Contains(garbage, "   status 7"), "%s", short(garbage))
	for _, head := range []string{"segment truncated to 0", "generations removed"} {
		s.expect("4 a damaged or missing file is said or was rebuilt: "+head, strings.Contains(at(head), "   status 0") && (strings.Contains(at(head), "damaged") || strings.Contains(at(head), "rebuilt") || answered(at(head))), "%s", short(at(head)))
	}
	s.expect("4 lost vectors are said", strings.Contains(at("vectors removed"), "meaning") || strings.Contains(at("vectors removed"), "vectors"), "%s", short(at("vectors removed")))
	broken := at("segments dir replaced by file")
	s.expect("4 a file in the place of a folder is said or made good", !crashed.MatchString(broken) && strings.Contains(broken, "   status "), "%s", short(broken))
	inside := at("data dir is a symlink into the project")
	s.expect("2 a data directory inside the project is not indexed, nor through a link", inside != "" && strings.HasSuffix(strings.TrimSpace(inside), "\n0"), "%s files of it", lastLine(inside))
	open := at("data dir world-writable before")
	s.expect("3 doctor names a data directory that others may change", strings.Contains(open, "mode is 777") || strings.Contains(open, "chmod 700"), "%s", short(open))
	loose := 0
	for line := range strings.Lines(at("perms of fresh data dir")) {
		if f := strings.Fields(line); len(f) >= 2 && len(f[0]) == 3 && (f[1] == "d" || f[1] == "f") && !strings.HasSuffix(f[0], "00") {
			loose++
		}
	}
	s.expect("3 a fresh data directory is its owner's alone, whatever the umask", loose == 0, "%d files are not", loose)
	small := at("tmpfs 6 MB")
	if small == "" {
		return // may not mount here
	}
	_, full, _ := strings.Cut(small, "\nfull\n")
	first, _, _ := strings.Cut(full, "   status ")
	s.expect("3 a full disk: a new process answers searches", strings.Contains(full, "   status 0") && !strings.Contains(first, "knowledge: "), "%s", short(full))
	s.expect("3 a full disk: what writes says no space left", strings.Contains(full, "no space left"), "%s", short(full))
	s.expect("3 once there is space again what was new is found", strings.Contains(full, "docs/new.md"), "")
	inodes := at("inode exhaustion")
	s.expect("3 no inodes left: said as no space left, status 8", inodes == "" || strings.Contains(inodes, "no space left") && strings.Contains(inodes, "   status 8") || answered(inodes), "%s", short(inodes))
}

// limited is what a program says with so little address space.
func (s *seen) limited(kilobytes, program string) string {
	cmd := exec.Command("sh", "-c", "ulimit -v "+kilobytes+` && exec "$0" version`, program)
	cmd.Env = s.place.env
	out, _ := cmd.CombinedOutput()
	return string(out)
}

// judgeFull: a full tmpfs and a full ext4.
func judgeFull(s *seen) {
	for _, kind := range []string{"tmpfs", "ext4"} {
		if strings.Contains(s.out, "no ext4 loop mount") && kind == "ext4" || !strings.Contains(s.out, "["+kind+"]") {
			continue
		}
		part := func(what string) string {
			_, rest, _ := strings.Cut(s.out, "["+kind+"] "+what+"\n")
			rest, _, _ = strings.Cut(rest, "\n[")
			return rest
		}
		search := part("unchanged folder, disk full: search")
		s.expect("3 a full "+kind+": a new process answers searches", strings.Contains(search, "   status 0") && !strings.Contains(search, "knowledge: "), "%s", short(search))
		stores := part("stores")
		s.expect("3 a full "+kind+": stores are listed", strings.Contains(stores, "   status 0") && !strings.Contains(stores, "knowledge: "), "%s", short(stores))
		index := part("index")
		s.expect("3 a full "+kind+": index says no space left, status 8 (or had nothing to write)", strings.Contains(index, "no space left") && strings.Contains(index, "   status 8") || strings.Contains(index, "   status 0") && strings.Contains(index, "up to date"), "%s", short(index))
		doctor := part("doctor")
		s.expect("3 a full "+kind+": doctor says so", strings.Contains(doctor, "space") && !crashed.MatchString(doctor), "%s", short(doctor))
	}
}

// judgeVectors: a deleted file of vectors.
func judgeVectors(s *seen) {
	said := s.section("-- one .vec deleted", "--")
	s.expect("4 a lost file of vectors is said in the answer", strings.Contains(said, "note") && (strings.Contains(said, "meaning") || strings.Contains(said, "vectors")), "%s", short(said))
	s.expect("4 and in notes of JSON", strings.Contains(said, "notes ['") || s.vectorsSay(), "")
	doctor := s.section("-- doctor", "--")
	index := s.section("-- index p", "--")
	left := count(index, `(?m)^(\d+)$`)
	s.expect("4 doctor sees it, or it is rebuilt by then", strings.Contains(doctor, ".vec") || strings.Contains(doctor, "vectors") || left >= 1, "%s", short(doctor))
	s.expect("4 it is rebuilt without --force", left >= 1, "%d files of vectors after index", left)
	end := s.section("-- index --force", "--")
	first, _, _ := strings.Cut(s.out, "-- one .vec deleted")
	s.expect("4 then the order is the one from before", strings.Contains(end, strings.TrimSpace(first)), "")
}

// judgeFlips: damaged files are said, never answered from.
func judgeFlips(s *seen) {
	bad := s.section("BAD ", "=====")
	n := count(s.out, `(?m)^BAD (\d+)`)
	silent, lost := 0, 0
	for line := range strings.Lines(bad) {
		// The script knows notes, not the one note of grep, and cuts what it shows.
		if strings.Contains(line, ".vec', 'remove'") && strings.Contains(line, "'grep'") && s.grepSays() {
			continue
		}
		if strings.Contains(line, "'stores', '") && strings.Contains(line, `"status":"running"`) {
			continue // the list of stores says that it is being rebuilt
		}
		if m := flipped.FindStringSubmatch(line); m != nil && s.flipSays(m[1], m[2]) {
			continue // and so does what the script cuts off
		}
		if strings.Contains(line, "'knowledge.db', 'remove'") {
			if !s.databaseSays() {
				lost++
			}
			continue
		}
		silent++
	}
	s.expect("4 no damage is answered from silently, none crashes", n >= 0 && silent == 0, "%d of %d silent: %s", silent, len(counts(s.out, `(?m)^(\d+) \(`)), short(bad))
	s.expect("3 a database that was deleted is said", lost == 0, "%d times nothing was said", lost)
}

// flipped is damage that only the list of stores was found silent on.
var flipped = regexp.MustCompile(`\('(segments/[^']+)', 'flip', (\d+), 'stores', `)

// flipSays reports whether the same damage is said by a search, and the list of
// stores then has one that is being rebuilt or differs in nothing.
func (s *seen) flipSays(file, offset string) bool {
	ask, data := s.damaged("attacks-flip-base")
	path, at := filepath.Join(data, file), count(offset, `(\d+)`)
	b, err := os.ReadFile(path)
	if err != nil || at < 0 || at >= len(b) {
		return false
	}
	b[at] ^= 4
	if err := os.WriteFile(path, b, 0o600); err != nil {
		return false
	}
	said := ask("search", "which process may delete files", "--stores", "*", "--json")
	return strings.Contains(said, "damaged") && strings.Contains(ask("stores", "--json"), `"status":"running"`)
}

// damaged copies a data directory, to be damaged, and returns what asks there.
func (s *seen) damaged(from string) (ask func(args ...string) string, data string) {
	data = filepath.Join(s.place.dir, "damaged")
	_ = os.RemoveAll(data)
	if err := os.CopyFS(data, os.DirFS(filepath.Join(s.place.dir, from))); err != nil {
		return func(...string) string { return err.Error() }, data
	}
	return func(args ...string) string {
		out, _ := lab.Command(s.place.dir+"/attacks-d/p", s.place.env, s.place.bin, append([]string{"--data-dir", data}, args...)...)
		return out
	}, data
}

// databaseSays reports whether the list of stores says that the database was
// deleted, in a process after the one that found it so.
func (s *seen) databaseSays() bool {
	ask, data := s.damaged("attacks-flip-base")
	if os.Remove(filepath.Join(data, "knowledge.db")) != nil {
		return false
	}
	for _, rest := range []string{"-wal", "-shm"} {
		_ = os.Remove(filepath.Join(data, "knowledge.db"+rest))
	}
	ask("search", "open the database", "--stores", "*")
	return strings.Contains(ask("stores", "--json"), "was gone")
}

// vectorsSay reports whether JSON has the note when it is asked for first: in
// the script the vectors may be there again by then.
func (s *seen) vectorsSay() bool {
	ask, data := s.damaged("attacks-d/data")
	list, _ := filepath.Glob(filepath.Join(data, "segments", "*.vec"))
	for _, f := range list {
		if os.Remove(f) != nil {
			return false
		}
	}
	var r struct{ Notes []string }
	said := ask("search", "which process may delete files", "--json")
	return len(list) > 0 && json.Unmarshal([]byte(said), &r) == nil && strings.Contains(strings.Join(r.Notes, " "), "vectors")
}

// grepSays reports whether grep tells that vectors are missing, and finds the
// same lines without them.
func (s *seen) grepSays() bool {
	base := filepath.Join(s.place.dir, "attacks-flip-base")
	data := filepath.Join(s.place.dir, "grep-without-vectors")
	_ = os.RemoveAll(data)
	if err := os.CopyFS(data, os.DirFS(base)); err != nil {
		return false
	}
	list, _ := filepath.Glob(filepath.Join(data, "segments", "*.vec"))
	for _, f := range list {
		if err := os.Remove(f); err != nil {
			return false
		}
	}
	type found struct {
		Matches json.RawMessage `json:"matches"`
		Note    string          `json:"note"`
	}
	var with, without found
	for dir, into := range map[string]*found{base: &with, data: &without} {
		out, err := lab.Command(s.place.dir+"/attacks-d/p", s.place.env, s.place.bin, "--data-dir", dir, "grep", "lib", "WAL", "--json")
		if err != nil || json.Unmarshal([]byte(out), into) != nil {
			return false
		}
	}
	return len(list) > 0 && bytes.Equal(with.Matches, without.Matches) && strings.Contains(without.Note, "vectors")
}

// shownPlace is the place of a hit, in JSON or in text.
var shownPlace = regexp.MustCompile(`"hits":\[\{|\w\.md:\d`)

// judgeGone: a data directory that goes away under a session.
func judgeGone(s *seen) {
	is := func(head string) string { l, _ := s.lineOf(fmt.Sprintf("%-46s", head)); return l }
	hit := shownPlace.MatchString
	gone := is("data dir deleted under server: search")
	s.expect("3 a data directory that was deleted: the session answers", hit(gone) || hit(is("again")), "%s", short(gone))
	create := is("store:create")
	s.expect("3 and takes a store, or says that it cannot", strings.Contains(create, `"jobId"`) || strings.Contains(create, "removed"), "%s", short(create))
	s.expect("3 and follows its folder", hit(is("new file afterwards")), "%s", short(is("new file afterwards")))
	s.expect("3 the directory is made anew", strings.Contains(s.out, "exists again True"), "")
	s.expect("3 a new session finds the same", hit(is("new server, same dir")), "%s", short(is("new server, same dir")))
	moved, err := s.movedSays()
	s.expect("3 a folder that moved is said, and answers when it is back", err == nil && strings.Contains(moved, "notes") && hit(is("moved back")), "%s %v", short(moved), err)
	db := is("knowledge.db deleted under server")
	s.expect("3 a database that was deleted: the session answers", hit(db), "%s", short(db))
	second := is("second server")
	s.expect("3 a second session answers too", hit(second), "%s", short(second))
	s.expect("3 what one creates the other sees, or it is refused with its reason", strings.Contains(is("does the second see it?"), "ghost") || strings.Contains(is("first server creates a store"), "removed"), "%s", short(is("does the second see it?")))
}

// movedSays is what a session says of its folder when that has moved: the
// script cuts off all but the first hit.
func (s *seen) movedSays() (notes string, err error) {
	dir := filepath.Join(s.place.dir, "moved")
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(s.place.dir, "attacks-src", "docs"))); err != nil {
		return "", err
	}
	if _, err := lab.Command(dir, s.place.env, "git", "init", "-q", "."); err != nil {
		return "", err
	}
	m, err := s.place.session(dir, dir+"-data")
	if err != nil {
		return "", err
	}
	defer m.end()
	const question = `{"query":"which files are left out","limit":1,"form":"json"}`
	if _, err := m.search(question); err != nil {
		return "", err
	}
	if err := os.Rename(dir, dir+"-away"); err != nil {
		return "", err
	}
	reply, err := m.search(question)
	if rename := os.Rename(dir+"-away", dir); err == nil {
		err = rename
	}
	if i := strings.Index(reply, `notes`); i >= 0 {
		reply = reply[i:]
	}
	return reply, err
}

// judgeKills: kill -9 at random moments.
func judgeKills(s *seen) {
	kills := count(s.out, `(?m)^kills (\d+)`)
	want := count(s.args[0], `(\d+)`)
	s.expect("killed at any moment: the kills happened", kills >= want*9/10, "%d of %d", kills, want)
	_, unexpected, _ := strings.Cut(s.out, "unexpected:")
	unexpected, _, _ = strings.Cut(unexpected, "index after:")
	s.expect("killed at any moment: no unexpected failure", strings.TrimSpace(unexpected) == "", "%s", short(unexpected))
	s.expect("killed at any moment: answers equal a fresh index", strings.Contains(s.out, "queries differing: 0 of 10") && strings.Contains(s.out, "files same True") && strings.Contains(s.out, "callers same True"), "%s", short(strings.Join(s.linesWith("DIFF"), "; ")))
	s.expect("killed at any moment: no job is left", strings.Contains(s.out, "jobs left active 0"), "")
	left, freed, err := s.swept("attacks-kill-data")
	s.expect("killed at any moment: what the dead left is swept when it is old", err == nil && left == 0, "%d files lay there, %d after gc %v", freed, left, err)
}

// swept ages what unfinished writes left by a day, has it swept, and returns
// how many such files there are then and were before.
func (s *seen) swept(data string) (after, before int, err error) {
	dir := filepath.Join(s.place.dir, data)
	list := func() (out []string) {
		_ = filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && strings.Contains(d.Name(), ".tmp") {
				out = append(out, p)
			}
			return nil
		})
		return out
	}
	was := list()
	old := time.Now().Add(-24 * time.Hour)
	for _, f := range was {
		if err := os.Chtimes(f, old, old); err != nil {
			return 0, len(was), err
		}
	}
	_, err = s.place.knowledge(s.place.dir, "--data-dir", dir, "gc")
	return len(list()), len(was), err
}

// judgeBombs: pathological sources stay within bounds.
func judgeBombs(s *seen) {
	last := lastLine(s.out)
	s.expect("11 every grammar survives pathological sources, and the file beside them is found", strings.HasSuffix(last, "not found []"), "%s", short(last))
	peak := count(last, `max peak (\d+)`)
	s.expect("11 within 640 MiB", peak > 0 && peak <= 640, "%d MiB", peak)
	s.expect("11 within 25 s", !strings.Contains(s.out, "timeout True"), "slowest: %s", short(strings.SplitN(s.out, "\n", 2)[0]))
}

// judgeSoak: minutes of mixed calls.
func judgeSoak(s *seen) {
	rows := s.linesWith(" rss ")
	rss, fds := counts(s.out, `calls \d+ rss (\d+)`), counts(s.out, `calls \d+ rss \d+ fds (\d+)`)
	s.expect("soak: the server lives to the end", strings.Contains(s.out, "end calls") && !strings.Contains(s.out, "DEAD"), "%s", short(lastLine(s.out)))
	s.expect("soak: no call fails", len(rows) > 1 && most(counts(s.out, `err (\d+)`)) == 0, "%d", most(counts(s.out, `err (\d+)`)))
	s.expect("soak: memory stays (≤ 128 MiB)", len(rss) > 1 && most(rss) <= 128, "MiB: %v", rss)
	s.expect("soak: descriptors stay (≤ 64)", len(fds) > 1 && most(fds) <= 64, "%v", fds)
	s.expect("soak: it ends when its input does", regexp.MustCompile(`close \d`).MatchString(s.out), "%s", short(lastLine(s.out)))
}
