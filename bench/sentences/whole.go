package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// script is a model that says one judged sentence, with the number of its
// passage, and then nothing for a while.
type script struct {
	mu   sync.Mutex
	say  judged
	said time.Time // when the sentence had been sent
	lost bool      // the passage was not among those it got
}

var numberRE = regexp.MustCompile(`(?m)^\[(\d+)\] `)

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Messages []struct{ Content string }
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil || len(body.Messages) < 2 {
		http.Error(w, "no prompt", http.StatusBadRequest)
		return
	}
	prompt := body.Messages[1].Content
	s.mu.Lock()
	defer s.mu.Unlock()
	at := strings.Index(prompt, longest(s.say.Passage))
	s.lost = at < 0
	n := "1"
	if at >= 0 {
		for _, m := range numberRE.FindAllStringSubmatchIndex(prompt[:at], -1) {
			n = prompt[m[2]:m[3]]
		}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	text, _ := json.Marshal(strings.TrimRight(s.say.Sentence, ".") + " [" + n + "]. ")
	fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":%s}}]}\n\n", text)
	_ = http.NewResponseController(w).Flush()
	s.said = time.Now()
	select {
	case <-time.After(400 * time.Millisecond):
	case <-r.Context().Done():
		return
	}
	fmt.Fprint(w, "data: [DONE]\n\n")
}

func longest(lines []string) string {
	return slices.MaxFunc(lines, func(a, b string) int { return len(a) - len(b) })
}

// whole has the program answer with a model that says the sentences, and counts
// which of them are in its answers.
func whole(b *strings.Builder, all []judged) error {
	tmp, err := os.MkdirTemp("", "sentences")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	model := &script{}
	endpoint := httptest.NewServer(model)
	defer endpoint.Close()
	bin := filepath.Join(tmp, "knowledge")
	if out, err := exec.Command("go", "build", "-o", bin, "./cmd/knowledge").CombinedOutput(); err != nil {
		return fmt.Errorf("%s", out)
	}
	docs, config := filepath.Join(tmp, "docs"), filepath.Join(tmp, "config.yaml")
	if err := os.MkdirAll(docs, 0o755); err != nil {
		return err
	}
	for _, j := range all {
		text := strings.Join(j.Passage, "\n") + "\n"
		if err := os.WriteFile(filepath.Join(docs, j.ID[:3]+".md"), []byte(text), 0o644); err != nil {
			return err
		}
	}
	if err := os.WriteFile(config, []byte("answer:\n  endpoint: "+endpoint.URL+"/v1\n  model: script\n"), 0o600); err != nil {
		return err
	}
	command := func(args ...string) *exec.Cmd {
		cmd := exec.Command(bin, args...)
		cmd.Env = append(os.Environ(), "KNOWLEDGE_DATA_DIR="+filepath.Join(tmp, "data"), "KNOWLEDGE_CONFIG="+config)
		cmd.Dir = tmp
		return cmd
	}
	for _, args := range [][]string{{"store:create", "docs", docs, "--scope", "user"}, {"store:public", "docs"}} {
		if out, err := command(args...).CombinedOutput(); err != nil {
			return fmt.Errorf("%v: %s", args, out)
		}
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	addr := ln.Addr().String()
	ln.Close()
	server := command("serve", "--addr", addr)
	if err := server.Start(); err != nil {
		return err
	}
	defer func() { _ = server.Process.Signal(os.Interrupt); _ = server.Wait() }()
	for range 200 {
		if c, err := net.Dial("tcp", addr); err == nil {
			c.Close()
			break
		}
		time.Sleep(25 * time.Millisecond)
	}
	return count(b, all, model, addr)
}

func count(b *strings.Builder, all []judged, model *script, addr string) error {
	total, kept := map[string]int{}, map[string]int{}
	lost := 0
	var after []time.Duration
	for _, j := range all {
		model.mu.Lock()
		model.say = j
		model.mu.Unlock()
		text, first, err := ask(addr, strings.Join(j.Passage, " "), j.ID)
		if err != nil {
			return fmt.Errorf("%s: %w", j.ID, err)
		}
		if model.lost {
			lost++
			continue
		}
		key := fmt.Sprintf("%v: %s", j.True, j.Kind)
		total[key]++
		if strings.Contains(bare(text), bare(j.Sentence)) {
			kept[key]++
			if !j.True {
				fmt.Printf("%s, false, was said: %s\n", j.ID, text)
			}
			after = append(after, first.Sub(model.said))
		}
	}
	fmt.Fprintf(b, "\nThe same through the whole program, said by a scripted model that then pauses; %d passages did not come to it.\n\n"+
		"| sentences | all | kept | share |\n|---|---|---|---|\n", lost)
	sum, got := map[bool]int{}, map[bool]int{}
	var names []string
	for k, n := range total {
		names = append(names, k)
		sum[strings.HasPrefix(k, "true")] += n
		got[strings.HasPrefix(k, "true")] += kept[k]
	}
	slices.Sort(names)
	for _, k := range names {
		fmt.Fprintf(b, "| %s | %d | %d | %.0f %% |\n", k, total[k], kept[k], 100*float64(kept[k])/float64(total[k]))
	}
	for _, k := range []bool{false, true} {
		fmt.Fprintf(b, "| %v | %d | %d | %.0f %% |\n", k, sum[k], got[k], 100*float64(got[k])/float64(max(1, sum[k])))
	}
	slices.Sort(after)
	if len(after) > 0 {
		fmt.Fprintf(b, "\nA kept sentence was shown after the model had said it: median %v, slowest %v.\n",
			after[len(after)/2].Round(100*time.Microsecond), after[len(after)-1].Round(100*time.Microsecond))
	}
	return nil
}

// ask asks for an answer as events; first is when the first sentence came.
func ask(addr, question, id string) (text string, first time.Time, err error) {
	body, err := json.Marshal(map[string]any{"tool_name": "generate_rag_answer", "stream": true,
		"arguments": map[string]any{"query": "What is said here (" + id + "): " + question}})
	if err != nil {
		return "", first, err
	}
	resp, err := http.Post("http://"+addr+"/api/v1/mcp/tools/call", "application/json", strings.NewReader(string(body)))
	if err != nil {
		return "", first, err
	}
	defer resp.Body.Close()
	in := bufio.NewReader(resp.Body)
	event := ""
	for {
		line, err := in.ReadString('\n')
		if err == io.EOF {
			return "", first, fmt.Errorf("the answer ended early")
		}
		if err != nil {
			return "", first, err
		}
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "event: "); ok {
			event = name
			if event == "sentence" && first.IsZero() {
				first = time.Now()
			}
		}
		if data, ok := strings.CutPrefix(line, "data: "); ok && event == "done" {
			var reply struct{ Result string }
			err := json.Unmarshal([]byte(data), &reply)
			return reply.Result, first, err
		}
	}
}

// bare is a text without what formatting changes in it.
func bare(s string) string {
	s = html.UnescapeString(s)
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return strings.ContainsRune(" \n\t.`", r) }), " ")
}
