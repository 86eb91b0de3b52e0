package mcpserver

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
)

// message is one JSON-RPC message after the checks of parse.
type message struct {
	id      json.RawMessage // nil for a notification
	method  string          // "" for a response, which is not waited for here
	version string          // protocol version in params._meta
	request json.RawMessage // requestId of notifications/cancelled
	token   json.RawMessage // progressToken in params._meta
}

func (m message) notification() bool { return m.id == nil && m.method != "" }

// rpcError is an answer that says what is wrong with a message.
type rpcError struct {
	code int
	text string
	data any
}

func (e *rpcError) reply(id json.RawMessage) mcp.JSONRPCError {
	var v any
	if id != nil {
		v = id
	}
	return mcp.JSONRPCError{
		JSONRPC: mcp.JSONRPC_VERSION, ID: mcp.NewRequestId(v),
		Error: mcp.JSONRPCErrorDetails{Code: e.code, Message: e.text, Data: e.data},
	}
}

func refuse(code int, text string) *rpcError { return &rpcError{code: code, text: text} }

// unsupported is the error of 2026-07-28 for a version that is not served.
func unsupported(version string) *rpcError {
	return &rpcError{mcp.UNSUPPORTED_PROTOCOL_VERSION, "protocol version " + quote(version) + " is not supported",
		mcp.UnsupportedProtocolVersionData{Supported: mcp.ValidProtocolVersions, Requested: version}}
}

// parse checks the shape of one message, so that what mcp-go then dispatches
// never fails on it in words that only its authors understand. The message
// is filled as far as it could be read: with an error, its id is what the
// answer carries.
func (f *face) parse(raw []byte) (m message, _ *rpcError) {
	raw = bytes.TrimSpace(raw)
	if !json.Valid(raw) {
		return m, refuse(mcp.PARSE_ERROR, "the message is not JSON")
	}
	switch raw[0] {
	case '[':
		return m, refuse(mcp.INVALID_REQUEST, "batches are not supported: send each message by itself")
	case '{':
	default:
		return m, refuse(mcp.INVALID_REQUEST, "a message must be a JSON object")
	}
	var w struct {
		JSONRPC, ID, Method, Params, Result, Error json.RawMessage
	}
	if json.Unmarshal(raw, &w) != nil {
		return m, refuse(mcp.INVALID_REQUEST, "a message must be a JSON object")
	}
	if w.ID != nil {
		if !isString(w.ID) && !isNumber(w.ID) {
			return m, refuse(mcp.INVALID_REQUEST, "id must be a string or a number")
		}
		m.id = w.ID
	}
	if string(w.JSONRPC) != `"2.0"` {
		return m, refuse(mcp.INVALID_REQUEST, `jsonrpc must be "2.0"`)
	}
	if w.Method == nil && (w.Result != nil || w.Error != nil) {
		return m, nil
	}
	if !isString(w.Method) || json.Unmarshal(w.Method, &m.method) != nil || m.method == "" {
		return m, refuse(mcp.INVALID_REQUEST, "method must be a string")
	}
	if wrong := f.parseParams(&m, w.Params); wrong != nil {
		return m, wrong
	}
	return m, decodes(m.method, raw)
}

// decodes reports a request that mcp-go would refuse to unmarshal; its own
// message names Go types.
func decodes(method string, raw []byte) *rpcError {
	var into any
	switch mcp.MCPMethod(method) {
	case mcp.MethodInitialize:
		into = new(mcp.InitializeRequest)
	case mcp.MethodServerDiscover:
		into = new(mcp.DiscoverRequest)
	case mcp.MethodSubscriptionsListen:
		into = new(mcp.SubscriptionsListenRequest)
	case mcp.MethodToolsList:
		into = new(mcp.ListToolsRequest)
	case mcp.MethodToolsCall:
		into = new(mcp.CallToolRequest)
	case mcp.MethodResourcesList:
		into = new(mcp.ListResourcesRequest)
	case mcp.MethodResourcesTemplatesList:
		into = new(mcp.ListResourceTemplatesRequest)
	case mcp.MethodResourcesRead:
		into = new(mcp.ReadResourceRequest)
	default:
		return nil
	}
	if json.Unmarshal(raw, into) == nil {
		return nil
	}
	return refuse(mcp.INVALID_PARAMS, method+": a member of params has the wrong type")
}

func (f *face) parseParams(m *message, raw json.RawMessage) *rpcError {
	wrong := func(text string) *rpcError { return refuse(mcp.INVALID_PARAMS, m.method+": "+text) }
	if string(raw) == "null" { // what some clients write for none
		raw = nil
	}
	if raw != nil && raw[0] != '{' {
		return wrong("params must be an object")
	}
	var p struct {
		Meta      json.RawMessage `json:"_meta"`
		Name      json.RawMessage `json:"name"`
		RequestID json.RawMessage `json:"requestId"`
		URI       json.RawMessage `json:"uri"`
	}
	if raw != nil && json.Unmarshal(raw, &p) != nil {
		return wrong("params must be an object")
	}
	m.request = p.RequestID
	if p.Meta != nil && string(p.Meta) != "null" {
		var meta map[string]json.RawMessage
		if p.Meta[0] != '{' || json.Unmarshal(p.Meta, &meta) != nil {
			return wrong("params._meta must be an object")
		}
		m.token = meta["progressToken"]
		if v, ok := meta[mcp.MetaKeyProtocolVersion]; ok {
			if !isString(v) || json.Unmarshal(v, &m.version) != nil {
				return wrong("params._meta " + quote(mcp.MetaKeyProtocolVersion) + " must be a string")
			}
			if !slices.Contains(mcp.ValidProtocolVersions, m.version) {
				return unsupported(m.version)
			}
		}
	}
	if m.method == string(mcp.MethodResourcesRead) {
		var uri string
		if !isString(p.URI) || json.Unmarshal(p.URI, &uri) != nil {
			return wrong("params.uri must be the address of a resource")
		}
		return unknownResource(m, uri)
	}
	if m.method != string(mcp.MethodToolsCall) {
		return nil
	}
	var name string
	if !isString(p.Name) || json.Unmarshal(p.Name, &name) != nil {
		return wrong("params.name must be the name of a tool")
	}
	if !f.tools[name] {
		return wrong("no tool is named " + quote(name) + ". tools/list names the tools; every other command runs through execute")
	}
	return nil
}

func isString(v json.RawMessage) bool { return len(v) > 0 && v[0] == '"' }

func isNumber(v json.RawMessage) bool {
	return len(v) > 0 && (v[0] == '-' || v[0] >= '0' && v[0] <= '9')
}

// quote is for words of strangers: short, and without control characters.
func quote(s string) string {
	if len(s) > 80 {
		s = s[:80]
	}
	b, _ := json.Marshal(s)
	return string(b)
}

// idOf finds the id at the top of a message of which only the head was read.
func idOf(head []byte) json.RawMessage {
	d := json.NewDecoder(bytes.NewReader(head))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil
		}
		var v json.RawMessage
		if d.Decode(&v) != nil {
			return nil
		}
		if key == "id" && (isString(v) || isNumber(v)) {
			return v
		}
	}
	return nil
}
