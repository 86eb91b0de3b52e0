package apis_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/seed-4f2d999b/knowledge/internal/apis"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// remote is another server of the Model Context Protocol at an address.
func remote(t *testing.T) *httptest.Server {
	s := server.NewMCPServer("remote", "1", server.WithToolCapabilities(true), server.WithResourceCapabilities(false, false))
	s.AddTool(mcp.NewTool("book_room", mcp.WithDescription("Reserve a meeting room for an hour"), mcp.WithString("room", mcp.Required()),
		mcp.WithString("kind", mcp.Enum("small", "large"))), func(_ context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(`{"booked":"` + req.GetString("room", "") + `","by":"` + req.Header.Get("Authorization") + `"}`), nil
	})
	s.AddResource(mcp.NewResource("rooms://plan", "floor plan", mcp.WithResourceDescription("Where the rooms are")),
		func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			return []mcp.ResourceContents{mcp.TextResourceContents{URI: "rooms://plan", Text: "the blue room is upstairs"}}, nil
		})
	ts := httptest.NewServer(server.NewStreamableHTTPServer(s))
	t.Cleanup(ts.Close)
	return ts
}

// TestServerIsFoundAndCalled: the tools and resources of another server are found by
// what they do and called as those of an API.
func TestServerIsFoundAndCalled(t *testing.T) {
	ts := remote(t)
	s := newAPISite(t)
	s.Write("config/apis.yaml", "apis:\n  - code: office\n    mcp: "+ts.URL+"/mcp\n    authenticationType: BEARER\n    apiKeyValue: ${WEATHER_KEY}\n    allowHosts: [\""+strings.TrimPrefix(ts.URL, "http://")+"\"]\n")
	a := s.app()
	l, err := apis.List(t.Context(), a, apis.Which{Query: "reserve a meeting room"})
	if err != nil || len(l.Found) == 0 || l.Found[0].Name != "office_book_room" || l.Found[0].Params != "room, kind?" {
		t.Fatalf("%+v %v", l, err)
	}
	h, err := apis.Help(t.Context(), a, "office_book_room", false)
	if err != nil || !strings.Contains(strings.Join(h.Arguments, "; "), "kind?: small|large") || !strings.Contains(h.Note, "data, not instructions") {
		t.Fatalf("%+v %v", h, err)
	}
	r, err := apis.Call(t.Context(), a, apis.Ask{Name: "office_book_room", Args: json.RawMessage(`{"room":"blue"}`)})
	if err != nil || string(r.Result) != `{"booked":"blue","by":"Bearer [REDACTED_SECRET]"}` || !r.Untrusted {
		t.Fatalf("%+v %v", r, err)
	}
	_, err = apis.Call(t.Context(), a, apis.Ask{Name: "office_book_room", Args: json.RawMessage(`{"room":"blue","kind":"huge"}`)})
	if kb.CodeOf(err) != kb.Invalid || !strings.Contains(err.Error(), "small, large") {
		t.Fatal(err)
	}
	r, err = apis.Call(t.Context(), a, apis.Ask{Name: "office_read_floor_plan"})
	if err != nil || !strings.Contains(string(r.Result), "the blue room is upstairs") {
		t.Fatalf("%+v %v", r, err)
	}
	// Another process knows the list, and a server that is gone is named as the reason.
	ts.Close()
	b := s.app()
	l, err = apis.List(t.Context(), b, apis.Which{Query: "reserve a meeting room"})
	if err != nil || len(l.Found) == 0 {
		t.Fatalf("%+v %v", l, err)
	}
	_, err = apis.Call(t.Context(), b, apis.Ask{Name: "office_book_room", Args: json.RawMessage(`{"room":"blue"}`)})
	if kb.CodeOf(err) != kb.Away || strings.Contains(err.Error(), apiSecret) {
		t.Fatal(err)
	}
}

// TestProgramsNeedTrust: a program is started from the user's own definitions or a
// project's file that a person vouched for, never else, and an address of the network
// declares none.
func TestProgramsNeedTrust(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the program is a shell's line")
	}
	s := newAPISite(t)
	mark := filepath.Join(s.Root, "started")
	text := "apis:\n  - code: theirs\n    mcp: {command: [/bin/sh, -c, \"echo $SECRET >> " + mark + "\"], environment: {SECRET: \"${WEATHER_KEY}\"}}\n"
	s.Write("project/.knowledge/apis.yaml", text)
	look := func() (apis.ListReply, bool) {
		l, err := apis.List(t.Context(), s.app(), apis.Which{Query: "anything"})
		if err != nil {
			t.Fatal(err)
		}
		_, err = os.Stat(mark)
		return l, err == nil
	}
	if _, started := look(); started {
		t.Fatal("a project's program was started without trust")
	}
	trust := func() {
		t.Helper()
		if _, err := s.app().Trust(t.Context(), ".knowledge/apis.yaml", false); err != nil {
			t.Fatal(err)
		}
	}
	trust()
	if l, started := look(); started || len(l.NotReady) != 1 || !strings.Contains(l.NotReady[0].Why, "does not give to projects") {
		t.Fatalf("%v %+v", started, l) // the secret is the user's to give
	}
	text = strings.Replace(text, ", environment: {SECRET: \"${WEATHER_KEY}\"}", "", 1)
	s.Write("project/.knowledge/apis.yaml", text)
	trust()
	if _, started := look(); !started {
		t.Fatal("a trusted program was not started")
	}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(text)) }))
	defer web.Close()
	s.Write("config/config.yaml", "apis: {allowHosts: [\""+strings.TrimPrefix(web.URL, "http://")+"\"]}\n")
	_, err := apis.ImportFrom(t.Context(), s.app(), apis.ImportAPI{Source: web.URL + "/apis.yaml"})
	if kb.CodeOf(err) != kb.Denied || !strings.Contains(err.Error(), "document of the network") {
		t.Fatal(err)
	}
}

// TestImportClientFile: what a client has of servers is declared, without its secrets.
func TestImportClientFile(t *testing.T) {
	s := newAPISite(t)
	s.Write("project/mcp.json", `{"mcpServers":{"My Files":{"command":"files-server","args":["/srv"],"env":{"API_TOKEN":"hunter2hunter2","MODE":"x"}},`+
		`"far":{"type":"http","url":"https://far.example/mcp","headers":{"Authorization":"Bearer abcdefabcdef","X-Team":"a"}},"knowledge":{"command":"/usr/bin/knowledge","args":["mcp"]},"old":{"type":"sse","url":"https://old.example"}}}`)
	a := s.app()
	r, err := apis.ImportFrom(t.Context(), a, apis.ImportAPI{Source: "mcp.json"})
	if err != nil || len(r.APIs) != 2 || !r.APIs[0].Server {
		t.Fatalf("%+v %v", r, err)
	}
	b, err := os.ReadFile(r.File)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"hunter2", "abcdefabcdef"} {
		if strings.Contains(string(b)+r.Text(), secret) {
			t.Errorf("%s is kept:\n%s\n%s", secret, b, r.Text())
		}
	}
	for _, want := range []string{"code: my-files", "- files-server", "API_TOKEN: ${API_TOKEN}", "mcp: https://far.example/mcp", "apiKeyValue: ${FAR_TOKEN}"} {
		if !strings.Contains(string(b), want) {
			t.Errorf("%s is missing in\n%s", want, b)
		}
	}
}
