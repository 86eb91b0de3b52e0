package sessionlog

import (
	"encoding/json"
	"strings"
)

// message reads what an assistant or a user line says.
func (l *Line) message(m map[string]json.RawMessage, skipped *Skipped) {
	var msg struct {
		ID      json.RawMessage `json:"id"`
		Model   json.RawMessage `json:"model"`
		Content json.RawMessage `json:"content"`
		Usage   json.RawMessage `json:"usage"`
	}
	if json.Unmarshal(m["message"], &msg) != nil {
		count(&skipped.Blocks, "message")
		return
	}
	// What the client itself writes in place of a response was sent to nobody.
	if l.Type == "assistant" && string(msg.Model) != `"<synthetic>"` {
		text(msg.ID, &l.Message)
		l.Window = window(msg.Usage)
	}
	words := l.blocks(msg.Content, skipped)
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

// block is a part of a message, of any type.
type block struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	IsError   json.RawMessage `json:"is_error"`
	Text      json.RawMessage `json:"text"`
}

// blocks reads the content of a message, and reports whether there are words
// in it beside calls and replies.
func (l *Line) blocks(raw json.RawMessage, skipped *Skipped) (words bool) {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s != ""
	}
	var all []json.RawMessage
	if json.Unmarshal(raw, &all) != nil {
		count(&skipped.Blocks, "content")
		return false
	}
	for _, raw := range all {
		var b block
		if json.Unmarshal(raw, &b) != nil {
			count(&skipped.Blocks, "block")
			continue
		}
		switch b.Type {
		case "text", "image", "document":
			words = true
		case "tool_use":
			l.Calls = append(l.Calls, Call{ID: b.ID, Name: b.Name, Input: b.Input})
		case "tool_result":
			l.Replies = append(l.Replies, reply(b, skipped))
		case "thinking", "redacted_thinking", "server_tool_use", "web_search_tool_result", "fallback":
		default:
			count(&skipped.Blocks, b.Type)
		}
	}
	return words
}

// reply joins what a tool gave back: a string, or blocks of text and images.
func reply(b block, skipped *Skipped) Reply {
	r := Reply{Call: b.ToolUseID, Failed: yes(b.IsError)}
	if len(b.Content) == 0 || string(b.Content) == "null" || json.Unmarshal(b.Content, &r.Text) == nil {
		return r
	}
	var parts []block
	if json.Unmarshal(b.Content, &parts) != nil {
		count(&skipped.Blocks, "tool_result content")
		return r
	}
	var texts []string
	for _, p := range parts {
		switch p.Type {
		case "text":
			var s string
			text(p.Text, &s)
			texts = append(texts, s)
		case "image", "document":
			r.Images++
		case "tool_reference":
		default:
			count(&skipped.Blocks, "tool_result "+p.Type)
		}
	}
	r.Text = strings.Join(texts, "\n")
	return r
}
