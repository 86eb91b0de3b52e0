package main

import (
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
)

// reply is one line of http1.py and http2.py: a name, a status, a body.
type reply struct {
	status     int
	text, body string
}

// The names are padded to 58 signs; a longer one is followed by one space.
var replyOf = regexp.MustCompile(`(?m)^(.{3,160}?) +(?:HTTP/1\.[01] (\d+)|<<(?:TIMEOUT|RST)>>)(.*)$`)

func (s *seen) replies() map[string]reply {
	out := map[string]reply{}
	for _, m := range replyOf.FindAllStringSubmatch(s.out, -1) {
		r := reply{text: m[0]}
		_, _ = fmt.Sscan(m[2], &r.status)
		_, r.body, _ = strings.Cut(m[3], "b'")
		out[strings.TrimSpace(m[1])] = r
	}
	return out
}

// judgeHTTP: web pages reach nothing, what writes and what reads needs the
// token, no path leads out, answers see public stores only.
func judgeHTTP(s *seen) {
	all := s.replies()
	open := s.open
	among := func(promise string, ok func(reply) bool, names ...string) {
		var bad []string
		for _, n := range names {
			if r, there := all[n]; !there {
				bad = append(bad, n+": no answer")
			} else if !ok(r) {
				bad = append(bad, short(r.text))
			}
		}
		s.expect(promise, len(bad) == 0, "%d of %d requests held; %s", len(names)-len(bad), len(names), strings.Join(bad, "; "))
	}
	refused := func(r reply) bool { return r.status >= 400 }
	among("8 other hosts, origins and sites are refused", func(r reply) bool { return r.status == 403 || r.status == 400 || r.status == 405 },
		"rebind host", "host 0.0.0.0", "host 127.1", "host localhost.", "host foo.localhost", "absolute-form URI other host", "two Host headers", "HTTP/1.0 no host",
		"origin evil", "origin null", "Sec-Fetch-Site cross", "Sec-Fetch-Site same-site", "OPTIONS evil origin", "OPTIONS rag evil origin", "OPTIONS no ACRM", "TRACE", "PUT")
	if !open {
		among("8 reading needs the token", func(r reply) bool { return r.status == 401 || r.status == 403 },
			"read no token", "OLD browser <img> no origin no sfs, GET search", "simple POST text/plain no origin (read)", "execute->stores no token", "doctor (paths leak?)", "websocket upgrade", "Sec-Fetch-Site none")
	}
	among("8 writing needs the token, however it is wrapped", refused,
		"write no token", "write w method override", "GET store:create via commands", "DELETE w/o token", "execute->store:delete no token", "execute->execute->store:delete",
		"execute dup keys", "execute Case keys", "rag: tool store:delete no token", "rag: dup tool_name", "rag: execute", "api:check file /etc/passwd no token")
	among("7 what only persons do takes more than the token", func(r reply) bool { return r.status == 403 }, "person cmd w token, no origin (trust)")
	var paths []string
	for n, r := range all {
		if strings.HasPrefix(n, "read ") && !strings.HasPrefix(n, "read no token") && !strings.HasSuffix(n, "handbook") || strings.Contains(n, "passwd") || strings.HasPrefix(n, "search stores=[attacks-p2]") {
			paths = append(paths, n)
			_ = r
		}
	}
	slices.Sort(paths)
	among("8 no path, link or name leads out of the stores", func(r reply) bool {
		return r.status >= 400 && !strings.Contains(r.body, "root:") && !strings.Contains(r.body, "outside canary")
	}, paths...)
	among("11 patterns are matched within bounds", func(r reply) bool { return r.status != 0 }, "grep redos", "grep big repeat")
	among("8 the answer routes see public stores only", func(r reply) bool {
		return r.status != 0 && !strings.Contains(r.body, "4711") && !strings.Contains(r.body, "notes.md")
	},
		"rag search private", "rag list", "rag chunk private id")
	among("8 no session of another client is shown", refused, "sessions any id")
	s.expect("8 every request is answered", !strings.Contains(s.out, "<<TIMEOUT>>"), "%d requests", len(all))
}

// judgeFlood: bombs and slow clients take neither memory nor the server. A
// query that is too long is cut and answered, and the reply says so.
func judgeFlood(s *seen) {
	all := s.replies()
	var bad []string
	for name, r := range all {
		cut := r.status == http.StatusOK && strings.Contains(r.text, "the first 64 KiB of the query")
		if r.status < 400 && !cut && name != "CL huge, no body (slow)" {
			bad = append(bad, short(r.text))
		}
	}
	s.expect("8 bombs in headers, paths and bodies are refused", len(all) >= 12 && len(bad) == 0, "%d requests; %s", len(all), strings.Join(bad, "; "))
	rss := most(counts(s.out, `rss (\d+) MiB`))
	s.expect("8 bounded memory under bombs and 900 half-open clients (≤ 256 MiB)", rss > 0 && rss <= 256, "at most %d MiB", rss)
	s.expect("8 half-open requests are closed in time", strings.Contains(s.out, "closed after 11 s: 900 of 900"), "%s", short(strings.Join(s.linesWith("closed after"), " ")))
	under, _ := s.lineOf("latency under slowloris")
	s.expect("8 others are answered meanwhile", strings.Contains(under, "200 OK") || strings.Contains(under, "401"), "%s", short(under))
	crowd := strings.Join(s.linesWith("1000 searches by 20 clients"), "")
	s.expect("8 a thousand searches at once are all answered", strings.Contains(crowd, ": 1000}"), "%s", short(crowd))
}

// judgeUnread: 300 clients that do not read.
func judgeUnread(s *seen) {
	rss, fds := counts(s.out, `rss (\d+) MiB`), counts(s.out, `fds (\d+)`)
	s.expect("8 300 clients that do not read: bounded memory (≤ 256 MiB)", len(rss) == 5 && most(rss) <= 256, "MiB: %v", rss)
	s.expect("8 and their connections are closed (write deadline)", len(fds) == 5 && fds[4] < 60, "descriptors: %v", fds)
}

// judgePublic: strangers and a server with public stores.
func judgePublic(s *seen) {
	s.expect("8 no private text through answers, search, chunks or ids", !regexp.MustCompile(`\} LEAK `).MatchString(s.out) && len(s.linesWith("no leak")) >= 7, "%s", short(strings.Join(s.linesWith(" LEAK "), "; ")))
	session, _ := s.lineOf("session of another client (no token, other UA): ")
	s.expect("8 no foreign session is shown", session != "" && !strings.Contains(session, `"question"`), "%s", short(session))
	spam := strings.Join(s.linesWith("feedback without token, 8 s"), "")
	grown := -1
	if m := regexp.MustCompile(`db bytes (\d+) -> (\d+)`).FindStringSubmatch(spam); m != nil {
		grown = count(m[2], `(\d+)`) - count(m[1], `(\d+)`)
	}
	s.expect("8 ratings without the token have a quota per client (database grows ≤ 1 MiB)", spam != "" && grown <= 1<<20 && strings.Contains(spam, "429"), "%s", short(spam))
	after, _ := s.lineOf("search afterwards ")
	before, _ := os.ReadFile(s.place.unrated())
	score := regexp.MustCompile(`"score":[\d.]+`).FindString(string(before))
	held := score != "" && strings.Contains(after, score+",")
	if !s.open && strings.Contains(after, "denied") {
		held = true // reading needs the token here; the open one has the order
	}
	s.expect("8 ratings without the token change no ranking", held, "before %s, after %s", score, short(after))
	if s.open {
		return // who opens reading opens the list of ratings
	}
	list, _ := s.lineOf("feedback list no token ")
	s.expect("8 nobody reads ratings without the token", strings.Contains(list, "token"), "%s", short(list))
}
