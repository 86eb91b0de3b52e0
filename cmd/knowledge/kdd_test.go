package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The commands about specifications answer with the same JSON on the command
// line, its form of the original engine, over MCP behind execute and as tools
// of their own, and over HTTP under each of their names.
func TestSpecificationsAreTheSameEverywhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.dir("shop")
	write(t, p, "specs/01-domain/entities/Pedido.md", []byte("---\nkind: entity\naliases: [Order]\ndomain: ventas\ntags: [core]\n---\n\n# Pedido\n\n## Descripción\n\nReúne las líneas que un cliente compra de una vez.\n\n## Invariantes\n\n- El total nunca es negativo ([[BR-PEDIDO-001]]).\n"))
	write(t, p, "specs/01-domain/rules/BR-PEDIDO-001.md", []byte("---\nid: BR-PEDIDO-001\nkind: business-rule\ndomain: ventas\n---\n\n# BR-PEDIDO-001\n\n## Declaración\n\nEl total de un [[Pedido]] nunca es negativo & se redondea <siempre>.\n"))
	write(t, p, "specs/02-behavior/UC-001.md", []byte("---\nid: UC-001\nkind: use-case\nstatus: draft\n---\n\n# UC-001\n\nBuy: applies [[BR-PEDIDO-001]].\n"))
	cases := []struct {
		name   string // without kdd:
		args   obj
		words  []string // of the same on the command line
		native bool
	}{
		{"search", obj{"query": "total nunca negativo", "limit": 3, "chunk_types": []string{"rule", "ENTITY"}, "domains": []string{"ventas"}}, []string{"total nunca negativo", "--limit", "3", "--chunk-types", "rule,ENTITY", "--domain", "ventas"}, true},
		{"search", obj{"query": "buy", "include_statuses": []string{"draft"}}, []string{"buy", "--include-statuses", "draft"}, true},
		{"related", obj{"entity": "Pedido", "depth": 2}, []string{"Pedido", "--depth", "2"}, true},
		{"related", obj{"entity": "Pedidoo"}, []string{"Pedidoo"}, true},
		{"list", obj{"domain": "ventas"}, []string{"--domain", "ventas"}, true},
		{"list", obj{"kind": "entity", "status": "INDEXED", "limit": 1}, []string{"-k", "entity", "-s", "INDEXED", "-l", "1"}, true},
		{"impact", obj{"entity": "BR-PEDIDO-001", "include_statuses": []string{"all"}}, []string{"BR-PEDIDO-001", "--include_statuses", "all"}, false},
		{"context", obj{"hints": []string{"order.ts", "UC-001"}}, []string{"--hints", "order.ts,UC-001"}, false},
		{"find", obj{"name": "BR-PED"}, []string{"BR-PED"}, false},
		{"section", obj{"file": "specs/01-domain/entities/Pedido.md", "anchor": "descripción"}, []string{"specs/01-domain/entities/Pedido.md", "descripción"}, false},
		{"graph", obj{"entity": "Pedido", "format": "svg"}, []string{"Pedido", "--format", "svg"}, false},
		{"stats", obj{}, nil, false},
		{"check", obj{"kind": "entity"}, []string{"--kind", "entity"}, false},
	}
	w.must(p, "--cli", "list") // indexes the folder
	agent, kdd, server := w.agent(p), w.agentOf(true, p, "--tools", "kdd"), w.serve(p)
	plain := func(face string, raw string) any {
		t.Helper()
		var v map[string]any
		if err := json.Unmarshal([]byte(raw), &v); err != nil {
			t.Fatalf("%s: %v: %.300s", face, err, raw)
		}
		delete(v, "time_ms")
		return v
	}
	for _, c := range cases {
		name := "kdd:" + c.name
		want := plain("execute", func() string {
			r := agent.tool("execute", obj{"command": name, "args": c.args})
			if r.isError {
				t.Fatalf("%s %v: %s", name, c.args, r.text)
			}
			return r.text
		}())
		same := func(face, raw string) {
			t.Helper()
			if d := cmp.Diff(want, plain(face, raw)); d != "" {
				t.Errorf("%s over %s (-execute +%s):\n%s", name, face, face, d)
			}
		}
		cli := w.must(p, append([]string{"--cli", c.name}, c.words...)...)
		if !strings.HasPrefix(cli, "{\n  \"") {
			t.Errorf("%s: the JSON is not indented: %.60q", name, cli)
		}
		same("--cli", cli)
		if c.words == nil || !strings.HasPrefix(c.words[0], "-") && !strings.Contains(strings.Join(c.words, " "), "--domain") {
			same("the command line", w.must(p, append([]string{name, "--json"}, c.words...)...))
		}
		if c.native {
			same("the tool", kdd.tool("kdd_"+c.name, c.args).text)
		}
		for _, as := range []string{name, "kdd_" + c.name} {
			body, _ := json.Marshal(c.args)
			status, reply := server.post(as, body)
			if status != http.StatusOK {
				t.Errorf("%s: %d %s", as, status, reply)
			}
			same("POST "+as, string(reply))
		}
		q := url.Values{}
		for k, v := range c.args {
			switch v := v.(type) {
			case []string:
				q[k] = v
			default:
				raw, _ := json.Marshal(v)
				q.Set(k, strings.Trim(string(raw), `"`))
			}
		}
		req, err := http.NewRequest(http.MethodGet, server.url+"/api/kdd/"+c.name+"?"+q.Encode(), nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+server.token)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		reply, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || res.StatusCode != http.StatusOK {
			t.Errorf("GET %s: %d %s %v", name, res.StatusCode, reply, err)
		}
		same("GET", string(reply))
	}
	// The resources say what the commands say.
	for uri, args := range map[string][]string{"kdd://index": {"list", "--limit", "200"}, "kdd://entity/Pedido": {"related", "Pedido"}, "kdd://stats": {"stats"}} {
		r := agent.tool("execute", obj{"command": "resource:read", "args": obj{"uri": uri}})
		if d := cmp.Diff(plain(uri, w.must(p, append([]string{"--cli"}, args...)...)), plain(uri, r.text)); d != "" {
			t.Errorf("%s (-command +resource):\n%s", uri, d)
		}
	}
	if r := w.run(p, "--cli", "serch", "x"); r.status == 0 || !strings.Contains(r.err, `did you mean search?`) {
		t.Errorf("a misspelt command: %+v", r)
	}
	if r := w.run(p, "--cli"); r.status == 0 || !strings.Contains(r.err, "--cli needs the name of a command") {
		t.Errorf("no command: %+v", r)
	}
	if r := kdd.tool("kdd_search", obj{"query": "x", "chunk_types": []string{"THING"}}); !r.isError || !strings.Contains(r.text, "ENTITY, USE_CASE, RULE, PROCESS, DEFAULT") {
		t.Errorf("a type that there is not: %+v", r)
	}
}
