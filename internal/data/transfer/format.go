// Package transfer moves a store between data directories as one file.
//
// # The export file
//
// An export is a tar archive (POSIX ustar) in one zstd stream with checksums,
// so that `tar --zstd -tf FILE` lists it. Its members come in this order:
//
//	manifest.json                    Manifest, below
//	generation.gen                   the documents by path, ids, tombstones
//	segments/LAYOUT.lay              its layout
//	segments/NAME.seg                each segment, in ascending order of names,
//	segments/NAME.EMBEDDER.vec       each followed by its vectors
//	pages/pages.NNNNNN               of a store of kind web: its log of pages
//
// The formats of these files are those of packages index and pages. The
// manifest lists every other member with size and SHA-256, in the order in
// which they follow. Owners, times and modes are constant and nothing says
// when the file was made: exporting a generation twice with one version of the
// program gives the same bytes.
//
// A segment serves several stores and may hold what was deleted, so an export
// holds segments of its own where one of the store's has more in it than the
// store: what it lists is all that it gives away. That is the text of every document,
// the paths (also of documents that are gone, as long as their ids are
// remembered), the address or folder that the store is made from, and its
// name, description and tags. The view of who uses what is made anew.
//
// A reader takes nothing for granted: member names are compared with those
// that the manifest must have, never used as paths; sizes and hashes must
// agree; nothing may follow; and every file is then read to its end, see
// index.Pool.CheckSegment, before any of it is shown to a search.
//
// Version counts up when an older program could misread a newer file; such
// files are refused with kb.Newer, as are those with files of newer formats.
package transfer

import (
	"cmp"
	"context"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/data/catalog"
	"github.com/seed-4f2d999b/knowledge/internal/index"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/visible"
	"github.com/seed-4f2d999b/knowledge/internal/source"
	"github.com/seed-4f2d999b/knowledge/internal/text/chunk"
	"github.com/seed-4f2d999b/knowledge/internal/web/pages"
)

const (
	// Format begins every manifest.
	Format = "knowledge export"
	// Version of the format.
	Version = 1

	manifestName   = "manifest.json"
	generationName = "generation" + kb.ManifestExt
	segmentsDir    = "segments/"
	pagesDir       = "pages/"
	maxManifest    = 64 << 20 // bytes; 100,000 segments take 30 MB
	maxMember      = 64 << 30
	maxText        = 4096 // bytes of a description
	maxTags        = 64
	maxNotes       = 64        // of a run; one of ours writes a dozen
	maxUnread      = 16 << 20  // bytes of paths that a run passed over
	maxLanguages   = 16 << 10  // bytes of their names
	maxAhead       = time.Hour // that the maker's clock may be before ours
)

// Manifest is the first member.
type Manifest struct {
	Format   string   `json:"format"`
	Version  int      `json:"version"`
	Program  string   `json:"program"` // version that made the file
	Versions Versions `json:"versions"`
	Embedder string   `json:"embedder"` // kb.Embedder.ID of the vectors
	Store    Store    `json:"store"`
	// Head is what the catalog knows of the generation. Manifest and IndexBytes
	// are those of the machine that has it, and left out.
	Head    kb.Head  `json:"head"`
	Members []Member `json:"members"`
}

// Versions are those of the formats of the members.
type Versions struct {
	Index   uint32 `json:"index"`
	Chunker uint32 `json:"chunker"`
	Pages   uint32 `json:"pages,omitempty"`
}

// Store is what the store is made from and called.
type Store struct {
	ID          kb.StoreID `json:"id"` // of Spec
	Name        string     `json:"name"`
	Description string     `json:"description,omitempty"`
	Tags        []string   `json:"tags,omitempty"`
	Spec        kb.Spec    `json:"spec"`
}

// Member is one file of an export.
type Member struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`   // bytes
	SHA256 string `json:"sha256"` // in hexadecimal
}

// base is the name without the folder.
func (m Member) base() string { return m.Name[strings.LastIndexByte(m.Name, '/')+1:] }

var (
	contentName  = expression(`^[a-z2-7]{24}$`)
	embedderName = expression(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,199}$`)
	pagesLog     = expression(`^pages\.[0-9]{6}$`)
)

// expression compiles an expression when it is first used.
func expression(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// names returns the members that an export of that head must have, but for the
// log of pages.
func names(head kb.Head, embedder string) []string {
	out := []string{generationName, segmentsDir + head.Layout + index.LayoutExt}
	for _, s := range head.Segments {
		out = append(out, segmentsDir+s+index.Ext, segmentsDir+s+"."+embedder+index.VecExt)
	}
	return out
}

func refused(format string, args ...any) error {
	return kb.Errorf(kb.Corrupt, "the file is no sound export: "+format, args...).
		WithHint("nothing was imported; copy it or export it again; what it must be: knowledge help import")
}

// check returns what is wrong with a manifest. gathered reports whether its store
// may have a log of pages.
func (m *Manifest) check(gathered bool) error {
	switch {
	case m.Format != Format:
		return refused("it does not begin with a manifest")
	case m.Version > Version, m.Versions.Index > index.FormatVersion, m.Versions.Chunker > chunk.Version, m.Versions.Pages > pages.Version:
		return kb.Errorf(kb.Newer, "the file was made by a newer version of this program (%s)", clip(m.Program)).
			WithHint("nothing was imported; install that version or a later one, then import it again; this one is: knowledge version")
	case m.Version < 1:
		return refused("version %d of the format does not exist", m.Version)
	case m.Store.ID != m.Store.Spec.ID():
		return refused("the store's id is not that of what it is made from")
	case !embedderName().MatchString(m.Embedder) || m.Embedder != m.Head.Embedder:
		return refused("it names no embedder")
	case !contentName().MatchString(m.Head.Layout):
		return refused("its layout has no name")
	case m.Head.Partial || m.Head.Generation < 1 || m.Head.Documents < 0 || m.Head.Chunks < 0 || m.Head.Indexed.IsZero():
		return refused("its generation is not complete")
	case len(m.Store.Description) > maxText || len(m.Store.Tags) > maxTags:
		return refused("the store's description is too long")
	case len(m.Head.Notes) > maxNotes || bytesOf(m.Head.Unread) > maxUnread || bytesOf(m.Head.Skipped) > maxText || bytesOf(m.Head.Languages) > maxLanguages:
		return refused("its generation has too many notes")
	case m.Head.Indexed.After(time.Now().Add(maxAhead)):
		return refused("it says that it was indexed in the future, at %s", m.Head.Indexed.Format(time.RFC3339))
	}
	if err := catalog.CheckName(m.Store.Name); err != nil {
		return refused("%v", err)
	}
	for _, s := range slices.Concat([]string{m.Store.Description, m.Head.Commit, m.Program}, m.Store.Tags, m.Head.Notes) {
		if len(s) > maxText || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return refused("its description holds control characters or is too long")
		}
	}
	for _, s := range append([]string{m.Store.Description, m.Program}, m.Store.Tags...) {
		if visible.Line(s) != s {
			return refused("its description holds characters that nobody sees, or that turn text around")
		}
	}
	last := ""
	for _, s := range m.Head.Segments {
		if !contentName().MatchString(s) || s <= last {
			return refused("%q is no name of a segment, or out of order", clip(s))
		}
		last = s
	}
	return m.checkMembers(gathered)
}

func (m *Manifest) checkMembers(gathered bool) error {
	want := names(m.Head, m.Embedder)
	if n := len(m.Members); gathered && n == len(want)+1 {
		log := m.Members[n-1]
		if !strings.HasPrefix(log.Name, pagesDir) || !pagesLog().MatchString(log.base()) {
			return refused("the member %q does not belong there", clip(log.Name))
		}
		want = append(want, log.Name)
	}
	for i, x := range m.Members {
		if i >= len(want) || x.Name != want[i] {
			return refused("the member %q does not belong there", clip(x.Name))
		}
		if sum, err := hex.DecodeString(x.SHA256); err != nil || len(sum) != 32 || x.Size < 0 || x.Size > maxMember {
			return refused("the member %q has no proper size and hash", clip(x.Name))
		}
	}
	if len(m.Members) < len(want) {
		return refused("the member %q is missing", want[len(m.Members)])
	}
	return nil
}

// bytesOf is what a table takes, about.
func bytesOf[V int | uint64](table map[string]V) int {
	n := 0
	for k := range table {
		n += len(k) + 8
	}
	return n
}

// Bytes is the size of all members.
func (m *Manifest) Bytes() int64 {
	var n int64
	for _, x := range m.Members {
		n += x.Size
	}
	return n
}

// clip makes what a stranger wrote fit a sentence.
func clip(s string) string {
	return cmp.Or(kb.Clip(strings.ToValidUTF8(s, "\uFFFD"), 80), "unknown")
}

// checkSpec refuses a store that could not have been made here.
func checkSpec(ctx context.Context, spec kb.Spec) error {
	if !slices.Contains(source.Kinds(), spec.Kind) {
		return refused("there is no kind of store named %q", clip(string(spec.Kind)))
	}
	src := spec.Source
	if src == "" || len(src) > maxText || strings.ContainsFunc(src, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return refused("its source is no address")
	}
	if localPath(src) {
		if gathered(spec.Kind) {
			return refused("its source is no address")
		}
	} else if k, canonical, err := source.Canonical(ctx, spec.Kind, src, ""); err != nil || k != spec.Kind || canonical != src {
		return refused("its source %q is not one that this program writes", clip(src))
	}
	if spec.Ref.Name != "" || spec.Ref.Type != "" {
		if ref, err := source.CanonicalRef(spec.Ref); err != nil || ref != spec.Ref || !source.TraitsOf(spec.Kind).Refs {
			return refused("its ref is not one that this program writes")
		}
	}
	return nil
}

// localPath reports whether a source is an absolute path, on this platform or
// on the one that the file comes from.
func localPath(src string) bool {
	drive := len(src) > 2 && src[1] == ':' && (src[2] == '\\' || src[2] == '/') && (src[0]|0x20 >= 'a' && src[0]|0x20 <= 'z')
	return strings.HasPrefix(src, "/") || drive || strings.HasPrefix(src, `\\`)
}
