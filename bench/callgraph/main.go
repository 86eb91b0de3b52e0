// Command callgraph measures the linker of internal/code/graph on Go: how long it
// takes over the sources of the toolchain and what its file weighs; how its
// calls agree with golang.org/x/tools/go/callgraph/static, and its references
// with gopls. Run it with ".ci/extra callgraph [MODULE[:PATTERN,…] …]".
//
// MODULE is the folder of a Go module whose dependencies are at hand,
// PATTERN a package pattern of it ("./..." unless told; gopls, which loads all of a
// module and what it imports, is asked about those only). The linker sees the
// module alone, without what it imports; the others see everything. A file
// that the others leave out (another system, another module) counts for
// neither side.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
	"github.com/seed-4f2d999b/knowledge/internal/code/graph"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "callgraph:", err)
		os.Exit(1)
	}
}

func run() error {
	out := flag.String("out", "bench/runs", "folder of the report")
	link := flag.String("link", "", "link this folder once, print what it took, and nothing else")
	relink := flag.String("relink", "", "with -link: the view to start from")
	gopls := flag.String("gopls", "gopls", "the program gopls")
	reference := flag.String("reference", "", "the built program of bench/callgraph/reference; built if not given")
	symbols := flag.Int("symbols", 50, "for how many symbols gopls is asked, over all modules")
	toolchain := flag.Bool("toolchain", true, "measure GOROOT/src")
	flag.Parse()
	if *link != "" {
		return linkOnce(*link, *relink)
	}
	scratch, err := lab.Scratch("callgraph")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)

	var r lab.Report
	r.Printf("# Call graph and references of Go, %s\n\n%s\n\nWritten by `.ci/extra callgraph`.\n\n", time.Now().Format(time.DateOnly), lab.Machine())
	if *toolchain {
		if err := measure(&r, scratch); err != nil {
			return err
		}
	}
	if flag.NArg() > 0 && *reference == "" {
		*reference = filepath.Join(scratch, "reference")
		cmd := exec.Command("go", "build", "-o", *reference, ".")
		cmd.Dir = "bench/callgraph/reference"
		if b, err := cmd.CombinedOutput(); err != nil {
			fmt.Printf("skipped: cannot build bench/callgraph/reference: %s\n", b)
			return nil
		}
	}
	var mods, whole []*module
	for _, arg := range flag.Args() {
		dir, patterns, _ := strings.Cut(arg, ":")
		if patterns == "" {
			patterns = "./..."
		}
		m, err := newModule(dir, strings.Split(patterns, ","), scratch, *reference)
		if err != nil {
			return err
		}
		mods = append(mods, m)
		if patterns == "./..." {
			whole = append(whole, m)
		}
	}
	if len(mods) > 0 {
		compareCalls(&r, mods)
		compareReferences(&r, whole, *gopls, *symbols)
	}
	p, err := r.Write(*out, "callgraph")
	if err != nil {
		return err
	}
	fmt.Print(r.String())
	fmt.Println("report:", p)
	return nil
}

// linkOnce is what measure runs in a process of its own.
func linkOnce(dir, relink string) error {
	src, err := newFolder(dir)
	if err != nil {
		return err
	}
	path := os.Getenv("VIEW")
	var prev *graph.View
	if relink != "" {
		if prev, err = graph.Open(relink); err != nil {
			return err
		}
		defer prev.Close()
	}
	start := time.Now()
	stats, err := graph.Link(context.Background(), src, prev, path, nil)
	if err != nil {
		return err
	}
	fmt.Printf("%d files, %s of source: %v, peak %s, %d units (%d checked, %d copied, %d failed), %d declarations, %d edges, view %s\n",
		len(src.entries), lab.MB(src.bytes), time.Since(start).Round(time.Millisecond), lab.MB(peak()), stats.Packages, stats.Checked, stats.Copied, stats.Failed,
		stats.Declarations, stats.Edges, lab.MB(stats.Bytes))
	return nil
}

// peak returns the most memory that this process held, in bytes, 0 where the
// system does not tell.
func peak() int64 {
	raw, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(raw)) {
		var kb int64
		if n, _ := fmt.Sscanf(line, "VmHWM: %d kB", &kb); n == 1 {
			return kb << 10
		}
	}
	return 0
}

// measure links the toolchain's sources, fresh and after edits.
func measure(r *lab.Report, scratch string) error {
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return err
	}
	tree := filepath.Join(scratch, "src")
	if err := os.CopyFS(tree, os.DirFS(filepath.Join(strings.TrimSpace(string(goroot)), "src"))); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	rows := [][]string{{"GOROOT/src", "load before", "processor time", "figures"}}
	step := func(name, view, relink string) error {
		load := lab.Load()
		args := []string{"-link", tree}
		if relink != "" {
			args = append(args, "-relink", relink)
		}
		cmd := exec.Command(self, args...)
		cmd.Env = append(os.Environ(), "VIEW="+view)
		b, err := cmd.CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s: %w: %s", name, err, b)
		}
		rows = append(rows, []string{name, load, (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Round(10 * time.Millisecond).String(), strings.TrimSpace(string(b))})
		return nil
	}
	edit := func(file, from, to string) error {
		p := filepath.Join(tree, file)
		b, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		s := strings.Replace(string(b), from, to, 1)
		if s == string(b) {
			return fmt.Errorf("%s does not hold %q", file, from)
		}
		return os.WriteFile(p, []byte(s), 0o644)
	}
	a, b := filepath.Join(scratch, "a.view"), filepath.Join(scratch, "b.view")
	for _, s := range []func() error{
		func() error { return step("fresh", a, "") },
		func() error { return step("nothing changed", b, a) },
		func() error {
			return edit("net/http/server.go", "func (s *Server) Shutdown(ctx context.Context) error {\n", "func (s *Server) Shutdown(ctx context.Context) error {\n\t_ = ErrServerClosed\n")
		},
		func() error { return step("a body in net/http changed", b, a) },
		func() error { return edit("strings/strings.go", "func Index(", "func index2() {}\n\nfunc Index(") },
		func() error { return step("a function added to strings", a, b) },
	} {
		if err := s(); err != nil {
			return err
		}
	}
	r.Printf("## Linking\n\nTime is that of `graph.Link` alone, on %d processors; the load says what else they did.\n\n", runtime.NumCPU())
	r.Table(rows...)
	return nil
}
