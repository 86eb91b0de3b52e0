package tokens

import "testing"

// The counts are those of @anthropic-ai/tokenizer 0.0.4.
func TestEstimateErrsUpwards(t *testing.T) {
	tests := []struct {
		text  string
		count int
	}{
		{"func (s *Server) Serve(l net.Listener) error {\n\tdefer l.Close()\n\treturn nil\n}\n", 29},
		{"{\"id\":\"kmehnmy6dl5\",\"at\":\"net/http/server.go:L3340-3362\",\"symbol\":\"Server.ListenAndServe\",\"score\":0.95,\"line\":3342}", 47},
		{"A store is a body of text with an identity; a source lists its documents, and a hit is one chunk shown to who asked.", 28},
		{"¿Cómo se publica un segmento sin perder lo que otro proceso está leyendo?", 22},
		{"MAX_RETRIES = 3\nif retries > MAX_RETRIES and not isinstance(err, TimeoutError):\n    raise RuntimeError(f\"gave up after {retries}\")\n", 36},
	}
	for _, tt := range tests {
		if got := Estimate(tt.text); got < tt.count-1 || float64(got) > 1.4*float64(tt.count)+3 {
			t.Errorf("Estimate(%q) = %d, the tokenizer counts %d", tt.text, got, tt.count)
		}
	}
	if Estimate("") != 0 {
		t.Error("an empty text has tokens")
	}
}
