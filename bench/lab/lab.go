// Package lab is what the programs below bench share: scratch folders, builds
// of one commit, processes watched while they run, a client over stdio, and
// reports with their dates. Only the standard library and programs found on
// the machine are used; what is missing is said, and skipped.
package lab

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Number is what Quantile and Spread work on.
type Number interface {
	~int | ~int64 | ~float64
}

// Quantile returns the q-th quantile of xs, q in [0,1], by the nearest rank: the
// smallest x such that at least q of all values are not greater. It panics
// when xs is empty.
func Quantile[T Number](xs []T, q float64) T {
	s := slices.Sorted(slices.Values(xs))
	i := int(q*float64(len(s))+0.999999) - 1
	return s[min(max(i, 0), len(s)-1)]
}

// Median returns the middle value, the lower one of two.
func Median[T Number](xs []T) T { return Quantile(xs, 0.5) }

// Spread prints the median and, behind it, the least and the greatest value.
func Spread[T Number](xs []T, show func(T) string) string {
	if len(xs) < 2 {
		return show(xs[0])
	}
	return fmt.Sprintf("%s (%s–%s)", show(Median(xs)), show(slices.Min(xs)), show(slices.Max(xs)))
}

// Ratio prints how many times b goes into a.
func Ratio[T Number](a, b T) string {
	if b == 0 {
		return "–"
	}
	r := float64(a) / float64(b)
	switch {
	case r >= 100:
		return fmt.Sprintf("%.0f ×", r)
	case r >= 10:
		return fmt.Sprintf("%.1f ×", r)
	default:
		return fmt.Sprintf("%.2f ×", r)
	}
}

// Ms prints a duration in milliseconds, from ten seconds on in seconds.
func Ms(d time.Duration) string {
	ms := float64(d) / float64(time.Millisecond)
	switch {
	case ms >= 10000:
		return fmt.Sprintf("%.1f s", ms/1000)
	case ms >= 1000:
		return fmt.Sprintf("%.2f s", ms/1000)
	case ms >= 100:
		return fmt.Sprintf("%.0f ms", ms)
	case ms >= 10:
		return fmt.Sprintf("%.1f ms", ms)
	default:
		return fmt.Sprintf("%.2f ms", ms)
	}
}

// MB prints bytes in millions.
func MB(n int64) string {
	if n < 10_000_000 {
		return fmt.Sprintf("%.2f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

// Scratch makes a folder outside every repository. Its owner removes it.
func Scratch(name string) (string, error) {
	dir, err := os.MkdirTemp("", "knowledge-"+name+"-")
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(dir)
}

// Env is the environment without what points the product at somebody's data
// or project, and with the data directory given.
func Env(dataDir string, more ...string) []string {
	var env []string
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "KNOWLEDGE_") && !strings.HasPrefix(kv, "CLAUDE_") {
			env = append(env, kv)
		}
	}
	return append(append(env, "KNOWLEDGE_DATA_DIR="+dataDir), more...)
}

// Command runs a program in dir and returns what it printed; the error holds
// the end of what it said on stderr.
func Command(dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, env
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return string(out), fmt.Errorf("%s %s: %w: %s", filepath.Base(name), strings.Join(args, " "), err, tail(errs.String()))
	}
	return string(out), nil
}

func tail(s string) string {
	s = strings.TrimSpace(s)
	if len(s) > 600 {
		s = "…" + s[len(s)-600:]
	}
	return s
}

// Tree is the source that is measured: a commit, without what lies
// uncommitted in the work tree, unless that was asked for.
type Tree struct {
	Dir    string // holds go.mod
	Commit string // "0123456", or "0123456 and uncommitted changes"
}

// Checkout writes the last commit of the repository at root to dir.
func Checkout(root, dir string) (Tree, error) {
	hash, err := Command(root, nil, "git", "rev-parse", "--short", "HEAD")
	if err != nil {
		return Tree{}, err
	}
	hash = strings.TrimSpace(hash)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return Tree{}, err
	}
	archive := filepath.Join(dir, ".archive")
	if _, err := Command(root, nil, "git", "archive", "--format=tar", "-o", archive, hash); err != nil {
		return Tree{}, err
	}
	if _, err := Command(dir, nil, "tar", "xf", archive); err != nil {
		return Tree{}, err
	}
	return Tree{Dir: dir, Commit: hash}, os.Remove(archive)
}

// Build compiles cmd/knowledge as it is released.
func (t Tree) Build(out string) error {
	return Build(t.Dir, out, "./cmd/knowledge")
}

// Build compiles a package as it is released: static, without paths and symbols.
func Build(dir, out, pkg string) error {
	_, err := Command(dir, append(os.Environ(), "CGO_ENABLED=0"), "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", out, pkg)
	return err
}

// BuildEmpty compiles the program that does nothing, the yardstick of everything that starts.
func BuildEmpty(scratch string) (string, error) {
	dir := filepath.Join(scratch, "empty")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		return "", err
	}
	out := filepath.Join(dir, "empty")
	return out, Build(dir, out, "main.go")
}

// Keys returns the keys of a map in order.
func Keys[K cmp.Ordered, V any](m map[K]V) []K {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// MemoryPass returns the median time that reading so many bytes takes.
func MemoryPass(n int64) time.Duration {
	words := make([]uint64, n/8+1)
	for i := range words {
		words[i] = uint64(i)
	}
	var times []time.Duration
	sum := uint64(0)
	for range 9 {
		start := time.Now()
		for _, w := range words {
			sum += w
		}
		times = append(times, time.Since(start))
	}
	if sum == 0 {
		fmt.Println()
	}
	return Median(times)
}
