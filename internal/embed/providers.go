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
	tokens   int    // in a request, as we estimate them; 0 for mostSent
	keyless  bool   // it works without a key
	// body is what is asked; query says that the texts are questions, which some
	// embed otherwise than documents.
	body func(c *Config, texts []string, query bool) any
	// read returns the vectors of a reply by the number of their text, and how many tokens were billed.
	read func(raw []byte, n int) (vectors [][]float32, tokens int64, err error)
}

// providers is the table of services, by the name in the configuration. The forms and
// the bounds are those of their references, read on 2026-11-23:
//
//	openai   https://developers.openai.com/api/reference/go/resources/embeddings (input: 2048 texts, 300,000 tokens)
//	ollama   https://docs.ollama.com/api/embed
//	cohere   https://docs.cohere.com/reference/embed (96 texts)
//	voyage   https://docs.voyageai.com/reference/embeddings-api (1,000 texts, 120,000 tokens for the largest models)
//	mistral  https://docs.mistral.ai/api/endpoint/embeddings (no bounds stated; clients stay below 16,000 tokens)
//	jina     https://api.jina.ai/openapi.json
//
// A model that has vectors of several lengths is told which is configured. Others are
// not: some services refuse what a model does not know.
var providers = map[string]provider{
	"openai": {endpoint: "https://api.openai.com/v1", path: "/embeddings", most: 256, keyless: true, read: readList,
		body: func(c *Config, texts []string, _ bool) any {
			b := map[string]any{"model": c.Model, "input": texts, "encoding_format": "float"}
			return sized(b, "dimensions", c, "text-embedding-3")
		}},
	"ollama": {endpoint: "http://localhost:11434", path: "/api/embed", most: 64, keyless: true, read: readOllama,
		body: func(c *Config, texts []string, _ bool) any {
			return map[string]any{"model": c.Model, "input": texts, "truncate": true, "dimensions": c.Dims}
		}},
	"cohere": {endpoint: "https://api.cohere.com", path: "/v2/embed", most: 96, read: readCohere,
		body: func(c *Config, texts []string, query bool) any {
			b := map[string]any{"model": c.Model, "texts": texts, "embedding_types": []string{"float"}, "truncate": "END",
				"input_type": pick(query, "search_query", "search_document")}
			return sized(b, "output_dimension", c, "embed-v4")
		}},
	"voyage": {endpoint: "https://api.voyageai.com/v1", path: "/embeddings", most: 128, read: readList,
		body: func(c *Config, texts []string, query bool) any {
			b := map[string]any{"model": c.Model, "input": texts, "input_type": pick(query, "query", "document"), "truncation": true}
			return sized(b, "output_dimension", c, "voyage-4", "voyage-3.5", "voyage-3-large", "voyage-code-3")
		}},
	"mistral": {endpoint: "https://api.mistral.ai/v1", path: "/embeddings", most: 64, tokens: 16_000, read: readList,
		body: func(c *Config, texts []string, _ bool) any {
			return sized(map[string]any{"model": c.Model, "input": texts}, "output_dimension", c, "codestral-embed")
		}},
	"jina": {endpoint: "https://api.jina.ai/v1", path: "/embeddings", most: 128, read: readList,
		body: func(c *Config, texts []string, query bool) any {
			b := map[string]any{"model": c.Model, "input": texts}
			if strings.HasPrefix(c.Model, "jina-embeddings-v2") { // it knows no tasks
				return b
			}
			b["task"] = pick(query, "retrieval.query", "retrieval.passage")
			if strings.HasPrefix(c.Model, "jina-code") {
				b["task"] = pick(query, "nl2code.query", "nl2code.passage")
			}
			b["dimensions"], b["truncate"] = c.Dims, true
			return b
		}},
}

// sized adds the configured number of dimensions for the models whose names begin so.
func sized(b map[string]any, name string, c *Config, models ...string) map[string]any {
	for _, m := range models {
		if strings.HasPrefix(c.Model, m) {
			b[name] = c.Dims
		}
	}
	return b
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

// spent reports whether a refusal says that the account has nothing left: no waiting
// mends that. OpenAI says so with the status of a rate
// (https://platform.openai.com/docs/guides/error-codes).
func spent(raw []byte) bool {
	var r struct {
		Error struct{ Type, Code string }
	}
	return json.Unmarshal(raw, &r) == nil && (r.Error.Type == "insufficient_quota" || r.Error.Code == "insufficient_quota")
}

// saidWrong is the provider's own message in the body of a refusal, in whichever of their forms:
// OpenAI {"error":{"message"}}, Ollama {"error"}, Cohere and Mistral {"message"}, Voyage and Jina {"detail"}, and what
// checks a request before a model sees it (Mistral, Jina) {"detail":[{"msg"}]}.
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
		var list []struct {
			Msg string `json:"msg"`
		}
		switch {
		case json.Unmarshal(m, &text) == nil && text != "":
			return text
		case json.Unmarshal(m, &inner) == nil && inner.Message != "":
			return inner.Message
		case json.Unmarshal(m, &list) == nil && len(list) > 0:
			return list[0].Msg
		}
	}
	return ""
}
