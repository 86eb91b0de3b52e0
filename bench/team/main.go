// Command team tries the server for several users: 20 users with random rights in
// 100 stores ask 50,000 things at random, each of which is compared with a model of
// what its user may know; logins are tried with oidc-provider, and for -soak the
// same is asked for half an hour while memory, descriptors and threads are watched.
// Run it with ".ci/extra team".
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/team/teamtest"
)

func main() {
	program := flag.String("program", "", "the built program; built when none is named")
	users := flag.Int("users", 20, "how many users")
	stores := flag.Int("stores", 100, "how many shared stores")
	requests := flag.Int("requests", 50_000, "how many requests; 0 leaves that part out")
	soak := flag.Duration("soak", 30*time.Minute, "how long to watch; 0 leaves that part out")
	npm := flag.String("npm", "", "a folder in which oidc-provider is installed; without one that part is left out")
	seed := flag.Uint64("seed", 1, "of chance")
	out := flag.String("out", "", "write the report to this file, too")
	flag.Parse()
	dir, err := os.MkdirTemp("", "team")
	if err != nil {
		fail(err)
	}
	defer os.RemoveAll(dir)
	if *program == "" {
		*program = filepath.Join(dir, "knowledge")
		build := exec.Command("go", "build", "-trimpath", "-o", *program, "./cmd/knowledge")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if said, err := build.CombinedOutput(); err != nil {
			fail(fmt.Errorf("%s %w", said, err))
		}
	}
	b := &bench{report: &strings.Builder{}, dir: dir, npm: *npm, config: teamtest.Config{Program: *program, Users: *users, Stores: *stores, Workers: 6, Change: 500,
		Seed: *seed, GroupsOf: 5, HUP: func(p *os.Process) error { return p.Signal(teamtest.Hang) }}}
	err = b.run(context.Background(), *requests, *soak)
	fmt.Print(b.report)
	if err == nil && *out != "" {
		err = os.WriteFile(*out, []byte(b.report.String()), 0o644)
	}
	if err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "team:", err)
	os.Exit(1)
}

// pace is the pause of each of six who ask in a soak: it is about time, not load.
const pace = 100 * time.Millisecond

// bench is what the parts share.
type bench struct {
	config   teamtest.Config
	dir, npm string
	report   *strings.Builder
}

func (b *bench) say(format string, args ...any) { fmt.Fprintf(b.report, format, args...) }

func (b *bench) run(ctx context.Context, requests int, soak time.Duration) error {
	b.say("# A server for a team, %s\n\n%s/%s, %d processors. Written by `.ci/extra team`.\n", time.Now().UTC().Format(time.DateOnly), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	if b.npm != "" {
		table, err := tryLogin(ctx, b.config.Program, b.folder("login"), b.npm)
		b.say("\n## Logins, with oidc-provider\n\n%s", table)
		if err != nil {
			return fmt.Errorf("logins: %w", err)
		}
	}
	if requests > 0 {
		c := b.config
		c.Dir, c.Requests = b.folder("model"), requests
		if err := b.against(ctx, c, "## Against the model"); err != nil {
			return err
		}
	}
	if soak > 0 {
		c := b.config
		c.Dir, c.Span, c.Seed, c.Pause = b.folder("soak"), soak, c.Seed+1, pace
		return b.against(ctx, c, "## A soak of "+soak.String())
	}
	return nil
}

func (b *bench) folder(name string) string {
	dir := filepath.Join(b.dir, name)
	_ = os.MkdirAll(dir, 0o700) // its use says so
	return dir
}

// against asks at random, and says what came of it.
func (b *bench) against(ctx context.Context, c teamtest.Config, title string) error {
	w, err := teamtest.Open(ctx, c)
	if err != nil {
		return err
	}
	defer w.Close()
	var samples []sample
	pid := w.Server.Process.Pid
	first := look(pid, 0)
	stop := make(chan struct{})
	watched := make(chan struct{})
	began := time.Now()
	go func() {
		defer close(watched)
		every := time.NewTicker(max(c.Span/30, 10*time.Second))
		defer every.Stop()
		for {
			select {
			case <-stop:
				return
			case <-every.C:
				samples = append(samples, look(pid, time.Since(began)))
				fmt.Fprintf(os.Stderr, "%+v\n", samples[len(samples)-1])
			}
		}
	}()
	r := w.Run()
	took := time.Since(began)
	close(stop)
	<-watched
	last := look(pid, took)
	b.say("\n%s\n\n%d users, %d shared stores, random rights that changed %d times; %d stores of users' own made.\n\n| what | measured | bound |\n|---|---|---|\n", title, c.Users, c.Stores, r.Changes, r.Created)
	b.say("| requests | %d in %v | |\n| … about what is hidden, compared with what is not there | %d | |\n| got through | %d | 0 |\n", r.Requests, took.Round(time.Second), r.Hidden, len(r.Leaks))
	b.say("| resident memory of the server: at the start, at the end | %d MiB, %d MiB | |\n| anonymous memory | %d MiB, %d MiB | |\n", first.rss>>20, last.rss>>20, first.anon>>20, last.anon>>20)
	if len(samples) > 4 {
		half := samples[len(samples)/3:]
		b.say("| … of the last two thirds of the time: least, most | %d MiB, %d MiB | flat |\n", slices.MinFunc(half, byAnon).anon>>20, slices.MaxFunc(half, byAnon).anon>>20)
		b.say("| descriptors, threads, then | %d–%d, %d–%d | flat |\n", slices.MinFunc(half, byFiles).files, slices.MaxFunc(half, byFiles).files,
			slices.MinFunc(half, byThreads).threads, slices.MaxFunc(half, byThreads).threads)
	}
	b.say("| data directory | %d MiB | |\n\n", du(filepath.Join(c.Dir, "data"))>>20)
	kinds := make([]string, 0, len(r.Kinds))
	for k, n := range r.Kinds {
		kinds = append(kinds, fmt.Sprintf("%s %d", k, n))
	}
	slices.Sort(kinds)
	b.say("Requests by kind: %s.\n", strings.Join(kinds, ", "))
	if c.Span > 0 {
		b.say("\n| minutes | anonymous MiB | descriptors | threads |\n|---|---|---|---|\n")
		for i, s := range samples {
			if i%max(1, len(samples)/10) == 0 {
				b.say("| %.0f | %d | %d | %d |\n", s.at.Minutes(), s.anon>>20, s.files, s.threads)
			}
		}
	}
	for _, l := range r.Leaks {
		b.say("\n    %s\n", l)
	}
	if len(r.Leaks) > 0 {
		return fmt.Errorf("%d replies say too much, or too little", len(r.Leaks))
	}
	return nil
}
