// Command endure runs the program for long, and badly treated:
//
//	endure [-span TIME] [-kills N] [-out FILE] kill
//	endure [-span TIME] [-short] [-out FILE] soak
//	endure [-span TIME] [-old COMMIT] [-out FILE] versions
//
// kill lets eight actors work in one data directory while processes of the
// program are killed at random moments: what was accepted must be there, what
// is answered must be true, and what the dead left must be swept. soak packs
// the events of a day into its span and watches memory, descriptors, threads
// and temporary files of what runs long. versions lets this tree's program and
// an older one use one data directory side by side.
//
// Everything happens in a throw-away folder with its own home, on loopback.
// The exit status is 1 when a promise was broken.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
)

func main() {
	span := flag.Duration("span", 0, "how long; 0 is 20, 30 and 10 minutes")
	kills := flag.Int("kills", 1000, "processes that are killed at least")
	short := flag.Bool("short", false, "soak: a day's events in two minutes, to try it")
	old := flag.String("old", "a7f468f", "versions: the older commit")
	keep := flag.Bool("keep", false, "keep the folder")
	out := flag.String("out", "", "file for the report; standard output without")
	flag.Parse()
	if runtime.GOOS != "linux" {
		fmt.Println("skipped: processes are told from each other through /proc")
		return
	}
	modes := map[string]struct {
		span time.Duration
		run  func(*stage, time.Duration) error
	}{
		"kill":     {20 * time.Minute, func(s *stage, d time.Duration) error { return kill(s, d, *kills) }},
		"soak":     {30 * time.Minute, soak},
		"versions": {10 * time.Minute, func(s *stage, d time.Duration) error { return versions(s, d, *old) }},
	}
	m, ok := modes[flag.Arg(0)]
	if !ok {
		fmt.Fprintln(os.Stderr, "endure: name one of kill, soak, versions")
		os.Exit(2)
	}
	if *span > 0 {
		m.span = *span
	} else if *short {
		m.span = 2 * time.Minute
	}
	if err := try(flag.Arg(0), m.span, m.run, *keep, *out); err != nil {
		fmt.Fprintln(os.Stderr, "endure:", err)
		os.Exit(1)
	}
}

func try(name string, span time.Duration, run func(*stage, time.Duration) error, keep bool, out string) error {
	s, err := newStage(name)
	if err != nil {
		return err
	}
	defer s.close(keep)
	if err := run(s, span); err != nil {
		s.broken("%s: %v", name, err)
	}
	verdict := "Every promise was held."
	if n := len(s.breaches); n > 0 {
		verdict = fmt.Sprintf("**%d promises were broken:**\n\n- %s", n, strings.Join(s.breaches, "\n- "))
	}
	s.report.Printf("\n%s\n\nMachine: %s; load at the end %s.\n", verdict, lab.Machine(), lab.Load())
	if out == "" {
		fmt.Print(s.report.String())
	} else if err := os.WriteFile(out, []byte(s.report.String()), 0o644); err != nil {
		return err
	}
	if len(s.breaches) > 0 {
		return errors.New(strings.Join(s.breaches, "\n"))
	}
	fmt.Println(name + ": every promise was held")
	return nil
}
