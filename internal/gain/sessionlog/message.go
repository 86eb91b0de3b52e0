package sessionlog

import (
	"cmp"
	"encoding/json"
	"strings"
)

// message reads what an assistant or a user line says.
func (l *Line) message(m map[string]json.RawMessage, skipped *Skipped) {
	msg := map[string]json.RawMessage{}
	object(m["message"], func(name string, value json.RawMessage) { msg[name] = value })
	if len(msg) == 0 {
		count(&skipped.Blocks, "message")
		return
	}
	// What the client itself writes in place of a response was sent to nobody.
	if l.Type == "assistant" && string(msg["model"]) != `"<synthetic>"` {
		text(msg["id"], &l.Message)
		l.Window = window(msg["usage"])
	}
	words := l.blocks(msg["content"], skipped)
	l.Prompt = l.Type == "user" && words && len(l.Replies) == 0 && !yes(m["isMeta"]) && !yes(m["isCompactSummary"])
}

// window is what the client says of a response: what it was given, from its
// cache or not, and what it has written.
func window(raw json.RawMessage) int64 {
	var u struct {
		Input   int64 `json:"input_tokens"`
		Created int64 `json:"cache_creation_input_tokens"`
		Read    int64 `json:"cache_read_input_tokens"`
		Output  int64 `json:"output_tokens"`
	}
	if json.Unmarshal(raw, &u) != nil {
		return 0
	}
	return max(0, u.Input+u.Created+u.Read+u.Output)
}

// blocks reads the content of a message, and reports whether there are words
// in it beside calls and replies.
func (l *Line) blocks(raw json.RawMessage, skipped *Skipped) (words bool) {
	if len(raw) > 0 && raw[0] == '"' {
		return len(raw) > 2
	}
	are := array(raw, func(raw json.RawMessage) {
		b := map[string]json.RawMessage{}
		object(raw, func(name string, value json.RawMessage) { b[name] = value })
		var kind string
		text(b["type"], &kind)
		switch kind {
		case "text", "image", "document":
			words = true
		case "tool_use":
			c := Call{Input: b["input"]}
			text(b["id"], &c.ID)
			text(b["name"], &c.Name)
			l.Calls = append(l.Calls, c)
		case "tool_result":
			l.Replies = append(l.Replies, reply(b, skipped))
		case "thinking", "redacted_thinking", "server_tool_use", "web_search_tool_result", "fallback":
		default:
			count(&skipped.Blocks, cmp.Or(kind, "block"))
		}
	})
	if !are {
		count(&skipped.Blocks, "content")
	}
	return words
}

// reply joins what a tool gave back: a string, or blocks of text and images.
func reply(b map[string]json.RawMessage, skipped *Skipped) Reply {
	r := Reply{Failed: yes(b["is_error"])}
	text(b["tool_use_id"], &r.Call)
	content := b["content"]
	if len(content) == 0 || string(content) == "null" {
		return r
	}
	if content[0] == '"' {
		text(content, &r.Text)
		return r
	}
	var texts []string
	are := array(content, func(raw json.RawMessage) {
		var kind, s string
		object(raw, func(name string, value json.RawMessage) {
			switch name {
			case "type":
				text(value, &kind)
			case "text":
				text(value, &s)
			}
		})
		switch kind {
		case "text":
			texts = append(texts, s)
		case "image", "document":
			r.Images++
		case "tool_reference":
		default:
			count(&skipped.Blocks, "tool_result "+kind)
		}
	})
	if !are {
		count(&skipped.Blocks, "tool_result content")
	}
	r.Text = strings.Join(texts, "\n")
	return r
}
