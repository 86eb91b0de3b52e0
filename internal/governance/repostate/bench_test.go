package repostate

import (
	"fmt"
	"testing"
)

// BenchmarkState looks at a clean work tree of 5,000 files, with git and without.
func BenchmarkState(bench *testing.B) {
	b := newBox(bench)
	for i := range 5000 {
		b.write(fmt.Sprintf("d%d/e%d/f%d.txt", i%10, i%100, i), fmt.Sprintf("line %d\nmore\n", i))
	}
	b.do("add", "-A")
	b.do("commit", "-qm", "x")
	for name, git := range map[string]string{"git": b.git, "without": ""} {
		bench.Run(name, func(bench *testing.B) {
			r := &Reader{Root: b.root, Git: git, Env: b.env}
			for bench.Loop() {
				if s, err := r.State(bench.Context()); err != nil || s.Dirty() {
					bench.Fatalf("%+v %v", s, err)
				}
			}
		})
	}
}
