// Package depot keeps publications of stores where others fetch them: in a
// folder, behind plain HTTP(S), or in an object store that speaks S3. It knows
// nothing of what a store is: it keeps files by their content, and a signed
// statement that names them.
//
// # What lies at a target
//
//	head                            SHA-256 of the newest statement in hexadecimal, and a line feed
//	statements/SHA256.json          a Statement
//	statements/SHA256.json.minisig  its signature
//	objects/SHA256.zst              a file in one zstd frame; SHA256 is that of what it unpacks to
//	minisign.pub                    the public key, for people: no program trusts it
//
// Only head changes, by one conditional write, so that of two who publish at
// once one is told. All else is named by its content and never written again.
//
// Keys and signatures have minisign's format (https://jedisct1.github.io/minisign/,
// "Signature format"), prehashed, so that
//
//	minisign -V -p minisign.pub -m statements/SHA256.json
//
// verifies a statement without this program. The trusted comment has no meaning here.
package depot

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"aead.dev/minisign"
	"github.com/klauspost/compress/zstd"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

const (
	// Format begins every statement.
	Format = "knowledge publication"
	// Version of the format.
	Version = 1

	headName = "head"
	keyName  = "minisign.pub"

	maxSmall     = 4 << 10  // bytes of a head, a key or a signature
	maxStatement = 65 << 20 // bytes; the manifest in it is bounded by 64 MiB
	maxAhead     = time.Hour
)

// Target is where a publication lies. Implementations are safe for concurrent use.
type Target interface {
	// Get opens what has a name. tag changes whenever its content does. NotFound
	// without it. More than most bytes are not read of it.
	Get(ctx context.Context, name string, most int64) (body io.ReadCloser, tag string, err error)
	// Has reports whether something has that name.
	Has(ctx context.Context, name string) (bool, error)
	// Put gives body a name, whole or not at all. when is the tag that what is
	// there must have: Busy if it has another. Absent is none, Always any.
	Put(ctx context.Context, name string, body io.ReadSeeker, size int64, when string) error
	// String is how a person names the target, without credentials.
	String() string
}

// What Put may be told instead of a tag.
const (
	Always = "*"
	Absent = ""
)

// Statement says what a publication consists of. What it names is described by
// Export, which this package does not read.
type Statement struct {
	Format     string          `json:"format"`
	Version    int             `json:"version"`
	Generation int64           `json:"generation"` // counts the publications of a target from 1
	Parents    []string        `json:"parents"`    // SHA-256 of the statement before; none of the first
	Published  time.Time       `json:"published"`
	Store      kb.StoreID      `json:"store"`
	Export     json.RawMessage `json:"export"` // the manifest of an export
}

// Found is a statement that was read, with a signature that holds.
type Found struct {
	Statement
	SHA256 string // of the statement
	Key    string // that signed it
	tag    string // of the head that led to it
}

// Seen is what is remembered of a target between two looks at it.
type Seen struct {
	Generation int64
	SHA256     string
}

// Check refuses what is older than what was seen, and another statement of the same
// number: a publisher who goes on makes neither.
func (f Found) Check(seen Seen) error {
	switch {
	case f.Generation < seen.Generation:
		return kb.Errorf(kb.Denied, "the target went back: it shows publication %d, and %d was there before", f.Generation, seen.Generation).
			WithHint("nothing was taken; ask the publisher; if going back is meant: --older takes it")
	case f.Generation == seen.Generation && f.SHA256 != seen.SHA256:
		return kb.Errorf(kb.Denied, "the target shows another publication %d than the one that was there before", f.Generation).
			WithHint("nothing was taken; ask the publisher; if it was made anew: --older takes it")
	}
	return nil
}

// Key reads a public key: the line that begins with RW, or a file minisign.pub.
func Key(text string) (minisign.PublicKey, error) {
	var k minisign.PublicKey
	if err := k.UnmarshalText([]byte(strings.TrimSpace(text))); err != nil {
		return k, kb.Errorf(kb.Invalid, "that is no public key of minisign's form").
			WithHint("it is one line of 56 characters that begins with RW; the publisher's file minisign.pub holds it")
	}
	return k, nil
}

// Depot is a target that holds a publication.
type Depot struct{ Target }

// PublicKey returns the key that the target shows. Nothing says that it is the
// publisher's: it is for a person to compare.
func (d Depot) PublicKey(ctx context.Context) (string, error) {
	b, _, err := d.all(ctx, keyName, maxSmall)
	if err != nil {
		return "", err
	}
	k, err := Key(string(b))
	return k.String(), err
}

// Read returns the newest statement when key signed it. NotFound when nothing
// is published there.
func (d Depot) Read(ctx context.Context, key string) (f Found, err error) {
	public, err := Key(key)
	if err != nil {
		return f, err
	}
	head, tag, err := d.all(ctx, headName, maxSmall)
	if err != nil {
		if kb.CodeOf(err) == kb.NotFound {
			err = kb.Errorf(kb.NotFound, "nothing is published at %s", d).
				WithHint("check the address; its publisher makes it with: knowledge store:publish STORE %s", kb.ShellWord(d.String()))
		}
		return f, err
	}
	f.SHA256, f.tag, f.Key = strings.TrimSpace(string(head)), tag, public.String()
	if !isSum(f.SHA256) {
		return f, d.refused("its head is none")
	}
	text, _, err := d.all(ctx, statementName(f.SHA256), maxStatement)
	if err != nil {
		return f, d.lacks(err)
	}
	signature, _, err := d.all(ctx, statementName(f.SHA256)+".minisig", maxSmall)
	if err != nil {
		return f, d.lacks(err)
	}
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != f.SHA256 {
		return f, d.refused("its statement is not the one that its head names")
	}
	var s minisign.Signature
	if err := s.UnmarshalText(signature); err != nil {
		return f, d.refused("its signature does not parse")
	}
	// Base64 has bits at its ends that say nothing.
	if s.String() != strings.TrimRight(strings.ReplaceAll(string(signature), "\r\n", "\n"), "\n")+"\n" {
		return f, d.refused("its signature is written as no program writes it")
	}
	if s.KeyID != public.ID() {
		return f, kb.Errorf(kb.Denied, "what is published at %s is signed with another key (%016X) than the one to be trusted (%016X)", d, s.KeyID, public.ID()).
			WithHint("nothing was taken; ask the publisher whether the key was changed")
	}
	r := minisign.NewReader(bytes.NewReader(text))
	if _, err := io.Copy(io.Discard, r); err != nil {
		return f, err
	}
	if s.Algorithm != minisign.HashEdDSA || !r.Verify(public, signature) {
		return f, kb.Errorf(kb.Denied, "the signature of what is published at %s does not hold", d).
			WithHint("nothing was taken; somebody changed it: tell its publisher")
	}
	return f, d.parse(&f, text)
}

func (d Depot) parse(f *Found, text []byte) error {
	var first struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
	}
	if json.Unmarshal(text, &first) != nil || first.Format != Format {
		return d.refused("it is no publication")
	}
	if first.Version > Version {
		return kb.Errorf(kb.Newer, "what is published at %s was made by a newer version of this program", d).
			WithHint("install that version or a later one; this one is: knowledge version")
	}
	if err := json.Unmarshal(text, &f.Statement); err != nil || f.Generation < 1 || len(f.Parents) > 1 ||
		(f.Generation > 1) != (len(f.Parents) == 1) || f.Published.After(time.Now().Add(maxAhead)) {
		return d.refused("its statement is not one that this program writes")
	}
	return nil
}

// Publish makes s the newest statement, after what was read; nil for the
// first of a target. Busy when another was published meanwhile: what
// was put there for this one stays and serves the next.
func (d Depot) Publish(ctx context.Context, s Statement, after *Found, key minisign.PrivateKey) (Found, error) {
	s.Format, s.Version, s.Generation, s.Parents = Format, Version, 1, []string{}
	when := Absent
	if after != nil {
		s.Generation, s.Parents, when = after.Generation+1, []string{after.SHA256}, after.tag
	}
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return Found{}, kb.Errorf(kb.Internal, "encode a statement: %w", err)
	}
	sum := sha256.Sum256(text)
	f := Found{Statement: s, SHA256: hex.EncodeToString(sum[:]), Key: key.Public().(minisign.PublicKey).String()}
	r := minisign.NewReader(bytes.NewReader(text))
	if _, err := io.Copy(io.Discard, r); err != nil {
		return f, err
	}
	signature := r.SignWithComments(key, fmt.Sprintf("store %s publication %d", s.Store, s.Generation), "signature of a knowledge publication")
	public, err := key.Public().(minisign.PublicKey).MarshalText()
	if err != nil {
		return f, err
	}
	for _, p := range []struct {
		name, when string
		body       []byte
	}{
		{statementName(f.SHA256), Always, text},
		{statementName(f.SHA256) + ".minisig", Always, signature},
		{keyName, Always, append(public, '\n')},
		{headName, when, []byte(f.SHA256 + "\n")},
	} {
		err := d.Put(ctx, p.name, bytes.NewReader(p.body), int64(len(p.body)), p.when)
		if err != nil && p.name == headName && kb.CodeOf(err) == kb.Busy && d.isHead(ctx, f.SHA256) {
			err = nil // it was heard, and its answer was lost
		}
		if err != nil && kb.CodeOf(err) == kb.Busy {
			err = kb.Errorf(kb.Busy, "another publication came first at %s", d).
				WithHint("it stays; if yours is the newer text, publish again: what was sent is not sent twice")
		}
		if err != nil {
			return f, err
		}
	}
	return f, nil
}

func (d Depot) isHead(ctx context.Context, sum string) bool {
	b, _, err := d.all(ctx, headName, maxSmall)
	return err == nil && strings.TrimSpace(string(b)) == sum
}

// Send puts a file there by its content unless it is there, and returns how many
// bytes went out. packed is room for the packed form.
func (d Depot) Send(ctx context.Context, sum string, from io.Reader, packed *os.File) (sent int64, err error) {
	name := objectName(sum)
	if there, err := d.Has(ctx, name); there || err != nil {
		return 0, err
	}
	if _, err := packed.Seek(0, io.SeekStart); err != nil {
		return 0, err
	}
	if err := packed.Truncate(0); err != nil {
		return 0, err
	}
	z, err := zstd.NewWriter(packed, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(1<<20))
	if err != nil {
		return 0, kb.Errorf(kb.Internal, "begin to pack a file: %w", err)
	}
	h := sha256.New()
	if _, err := io.Copy(io.MultiWriter(z, h), from); err != nil {
		return 0, errors.Join(err, z.Close())
	}
	if err := z.Close(); err != nil {
		return 0, err
	}
	if hex.EncodeToString(h.Sum(nil)) != sum {
		return 0, kb.Errorf(kb.Corrupt, "a file of the index changed while it was read").WithHint("publish again")
	}
	size, err := packed.Seek(0, io.SeekEnd)
	if err != nil {
		return 0, err
	}
	if _, err := packed.Seek(0, io.SeekStart); err != nil {
		return 0, err
	}
	return size, d.Put(ctx, name, packed, size, Always)
}

// Fetch writes the file of that content to w. What has another content, or more
// than size bytes, is refused: the caller throws away what it has of it then.
func (d Depot) Fetch(ctx context.Context, sum string, size int64, w io.Writer) error {
	// What does not get smaller gets a little larger.
	body, _, err := d.Get(ctx, objectName(sum), size+size/64+64<<10)
	if err != nil {
		return d.lacks(err)
	}
	defer body.Close()
	z, err := zstd.NewReader(body, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(8<<20))
	if err != nil {
		return kb.Errorf(kb.Internal, "begin to unpack a file: %w", err)
	}
	defer z.Close()
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(w, h), io.LimitReader(z, size+1))
	switch {
	case err != nil && (kb.CodeOf(err) != kb.Internal || ctx.Err() != nil):
		return err
	case err != nil:
		return d.refused("a file of it does not unpack")
	case n != size || hex.EncodeToString(h.Sum(nil)) != sum:
		return d.refused("a file of it has another content than its statement says")
	}
	return nil
}

// all reads what has a name, at most so many bytes of it.
func (d Depot) all(ctx context.Context, name string, most int64) ([]byte, string, error) {
	body, tag, err := d.Get(ctx, name, most)
	if err != nil {
		return nil, "", err
	}
	defer body.Close()
	b, err := io.ReadAll(io.LimitReader(body, most+1))
	if err == nil && int64(len(b)) > most {
		err = kb.Errorf(kb.TooLarge, "%s of %s has more than %d bytes", name, d, most).WithHint("nothing was taken; do not trust it")
	}
	return b, tag, err
}

func (d Depot) refused(format string, args ...any) error {
	return kb.Errorf(kb.Corrupt, "what is at "+d.String()+" is no sound publication: "+format, args...).
		WithHint("nothing was taken; its publisher mends it by publishing again")
}

// lacks is what it means that something which was named is not there.
func (d Depot) lacks(err error) error {
	if kb.CodeOf(err) == kb.NotFound {
		return d.refused("a file that it names is missing")
	}
	return err
}

func statementName(sum string) string { return "statements/" + sum + ".json" }
func objectName(sum string) string    { return "objects/" + sum + ".zst" }

func isSum(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == sha256.Size && strings.ToLower(s) == s
}
