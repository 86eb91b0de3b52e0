package kbtest

import (
	"context"
	"math"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// texts are what an embedder meets, blank and broken ones included.
var texts = []string{
	"func parseHeader(r io.Reader) (Header, error)", "leer el archivo de configuración", "世界", "", " \n\t", "\xff\xfe", "x",
	strings.Repeat("word ", 10000), "func parseHeader(r io.Reader) (Header, error)",
}

// Embedder tests what kb.Embedder promises.
func Embedder(t *testing.T, e kb.Embedder) {
	embed := func(t *testing.T, texts ...string) [][]float32 {
		t.Helper()
		vs, err := e.Embed(t.Context(), texts)
		if err != nil {
			t.Fatal(err)
		}
		return vs
	}
	t.Run("its id can be a part of a file name", func(t *testing.T) {
		if !regexp.MustCompile(`^[A-Za-z0-9._-]+$`).MatchString(e.ID()) || e.Dims() < 1 {
			t.Errorf("id %q, %d dimensions", e.ID(), e.Dims())
		}
	})
	t.Run("a vector a text, of unit length or zero", func(t *testing.T) {
		vs := embed(t, texts...)
		if len(vs) != len(texts) {
			t.Fatalf("%d vectors of %d texts", len(vs), len(texts))
		}
		for i, v := range vs {
			sum := 0.0
			for _, x := range v {
				sum += float64(x) * float64(x)
			}
			if len(v) != e.Dims() || sum != 0 && math.Abs(math.Sqrt(sum)-1) > 1e-5 {
				t.Errorf("%.20q: %d dimensions, length %v", texts[i], len(v), math.Sqrt(sum))
			}
		}
		if len(embed(t)) != 0 {
			t.Error("no text has a vector")
		}
	})
	t.Run("a vector depends on its text alone", func(t *testing.T) {
		all := embed(t, texts...)
		for i, text := range texts {
			if d := cmp.Diff(all[i], embed(t, text)[0]); d != "" {
				t.Errorf("%.20q alone (-among others +alone)\n%s", text, d)
			}
		}
	})
	t.Run("many at once", func(t *testing.T) {
		want := embed(t, texts...)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				if got, err := e.Embed(t.Context(), texts); err != nil || !cmp.Equal(want, got) {
					t.Errorf("another answer, %v", err)
				}
			})
		}
		wg.Wait()
	})
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := e.Embed(ctx, texts); kb.CodeOf(err) != kb.Canceled {
			t.Errorf("error %v", err)
		}
	})
}
