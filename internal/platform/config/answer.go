package config

import (
	"strings"

	yaml "github.com/oasdiff/yaml3"
)

// Answer holds the settings of answers.
type Answer struct {
	Origins    []string // pages of other sites that may ask and rate answers
	NoFeedback bool     // feedback lowers nothing
	Questions  bool     // the questions that are asked are kept
	Endpoint   string   // URL of a model's API; "" composes answers without one
	API        string   // "openai" or "ollama"; "" is "openai"
	Model      string
	KeyEnv     string // name of the variable that holds the key, or ""
}

// answerKeys are the keys below answer, a part of the table.
var answerKeys = []Key{
	{
		Name: "answer.origins", Type: "list of origins (`https://docs.example.org`)", Default: "none",
		Help:    "pages of other sites that may ask questions about public stores, and rate the answers, without a token",
		Example: "[https://docs.example.org]",
		set: list(func(c *Config) *[]string { return &c.Answer.Origins }, isOrigin,
			"write scheme, host and port alone, for example https://docs.example.org"),
	},
	{
		Name: "answer.feedback", Type: "`true` or `false`", Default: "true",
		Help:    "whether feedback against a source lowers it for similar questions, in answers and in searches",
		Example: "false",
		set: func(p *parser, n *yaml.Node, c *Config) error {
			if n.Kind != yaml.ScalarNode || n.Tag != "!!bool" {
				return p.wrong(n, "answer.feedback must be true or false").WithHint("leave it out for true")
			}
			c.Answer.NoFeedback = !strings.EqualFold(n.Value, "true")
			return nil
		},
	},
	{
		Name: "answer.questions", Type: "`true` or `false`", Default: "false",
		Help: "whether the questions that are asked are kept, without who asked and with credentials masked: " +
			"feedback:review then says which have no answer, what is asked most, and whose answers have changed",
		Example: "true",
		set: func(p *parser, n *yaml.Node, c *Config) error {
			if n.Kind != yaml.ScalarNode || n.Tag != "!!bool" {
				return p.wrong(n, "answer.questions must be true or false").WithHint("leave it out for false")
			}
			c.Answer.Questions = strings.EqualFold(n.Value, "true")
			return nil
		},
	},
	{
		Name: "answer.endpoint", Type: "http or https address", Default: "none",
		Help: "a model's API that words answers from the passages found; what their lines do not bear out is dropped, " +
			"and without it answers are composed of sentences of theirs",
		Example: "http://localhost:11434",
		set: func(p *parser, n *yaml.Node, c *Config) (err error) {
			if c.Answer.Endpoint, err = p.text(n); err != nil {
				return err
			}
			u, ok := webURL(c.Answer.Endpoint)
			if !ok || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
				return p.wrong(n, "answer.endpoint is no address of an API").
					WithHint("write it as http://localhost:11434 or https://api.example.org/v1, without a key")
			}
			c.Answer.Endpoint = strings.TrimRight(c.Answer.Endpoint, "/")
			return nil
		},
	},
	{
		Name: "answer.api", Type: "`openai` or `ollama`", Default: "`openai`",
		Help:    "what the endpoint speaks: OpenAI's chat completions (many servers do), or Ollama's own",
		Example: "ollama",
		set: text(func(c *Config) *string { return &c.Answer.API },
			func(s string) bool { return s == "openai" || s == "ollama" }, "must be openai or ollama", "leave it out for openai"),
	},
	{
		Name: "answer.model", Type: "name", Default: "none",
		Help:    "the model that the endpoint is asked for",
		Example: "llama3.2",
		set:     text(func(c *Config) *string { return &c.Answer.Model }, nil, "", ""),
	},
	{
		Name: "answer.key", Type: "name of an environment variable", Default: "none",
		Help:    "the variable whose value is sent to the endpoint as its key, and nowhere else",
		Example: "OPENAI_API_KEY",
		set: text(func(c *Config) *string { return &c.Answer.KeyEnv }, isVariable,
			"is not the name of an environment variable", "put the key into a variable and write the variable's name here"),
	},
}

func isOrigin(s string) bool {
	u, ok := webURL(s)
	return ok && !strings.Contains(u.Host, "*") && s == u.Scheme+"://"+strings.ToLower(u.Host)
}
