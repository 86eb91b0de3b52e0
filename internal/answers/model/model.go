// Package model asks a language model behind an API, OpenAI's chat completions
// or Ollama's own, and hands on what it says as it says it. Whatever the other
// side does ends within a bound of time and of bytes; an error says what was
// wrong with it and holds nothing of its text.
package model

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Client asks one model. Its methods are safe for concurrent use.
type Client struct {
	Endpoint string // http://localhost:11434, https://api.example.org/v1
	API      string // "openai" (also "") or "ollama"
	Name     string
	Key      string // sent as bearer token; "" sends none

	// HTTP replaces the client that asks, in tests; nil otherwise.
	HTTP *http.Client
	// Wait is how long the model may say nothing, and All how long it may take;
	// 0 is Silence and Whole.
	Wait, All time.Duration

	rest atomic.Int64 // until when it is not asked, in Unix nanoseconds
}

const (
	// Silence is how long a model may say nothing.
	Silence = 8 * time.Second
	// Whole is how long an answer may take, of the 30 s of a question.
	Whole = 20 * time.Second

	// Rest is how long a model that failed is not asked, so that one that is down
	// costs one question its time and not every one.
	Rest = 30 * time.Second

	mostBytes = 512 << 10 // of a reply, its frames included
	mostLine  = 64 << 10  // of a line of it
	mostWords = 400       // tokens that are asked for
)

// plain follows no redirects: the endpoint alone was configured, and the key
// goes nowhere else.
var plain = &http.Client{
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// Ask has the model answer, and calls said with each piece of text as it comes,
// until it ends or said returns false. An error is kb.Away; what came before it
// has been handed on.
func (c *Client) Ask(ctx context.Context, instructions, question string, said func(text string) bool) error {
	if left := time.Until(time.Unix(0, c.rest.Load())); left > 0 {
		return kb.Errorf(kb.Away, "it failed a moment ago and is asked again in %d s", int(left.Seconds())+1)
	}
	err := c.ask(ctx, instructions, question, said)
	if err != nil && ctx.Err() == nil {
		c.rest.Store(time.Now().Add(Rest).UnixNano())
	}
	return err
}

func (c *Client) ask(ctx context.Context, instructions, question string, said func(text string) bool) error {
	wait, all := c.Wait, c.All
	if wait == 0 {
		wait = Silence
	}
	if all == 0 {
		all = Whole
	}
	whole, cancel := context.WithTimeout(ctx, all)
	defer cancel()
	silent, stop := context.WithCancel(whole)
	defer stop()
	clock := time.AfterFunc(wait, stop)
	defer clock.Stop()

	resp, err := c.send(silent, instructions, question)
	if err == nil {
		defer resp.Body.Close()
		err = read(resp, func(text string) bool {
			clock.Reset(wait)
			return said(text)
		})
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case whole.Err() != nil:
		return kb.Errorf(kb.Away, "it took longer than %v", all)
	case silent.Err() != nil:
		return kb.Errorf(kb.Away, "it said nothing for %v", wait)
	}
	return err
}

func (c *Client) send(ctx context.Context, instructions, question string) (*http.Response, error) {
	body := map[string]any{"model": c.Name, "stream": true, "messages": []map[string]string{
		{"role": "system", "content": instructions},
		{"role": "user", "content": question},
	}}
	address := c.Endpoint + "/chat/completions"
	if c.API == "ollama" {
		address = c.Endpoint + "/api/chat"
		body["options"] = map[string]any{"temperature": 0, "num_predict": mostWords}
	} else {
		body["temperature"], body["max_tokens"] = 0, mostWords
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(raw))
	if err != nil {
		return nil, kb.Errorf(kb.Away, "its endpoint is no address")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream, application/x-ndjson, application/json")
	if c.Key != "" {
		req.Header.Set("Authorization", "Bearer "+c.Key)
	}
	client := c.HTTP
	if client == nil {
		client = plain
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, kb.Errorf(kb.Away, "its endpoint cannot be reached")
	}
	if resp.StatusCode != http.StatusOK {
		resp.Body.Close()
		return nil, kb.Errorf(kb.Away, "its endpoint answered with status %d", resp.StatusCode)
	}
	return resp, nil
}

// chunk is a piece of a reply in either dialect, or a whole reply that was not
// streamed.
type chunk struct {
	Choices []struct {
		Delta   message `json:"delta"`
		Message message `json:"message"`
	} `json:"choices"`
	Message message         `json:"message"`
	Done    bool            `json:"done"`
	Error   json.RawMessage `json:"error"`
}

type message struct {
	Content string `json:"content"`
}

func (c *chunk) text() string {
	if len(c.Choices) > 0 {
		return c.Choices[0].Delta.Content + c.Choices[0].Message.Content
	}
	return c.Message.Content
}

// read takes a reply line by line: events of data, lines of JSON, or one
// object over several lines.
func read(resp *http.Response, said func(string) bool) error {
	in := &io.LimitedReader{R: resp.Body, N: mostBytes}
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err == nil && kind == "application/json" {
		return readWhole(in, said)
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 0, 4<<10), mostLine)
	got, odd := false, false
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if data, ok := strings.CutPrefix(line, "data:"); ok {
			line = strings.TrimSpace(data)
		} else if !strings.HasPrefix(line, "{") {
			continue // a comment, another field, or nothing
		}
		if line == "[DONE]" {
			return end(got)
		}
		var c chunk
		if json.Unmarshal([]byte(line), &c) != nil {
			odd = true
			continue
		}
		if len(c.Error) > 0 && string(c.Error) != "null" {
			return kb.Errorf(kb.Away, "its endpoint reported an error")
		}
		if t := c.text(); t != "" {
			got = true
			if !said(t) {
				return nil
			}
		}
		if c.Done {
			return end(got)
		}
	}
	switch {
	case lines.Err() == bufio.ErrTooLong || in.N <= 0:
		return kb.Errorf(kb.Away, "its reply does not end")
	case lines.Err() != nil:
		return kb.Errorf(kb.Away, "its reply ended early")
	case odd && !got:
		return kb.Errorf(kb.Away, "its reply cannot be read")
	}
	return end(got)
}

// readWhole takes a reply that was not streamed.
func readWhole(in *io.LimitedReader, said func(string) bool) error {
	raw, err := io.ReadAll(in)
	if err != nil {
		return kb.Errorf(kb.Away, "its reply ended early")
	}
	if in.N <= 0 {
		return kb.Errorf(kb.Away, "its reply does not end")
	}
	var c chunk
	if json.Unmarshal(raw, &c) != nil {
		return kb.Errorf(kb.Away, "its reply is no JSON")
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return kb.Errorf(kb.Away, "its endpoint reported an error")
	}
	if t := c.text(); t != "" {
		said(t)
		return nil
	}
	return end(false)
}

func end(got bool) error {
	if !got {
		return kb.Errorf(kb.Away, "its reply is empty")
	}
	return nil
}
