package webdoc

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ledongthuc/pdf"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Limits of a PDF: what its streams may hold when they are unpacked, one of
// them and all together; how often over the file may be read; how long.
const (
	pdfStream  = 32 << 20
	pdfStreams = 256 << 20
	pdfReads   = 200
	pdfTime    = 20 * time.Second
)

// readPDF reads the text of a PDF, a section a page with the anchor that
// browsers understand, "#page=3". The library panics on much that is wrong and
// unpacks without a limit: streams are measured before it sees them, and what
// it reads is counted and timed, so that no loop lasts.
func readPDF(body []byte, o Options) (p Page, err error) {
	if err := inflatable(body); err != nil {
		return Page{}, err
	}
	defer func() {
		if v := recover(); v != nil {
			if len(p.Markdown) > 0 { // the pages before the broken one
				p.Truncated, err = true, nil
				return
			}
			p, err = Page{}, kb.Errorf(kb.Corrupt, "the PDF cannot be read: %v", kb.Cut(fmt.Sprint(v), 200))
		}
	}()
	src := &metered{r: bytes.NewReader(body), left: int64(len(body))*pdfReads + 1<<20, until: time.Now().Add(pdfTime)}
	doc, err := pdf.NewReader(src, int64(len(body)))
	if errors.Is(err, pdf.ErrInvalidPassword) {
		return Page{}, kb.Errorf(kb.Unsupported, "the PDF is encrypted").WithHint("crawl a copy that needs no password")
	}
	if err != nil {
		return Page{}, kb.Errorf(kb.Corrupt, "the PDF cannot be read: %s", kb.Cut(err.Error(), 200))
	}
	p.Title = strings.TrimSpace(doc.Trailer().Key("Info").Key("Title").Text())
	p.Modified = pdfDate(doc.Trailer().Key("Info").Key("ModDate").Text())
	n := doc.NumPage()
	if n > o.MaxPages {
		n, p.Truncated = o.MaxPages, true
	}
	for i := 1; i <= n && len(p.Markdown) < o.MaxBytes; i++ {
		if text := pdfPage(doc, i); text != "" {
			p.Markdown = fmt.Appendf(p.Markdown, "## Page %d {#page=%d}\n\n%s\n", i, i, text)
		}
	}
	if p.Title != "" && len(p.Markdown) > 0 {
		p.Markdown = append([]byte("# "+oneLine(p.Title, 300)+"\n\n"), p.Markdown...)
	}
	if len(p.Markdown) > o.MaxBytes {
		p.Markdown, p.Truncated = append(bytes.ToValidUTF8(p.Markdown[:o.MaxBytes-1], nil), '\n'), true
	}
	return p, nil
}

// pdfPage returns the text of one page by lines, with a blank line where a
// paragraph ends; "" when it cannot be read.
func pdfPage(doc *pdf.Reader, i int) (text string) {
	defer func() {
		if v := recover(); v != nil {
			if _, ok := v.(spent); ok {
				panic(v)
			}
			text = ""
		}
	}()
	chars := doc.Page(i).Content().Text
	if len(chars) > 200_000 {
		chars = chars[:200_000]
	}
	type line struct {
		y, size, end float64
		text         strings.Builder
	}
	var lines []*line
	var now *line
	for _, c := range chars {
		size := math.Max(math.Abs(c.FontSize), 1)
		if now == nil || math.Abs(c.Y-now.y) > size*0.4 || c.X < now.end-3*size {
			now = &line{y: c.Y, size: size}
			lines = append(lines, now)
		} else if c.X-now.end > size*0.15 && c.S != " " {
			now.text.WriteByte(' ')
		}
		now.text.WriteString(c.S)
		now.end = c.X + c.W
		now.size = math.Max(now.size, size)
	}
	// The usual distance between lines; a larger one ends a paragraph.
	var steps []float64
	for j := 1; j < len(lines); j++ {
		if d := lines[j-1].y - lines[j].y; d > 0 {
			steps = append(steps, d)
		}
	}
	slices.Sort(steps)
	usual := math.Inf(1)
	if len(steps) > 0 {
		usual = steps[(len(steps)-1)/2]
	}
	var b strings.Builder
	for j, l := range lines {
		s := strings.Join(strings.Fields(strings.ToValidUTF8(strings.ReplaceAll(l.text.String(), "\x00", ""), "")), " ")
		if s == "" {
			continue
		}
		if j > 0 && math.Abs(lines[j-1].y-l.y) > usual*1.4 && b.Len() > 0 {
			b.WriteByte('\n')
		}
		if special(strings.Fields(s)[0]) {
			b.WriteByte('\\')
		}
		b.WriteString(s)
		b.WriteByte('\n')
	}
	return b.String()
}

// inflatable refuses a file whose packed streams are larger, unpacked, than
// the limits, and one that packs twice, whose size only unpacking shows.
func inflatable(body []byte) error {
	if bytes.Contains(body, []byte("/FlateDecode/FlateDecode")) || bytes.Contains(body, []byte("/FlateDecode /FlateDecode")) {
		return kb.Errorf(kb.TooLarge, "the PDF packs a stream twice")
	}
	total := int64(0)
	for at := 0; ; {
		i := bytes.Index(body[at:], []byte("stream"))
		if i < 0 {
			return nil
		}
		at += i + len("stream")
		rest := bytes.TrimLeft(body[at:min(len(body), at+2)], "\r\n")
		start := min(len(body), at+2) - len(rest)
		z, err := zlib.NewReader(bytes.NewReader(body[start:]))
		if err != nil {
			continue
		}
		n, _ := io.Copy(io.Discard, io.LimitReader(z, pdfStream+1))
		if total += n; n > pdfStream || total > pdfStreams {
			return kb.Errorf(kb.TooLarge, "the PDF unpacks to more than %d MB", pdfStream>>20)
		}
	}
}

// metered is a file that ends the reading, by a panic with spent, when it has
// been read too much or for too long.
type metered struct {
	r     *bytes.Reader
	left  int64
	until time.Time
}

type spent string

func (m *metered) ReadAt(p []byte, off int64) (int, error) {
	if m.left -= int64(len(p)) + 64; m.left < 0 {
		panic(spent("it refers to itself without end"))
	}
	if time.Now().After(m.until) {
		panic(spent("it takes too long"))
	}
	if off < 0 {
		return 0, io.ErrUnexpectedEOF
	}
	return m.r.ReadAt(p, off)
}

// pdfDate reads "D:20240131120000+01'00'".
func pdfDate(s string) time.Time {
	s = strings.TrimPrefix(s, "D:")
	if len(s) < 8 {
		return time.Time{}
	}
	for _, n := range []int{14, 8} {
		if len(s) >= n {
			if t, err := time.Parse("20060102150405"[:n], s[:n]); err == nil {
				return t
			}
		}
	}
	return time.Time{}
}
