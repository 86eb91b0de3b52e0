package mcpserver

import (
	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/bearer"
	"github.com/seed-4f2d999b/knowledge/internal/platform/config"
)

// WellKnown are the paths beside Path that Handler serves.
var WellKnown = []string{bearer.WellKnown, bearer.WellKnown + Path}

// tokensOf returns the token server of the configuration, nil when there is none.
func tokensOf(a *app.App) (*bearer.Server, error) {
	file, err := config.Load(a.Config.Env)
	if err != nil || file.MCP.Issuer == "" {
		return nil, err
	}
	return TokenServer(file.MCP, a.Config.Env, "knowledge/"+a.Config.Version)
}

// TokenServer returns the token server that a configuration names.
func TokenServer(m config.MCP, env func(string) string, agent string) (*bearer.Server, error) {
	c := bearer.Config{Issuer: m.Issuer, Resource: m.Resource, Introspection: m.Introspection, ClientID: m.ClientID, Scopes: m.Scopes, UserAgent: agent}
	if c.Resource == "" {
		return nil, kb.Errorf(kb.Invalid, "mcp.issuer is set, and mcp.resource is not").
			WithHint("write the address that clients know /mcp by into the configuration file: mcp: {resource: https://kb.example.org/mcp}")
	}
	if m.SecretEnv != "" {
		if c.Secret = env(m.SecretEnv); c.Secret == "" {
			return nil, kb.Errorf(kb.Denied, "the variable %s, which mcp.clientSecret names, is not set", m.SecretEnv).
				WithHint("set it where this program starts")
		}
	}
	return bearer.New(c)
}
