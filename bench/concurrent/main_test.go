package main

import (
	"go/parser"
	"go/token"
	"testing"
)

// What starts a goroutine is seen whatever it is called with; what only looks
// like it is not.
func TestStartsGoroutine(t *testing.T) {
	for body, want := range map[string]bool{
		"go f()":                               true,
		"var wg sync.WaitGroup; wg.Go(f)":      true,
		"context.AfterFunc(ctx, f)":            true,
		"if a { for { func() { go f() }() } }": true,
		"s := httptest.NewServer(h); _ = s":    true,
		"f(); defer f()":                       false,
		"chess.Move(Go)":                       false,
		"w := httptest.NewRecorder(); _ = w":   false,
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "", "package p\nfunc _() {\n"+body+"\n}\n", parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if got := startsGoroutine(f); got != want {
			t.Errorf("%s: got %t", body, got)
		}
	}
}
