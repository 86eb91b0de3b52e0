package embed_test

import (
	"context"
	"fmt"
	"log"

	"github.com/seed-4f2d999b/knowledge/internal/embed"
)

// Vectors are of unit length, so that the dot product of two is the cosine of
// their angle: a question is nearest to the code that answers it.
func Example() {
	vectors, err := embed.Default().Embed(context.Background(), []string{
		"how are connections reused",
		"class ConnectionPool: def acquire(self): conn = self.idle.pop()",
		"func renderTemplate(w io.Writer, t *Template) error",
	})
	if err != nil {
		log.Fatal(err)
	}
	dot := func(a, b []float32) (sum float32) {
		for i := range a {
			sum += a[i] * b[i]
		}
		return sum
	}
	fmt.Println(dot(vectors[0], vectors[1]) > dot(vectors[0], vectors[2]))
	// Output: true
}
