package main

import (
	"regexp"
	"strings"
)

// judgeSecrets: at least 57 of the 61 kinds are left out or masked.
func judgeSecrets(s *seen) {
	n := count(s.out, `(?m)^indexed: (\d+) of 61`)
	var names []string
	for _, l := range s.linesWith("INDEXED") {
		names = append(names, strings.Join(strings.Fields(l)[1:], " "))
	}
	s.expect("5 ≥ 57 of 61 kinds of secrets are left out or masked", n >= 0 && n <= 4, "%d are shown: %s", n, strings.Join(names, ", "))
}

// high is how cat -v shows a byte outside ASCII.
var high = regexp.MustCompile(`M-(\^.|.)`)

// control reports whether cat -v shows a control character that a terminal
// obeys. The returns of a progress bar are ours.
func control(line string) bool {
	if strings.Contains(line, "M-BM-^") { // U+0080 to U+009F
		return true
	}
	line = high.ReplaceAllString(line, "")
	for _, c := range []string{"^[", "^G", "^@", "^H", "^K", "^L", "^?"} {
		if strings.Contains(line, c) {
			return true
		}
	}
	return false
}

// invisible is how cat -v shows what no terminal shows: bidirectional
// overrides and isolates, zero-width signs, tags.
func invisible(line string) bool {
	for _, c := range []string{"M-bM-^@M-.", "M-bM-^@M-*", "M-bM-^AM-&", "M-bM-^@M-^K", "M-sM- M-^A", "M-sM- M-^@"} {
		if strings.Contains(line, c) {
			return true
		}
	}
	return false
}

// judgeFolder: names and texts of strangers, on a terminal and in a pipe.
func judgeFolder(s *seen) {
	var raw, unseen []string
	for line := range strings.Lines(s.out) {
		line = strings.TrimRight(line, "\r\n")
		if control(line) {
			raw = append(raw, short(line))
		}
		if invisible(line) {
			unseen = append(unseen, short(line))
		}
	}
	s.expect("10 no control characters reach a terminal or a pipe", strings.Contains(s.out, "--- on a pty") && len(raw) == 0, "%d lines; %s", len(raw), short(strings.Join(raw, "; ")))
	s.expect("10 overrides, zero-width signs and tags are shown escaped", len(unseen) == 0, "%d lines; %s", len(unseen), short(strings.Join(unseen, "; ")))
	forged := 0
	for line := range strings.Lines(s.out) {
		if strings.HasPrefix(line, "line.md") {
			forged++
		}
	}
	s.expect("10 a name with a line break stays on its line", forged == 0, "%d lines begin with the rest of such a name", forged)
	s.expect("3 a hostile folder is indexed: pipes, devices, loops, sparse files", strings.Contains(s.out, "\nstatus 0\n") || strings.HasPrefix(strings.TrimSpace(s.out), "status 0") || strings.Contains(s.out, "status 0"), "%s", short(strings.Join(s.linesWith("status "), "")))
	s.expect("7 nothing of a name is executed", !strings.Contains(s.out, "\nPWNED\n"), "")
}

// judgeUnseen: what an agent is given; a client that does not read.
func judgeUnseen(s *seen) {
	l := strings.Join(s.linesWith("ESC in text:"), "")
	sum := 0
	for _, n := range counts(l, `(?:text:|BEL|RLO|U\+202E|tags|C1) (\d+)`) {
		sum += n
	}
	read := count(s.out, `READ invisible tags: (\d+)`)
	s.expect("10 no invisible or control character reaches the agent", l != "" && sum == 0 && read == 0, "%s; in a document that is read: %d", short(l), read)
	marked := strings.Join(s.linesWith("READ inject:"), "")
	s.expect("10 sentences that address an assistant are marked", strings.Contains(marked, "addresses an assistant"), "%s", short(marked))
	s.expect("9 1,000 questions at once are all answered", strings.Contains(s.out, "1000 parallel: answered 1000 errors 0"), "%s", short(strings.Join(s.linesWith("1000 parallel"), "")))
	rss := counts(s.out, `unread \d+s sent \d+ rss (\d+)`)
	s.expectUnread(most(rss), len(rss) > 3, "MiB: %v", rss)
}

// expectUnread checks what a client costs that never reads, in MiB of a server
// that it asked: what one takes more than a server whose client has read its
// answers. Before the first question nothing of the index is in memory.
func (s *seen) expectUnread(unread int, whole bool, format string, args ...any) {
	read, err := s.place.afterAnswers(s.place.dir+"/attacks-fold", s.place.dir+"/attacks-fold-data")
	s.expect("9 a client that never reads costs ≤ 32 MiB more than one that does", err == nil && whole && unread-read <= 32, format+"; %d MiB after answers that were read %v", append(args, read, err)...)
}

// judgeFrames: malformed frames, and signals.
func judgeFrames(s *seen) {
	alive := len(s.linesWith("alive=True"))
	s.expect("9 the server survives every malformed frame", alive >= 24 && len(s.linesWith(" EXC ")) == 0 && len(s.linesWith("alive=False")) == 0, "%d of 24 alive; %s", alive, short(strings.Join(s.linesWith(" EXC "), "; ")))
	s.expect("9 1,000 questions at once are all answered", strings.Contains(s.out, "1000 parallel: answered 1000 errors 0"), "%s", short(strings.Join(s.linesWith("1000 parallel"), "")))
	from, to := count(s.out, `unread: sent \d+ rss (\d+) ->`), count(s.out, `unread: sent \d+ rss \d+ -> (\d+)`)
	s.expectUnread(to, from > 0, "%d MiB, then %d", from, to)
	s.expect("9 a signal ends a server that nobody reads", !strings.Contains(s.out, "HUNG"), "%s", short(strings.Join(s.linesWith("SIGTERM"), "; ")))
	l := strings.Join(s.linesWith("raw ESC in text:"), "")
	sum := 0
	for _, n := range counts(l, `(?:text:|BEL|RLO|U\+202E|tags|C1) (\d+)`) {
		sum += n
	}
	s.expect("10 no invisible or control character reaches the agent", l != "" && sum == 0, "%s", short(l))
}

// judgeMany: hundreds of questions in flight.
func judgeMany(s *seen) {
	ok := 0
	for _, n := range []string{"50", "200", "1000"} {
		if l, found := s.lineOf(n + " "); found && strings.Contains(l, "Counter({'ok': "+n+"})") {
			ok++
		}
	}
	s.expect("9 50, 200 and 1,000 questions at once are all answered", ok == 3, "%s", short(s.out))
}

// judgeIgnore: a budget for ignore rules.
func judgeIgnore(s *seen) {
	var slow []string
	n := 0
	for _, l := range s.linesWith("| knowledge (") {
		n++
		_, rest, _ := strings.Cut(l, "| knowledge (")
		sec := count(rest, `^(\d+)`)
		if strings.Contains(rest, ">60s") || sec >= 5 && strings.Contains(l, "globs") || sec >= 10 || !strings.Contains(rest, ", 0)") {
			slow = append(slow, short(l))
		}
	}
	s.expect("11 68 kB of globs at depth 300 in ≤ 5 s, or said and cut", n == 7 && len(slow) == 0, "%d of %d in time; %s", n-len(slow), n, strings.Join(slow, "; "))
}
