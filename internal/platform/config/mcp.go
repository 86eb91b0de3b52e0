package config

import "strings"

// MCP says which token server's tokens /mcp takes beside its own token.
type MCP struct {
	Issuer        string   // of the tokens; "" takes none
	Resource      string   // the address that clients know /mcp by, for which tokens must be meant
	Introspection string   // where tokens are asked about; "" is what the issuer's metadata says
	ClientID      string   // by which the token server knows this program
	SecretEnv     string   // name of the variable that holds its secret
	Scopes        []string // all of which a token must have
}

// mcpKeys are the keys below mcp, a part of the table.
var mcpKeys = []Key{
	{
		Name: "mcp.issuer", Type: "https address", Default: "none",
		Help:    "a token server of OAuth whose tokens /mcp takes beside the server's own, with `mcp.resource`; clients find it by themselves",
		Example: "https://login.example.org",
		set:     text(func(c *Config) *string { return &c.MCP.Issuer }, isServer, "is no https address", "write it as https://login.example.org, as the issuer of its tokens is written"),
	},
	{
		Name: "mcp.resource", Type: "http or https address", Default: "none",
		Help:    "the address that clients know /mcp by: tokens that are not for it are refused",
		Example: "https://kb.example.org/mcp",
		set:     text(func(c *Config) *string { return &c.MCP.Resource }, isServer, "is no address", "write it whole, as in https://kb.example.org/mcp"),
	},
	{
		Name: "mcp.introspection", Type: "https address", Default: "what the issuer's metadata says",
		Help:    "where the token server is asked about a token (RFC 7662)",
		Example: "https://login.example.org/introspect",
		set:     text(func(c *Config) *string { return &c.MCP.Introspection }, isServer, "is no https address", "the token server's documentation has it"),
	},
	{
		Name: "mcp.clientId", Type: "text", Default: "none",
		Help:    "by which the token server knows this program when it asks about tokens",
		Example: "knowledge",
		set:     text(func(c *Config) *string { return &c.MCP.ClientID }, nil, "", ""),
	},
	{
		Name: "mcp.clientSecret", Type: "name of an environment variable", Default: "none",
		Help:    "the variable that holds the secret for that, which is sent to the token server alone",
		Example: "INTROSPECTION_SECRET",
		set: text(func(c *Config) *string { return &c.MCP.SecretEnv }, isVariable,
			"is not the name of an environment variable", "put the secret into a variable and write the variable's name here"),
	},
	{
		Name: "mcp.scopes", Type: "list of texts", Default: "none",
		Help:    "what a token must allow, all of them",
		Example: "[knowledge]",
		set: list(func(c *Config) *[]string { return &c.MCP.Scopes }, func(s string) bool { return s != "" && !strings.ContainsAny(s, " \"\\\t") },
			"write the names of scopes"),
	},
}

// isServer reports whether an address is of https, or on this machine.
func isServer(s string) bool {
	u, ok := webURL(s)
	return ok && u.User == nil && u.RawQuery == "" && u.Fragment == "" &&
		(u.Scheme == "https" || u.Hostname() == "localhost" || strings.HasPrefix(u.Hostname(), "127.") || u.Hostname() == "::1")
}
