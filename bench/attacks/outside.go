package main

import (
	"fmt"
	"strings"
)

// trapped counts what ran of a repository.
func (s *seen) trapped(head string) (int, string) {
	text := s.section(head, "==")
	n := 0
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" {
			n++
		}
	}
	return n, short(text)
}

// judgeGit: nothing of a repository runs; addresses are guarded.
func judgeGit(s *seen) {
	n, what := s.trapped("== executed traps:")
	s.expect("7 nothing of a repository is executed (no git installed in its PATH)", n == 0 && strings.Contains(s.out, "== executed traps:"), "%d traps; %s", n, what)
	s.expect("7 no address and no ref is taken for an option", strings.Contains(s.out, "no PWNED files"), "")
	var reached, told []string
	for _, u := range []string{"http://127.0.0.1:1/x.git", "https://169.254.169.254/x.git", "https://[::ffff:127.0.0.1]:1/x.git", "https://2130706433:1/x.git", "https://0x7f.1:1/x", "https://localhost:1/x.git", "ssh://a@127.0.0.1:1/x"} {
		text := s.section("-- "+u, "-- ")
		for _, sign := range []string{"refused\n", "connection refused", "certificate", "known_hosts", "does not answer", "timeout", "EOF"} {
			if strings.Contains(text, sign) {
				reached = append(reached, u)
				break
			}
		}
		if strings.Contains(text, "connection refused") || strings.Contains(text, "timed out") {
			told = append(told, u)
		}
		if text == "" {
			reached = append(reached, u+": no answer")
		}
	}
	s.expect("6 no repository on a private or loopback host is dialled", len(reached) == 0, "dialled: %s", strings.Join(reached, ", "))
	s.expect("6 errors do not tell open ports from closed ones", len(told) == 0, "told: %s", strings.Join(told, ", "))
	s.expect("7 every other transport is refused", strings.Count(s.out, "transport that is not accepted") >= 3, "%d", strings.Count(s.out, "transport that is not accepted"))
}

// judgeTraps: the same beside an installed git; the control shows that the
// traps work.
func judgeTraps(s *seen) {
	n, what := s.trapped("== executed traps with an installed git:")
	s.expect("7 nothing of a repository is executed beside an installed git", n == 0, "%d traps; %s", n, what)
	control, what := s.trapped("== control: plain git status")
	s.expect("the traps are live: git itself springs one", control > 0, "%s", what)
}

// judgeAddresses: an untrusted clone reaches nothing on this machine.
func judgeAddresses(s *seen) {
	var seenBy []string
	cases := 0
	name := ""
	for line := range strings.Lines(s.out) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(line, "   server saw: "):
			cases++
			if !strings.HasSuffix(line, "[]") {
				seenBy = append(seenBy, name)
			}
		case !strings.HasPrefix(line, "   "):
			name = line
		}
	}
	s.expect("6 nothing that a text or a repository names reaches a loopback address", cases >= 14 && len(seenBy) == 0, "%d of %d cases reached it: %s", len(seenBy), cases, strings.Join(seenBy, "; "))
	told := 0
	for _, sign := range []string{"canary-body", "connection refused", "asks for credentials"} {
		told += strings.Count(s.out, sign)
	}
	s.expect("6 errors tell nothing of what answers there", told == 0, "%d errors do", told)
}

// judgeNetrc: passwords go over TLS only.
func judgeNetrc(s *seen) {
	s.expect("6 passwords of netrc go over TLS only", strings.Contains(s.out, "  saw ") && !strings.Contains(s.out, "NETRC-CANARY"), "sent in %d requests", strings.Count(s.out, "NETRC-CANARY"))
}

// judgeLast: an agent, another user of the machine, the file of a governance tool.
func judgeLast(s *seen) {
	mcp := s.section("== trust over MCP", "==")
	s.expect("7 an agent cannot vouch for a file", mcp != "" && !strings.Contains(mcp, "Traceback") && strings.Contains(mcp, "person"), "%s", short(mcp))
	secret, _ := s.lineOf("agent reads /etc/passwd through a store: ")
	s.expect("7 an agent cannot index a path outside without a person's word", secret != "" && !strings.Contains(secret, "root:") && !strings.Contains(mcp, `"store":"e"`), "%s", short(secret))
	other := s.section("== other user of this machine", "==")
	s.expect("8 another user of the machine reads nothing without the token", other != "" && strings.Contains(other, "token") && !strings.Contains(other, "4711") && !strings.Contains(other, `"jobs":[{`), "%s", short(other))
	s.expect("8 another user of the machine sees neither data directory nor environment", strings.Count(other, "Permission denied") >= 2, "%d refusals", strings.Count(other, "Permission denied"))
	http := s.section("== mcp --http", "==")
	codes := ""
	for line := range strings.Lines(http) {
		if f := strings.Fields(line); len(f) > 1 && len(f[0]) == 3 && f[0][0] >= '2' && f[0][0] <= '5' {
			codes += f[0] + " "
		}
	}
	s.expect("8 MCP over HTTP asks for token, origin and host", codes == "401 200 403 403 401 405 405 403 " || codes == "401 200 403 403 401 401 405 403 ", "%s", codes)
	evidence := s.section("== hostile .ai_evidence.json", "==")
	ok := 0
	for _, kind := range []string{"link", "fifo", "big", "deep", "dir"} {
		if strings.Contains(evidence, kind+": ") && strings.Contains(evidence, "is invalid") {
			ok++
		}
	}
	raw := false
	for line := range strings.Lines(evidence) {
		raw = raw || control(line)
	}
	s.expect("10 a stranger's evidence file is refused or shown without control characters", ok == 5 && !raw && strings.Count(evidence, "is invalid") == 5, "%d of 5 refused; control characters: %t", strings.Count(evidence, "is invalid"), raw)
}

// judgeLauncher: only what the checksums name is installed.
func judgeLauncher(s *seen) {
	good := strings.Contains(s.section("== good", "=="), "GOOD version")
	again := s.section("== second start", "==")
	s.expect("7 a kept program that was replaced is not run", good && !strings.Contains(again, "EVIL"), "%s", short(lastLine(again)))
	s.expect("7 an archive that the checksums do not name is refused", strings.Contains(s.section("== tampered archive", "=="), "refused"), "%s", short(s.section("== tampered archive", "==")))
	var taken []string
	n := 0
	for line := range strings.Lines(s.section("== http elsewhere", "==")) {
		n++
		if strings.Contains(line, "GOOD") || strings.Contains(line, "EVIL") {
			taken = append(taken, short(line))
		}
	}
	s.expect("7 other addresses of releases are refused", n == 8 && len(taken) == 0, "%d of %d refused", n-len(taken), n)
	loose := 0
	for _, line := range strings.Split(s.section("== umask 000", "=="), "\n") {
		if f := strings.Fields(line); len(f) == 2 && strings.HasPrefix(f[1], "home") && len(f[0]) == 3 && strings.ContainsAny(f[0][1:], "2367") {
			loose++
		}
	}
	s.expect("7 what is kept is writable by its owner alone, whatever the umask", loose == 0, "%d files", loose)
	s.expect("7 releases are signed and attested", strings.Contains(s.section("== signatures", "=="), "cosign"), "%s", fmt.Sprint(strings.Contains(s.section("== signatures", "=="), "attest")))
}
