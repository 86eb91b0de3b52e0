package publish

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"aead.dev/minisign"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/data/atomicfile"
	"github.com/seed-4f2d999b/knowledge/internal/data/depot"
	"github.com/seed-4f2d999b/knowledge/internal/data/transfer"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

const (
	keyVariable      = "KNOWLEDGE_PUBLISH_KEY"
	passwordVariable = "KNOWLEDGE_PUBLISH_PASSWORD"
)

// Published is the reply of store:publish.
type Published struct {
	Store      string `json:"store"`
	Target     string `json:"target"`
	Generation int64  `json:"publication"` // counts those of the target
	Key        string `json:"key"`         // public key that verifies it
	Documents  int    `json:"documents"`
	Files      int    `json:"files"` // sent
	Bytes      int64  `json:"bytes"` // sent, packed
	Same       bool   `json:"unchanged,omitempty"`
	Note       string `json:"note"`
}

// Text is the reply for people.
func (p Published) Text() string {
	said := fmt.Sprintf("%s: publication %d of %s, %s: %s sent, %s", p.Target, p.Generation, p.Store, kb.Count(p.Documents, "document"), kb.Count(p.Files, "file"), app.BytesOf(p.Bytes))
	if p.Same {
		said = fmt.Sprintf("%s: publication %d of %s is this already", p.Target, p.Generation, p.Store)
	}
	return fmt.Sprintf("%s\nnote: %s\nelsewhere: knowledge store:create %s --from ADDRESS --key %s", said, p.Note, kb.ShellWord(p.Store), p.Key)
}

// Publish publishes a store.
func Publish(ctx context.Context, a *app.App, store, target, file string) (Published, error) {
	if !command.IsCLI(ctx) {
		return Published{}, kb.Errorf(kb.Denied, "only a person at a terminal publishes").WithHint("ask your user")
	}
	secret, err := secretKey(a, file)
	if err != nil {
		return Published{}, err
	}
	c, st, err := a.Lookup(ctx, store)
	if err != nil {
		return Published{}, err
	}
	d, err := open(a, c, target)
	if err != nil {
		return Published{}, err
	}
	public := secret.Public().(minisign.PublicKey).String()
	out := Published{Store: st.Name, Target: d.String(), Key: public}
	if out.Store == "" {
		out.Store = app.NameFrom(st.Label())
	}
	var before *depot.Found
	var known json.RawMessage
	switch found, err := d.Read(ctx, public); kb.CodeOf(err) {
	case kb.NotFound:
	default:
		if err != nil {
			return out, err
		}
		before, known = &found, found.Export
		out.Generation = found.Generation
	}
	m, sent, err := transfer.Place{Dir: c.Dir, Catalog: c.Catalog, Indexer: c.Indexer, Pool: c.Pool, Opener: c.Opener, Program: a.Version()}.
		Publish(ctx, st, out.Store, known, d, func(ctx context.Context, export json.RawMessage) error {
			f, err := d.Publish(ctx, depot.Statement{Published: time.Now().UTC(), Store: st.ID, Export: export}, before, secret)
			out.Generation = f.Generation
			return err
		})
	if err != nil {
		return out, err
	}
	out.Documents, out.Files, out.Bytes, out.Same = m.Head.Documents, sent.Files, sent.Bytes, sent.Same
	out.Note = fmt.Sprintf("who can read it there has the text of all documents and the address %s", st.Spec.Source)
	return out, nil
}

// open opens a target with what the user lets programs reach.
func open(a *app.App, c *app.Core, target string) (depot.Depot, error) {
	return depot.Open(target, a.Config.Dir, a.Config.Env, c.Policy())
}

// secretKey reads the key of a file, else that of the environment.
func secretKey(a *app.App, file string) (key minisign.PrivateKey, err error) {
	text := []byte(a.Config.Env(keyVariable))
	if file != "" {
		if !filepath.IsAbs(file) {
			file = filepath.Join(a.Config.Dir, file)
		}
		if text, err = os.ReadFile(file); err != nil {
			return key, kb.Errorf(kb.NotFound, "the key cannot be read: %w", err).WithHint("make a pair: knowledge publish:key %s", kb.ShellWord(file))
		}
	}
	if len(text) == 0 {
		return key, kb.Errorf(kb.Invalid, "a publication is signed, and there is no key").
			WithHint("make a pair with: knowledge publish:key publish.key; then add: --key publish.key, or put what that file holds into %s", keyVariable)
	}
	if minisign.IsEncrypted(text) {
		key, err = minisign.DecryptKey(a.Config.Env(passwordVariable), text)
		if err != nil {
			return key, kb.Errorf(kb.Denied, "the key does not open with that password").WithHint("set %s to its password", passwordVariable)
		}
		return key, nil
	}
	if key.UnmarshalText(text) != nil {
		return key, kb.Errorf(kb.Invalid, "that is no secret key of minisign's form").WithHint("make one with: knowledge publish:key publish.key")
	}
	return key, nil
}

// Pair is the reply of publish:key.
type Pair struct {
	Secret string `json:"secretFile"`
	File   string `json:"publicFile"`
	Public string `json:"public"`
}

// Text is the reply for people.
func (p Pair) Text() string {
	return fmt.Sprintf("secret key: %s, for nobody else\npublic key: %s, also in %s; say it where others trust you\npublish: knowledge store:publish STORE TARGET --key %s",
		p.Secret, p.Public, p.File, kb.ShellWord(p.Secret))
}

// MakeKey makes a pair of keys and replaces none.
func MakeKey(ctx context.Context, a *app.App, file string) (Pair, error) {
	if !command.IsCLI(ctx) {
		return Pair{}, kb.Errorf(kb.Denied, "only a person at a terminal makes keys").WithHint("ask your user")
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(a.Config.Dir, file)
	}
	p := Pair{Secret: file, File: file + ".pub"}
	for _, f := range []string{p.Secret, p.File} {
		if _, err := os.Lstat(f); !errors.Is(err, fs.ErrNotExist) {
			return p, kb.Errorf(kb.Exists, "the file %q exists", f).WithHint("name another one: what it signed needs it")
		}
	}
	public, secret, err := minisign.GenerateKey(rand.Reader)
	if err != nil {
		return p, kb.Errorf(kb.Internal, "make a key: %w", err)
	}
	p.Public = public.String()
	for f, key := range map[string]interface{ MarshalText() ([]byte, error) }{p.Secret: secret, p.File: public} {
		text, err := key.MarshalText()
		if err != nil {
			return p, kb.Errorf(kb.Internal, "write a key: %w", err)
		}
		if err := atomicfile.Write(f, append(text, '\n')); err != nil {
			return p, err
		}
	}
	return p, nil
}
