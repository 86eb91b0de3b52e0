// Command warm measures searches of a server that has answered before: two hundred
// questions made by rule of the folder that is asked, names, words, how something
// works and messages in turns. Run it with ".ci/extra warm [-dir DIR] [-before PROGRAM]".
//
// With -before another build of the program answers the same questions of the same
// index in turns with this one, and what differs in the replies is counted. With
// -fresh other questions are asked before, with -here they are asked as in a session
// of the folder. With -stores N the folder is indexed once more as N stores, each a part of it, and all
// of them are asked at once. With -profile FILE the questions are answered in this
// process, and where the time goes is written there.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/find"
	"github.com/seed-4f2d999b/knowledge/internal/follow"
	"github.com/seed-4f2d999b/knowledge/internal/product"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

const store = "large"

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "warm:", err)
		os.Exit(1)
	}
}

type bench struct {
	scratch, dir, data string
	env                []string
	before             []question // asked once before anything is measured
	questions          []question
	rounds             int
	all, here          bool
}

type info struct {
	Documents, Chunks int
	TextBytes         int64
}

func run() error {
	b := &bench{}
	out := flag.String("out", "bench/runs", "folder of the report")
	flag.StringVar(&b.dir, "dir", "", "folder to index; without one Go's own sources")
	flag.StringVar(&b.data, "data", "", "data directory that is kept, with the index of another run where it has one")
	program := flag.String("program", "", "the program that is measured; without one it is built of the last commit")
	before := flag.String("before", "", "another build of the program, which answers in turns with it")
	count := flag.Int("questions", 200, "how many questions")
	flag.IntVar(&b.rounds, "rounds", 3, "how often each is asked of each program")
	parts := flag.Int("stores", 0, "ask the folder as so many stores, too")
	fresh := flag.Bool("fresh", false, "ask as many other questions before, so that none is measured that was asked")
	flag.BoolVar(&b.here, "here", false, "ask as in a session of the folder: its servers begin there and search what is in scope")
	flag.BoolVar(&b.all, "all", false, "with -profile: ask every store that the data directory has, and index nothing")
	profile := flag.String("profile", "", "answer in this process and write where the time goes there")
	flag.Parse()
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	if b.scratch, err = lab.Scratch("warm"); err != nil {
		return err
	}
	defer os.RemoveAll(b.scratch)
	if b.dir == "" {
		goroot, err := lab.Command(root, nil, "go", "env", "GOROOT")
		if err != nil {
			return err
		}
		b.dir = filepath.Join(strings.TrimSpace(goroot), "src")
	}
	if _, err := os.Stat(b.dir); err != nil {
		fmt.Printf("skipped: %v; -dir names another folder\n", err)
		return nil
	}
	if b.data == "" {
		b.data = filepath.Join(b.scratch, "data")
	}
	b.env = lab.Env(b.data)
	if *fresh {
		*count *= 2
	}
	if b.questions, err = questions(b.dir, *count); err != nil {
		return err
	}
	b.before = b.questions
	if half := len(b.questions) / len(kinds) / 2 * len(kinds); *fresh {
		b.before, b.questions = b.questions[:half], b.questions[half:]
	}
	commit := "of " + *program
	if *program == "" {
		tree, err := lab.Checkout(root, filepath.Join(b.scratch, "tree"))
		if err != nil {
			return err
		}
		*program, commit = filepath.Join(b.scratch, "knowledge"), "at commit "+tree.Commit
		if err := tree.Build(*program); err != nil {
			return err
		}
	}
	if *profile != "" && b.all {
		return b.profile(*profile, app.Scope{})
	}
	i, err := b.index(*program)
	if err != nil {
		return err
	}
	if *profile != "" {
		return b.profile(*profile, app.Scope{Stores: []string{store}})
	}
	var r lab.Report
	r.Printf("# Warm searches, %s\n\nThe product %s. %s. Load averages %s at the start. Written by `.ci/extra warm`.\n\n",
		time.Now().Format(time.DateOnly), commit, lab.Machine(), lab.Load())
	said := "each asked once before, then %d times"
	if *fresh {
		said = fmt.Sprintf("%d others asked once before, then these %%d times", len(b.before))
	}
	if b.here {
		said = "in a session of the folder; " + said
	}
	r.Printf("%s: %d documents, %s of text, %d chunks; %d questions, "+said+" of each program in turns.\n\n",
		filepath.Base(b.dir), i.Documents, lab.MB(i.TextBytes), i.Chunks, len(b.questions), b.rounds)
	if err := b.compare(&r, *program, *before, i); err != nil {
		return err
	}
	if err := disk(&r, b.data, i.TextBytes); err != nil {
		return err
	}
	if *parts > 1 {
		if err := b.many(&r, *program, *before, *parts); err != nil {
			return err
		}
	}
	fmt.Print(r.String())
	path, err := r.Write(*out, "warm")
	if err == nil {
		fmt.Println(path)
	}
	return err
}

// index indexes the folder, but where the data directory has it.
func (b *bench) index(bin string) (i info, err error) {
	said, err := lab.Command(b.scratch, b.env, bin, "--json", "store:info", store)
	if err != nil {
		if _, err := lab.Command(b.scratch, b.env, bin, "--quiet", "store:create", store, b.dir, "--scope", "user", "--yes"); err != nil {
			return i, err
		}
		if said, err = lab.Command(b.scratch, b.env, bin, "--json", "store:info", store); err != nil {
			return i, err
		}
	}
	return i, json.Unmarshal([]byte(said), &i)
}

// following is how long a server may take until it follows the folder that is asked.
const following = 8 * time.Second

// profile answers the questions in this process: once, and then again while it is
// watched, with a server's setting of the collector, and following the folder as a
// server does. What is allocated is written beside, to FILE.allocs.
func (b *bench) profile(to string, scope app.Scope) error {
	dir := b.scratch
	if b.here {
		dir, scope = b.dir, app.Scope{}
	}
	a, err := product.New(app.Config{Version: "bench", DataDir: b.data, Dir: dir, Env: func(string) string { return "" }})
	if err != nil {
		return err
	}
	defer a.Close()
	debug.SetGCPercent(40)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go follow.Background(ctx, a)
	ask := func(questions []question) (time.Duration, error) {
		began := lab.CPU()
		for _, q := range questions {
			if _, err := find.Ask(ctx, a, search.Request{Query: q.text, Packed: true}, scope); err != nil {
				return 0, fmt.Errorf("%s: %w", q.text, err)
			}
		}
		return (lab.CPU() - began) / time.Duration(len(questions)), nil
	}
	began := time.Now()
	if _, err := ask(b.before); err != nil {
		return err
	}
	time.Sleep(following - time.Since(began))
	f, err := os.Create(to)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := pprof.StartCPUProfile(f); err != nil {
		return err
	}
	for range b.rounds {
		var was, is runtime.MemStats
		runtime.ReadMemStats(&was)
		took, err := ask(b.questions)
		if err != nil {
			return err
		}
		runtime.ReadMemStats(&is)
		n := uint64(len(b.questions))
		fmt.Printf("%s of processor time a search, %d allocations of %s together, %d collections\n", lab.Ms(took),
			(is.Mallocs-was.Mallocs)/n, lab.MB(int64((is.TotalAlloc-was.TotalAlloc)/n)), is.NumGC-was.NumGC)
	}
	pprof.StopCPUProfile()
	g, err := os.Create(to + ".allocs")
	if err != nil {
		return err
	}
	defer g.Close()
	return pprof.Lookup("allocs").WriteTo(g, 0)
}

// timesRE is what differs from one reply to the next of the same: how long it took,
// and when the folder was looked at.
var timesRE = regexp.MustCompile(`"ms":\s*[0-9.]+|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)

// plain is a reply without times, and without the note on a folder that was not
// looked at, which depends on them.
func plain(reply string) string {
	var b strings.Builder
	for line := range strings.Lines(reply) {
		if !strings.Contains(line, "was last compared with its folder") {
			b.WriteString(timesRE.ReplaceAllString(line, "…"))
		}
	}
	return b.String()
}
