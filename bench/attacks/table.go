package main

import "time"

// table lists the scripts; those of a lane need what the ones before them left.
func table(long bool) []attack {
	n := func(short, review string) string {
		if long {
			return review
		}
		return short
	}
	const m = time.Minute
	return []attack{
		{"http1.py", "http", false, []string{"PORT", "TOKEN"}, 3 * m, judgeHTTP},
		{"public.py", "http", false, []string{"PORT", "TOKEN", "PID"}, 3 * m, judgePublic},
		{"http1.py", "http", true, []string{"PORT", "TOKEN"}, 3 * m, judgeHTTP},
		{"http2.py", "http", true, []string{"PORT", "TOKEN", "PID"}, 5 * m, judgeFlood},
		{"http3.py", "http", true, []string{"PORT", "PID"}, 4 * m, judgeUnread},
		{"public.py", "http", true, []string{"PORT", "TOKEN", "PID"}, 3 * m, judgePublic},
		{"secrets.sh", "secrets", false, nil, 5 * m, judgeSecrets},
		{"folder.sh", "folder", false, nil, 3 * m, judgeFolder},
		{"mcp1.py", "folder", false, nil, 5 * m, judgeFrames},
		{"mcp2.py", "folder", false, nil, 5 * m, judgeUnseen},
		{"mcp3.py", "folder", false, nil, 5 * m, judgeMany},
		{"ignorebomb.py", "ignore", false, nil, 10 * m, judgeIgnore},
		{"git.sh", "git", false, nil, 10 * m, judgeGit},
		{"git2.sh", "git", false, nil, 8 * m, judgeTraps},
		{"ssrf.py", "ssrf", false, nil, 12 * m, judgeAddresses},
		{"cred.py", "ssrf", false, nil, 3 * m, judgeNetrc},
		{"data1.sh", "data", false, nil, 15 * m, judgeData},
		{"full.sh", "data", false, nil, 6 * m, judgeFull},
		{"vec.sh", "data", false, nil, 5 * m, judgeVectors},
		{"flip.py", "data", false, []string{n("40", "110")}, 30 * m, judgeFlips},
		{"gone.py", "gone", false, nil, 8 * m, judgeGone},
		{"kill.py", "kill", false, []string{n("60", "200")}, 15 * m, judgeKills},
		{"last.sh", "kill", false, []string{"PORT"}, 5 * m, judgeLast},
		{"bombs.py", "bombs", false, nil, 25 * m, judgeBombs},
		{"soak.py", "soak", false, []string{n("60", "300")}, 15 * m, judgeSoak},
		{"launcher.sh", "launcher", false, nil, 5 * m, judgeLauncher},
	}
}
