package embed

import (
	"context"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// EmbedQuery returns the vector of a question. Nothing of it is kept.
func (r *Remote) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	if text = clean(text); text == "" {
		return make([]float32, r.c.Dims), nil
	}
	r.mu.Lock()
	v, known := r.asked[text]
	why := r.why
	if time.Now().After(r.rest) {
		why = nil
	}
	r.mu.Unlock()
	if known || why != nil {
		return v, why
	}
	limited, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	vectors, err := r.request(limited, []string{text}, true)
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		err = kb.Errorf(kb.Away, "the embedder %s did not answer within %v", r.c.Backend, askTime).WithHint("try again later")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		if ctx.Err() == nil {
			r.rest, r.why = time.Now().Add(restTime), err
		}
		return nil, err
	}
	if len(r.asked) >= mostAsked || r.asked == nil {
		r.asked = map[string][]float32{}
	}
	r.asked[text] = vectors[0]
	return vectors[0], nil
}
