package restapi_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"mime"
	"net"
	"net/textproto"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/apis/restapi"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// conformance is one case of testdata/conformance; its README has the form.
type conformance struct {
	name, section string
	version       string // of the document: 2.0, 3.0.4, 3.1.2
	method, path  string
	op, item, doc map[string]any
	params        []any
	bodies        map[string]json.RawMessage
	required      bool // of the body
	secrets       map[string]string
	call          string // operation to call; the case's own when ""
	args          string
	want          []string
	refused       string
}

func readConformance(t *testing.T) []*conformance {
	t.Helper()
	files, err := filepath.Glob("testdata/conformance/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all []*conformance
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		version, c := "", (*conformance)(nil)
		for i, line := range strings.Split(strings.TrimRight(string(text), "\n"), "\n") {
			word, rest, _ := strings.Cut(line, " ")
			switch word {
			case "use":
				version = rest
			case "--":
				name, section, _ := strings.Cut(rest, " | ")
				c = &conformance{name: name, section: section, version: version, secrets: map[string]string{}, bodies: map[string]json.RawMessage{}}
				all = append(all, c)
			default:
				if err := c.line(word, rest); err != nil {
					t.Fatalf("%s:%d: %v", file, i+1, err)
				}
			}
		}
	}
	return all
}

// line reads one line of a case.
func (c *conformance) line(word, rest string) error {
	var err error
	object := func(s string, into *map[string]any) {
		if s != "" {
			err = json.Unmarshal([]byte(s), into)
		}
	}
	switch word {
	case "op":
		f := strings.SplitN(rest, " ", 3)
		c.method, c.path = f[0], f[1]
		if len(f) == 3 {
			object(f[2], &c.op)
		}
	case "item":
		object(rest, &c.item)
	case "doc":
		object(rest, &c.doc)
	case "param":
		var p map[string]any
		object(rest, &p)
		c.params = append(c.params, p)
	case "p":
		var p map[string]any
		p, err = shortParam(rest)
		c.params = append(c.params, p)
	case "body", "body!":
		media, rest, _ := strings.Cut(rest, " ")
		if !json.Valid([]byte(rest)) {
			return fmt.Errorf("%q is not JSON", rest)
		}
		c.bodies[media], c.required = json.RawMessage(rest), word == "body!"
	case "secret":
		name, value, _ := strings.Cut(rest, " ")
		c.secrets[name] = value
	case "call":
		c.call = rest
	case "args":
		c.args = rest
	case ">":
		c.want = append(c.want, rest)
	case "refused":
		c.refused = rest
	default:
		err = fmt.Errorf("no line begins with %q", word)
	}
	return err
}

var shortSchemas = map[string]string{
	"str": `{"type":"string"}`, "int": `{"type":"integer"}`, "num": `{"type":"number"}`, "bool": `{"type":"boolean"}`,
	"arr": `{"type":"array","items":{"type":"string"}}`, "ints": `{"type":"array","items":{"type":"integer"}}`, "obj": `{"type":"object"}`,
}

// shortParam reads NAME PLACE [STYLE] [explode|noexplode] [required] [reserved] SCHEMA.
func shortParam(s string) (map[string]any, error) {
	head, schema, isJSON := strings.Cut(s, " {")
	words := strings.Fields(head)
	if isJSON {
		schema = "{" + schema
	} else {
		schema = shortSchemas[words[len(words)-1]]
		words = words[:len(words)-1]
	}
	p := map[string]any{"name": words[0], "in": words[1]}
	for _, w := range words[2:] {
		switch w {
		case "explode", "noexplode":
			p["explode"] = w == "explode"
		case "required":
			p["required"] = true
		case "reserved":
			p["allowReserved"] = true
		default:
			p["style"] = w
		}
	}
	var v any
	err := json.Unmarshal([]byte(schema), &v)
	p["schema"] = v
	return p, err
}

// document makes the OpenAPI document of the case, for a service at base.
func (c *conformance) document(base string) []byte {
	op := map[string]any{"operationId": "op", "responses": map[string]any{"200": map[string]any{"description": "ok"}}}
	if len(c.params) > 0 {
		op["parameters"] = c.params
	}
	if len(c.bodies) > 0 {
		op["requestBody"] = map[string]any{"required": c.required, "content": c.bodies}
	}
	maps.Copy(op, c.op)
	if op["operationId"] == nil {
		delete(op, "operationId")
	}
	item := map[string]any{strings.ToLower(c.method): op}
	maps.Copy(item, c.item)
	doc := map[string]any{"info": map[string]any{"title": "t", "version": "1"}}
	if c.version == "2.0" {
		host := strings.TrimPrefix(base, "http://")
		doc["swagger"], doc["schemes"], doc["host"] = "2.0", []any{"http"}, host
	} else {
		doc["openapi"], doc["servers"] = c.version, []any{map[string]any{"url": base}}
	}
	maps.Copy(doc, c.doc)
	paths, _ := doc["paths"].(map[string]any)
	if paths == nil {
		paths = map[string]any{}
	}
	paths[c.path] = item
	doc["paths"] = paths
	text, err := json.Marshal(doc)
	if err != nil {
		panic(err)
	}
	return bytes.ReplaceAll(text, []byte("{base}"), []byte(base))
}

// strict is a server that keeps the bytes of each request.
type strict struct {
	net.Listener
	mu   sync.Mutex
	last *got
	wg   sync.WaitGroup
}

// got is one request as it came over the wire.
type got struct {
	line   string
	header textproto.MIMEHeader
	body   []byte
}

func newStrict(t *testing.T) *strict {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &strict{Listener: l}
	s.wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			s.wg.Go(func() { defer conn.Close(); s.serve(conn) })
		}
	})
	t.Cleanup(func() { l.Close(); s.wg.Wait() })
	return s
}

// serve reads one request and closes the connection.
func (s *strict) serve(conn net.Conn) {
	r := textproto.NewReader(bufio.NewReader(conn))
	line, err := r.ReadLine()
	if err != nil {
		return
	}
	g := &got{line: line}
	if g.header, err = r.ReadMIMEHeader(); err != nil {
		return
	}
	if n, err := strconv.Atoi(g.header.Get("Content-Length")); err == nil {
		g.body = make([]byte, n)
		if _, err := io.ReadFull(r.R, g.body); err != nil {
			return
		}
	}
	s.mu.Lock()
	s.last = g
	s.mu.Unlock()
	io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")
}

func (s *strict) take() *got {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.last
	s.last = nil
	return g
}

// carried are the headers that any client sends.
var carried = []string{"Host", "User-Agent", "Accept", "Accept-Encoding", "Content-Length", "Connection", "Transfer-Encoding"}

// shown writes a request as cases have it.
func (g *got) shown() string {
	var lines []string
	lines = append(lines, strings.TrimSuffix(g.line, " HTTP/1.1"))
	body := string(g.body)
	if media, params, err := mime.ParseMediaType(g.header.Get("Content-Type")); err == nil && strings.HasPrefix(media, "multipart/") {
		g.header.Set("Content-Type", media+"; boundary=B")
		body = strings.TrimSuffix(strings.ReplaceAll(strings.ReplaceAll(body, params["boundary"], "B"), "\r\n", "\n"), "\n")
	}
	for _, k := range slices.Sorted(maps.Keys(g.header)) {
		for _, v := range g.header[k] {
			if !slices.Contains(carried, k) {
				lines = append(lines, k+": "+v)
			}
		}
	}
	if _, sized := g.header["Content-Length"]; sized && len(g.body) > 0 {
		lines = append(lines, "", body)
	}
	return strings.Join(lines, "\n")
}

// wanted writes the expected request in the same form.
func (c *conformance) wanted() string {
	at := slices.Index(c.want, "")
	if at < 0 {
		at = len(c.want)
	}
	head := slices.Clone(c.want[:at])
	for i, h := range head[1:] {
		k, v, _ := strings.Cut(h, ":")
		head[i+1] = textproto.CanonicalMIMEHeaderKey(k) + ":" + v
	}
	slices.Sort(head[1:])
	body := ""
	if at < len(c.want) {
		body = "\n\n" + strings.Join(c.want[at+1:], "\n")
	}
	for _, esc := range []string{"\x89", "\x00", "\x01", "\x02"} {
		body = strings.ReplaceAll(body, fmt.Sprintf(`\x%02x`, esc[0]), esc)
	}
	return strings.Join(head, "\n") + body
}

// conform imports the document of a case, calls its operation and says what
// came of it that the specification does not have; "" when nothing did.
func conform(t *testing.T, s *strict, c *conformance) string {
	base := "http://" + s.Addr().String()
	im, err := restapi.ImportOpenAPI("doc.json", c.document(base), restapi.ImportOptions{Code: "t", From: base + "/openapi.json"})
	refused := func(said string) string {
		if c.refused != "" && strings.Contains(said, c.refused) {
			return ""
		}
		return "refused: " + said
	}
	if err != nil {
		return refused(err.Error() + " " + kb.HintOf(err))
	}
	text, _, err := restapi.Merge("apis.yaml", nil, im)
	if err != nil {
		return refused(err.Error())
	}
	b := newConformer(t, string(text), s.Addr().String(), c)
	call := "t_op"
	if c.call != "" {
		call = "t_" + c.call
	}
	p, tool, err := restapi.Find(b.file.Providers, call)
	if err != nil && len(b.file.Providers) == 1 && len(b.file.Providers[0].Tools) == 1 {
		p, tool, err = b.file.Providers[0], &b.file.Providers[0].Tools[0], nil
	}
	if err != nil {
		return refused(err.Error() + " " + strings.Join(im.Notes, " "))
	}
	_, err = b.caller.Call(t.Context(), p, tool, json.RawMessage(c.args))
	g := s.take()
	switch {
	case err != nil && g == nil:
		return refused(err.Error())
	case g == nil:
		return "nothing was sent"
	case c.refused != "":
		return "sent: " + g.shown()
	}
	if sent, want := g.shown(), c.wanted(); sent != want {
		return fmt.Sprintf("sent\n%s\nwant\n%s", sent, want)
	}
	return ""
}

// newConformer is a caller with the credentials of a case.
func newConformer(t *testing.T, text, host string, c *conformance) *bench {
	t.Helper()
	dir, err := filepath.Abs("testdata/conformance/files")
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, strings.Replace(text, "- code: t\n", "- code: t\n    allowHosts: [\""+host+"\"]\n    allowFiles: ["+dir+"]\n", 1))
	b.caller.Tokens = lender{}
	b.caller.Secrets.Env = func(name string) string {
		if strings.HasSuffix(name, "CLIENT_ID") {
			return c.secrets["o"]
		}
		for scheme, v := range c.secrets {
			if name == "T_"+strings.ToUpper(scheme) || name == "T_API_KEY" && len(c.secrets) == 1 {
				return v
			}
		}
		return ""
	}
	return b
}

// lender lends a token to each client.
type lender struct{}

func (lender) Token(_ context.Context, _ *restapi.Provider, _ *restapi.Auth, client restapi.OAuth, _ string) (string, error) {
	return "token-for-" + client.ClientID, nil
}
func (lender) Ready(*restapi.Provider, *restapi.Auth) error { return nil }

func (lender) Drop(*restapi.Provider, *restapi.Auth, string) bool { return false }

// TestConformance calls every case and compares what leaves with the bytes
// that the specification has.
func TestConformance(t *testing.T) {
	all := readConformance(t)
	s := newStrict(t)
	failed := 0
	for _, c := range all {
		if c.section == "" || c.refused == "" && len(c.want) == 0 {
			t.Errorf("%s: no section or nothing expected", c.name)
		}
		if wrong := conform(t, s, c); wrong != "" {
			failed++
			t.Errorf("%s (%s): %s", c.name, c.section, wrong)
		}
	}
	if len(all) < 250 || failed > 0 {
		t.Errorf("%d of %d cases fail", failed, len(all))
	}
}
