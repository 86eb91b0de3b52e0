package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// stores makes a public store and a private one.
func (b *bench) stores() error {
	for name, text := range map[string]string{
		"public/limits.md":   "# Limits\n\nFiles over one mebibyte are left out of the index. The limit is set with the key maxFileBytes.\n",
		"private/private.md": "# Plan\n\nThe project ZEBRAPROJECT is left out of the index until May.\n",
	} {
		file := filepath.Join(b.tmp, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return err
		}
	}
	if err := os.WriteFile(b.config(), nil, 0o600); err != nil {
		return err
	}
	for _, args := range [][]string{{"store:create", "handbook", filepath.Join(b.tmp, "public"), "--scope", "user"},
		{"store:create", "secretstore", filepath.Join(b.tmp, "private"), "--scope", "user"}, {"store:public", "handbook"}} {
		if out, err := b.command(args...).CombinedOutput(); err != nil {
			return fmt.Errorf("%v: %s", args, out)
		}
	}
	return nil
}

func (b *bench) config() string { return filepath.Join(b.tmp, "config.yaml") }

// command is one run of the program.
func (b *bench) command(args ...string) *exec.Cmd {
	cmd := exec.Command(b.bin, args...)
	cmd.Env = append(os.Environ(), "KNOWLEDGE_DATA_DIR="+filepath.Join(b.tmp, "data"), "KNOWLEDGE_CONFIG="+b.config())
	cmd.Dir = b.tmp
	return cmd
}

// serve starts the program for the public with a configuration.
func (b *bench) serve(config, addr string) (*exec.Cmd, string, error) {
	if err := os.WriteFile(b.config(), []byte(config), 0o600); err != nil {
		return nil, "", err
	}
	own := free()
	cmd := b.command("serve", "--addr", own, "--public", addr)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, "", err
	}
	if err := begin(cmd, addr); err != nil {
		return nil, "", err
	}
	token := ""
	lines := bufio.NewScanner(out)
	for token == "" && lines.Scan() {
		_, token, _ = strings.Cut(lines.Text(), "#token=")
	}
	go io.Copy(io.Discard, out)
	return cmd, token, nil
}

// visitor asks from an address of loopback.
func (b *bench) visitor(f front, addr, from string) *http.Client {
	d := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Timeout: 5 * time.Second}
	return &http.Client{Timeout: 40 * time.Second, Transport: &http.Transport{TLSClientConfig: b.tls(),
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return d.DialContext(ctx, network, addr)
		}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// send sends one request and returns the reply with its status.
func send(c *http.Client, f front, addr, method, path, body string, header map[string]string) (int, string, error) {
	url := "https://" + host + path
	if f.plain {
		url = "http://" + addr + path
	}
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	if f.plain && f.program == "" {
		req.Host = host
	}
	req.Header.Set("Content-Type", "application/json")
	for k, v := range header {
		req.Header.Set(k, v)
	}
	resp, err := c.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(raw), err
}

const question = `{"tool_name":"generate_rag_answer","arguments":{"query":"which files are left out of the index?"},"session_id":"web"}`

// try sends everything through one front.
func (b *bench) try(f front) (line string, wrong []string, err error) {
	upstream := free()
	config := "public:\n  host: " + host + "\n"
	if f.trusted {
		config = b.block("yaml")
	}
	server, token, err := b.serve(config, upstream)
	if err != nil {
		return "", nil, err
	}
	defer stop(server)
	dir, err := os.MkdirTemp(b.tmp, "front")
	if err != nil {
		return "", nil, err
	}
	addr, proxy, err := f.start(b, dir, upstream)
	if err != nil {
		return "", nil, err
	}
	defer stop(proxy)
	say := func(format string, args ...any) { wrong = append(wrong, f.name+": "+fmt.Sprintf(format, args...)) }

	tried, passed, err := b.forbidden(f, addr, token)
	if err != nil {
		return "", nil, err
	}
	if len(passed) > 0 {
		say("passed: %s", strings.Join(passed, ", "))
	}
	time.Sleep(25 * time.Second) // for the limits to fill
	took, err := b.stream(f, addr)
	if err != nil {
		return "", nil, err
	}
	answered := 0
	for v := range 10 {
		c := b.visitor(f, addr, fmt.Sprintf("127.0.1.%d", v+1))
		for range 30 {
			status, _, err := send(c, f, addr, "POST", "/api/v1/mcp/tools/call", `{"tool_name":"list_documents"}`, nil)
			if err != nil {
				return "", nil, err
			}
			if status == http.StatusOK {
				answered++
			}
		}
	}
	want := [2]int{190, 240} // ten clients, each with its twenty
	if !f.trusted && f.program != "" {
		want = [2]int{15, 60} // one
	}
	if answered < want[0] || answered > want[1] {
		say("%d requests of ten visitors were answered, not %d to %d", answered, want[0], want[1])
	}
	c := b.visitor(f, addr, "127.0.2.1")
	forged := 0
	for i := range 60 {
		a := fmt.Sprintf("198.51.100.%d", i)
		status, _, err := send(c, f, addr, "POST", "/api/v1/mcp/tools/call", `{"tool_name":"list_documents"}`,
			map[string]string{"X-Forwarded-For": a, "Forwarded": "for=" + a, "X-Real-IP": a, "CF-Connecting-IP": a, "True-Client-IP": a})
		if err != nil {
			return "", nil, err
		}
		if status == http.StatusOK {
			forged++
		}
	}
	if forged > 35 {
		say("with made-up headers one visitor had %d answers", forged)
	}
	return fmt.Sprintf("| %s | %d | %d | %d answered | one client (%d of 60 answered) | %v |\n", f.name, tried, len(passed), answered, forged, took), wrong, nil
}

// forbidden asks for private text, tools and sessions in every way there is.
func (b *bench) forbidden(f front, addr, token string) (tried int, passed []string, err error) {
	type request struct{ method, path, body string }
	var all []request
	for _, name := range []string{"search", "read", "stores", "files", "execute", "get_full_context", "answer:ask", "answer:session", "feedback:list", "store:create", "store:public", "jobs"} {
		args := `{"query":"ZEBRAPROJECT","question":"ZEBRAPROJECT","stores":["*"],"store":"secretstore","path":"secretstore/private.md","session_id":"web","command":"stores"}`
		all = append(all,
			request{"POST", "/api/commands/" + name, args},
			request{"POST", "/api/v1/mcp/tools/call", `{"tool_name":"` + name + `","arguments":` + args + `}`},
			request{"POST", "/api/v2/mcp/tools/call", `{"name":"` + name + `","arguments":` + args + `}`},
			request{"POST", "/api/v1/mcp/tools/call", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + name + `","arguments":` + args + `}}`},
			request{"POST", "/mcp/tools/call", `{"toolName":"` + name + `","arguments":` + args + `}`},
			request{"POST", "/api/v1/../commands/" + name, args}, request{"POST", "//api/commands/" + name, args},
			request{"POST", "/api/v1/mcp/tools/call/%2e%2e/%2e%2e/%2e%2e/%2e%2e/commands/" + name, args})
	}
	for _, path := range []string{"/", "/api/commands", "/api/search?query=ZEBRAPROJECT", "/api/stores", "/api/stores/secretstore", "/api/jobs", "/mcp/tools/list", "/mcp", "/sse",
		"/api/kdd/list", "/api/kdd/search?query=ZEBRAPROJECT", "/api/v1/feedback", "/api/v1/feedback/stats", "/api/v2/feedback", "/api/v1/mcp/sessions/web", "/api/v2/mcp/sessions/web",
		"/api/v1/chunks/secretstore%2fprivate.md:1", "/api/v1/chunks/private.md:3", "/api/v1/chunks/..%2fprivate%2fprivate.md:1", "/api/v1/documents", "/health/../api/stores",
		"/evidence", "/status", "/tools", "/debug/pprof/", "/.env", "/widget.js/../api/stores"} {
		for _, method := range []string{"GET", "POST", "DELETE"} {
			all = append(all, request{method, path, `{"query":"ZEBRAPROJECT"}`})
		}
	}
	for _, tool := range []string{"generate_rag_answer", "search_knowledge_base", "get_document_chunk", "list_documents"} {
		for _, extra := range []string{`"stores":["secretstore"]`, `"store":"secretstore"`, `"source_filter":["private.md"]`, `"tenant_id":"secretstore"`, `"chunk_uri":"chunk://secretstore/private.md:3"`, `"session_id":"web"`} {
			all = append(all, request{"POST", "/api/v1/mcp/tools/call", `{"tool_name":"` + tool + `","arguments":{"query":"what is the project ZEBRAPROJECT, until when?",` + extra + `}}`})
		}
	}
	owner := b.visitor(f, addr, "127.0.3.1") // whose session the others ask for
	if status, text, err := send(owner, f, addr, "POST", "/api/v1/mcp/tools/call", question, nil); err != nil || status != 200 || !strings.Contains(text, "mebibyte") {
		return 0, nil, fmt.Errorf("a question is not answered: %d %s, %v", status, text, err)
	}
	for i, r := range all {
		c := b.visitor(f, addr, fmt.Sprintf("127.0.4.%d", 1+i%200)) // each within its limit
		header := map[string]string{"X-Forwarded-For": "127.0.0.1", "Host": "127.0.0.1:7390"}
		if i%2 == 1 {
			header["Authorization"] = "Bearer " + token
		}
		var status int
		var text string
		for range 60 { // a limit would hide what is behind it
			if status, text, err = send(c, f, addr, r.method, r.path, r.body, header); err != nil {
				return tried, passed, err
			}
			if status != http.StatusTooManyRequests {
				break
			}
			time.Sleep(300 * time.Millisecond)
		}
		tried++
		private := strings.Contains(text, "until May") || strings.Contains(text, "private.md") && !strings.Contains(text, "is no") || strings.Contains(text, `"secretstore"`) ||
			strings.Contains(text, "which files are left out") && strings.Contains(r.path, "sessions")
		tool := strings.Contains(r.path, "commands") && status < 300
		if private || tool {
			passed = append(passed, fmt.Sprintf("%s %s %s: %d %.200s", r.method, r.path, r.body, status, text))
		}
	}
	return tried, passed, nil
}

// stream asks for an answer as events, and returns how long the first sentence
// came after the first event.
func (b *bench) stream(f front, addr string) (time.Duration, error) {
	url := "https://" + host + "/api/v1/mcp/tools/call"
	if f.plain {
		url = "http://" + addr + "/api/v1/mcp/tools/call"
	}
	req, err := http.NewRequest("POST", url, bytes.NewReader([]byte(question)))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	resp, err := b.visitor(f, addr, "127.0.5.1").Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	var began time.Time
	for lines.Scan() {
		switch lines.Text() {
		case "event: start":
			began = time.Now()
		case "event: sentence":
			return time.Since(began).Round(time.Millisecond), nil
		}
	}
	return 0, fmt.Errorf("no sentence came: %v", lines.Err())
}

// authority has a certificate made by pebble, and asks with it.
func (b *bench) authority() (string, error) {
	for _, name := range []string{"pebble", "pebble-challtestsrv"} {
		if _, err := exec.LookPath(name); err != nil {
			return "skipped: there is no " + name, nil
		}
	}
	dir, err := os.MkdirTemp(b.tmp, "pebble")
	if err != nil {
		return "", err
	}
	public, directory, management, dns, manage := free(), free(), free(), free(), free()
	_, port, _ := net.SplitHostPort(public)
	// The authority's own certificate is the one that was made above, which the
	// program is told to trust.
	conf, err := json.Marshal(map[string]any{"pebble": map[string]any{"listenAddress": directory, "managementListenAddress": management,
		"certificate": b.cert, "privateKey": b.key, "httpPort": 5002, "tlsPort": json.Number(port), "ocspResponderURL": "", "externalAccountBindingRequired": false}})
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "pebble.json")
	if err := os.WriteFile(file, conf, 0o644); err != nil {
		return "", err
	}
	names := exec.Command("pebble-challtestsrv", "-dns01", dns, "-management", manage, "-defaultIPv4", "127.0.0.1", "-defaultIPv6", "", "-http01", "", "-https01", "", "-tlsalpn01", "")
	if err := begin(names, manage); err != nil {
		return "", err
	}
	defer stop(names)
	pebble := exec.Command("pebble", "-config", file, "-dnsserver", dns, "-strict")
	pebble.Env = append(os.Environ(), "PEBBLE_VA_NOSLEEP=1", "PEBBLE_WFE_NONCEREJECT=0")
	if err := begin(pebble, directory); err != nil {
		return "", err
	}
	defer stop(pebble)
	config := "public:\n  host: " + host + "\n  acme: https://" + directory + "/dir\n"
	os.Setenv("SSL_CERT_FILE", b.cert)
	defer os.Unsetenv("SSL_CERT_FILE")
	server, _, err := b.serve(config, public)
	if err != nil {
		return "", err
	}
	defer stop(server)
	c := b.visitor(front{}, public, "127.0.6.1")
	c.Transport.(*http.Transport).TLSClientConfig.InsecureSkipVerify = true // the root is made anew at each start
	began := time.Now()
	status, text, err := send(c, front{}, public, "GET", "/health", "", nil)
	if err != nil {
		return "", err
	}
	resp, err := c.Get("https://" + host + "/health")
	if err != nil {
		return "", err
	}
	resp.Body.Close()
	cert := resp.TLS.PeerCertificates[0]
	if status != 200 || !strings.Contains(cert.Issuer.CommonName, "Pebble") || cert.VerifyHostname(host) != nil {
		return "", fmt.Errorf("%d %s, a certificate of %s for %v", status, text, cert.Issuer, cert.DNSNames)
	}
	return fmt.Sprintf("had from pebble by TLS-ALPN-01 in %v, issued by %q", time.Since(began).Round(time.Millisecond), cert.Issuer.CommonName), nil
}
