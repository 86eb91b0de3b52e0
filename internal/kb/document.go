package kb

import (
	"context"
	"crypto/sha256"
	"strings"
)

// Entry is one document as a source lists it, before it is read.
type Entry struct {
	Path string // slash-separated, relative to the source's root, valid UTF-8
	Size int64  // bytes; -1 when only reading shows it
	// Stamp changes whenever the content may have changed and is cheap to
	// get: size, time and inode of a file, the blob's hash in a repository.
	// "" means that only reading shows a change.
	Stamp string
	// As is a name that shows the language, where the path does not: "page.md".
	As string
}

// Snapshot is one listing of a source: a commit, or a folder as it is.
// Walk and Read apply the selection rules; what they leave out is counted.
type Snapshot interface {
	// Version names the state: a full commit hash, or "" for a folder.
	Version() string
	// Walk calls f for every selected document in ascending byte order of the
	// paths. An error of f ends the walk and is returned.
	Walk(ctx context.Context, f func(Entry) error) error
	// Read returns the bytes of one document. Errors with code Unsupported
	// mean that the content rules the document out (binary, minified, a
	// pointer of git-lfs, …): the reason is then counted and the caller goes on.
	// It is safe for concurrent use.
	Read(ctx context.Context, e Entry) ([]byte, error)
	// Skipped returns how many documents were left out so far, by reason.
	Skipped() map[string]int
	// Notes returns sentences for the reader (a fallback that was taken, a
	// folder that could not be entered), bounded in number.
	Notes() []string
	Close() error
}

// DocHash identifies the content of a document: SHA-256 of its raw bytes.
type DocHash [sha256.Size]byte

// HashDocument returns the hash of raw bytes.
func HashDocument(raw []byte) DocHash { return sha256.Sum256(raw) }

// Text is a document decoded to valid UTF-8. Lines end at "\n"; a "\r" before
// it belongs to the line. Nothing is trimmed: joining the lines with "\n"
// gives the text back.
type Text struct {
	Body     string
	Language string // lower-case name: "go", "markdown", "text", …
	// Encoding is "" for UTF-8, else what the bytes were taken for.
	Encoding string
	// Flags are facts about the whole document that ranking uses.
	Flags DocFlags
}

// DocFlags are facts about a whole document, kept as bits in a segment.
type DocFlags uint8

// The document flags that follow from content alone. What follows from the
// path (tests, examples) is decided when ranking.
const (
	FlagGenerated DocFlags = 1 << iota // says of itself that a program wrote it
	FlagReexports                      // mostly imports and re-exports
	FlagProse                          // documentation rather than code
	FlagUnparsed                       // its grammar gave up: cut by indentation, without facts
	FlagMasked                         // holds secrets, which are replaced by asterisks
)

// Chunk is a run of whole lines of one text. Chunks of a text are in order
// and every line, blank ones included, lies in exactly one, so that the
// chunks' bytes joined are the text.
type Chunk struct {
	From, To   int // byte offsets in Text.Body, half open
	Start, End int // line numbers, 1-based, inclusive
	// ColFrom and ColTo are byte offsets within line Start when the chunk is a
	// part of a line longer than MaxLineBytes (then Start == End); both 0 otherwise.
	ColFrom, ColTo int
	// Decl is the enclosing declaration path or heading path, outermost first,
	// ending with the chunk's own declaration: ["Server", "Serve"]. Empty for text outside any.
	Decl []string
	// Kind is "function", "method", "type", "section", "imports", "block", ….
	Kind string
	// Symbols are what the chunk defines. Line numbers lie within the document.
	Symbols []Symbol
}

// MaxLineBytes is the length in bytes above which a line is split at runes.
const MaxLineBytes = 4000

// Symbol is one definition.
type Symbol struct {
	Name      string // as written: "Serve"
	Kind      string // "function", "method", "type", "const", "var", "class", "heading", …
	Signature string // one line, white space folded, at most 200 bytes; may be empty
	Doc       string // first sentence of the doc comment, at most 200 bytes; may be empty
	Start     int    // line of the declaration including its doc comment
	End       int    // last line
	Line      int    // of the name; 0 when not known
	// Path holds the names of the enclosing declarations, outermost first,
	// without Name: ["Server"] of a method Serve. Nil at top level.
	Path []string
}

// Declares reports whether code can refer to a symbol by its name. Headings,
// and the keys, rules and sections of data, only label the text below them.
func (s *Symbol) Declares() bool {
	switch s.Kind {
	case "heading", "key", "rule", "section":
		return false
	}
	return true
}

// Qualified returns the names of a symbol's enclosing declarations and its
// own, joined with dots: "Server.Serve".
func (s *Symbol) Qualified() string {
	if len(s.Path) == 0 {
		return s.Name
	}
	return strings.Join(s.Path, ".") + "." + s.Name
}

// Embedder turns texts into vectors. Implementations are safe for concurrent use.
type Embedder interface {
	// ID names model, version and dimensions, in characters fit for a file
	// name; vectors of different IDs are never compared.
	ID() string
	Dims() int
	// Embed returns one vector per text: of unit length, or all zero for a
	// text in which the model finds nothing. An error is the provider's own message.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}
