package plugin

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestInspectorAPIs declares an API and calls it with the MCP inspector, in
// both eras: the service gets the credential and the client does not.
func TestInspectorAPIs(t *testing.T) {
	c := newClients(t)
	const secret = "s3cr3t-of-the-inspector"
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"right":%v,"city":%q,"echo":%q}`, r.Header.Get("Authorization") == "Bearer "+secret, r.URL.Query().Get("city"), r.Header.Get("Authorization"))
	}))
	defer service.Close()
	dir := filepath.Join(c.home, ".config", "knowledge")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	text := "apis:\n  - code: weather\n    baseUrl: " + service.URL + "\n    authenticationType: BEARER_TOKEN\n    apiKeyValue: ${WEATHER_KEY}\n    allowHosts: [\"" +
		strings.TrimPrefix(service.URL, "http://") + "\"]\n    tools:\n      - {code: forecast, endpointPath: /forecast, parameters: [{name: city, required: true}]}\n"
	if err := os.WriteFile(filepath.Join(dir, "apis.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, era := range []string{"legacy", "modern"} {
		execute := func(args ...string) (string, error) {
			return c.run(c.project, "mcp-inspector", append([]string{"--cli", "-e", "WEATHER_KEY=" + secret, "-e", "KNOWLEDGE_DATA_DIR=" + filepath.Join(c.home, "data"),
				c.program, "mcp", "--protocol-era", era, "--method", "tools/call", "--tool-name", "execute"}, args...)...)
		}
		for _, tc := range []struct {
			args   []string
			want   string
			failed bool
		}{
			{[]string{"--tool-arg", "command=apis"}, `\"name\":\"forecast\"`, false},
			{[]string{"--tool-arg", "command=api:call", "--tool-arg", `args={"name":"forecast","arguments":{"city":"Ushuaia"}}`}, `\"right\":true,\"city\":\"Ushuaia\",\"echo\":\"Bearer [REDACTED_SECRET]\"`, false},
			{[]string{"--tool-arg", "command=api:call", "--tool-arg", `args={"name":"forecast"}`}, `missing required parameter`, true},
			{[]string{"--tool-arg", "command=api:import", "--tool-arg", `args={"source":"x.json"}`}, `only a person may run`, true},
		} {
			out, err := execute(tc.args...)
			if !strings.Contains(out, tc.want) || strings.Contains(out, secret) || err != nil && !tc.failed {
				t.Errorf("%s %v: %v\n%s\nwant %s", era, tc.args, err, out, tc.want)
			}
		}
	}
}
