package mcpsource_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// TestMain is also the server that tests start: "serve=MODE" is its first argument.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		if mode, ok := strings.CutPrefix(os.Args[1], "serve="); ok {
			serve(mode, os.Args[2:])
			return
		}
	}
	os.Exit(m.Run())
}

type message struct {
	ID     json.RawMessage
	Method string
	Params struct {
		Name, URI, Cursor string
		Arguments         json.RawMessage
	}
}

// serve is a server by hand, so that it can do what no library lets it do.
func serve(mode string, args []string) {
	switch mode {
	case "deaf":
		time.Sleep(time.Hour)
	case "endless":
		for {
			fmt.Print(strings.Repeat("x", 1<<20))
		}
	case "ends":
		fmt.Fprintln(os.Stderr, "there is no database at secret-of-the-user-1")
		os.Exit(3)
	case "garbage":
		fmt.Println("<html>not a server</html>\n{\"jsonrpc\":")
	case "stderr":
		go func() {
			for {
				fmt.Fprintln(os.Stderr, strings.Repeat("noise ", 1000))
			}
		}()
	}
	started(args)
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 64<<20)
	lists := 0
	for in.Scan() {
		var m message
		if json.Unmarshal(in.Bytes(), &m) != nil || m.ID == nil {
			continue
		}
		if mode == "silent" || mode == "garbage" {
			continue
		}
		switch m.Method {
		case "initialize":
			reply(m, `{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true},"resources":{}},"serverInfo":{"name":"fake","version":"1"}}`)
		case "tools/list":
			lists++
			reply(m, tools(mode, lists, m.Params.Cursor))
		case "resources/list":
			reply(m, `{"resources":[{"uri":"memo://one","name":"one","description":"the first memo"}]}`)
		case "resources/templates/list":
			reply(m, `{"resourceTemplates":[{"uriTemplate":"memo://{year}/{name}","name":"memo","description":"a memo of a year"}]}`)
		case "resources/read":
			reply(m, `{"contents":[{"uri":`+quote(m.Params.URI)+`,"mimeType":"text/plain","text":`+quote("memo at "+m.Params.URI)+`}]}`)
		case "tools/call":
			called(m, args)
		default:
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`+"\n", m.ID)
		}
	}
}

// started writes a line for each start into the file that the first argument names.
func started(args []string) {
	if len(args) == 0 {
		return
	}
	f, err := os.OpenFile(args[0], os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		fmt.Fprintln(f, os.Getpid())
		f.Close()
	}
}

func quote(s string) string { b, _ := json.Marshal(s); return string(b) }

func reply(m message, result string) {
	fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, result)
}

const plainTools = `{"name":"echo","title":"Say again","description":"Returns what it is given","inputSchema":{"type":"object","properties":{"text":{"type":"string"},"times":{"type":"integer"}},"required":["text"]},"annotations":{"readOnlyHint":true}},` +
	`{"name":"fail","description":"Fails","inputSchema":{"type":"object"}},` +
	`{"name":"die","description":"Ends the server","inputSchema":{"type":"object"}},` +
	`{"name":"die once","description":"Ends the server the first time","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}},` +
	`{"name":"hang","description":"Never answers","inputSchema":{"type":"object"}},` +
	`{"name":"big","description":"Answers with too much","inputSchema":{"type":"object"}},` +
	`{"name":"env","description":"Returns the environment","inputSchema":{"type":"object"}},` +
	`{"name":"digits","description":"Returns a large number","inputSchema":{"type":"object"}},` +
	`{"name":"change","description":"Changes the list","inputSchema":{"type":"object"}}`

func tools(mode string, lists int, cursor string) string {
	switch mode {
	case "changing":
		return fmt.Sprintf(`{"tools":[{"name":"echo","description":"version %d","inputSchema":{"type":"object"}},%s]}`, lists, strings.SplitN(plainTools, "},{", 2)[1][0:0]+`{"name":"change","description":"Changes the list","inputSchema":{"type":"object"}}`)
	case "pages":
		return `{"tools":[{"name":"t` + cursor + `","inputSchema":{"type":"object"}}],"nextCursor":"` + cursor + `x"}`
	case "bomb":
		deep := strings.Repeat(`{"type":"object","properties":{"a":`, 3000) + `{}` + strings.Repeat(`}}`, 3000)
		var wide []string
		for i := range 30 {
			wide = append(wide, fmt.Sprintf(`"d%d":{"anyOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]}`, i, i+1, i+1, i+1))
		}
		bomb := `{"type":"object","properties":{"a":{"$ref":"#/$defs/d0"}},"$defs":{` + strings.Join(wide, ",") + `,"d30":{"$ref":"#/$defs/d0"}}}`
		return `{"tools":[{"name":"deep","inputSchema":` + deep + `},{"name":"bomb","inputSchema":` + bomb + `},` +
			`{"name":"huge","inputSchema":{"description":` + quote(strings.Repeat("x", 100000)) + `}},{"name":7},7,{"name":"` + strings.Repeat("n", 5000) + `"},` +
			`{"name":"odd/../name\u001b[31m","description":"red\u001b[31m and \u202ereversed","inputSchema":{"type":"object","properties":{"{x}":{},"":{}}}},` + plainTools + `]}`
	}
	return `{"tools":[` + plainTools + `]}`
}

// called answers a call of a tool.
func called(m message, args []string) {
	text := func(s string) { reply(m, `{"content":[{"type":"text","text":`+quote(s)+`}]}`) }
	switch m.Params.Name {
	case "echo":
		text(string(m.Params.Arguments))
	case "fail":
		reply(m, `{"content":[{"type":"text","text":"it went wrong with secret-of-the-user-1"}],"isError":true}`)
	case "die":
		fmt.Fprintln(os.Stderr, "asked to die")
		os.Exit(1)
	case "die once":
		if b, _ := os.ReadFile(args[0]); strings.Count(string(b), "\n") == 1 {
			os.Exit(1)
		}
		text("alive")
	case "hang":
		time.Sleep(time.Hour)
	case "big":
		text(strings.Repeat("x", 20<<20))
	case "env":
		text(strings.Join(os.Environ(), "\n"))
	case "digits":
		reply(m, `{"content":[],"structuredContent":{"n":12345678901234567890.10}}`)
	case "bomb":
		text("")
	case "change":
		fmt.Println(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		text("changed")
	}
}
