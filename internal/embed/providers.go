package embed

import (
	"encoding/json"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// provider says how a service is asked for embeddings. chromem-go's functions, which
// ask for one text at a time and give up at the first refusal, are of no use here.
type provider struct {
	endpoint string // where none is configured; "" has none
	path     string // of a request, below the endpoint
	most     int    // texts in a request
	keyless  bool   // it works without a key
	// body is what is asked; query says that the texts are questions, which some
	// embed otherwise than documents.
	body func(c *Config, texts []string, query bool) any
	// read returns the vectors of a reply by the number of their text, and how many tokens were billed.
	read func(raw []byte, n int) (vectors [][]float32, tokens int64, err error)
}

// providers is the table of services, by the name in the configuration. The forms are
// those of their references:
//
//	openai   https://platform.openai.com/docs/api-reference/embeddings
//	ollama   https://docs.ollama.com/api/embed
//	cohere   https://docs.cohere.com/reference/embed
//	voyage   https://docs.voyageai.com/reference/embeddings-api
//	mistral  https://docs.mistral.ai/api (Embeddings)
//	jina     https://jina.ai/embeddings (API)
var providers = map[string]provider{
	"openai": {endpoint: "https://api.openai.com/v1", path: "/embeddings", most: 256, keyless: true, read: readList,
		body: func(c *Config, texts []string, _ bool) any {
			b := map[string]any{"model": c.Model, "input": texts, "encoding_format": "float"}
			if strings.HasPrefix(c.Model, "text-embedding-3") { // others refuse what they do not know
				b["dimensions"] = c.Dims
			}
			return b
		}},
	"ollama": {endpoint: "http://localhost:11434", path: "/api/embed", most: 64, keyless: true, read: readOllama,
		body: func(c *Config, texts []string, _ bool) any {
			return map[string]any{"model": c.Model, "input": texts, "truncate": true}
		}},
	"cohere": {endpoint: "https://api.cohere.com", path: "/v2/embed", most: 96, read: readCohere,
		body: func(c *Config, texts []string, query bool) any {
			b := map[string]any{"model": c.Model, "texts": texts, "embedding_types": []string{"float"}, "truncate": "END",
				"input_type": pick(query, "search_query", "search_document")}
			if strings.HasPrefix(c.Model, "embed-v4") {
				b["output_dimension"] = c.Dims
			}
			return b
		}},
	"voyage": {endpoint: "https://api.voyageai.com/v1", path: "/embeddings", most: 128, read: readList,
		body: func(c *Config, texts []string, query bool) any {
			b := map[string]any{"model": c.Model, "input": texts, "input_type": pick(query, "query", "document"), "truncation": true}
			if strings.HasPrefix(c.Model, "voyage-3") || strings.HasPrefix(c.Model, "voyage-code-3") {
				b["output_dimension"] = c.Dims
			}
			return b
		}},
	"mistral": {endpoint: "https://api.mistral.ai/v1", path: "/embeddings", most: 64, read: readList,
		body: func(c *Config, texts []string, _ bool) any { return map[string]any{"model": c.Model, "input": texts} }},
	"jina": {endpoint: "https://api.jina.ai/v1", path: "/embeddings", most: 128, read: readList,
		body: func(c *Config, texts []string, query bool) any {
			return map[string]any{"model": c.Model, "input": texts, "dimensions": c.Dims, "truncate": true,
				"task": pick(query, "retrieval.query", "retrieval.passage")}
		}},
}

func pick(query bool, yes, no string) string {
	if query {
		return yes
	}
	return no
}

// readList reads OpenAI's form, whose rows may come in any order.
func readList(raw []byte, n int) ([][]float32, int64, error) {
	var r struct {
		Data []struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		} `json:"data"`
		Usage struct {
			Total  int64 `json:"total_tokens"`
			Prompt int64 `json:"prompt_tokens"`
		} `json:"usage"`
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return nil, 0, err
	}
	out := make([][]float32, n)
	for _, d := range r.Data {
		if d.Index < 0 || d.Index >= n || out[d.Index] != nil {
			return nil, 0, kb.Errorf(kb.Away, "it numbers its rows wrongly")
		}
		out[d.Index] = d.Embedding
	}
	return out, max(r.Usage.Total, r.Usage.Prompt), nil
}

func readOllama(raw []byte, _ int) ([][]float32, int64, error) {
	var r struct {
		Embeddings [][]float32 `json:"embeddings"`
		Tokens     int64       `json:"prompt_eval_count"`
	}
	err := json.Unmarshal(raw, &r)
	return r.Embeddings, r.Tokens, err
}

func readCohere(raw []byte, _ int) ([][]float32, int64, error) {
	var r struct {
		Embeddings struct {
			Float [][]float32 `json:"float"`
		} `json:"embeddings"`
		Meta struct {
			Billed struct {
				Tokens float64 `json:"input_tokens"`
			} `json:"billed_units"`
		} `json:"meta"`
	}
	err := json.Unmarshal(raw, &r)
	return r.Embeddings.Float, int64(r.Meta.Billed.Tokens), err
}

// saidWrong is the provider's own message in the body of a refusal, in whichever of their forms.
func saidWrong(raw []byte) string {
	var r struct {
		Error   json.RawMessage `json:"error"`
		Message json.RawMessage `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	if json.Unmarshal(raw, &r) != nil {
		return ""
	}
	for _, m := range []json.RawMessage{r.Error, r.Message, r.Detail} {
		var text string
		var inner struct {
			Message string `json:"message"`
		}
		switch {
		case json.Unmarshal(m, &text) == nil && text != "":
			return text
		case json.Unmarshal(m, &inner) == nil && inner.Message != "":
			return inner.Message
		}
	}
	return ""
}
