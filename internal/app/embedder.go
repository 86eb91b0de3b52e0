package app

import (
	"cmp"
	"fmt"
	"path/filepath"

	"github.com/seed-4f2d999b/knowledge/internal/embed"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/config"
	"github.com/seed-4f2d999b/knowledge/internal/platform/outbound"
)

// embedders returns what makes the vectors of indexes, as the configuration says, and
// what compares words, which is always the model in the program.
func (a *App) embedders(dir string, file config.Config) (index, words kb.Embedder, err error) {
	if a.Config.Embedder != nil {
		return a.Config.Embedder, a.Config.Embedder, nil
	}
	e := file.Embedder
	if e.Provider == "" || e.Provider == "static" {
		return embed.Default(), embed.Default(), nil
	}
	c := embed.Config{
		Backend: e.Provider, Endpoint: e.Endpoint, Model: e.Model, KeyName: e.KeyEnv, Dims: int(e.Dimensions), Version: int(e.Version),
		PerMinute: int(e.PerMinute), Dir: filepath.Join(dir, "embeddings"), Network: outbound.Policy{Proxy: file.Web.Proxy},
	}
	if e.KeyEnv != "" {
		c.Key = a.Config.Env(e.KeyEnv)
	}
	index, err = embed.New(c)
	return index, embed.Default(), err
}

// EmbedderOf returns what makes the vectors of indexes with that configuration.
func (a *App) EmbedderOf(file config.Config) (kb.Embedder, error) {
	dir, err := a.DataDirOf(file)
	if err != nil {
		return nil, err
	}
	index, _, err := a.embedders(dir, file)
	return index, err
}

// defaultAsk is how many tokens a job sends to a provider without asking.
const defaultAsk = 1_000_000

// spend returns what refuses a job that would send more to the provider of embeddings
// than was allowed; nil where nothing is sent, or all is allowed.
func (c *Core) spend(label string, paid bool) func(tokens int64) error {
	if paid || embed.Cheap(c.Embedder) {
		return nil
	}
	e := c.Settings.Embedder
	return func(tokens int64) error {
		if tokens <= cmp.Or(e.Ask, defaultAsk) {
			return nil
		}
		return kb.Errorf(kb.Denied, "to index %s about %s would be sent to %s", label, CostOf(tokens, e), e.Provider).
			WithHint("to have that done, add --paid: knowledge store:index %s --paid; embedder.ask says from how many on is asked", kb.ShellWord(label))
	}
}

// Spend returns what refuses to send more to the provider of embeddings than is sent
// without asking, nil where that costs nothing; see ingest.Options.
func (c *Core) Spend(label string) func(tokens int64) error { return c.spend(label, false) }

// CostOf says how many tokens, and what they cost where that is known.
func CostOf(tokens int64, e config.Embedder) string {
	n := fmt.Sprintf("%d tokens", tokens)
	if tokens >= 100_000 {
		n = fmt.Sprintf("%.1f million tokens", float64(tokens)/1e6)
	}
	if e.Price > 0 {
		n += fmt.Sprintf(" (%.4g at %g a million)", float64(tokens)/1e6*e.Price, e.Price)
	}
	return n
}
