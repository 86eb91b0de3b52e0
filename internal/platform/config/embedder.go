package config

import (
	"slices"
	"strconv"
	"strings"

	yaml "github.com/oasdiff/yaml3"
)

// Embedder holds the settings of what turns texts into vectors. The zero value
// is the model in the program.
type Embedder struct {
	Provider   string // "" and "static" are the model in the program
	Endpoint   string // "" is the provider's own
	Model      string
	Dimensions int64
	Version    int64 // 0 is 1
	KeyEnv     string
	PerMinute  int64   // requests; 0 is as fast as the provider lets
	Price      float64 // of a million tokens; 0 is unknown
	Ask        int64   // tokens above which a job asks first; 0 is the default
}

// Providers are the values of embedder.provider.
var Providers = []string{"static", "openai", "ollama", "cohere", "voyage", "mistral", "jina"}

// embedderKeys are the keys below embedder, a part of the table.
var embedderKeys = []Key{
	{
		Name: "embedder.provider", Type: "`" + strings.Join(Providers, "`, `") + "`", Default: "`static`",
		Help:    "what turns texts into vectors: the model in the program, or a service, to which the text of all that is indexed is sent; openai is also what many servers of others speak",
		Example: "openai",
		set: text(func(c *Config) *string { return &c.Embedder.Provider }, func(s string) bool { return slices.Contains(Providers, s) },
			"must be one of "+strings.Join(Providers, ", "), "leave it out for the model in the program"),
	},
	{
		Name: "embedder.endpoint", Type: "http or https address", Default: "the provider's own",
		Help:    "where that service is",
		Example: "http://localhost:8080/v1",
		set: text(func(c *Config) *string { return &c.Embedder.Endpoint }, func(s string) bool {
			u, ok := webURL(s)
			return ok && u.User == nil && u.RawQuery == "" && u.Fragment == ""
		}, "is no address of an API", "write it as https://api.example.org/v1, without a key"),
	},
	{
		Name: "embedder.model", Type: "name", Default: "none", Help: "the model that the service is asked for",
		Example: "text-embedding-3-small",
		set:     text(func(c *Config) *string { return &c.Embedder.Model }, nil, "", ""),
	},
	{
		Name: "embedder.dimensions", Type: "integer from 1 to 4096", Default: "none",
		Help:    "how many dimensions its vectors have; another number is refused, and nothing is kept of it",
		Example: "1536",
		set:     whole("embedder.dimensions", 1, 4096, "its provider says how many", func(c *Config) *int64 { return &c.Embedder.Dimensions }),
	},
	{
		Name: "embedder.version", Type: "integer from 1 to 9999", Default: "1",
		Help:    "count it up when the service changes the model under its name: vectors of different versions are never compared",
		Example: "2",
		set:     whole("embedder.version", 1, 9999, "leave it out for 1", func(c *Config) *int64 { return &c.Embedder.Version }),
	},
	{
		Name: "embedder.key", Type: "name of an environment variable", Default: "none",
		Help:    "the variable whose value is sent to the service as its key, and nowhere else",
		Example: "OPENAI_API_KEY",
		set: text(func(c *Config) *string { return &c.Embedder.KeyEnv }, isVariable,
			"is not the name of an environment variable", "put the key into a variable and write the variable's name here"),
	},
	{
		Name: "embedder.perMinute", Type: "integer from 1 to 100000", Default: "as fast as the service lets",
		Help:    "at most this many requests a minute; a service that asks for patience gets it anyway",
		Example: "300",
		set:     whole("embedder.perMinute", 1, 100000, "leave it out to go as fast as the service lets", func(c *Config) *int64 { return &c.Embedder.PerMinute }),
	},
	{
		Name: "embedder.price", Type: "number", Default: "unknown",
		Help:    "what a million tokens cost you, in whatever you pay with, so that the cost of indexing can be said before",
		Example: "0.02",
		set: func(p *parser, n *yaml.Node, c *Config) error {
			v, err := strconv.ParseFloat(n.Value, 64)
			if n.Kind != yaml.ScalarNode || n.Tag != "!!int" && n.Tag != "!!float" || err != nil || !(v >= 0 && v <= 1e6) {
				return p.wrong(n, "embedder.price must be a number from 0 to 1000000").WithHint("write what a million tokens cost, as in 0.02")
			}
			c.Embedder.Price = v
			return nil
		},
	},
	{
		Name: "embedder.ask", Type: "integer from 1 to 1000000000000", Default: "1000000",
		Help:    "a job that would send more tokens than this to the service says how many and what they cost, and sends none until you add --paid",
		Example: "5000000",
		set:     whole("embedder.ask", 1, 1e12, "leave it out for a million", func(c *Config) *int64 { return &c.Embedder.Ask }),
	},
}
