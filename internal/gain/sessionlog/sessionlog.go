// Package sessionlog reads the logs that Claude Code keeps of its sessions:
// files of one JSON object a line, in folders below "projects" of its own
// folder (https://code.claude.com/docs/en/claude-directory).
//
// The client calls the format its own, which changes between releases
// (https://code.claude.com/docs/en/sessions). What is read here is what people
// have described who looked at files of theirs:
//
//   - https://github.com/skillsynchq/txcript, docs/formats/claude-code.md (client up to 2.1.230)
//   - https://github.com/korjwl1/toki, docs/claude-code-jsonl-format.md (2.1.63)
//   - https://docs.rs/agent-top-core, harness/claude.rs (2.1.259)
//   - https://github.com/anthropics/claude-code/issues/16944 (compact_boundary)
//
// Needed are the lines of type user, assistant and system. An assistant line
// holds one block of a response; a response is as many lines with the same
// message.id as it has blocks. Its blocks of type tool_use are calls, and blocks of type
// tool_result in user lines what the model was given for them, by the id of the
// call. Everything else is skipped, and what is not known is counted.
package sessionlog

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"time"
	"unicode/utf8"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// MaxLine bounds a line, in bytes; a longer one is passed over.
const MaxLine = 16 << 20

// Line is what is known of a line of type user, assistant or system.
type Line struct {
	Type      string
	Time      time.Time // zero for none
	ID        string    // uuid; "" for none
	Parent    string    // parentUuid; "" for none
	Root      bool      // parentUuid is there, and null
	Session   string
	Agent     string // agentId of a sub-agent
	Sidechain bool   // is of a sub-agent
	Folder    string // the working directory, cwd
	Version   string // of the client

	Message string // the id of the response that the line belongs to
	Window  int64  // by the client: tokens that the response was given and has written; 0 for not said
	Calls   []Call
	Replies []Reply
	Prompt  bool // somebody's words

	Compacted bool     // what was before has left the window
	Cleared   []string // the calls whose replies have left it
}

// Call is the use of a tool.
type Call struct {
	ID    string
	Name  string
	Input json.RawMessage
}

// Reply is what the model was given for a call.
type Reply struct {
	Call   string // its id
	Text   string
	Images int
	Failed bool
}

// Skipped counts what was not understood.
type Skipped struct {
	Lines  int64            `json:"lines"`            // all lines, those that were understood too
	Broken int64            `json:"broken"`           // no JSON object, or half written
	Long   int64            `json:"long"`             // longer than MaxLine
	Types  map[string]int64 `json:"types,omitempty"`  // lines of types that are not known
	Fields map[string]int64 `json:"fields,omitempty"` // members of user, assistant and system lines that are not known
	Blocks map[string]int64 `json:"blocks,omitempty"` // parts of messages that are not known
}

// maxNames bounds how many different unknown names are kept of each sort.
const maxNames = 50

func count(m *map[string]int64, name string) {
	if *m == nil {
		*m = map[string]int64{}
	}
	name = kb.Clip(name, 40)
	if _, known := (*m)[name]; !known && len(*m) >= maxNames {
		name = "…"
	}
	(*m)[name]++
}

// Read gives every line of type user, assistant and system to each, in order,
// until each says false. The inputs of calls are valid until each returns.
func Read(r io.Reader, skipped *Skipped, each func(Line) bool) error {
	in := bufio.NewReaderSize(r, 256<<10)
	var buf []byte
	for {
		raw, long, err := readLine(in, &buf)
		if len(raw) > 0 || long {
			skipped.Lines++
		}
		switch {
		case long:
			skipped.Long++
		case len(raw) > 0:
			if l, ok := parse(raw, skipped); ok && !each(l) {
				return nil
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// readLine reads a line without its end and without blanks around it; of a
// long one nothing.
func readLine(in *bufio.Reader, buf *[]byte) (line []byte, long bool, err error) {
	*buf = (*buf)[:0]
	if cap(*buf) > 1<<20 {
		*buf = nil // one long line shall not keep its memory
	}
	for {
		part, err := in.ReadSlice('\n')
		if !long && len(*buf)+len(part) > MaxLine {
			long, *buf = true, nil
		}
		if !long {
			*buf = append(*buf, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimSpace(*buf), long, err
		}
	}
}

// silent are types of lines that say nothing of tools.
var silent = kb.WordsOf(`
	summary attachment progress file-history-snapshot queue-operation custom-title ai-title agent-name agent-
	color agent-setting pr-link mode permission-mode last-prompt tag worktree-state task-summary speculation-
	accept content-replacement marble-origami-commit marble-origami-snapshot attribution-snapshot started
	result bridge-session`)

// fields are the members of lines that are read or known to be of no use here.
var fields = kb.WordsOf(`
	parentUuid logicalParentUuid isSidechain userType entrypoint cwd sessionId session_id version gitBranch
	slug type subtype message uuid timestamp requestId toolUseResult sourceToolAssistantUUID sourceToolUseID
	permissionMode promptId promptSource origin isMeta isCompactSummary isVisibleInTranscriptOnly
	isApiErrorMessage apiError apiErrorStatus error errorDetails level content compactMetadata
	microcompactMetadata toolUseID parentToolUseID data agentId agentName teamName agentColor
	thinkingMetadata todos imagePasteIds durationMs messageCount hookCount hookInfos hookErrors
	preventedContinuation stopReason hasOutput retryInMs retryAttempt maxRetries cause url commands
	isSnapshotUpdate attributionSkill attributionPlugin attributionAgent attributionMcpServer
	attributionMcpTool forkedFrom mcpMeta summarizeMetadata effort planContent advisorModel`)

// parse reads one line; ok is false where there is nothing to count in it.
func parse(raw []byte, skipped *Skipped) (l Line, ok bool) {
	if raw[0] != '{' || !json.Valid(raw) {
		skipped.Broken++
		return l, false
	}
	members := map[string]json.RawMessage{}
	object(raw, func(name string, value json.RawMessage) { members[name] = value })
	text(members["type"], &l.Type)
	switch {
	case silent[l.Type]:
		return l, false
	case l.Type != "user" && l.Type != "assistant" && l.Type != "system":
		count(&skipped.Types, cmp.Or(l.Type, "none"))
		return l, false
	}
	for name := range members {
		if !fields[name] {
			count(&skipped.Fields, name)
		}
	}
	l.envelope(members)
	switch l.Type {
	case "system":
		l.system(members)
	default:
		l.message(members, skipped)
	}
	return l, true
}

// text leaves s as it was where raw is no string.
func text(raw json.RawMessage, s *string) {
	if len(raw) > 1 && raw[0] == '"' && bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw) {
		*s = string(raw[1 : len(raw)-1])
		return
	}
	var v string
	if json.Unmarshal(raw, &v) == nil {
		*s = v
	}
}

func yes(raw json.RawMessage) bool { return string(raw) == "true" }

func (l *Line) envelope(m map[string]json.RawMessage) {
	text(m["uuid"], &l.ID)
	text(m["parentUuid"], &l.Parent)
	l.Root = string(m["parentUuid"]) == "null"
	text(m["sessionId"], &l.Session)
	text(m["agentId"], &l.Agent)
	text(m["cwd"], &l.Folder)
	text(m["version"], &l.Version)
	l.Sidechain = yes(m["isSidechain"])
	var at string
	text(m["timestamp"], &at)
	if t, err := time.Parse(time.RFC3339, at); err == nil {
		l.Time = t
	}
}

// system reads what has left the window: all of it at a compact_boundary, some
// replies at a microcompact_boundary.
func (l *Line) system(m map[string]json.RawMessage) {
	var subtype string
	text(m["subtype"], &subtype)
	switch subtype {
	case "compact_boundary":
		l.Compacted = true
	case "microcompact_boundary":
		var meta struct {
			CompactedToolIDs []string `json:"compactedToolIds"`
		}
		if json.Unmarshal(m["microcompactMetadata"], &meta) == nil {
			l.Cleared = meta.CompactedToolIDs
		}
	}
}
