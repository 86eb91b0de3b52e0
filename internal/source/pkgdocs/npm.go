package pkgdocs

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// packument is a registry's description of a package, in the short form.
type packument struct {
	Tags     map[string]string     `json:"dist-tags"`
	Versions map[string]npmVersion `json:"versions"`
}

type npmVersion struct {
	Deprecated any `json:"deprecated"` // a sentence, or a boolean in old ones
	Dist       struct {
		Tarball   string `json:"tarball"`
		Integrity string `json:"integrity"`
		Shasum    string `json:"shasum"`
	} `json:"dist"`
}

const npmAccept = "application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8"

func fetchNPM(ctx context.Context, s *session) (Result, error) {
	version, about, err := s.resolveNPM(ctx, s.Name, s.Version)
	if err != nil {
		return Result{}, err
	}
	res := Result{Version: version}
	if d, ok := about.Deprecated.(string); ok && d != "" {
		res.Notes = append(res.Notes, fmt.Sprintf("%s@%s is deprecated: %s", s.Name, version, d))
	}
	if n, ok := s.same(version); ok {
		res.Documents, res.Unchanged = n, true
		return res, nil
	}
	var b bundle
	if err := s.unpackNPM(ctx, s.Name, version, about, "", &b); err != nil {
		return res, err
	}
	if s.whole == nil {
		b.once()
	}
	typed := slices.ContainsFunc(b.docs, func(d document) bool { return d.reason == "types" })
	if !typed && !strings.HasPrefix(s.Name, "@types/") {
		if note := s.types(ctx, version, &b); note != "" {
			res.Notes = append(res.Notes, note)
		}
		if err := ctx.Err(); err != nil {
			return res, err
		}
	}
	res.Notes = append(res.Notes, b.notes()...)
	res.Documents = len(b.docs)
	if s.whole != nil {
		return res, s.whole.pack(version, b.docs)
	}
	return res, s.keep(version, b.docs)
}

// resolveNPM returns the version that is meant, as npm would choose.
func (s *session) resolveNPM(ctx context.Context, name, asked string) (string, npmVersion, error) {
	address := s.registry(name) + strings.Replace(url.PathEscape(name), "%40", "@", 1)
	raw, err := s.get(ctx, address, fmt.Sprintf("package %q", name), npmAccept, s.auth(address), maxMeta)
	if err != nil {
		return "", npmVersion{}, err
	}
	var p packument
	if err := json.Unmarshal(raw, &p); err != nil {
		return "", npmVersion{}, kb.Errorf(kb.Corrupt, "what %s tells of %q does not parse: %w", hostOf(address), name, err).
			WithHint("check the registry in ~/.npmrc")
	}
	version := choose(asked, p.Tags, maps.Keys(p.Versions))
	about, ok := p.Versions[version]
	if !ok {
		e := kb.Errorf(kb.NotFound, "there is no version %q of %q", asked, name)
		if latest := p.Tags["latest"]; latest != "" {
			return "", about, e.WithHint("the latest is %s", latest)
		}
		return "", about, e.WithHint("leave the version out for the latest")
	}
	return version, about, nil
}

// choose returns the version that was asked for by a tag, a version, a part of one,
// or one after "^" or "~"; "" when there is none. Among several it prefers the tag
// latest, else the highest that is no pre-release.
func choose(asked string, tags map[string]string, versions iter.Seq[string]) string {
	asked = cmp.Or(asked, "latest")
	if v := tags[asked]; v != "" {
		return v
	}
	bare := strings.TrimPrefix(asked, "v")
	best, exact := "", ""
	fits := satisfies(asked)
	for v := range versions {
		if strings.TrimPrefix(v, "v") == bare {
			exact = v
		}
		s := "v" + strings.TrimPrefix(v, "v")
		if semver.IsValid(s) && fits(s) && (best == "" || semver.Compare(s, "v"+strings.TrimPrefix(best, "v")) > 0) {
			best = v
		}
	}
	if exact != "" {
		return exact
	}
	if l := tags["latest"]; l != "" && best != "" && fits("v"+strings.TrimPrefix(l, "v")) {
		return l
	}
	return best
}

// satisfies returns a test of releases ("v1.2.3") against what was asked.
func satisfies(asked string) func(v string) bool {
	op := byte(0)
	if asked != "" && (asked[0] == '^' || asked[0] == '~') {
		op, asked = asked[0], asked[1:]
	}
	parts := strings.Split(strings.TrimPrefix(asked, "v"), ".")
	for len(parts) > 0 && slices.Contains([]string{"x", "X", "*"}, parts[len(parts)-1]) {
		parts = parts[:len(parts)-1]
	}
	least := "v" + strings.Join(parts, ".")
	if asked == "latest" || len(parts) == 0 {
		return func(v string) bool { return semver.Prerelease(v) == "" }
	}
	if !semver.IsValid(least) {
		return func(string) bool { return false }
	}
	prefix := len(parts) // that many numbers stay as they are
	switch op {
	case '^':
		prefix = 1
		if strings.HasPrefix(least, "v0.") || least == "v0" { // 0.x: every minor version breaks
			prefix = min(len(parts), 2)
			if strings.HasPrefix(least, "v0.0.") {
				prefix = 3
			}
		}
	case '~':
		prefix = min(len(parts), 2)
	}
	head := strings.Join(strings.Split(strings.SplitN(semver.Canonical(least), "-", 2)[0], ".")[:min(prefix, 3)], ".")
	return func(v string) bool {
		return semver.Prerelease(v) == "" && (v == head || strings.HasPrefix(v, head+".")) && semver.Compare(v, least) >= 0
	}
}

// types adds the declarations of @types for a package without any. Their absence is
// no failure.
func (s *session) types(ctx context.Context, version string, b *bundle) (note string) {
	name := "@types/" + strings.Replace(strings.TrimPrefix(s.Name, "@"), "/", "__", 1)
	major, _, _ := strings.Cut(version, ".")
	v, about, err := s.resolveNPM(ctx, name, major)
	if kb.CodeOf(err) == kb.NotFound {
		v, about, err = s.resolveNPM(ctx, name, "")
	}
	if err == nil {
		err = s.unpackNPM(ctx, name, v, about, name+"/", b)
	}
	switch {
	case err == nil:
		return fmt.Sprintf("it has no type declarations of its own; those of %s@%s are taken", name, v)
	case kb.CodeOf(err) == kb.NotFound:
		return ""
	}
	return fmt.Sprintf("type declarations were not found: %v", err)
}

// unpackNPM adds the documents of a package's archive below prefix.
func (s *session) unpackNPM(ctx context.Context, name, version string, about npmVersion, prefix string, b *bundle) error {
	what := fmt.Sprintf("the archive of %s@%s", name, version)
	if about.Dist.Tarball == "" {
		return kb.Errorf(kb.Corrupt, "the registry names no archive of %s@%s", name, version).
			WithHint("check the registry in ~/.npmrc")
	}
	raw, err := s.get(ctx, about.Dist.Tarball, what, "application/octet-stream, */*", s.auth(about.Dist.Tarball), maxArchive)
	if err != nil {
		return err
	}
	if err := intact(raw, about.Dist.Integrity, about.Dist.Shasum); err != nil {
		return kb.Errorf(kb.Corrupt, "%s %w", what, err).
			WithHint("try again; if it stays so, the registry is not to be trusted")
	}
	broken := func(err error) error {
		return kb.Errorf(kb.Corrupt, "%s cannot be unpacked: %w", what, err).WithHint("try again")
	}
	z, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return broken(err)
	}
	limit := &io.LimitedReader{R: z, N: maxUnpacked}
	t := tar.NewReader(limit)
	for n := 0; ; n++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		h, err := t.Next()
		if errors.Is(err, io.EOF) && limit.N > 0 {
			return nil
		}
		if limit.N <= 0 || n >= maxEntries {
			return kb.Errorf(kb.TooLarge, "%s unpacks to more than %d MB or %d files", what, maxUnpacked>>20, maxEntries).
				WithHint("make a store of its repository instead")
		}
		if err != nil {
			return broken(err)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		// The first element is "package", or what the packer called it.
		_, p, _ := strings.Cut(strings.TrimPrefix(h.Name, "./"), "/")
		p = safePath(p)
		reason := npmReason(p)
		if s.whole != nil && reason == "" && changes(p) {
			reason = "changelog"
		}
		if p == "" || reason == "" {
			continue
		}
		err = b.add(prefix+p, reason, h.Size, func() ([]byte, error) { return io.ReadAll(io.LimitReader(t, maxFile)) })
		if err != nil {
			return broken(err)
		}
	}
}

// intact compares an archive with what the registry promised: the strongest
// of the hashes in integrity ("sha512-BASE64 …"), else a SHA-1 in hexadecimal.
func intact(raw []byte, integrity, shasum string) error {
	for _, alg := range []struct {
		name string
		sum  func() []byte
	}{
		{"sha512-", func() []byte { s := sha512.Sum512(raw); return s[:] }},
		{"sha384-", func() []byte { s := sha512.Sum384(raw); return s[:] }},
		{"sha256-", func() []byte { s := sha256.Sum256(raw); return s[:] }},
		{"sha1-", func() []byte { s := sha1.Sum(raw); return s[:] }},
	} {
		known := false
		for field := range strings.FieldsSeq(integrity) {
			want, ok := strings.CutPrefix(field, alg.name)
			if !ok {
				continue
			}
			want, _, _ = strings.Cut(want, "?")
			if known = true; want == base64.StdEncoding.EncodeToString(alg.sum()) {
				return nil
			}
		}
		if known {
			return errors.New("is not what the registry promised: its checksum differs")
		}
	}
	if s := sha1.Sum(raw); shasum != "" && !strings.EqualFold(shasum, hex.EncodeToString(s[:])) {
		return errors.New("is not what the registry promised: its checksum differs")
	}
	return nil
}
