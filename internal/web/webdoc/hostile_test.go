package webdoc

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// hostile are pages made to cost more than they hold; share makes them smaller.
func hostile(share int) map[string]string {
	many := func(s string, n int) string { return strings.Repeat(s, n/share) }
	ids := ""
	for i := range 500 {
		ids += fmt.Sprintf("<b id=%d><font color=%d><code class=c%d>", i, i, i)
	}
	var attrs strings.Builder
	attrs.WriteString("<div")
	for i := range 100_000 / share {
		fmt.Fprintf(&attrs, " a%d=1", i)
	}
	return map[string]string{
		"nested":      many("<div>", 300_000) + "text",
		"lists":       many("<ul><li>", 100_000) + "text",
		"quotes":      strings.Repeat("<blockquote>", 490) + many("word ", 400_000),
		"formatting":  ids + many("<p>x", 500_000),
		"links":       many("<a href=x><p>y", 200_000),
		"tables":      many("<table><tr><td>", 50_000) + "x",
		"rows":        "<table>" + many("<tr><td>a<td>b", 300_000),
		"fostered":    "<table>" + many("<p>x", 300_000),
		"attributes":  attrs.String() + ">text",
		"attribute":   `<div class="` + many("toc ", 1_000_000) + `">text</div>`,
		"ids":         many(`<h2 id=x>y</h2>`, 150_000),
		"terms":       many("<dl><dt id=a>b<dd>", 100_000),
		"code":        many("<pre><code>", 100_000) + "x",
		"unclosed":    many("<p", 2_000_000),
		"comments":    many("<!--", 1_000_000),
		"breadcrumbs": many(`<div class="breadcrumb toc"><ul><li>`, 50_000),
		"scripts":     many(`<script type="application/ld+json">[[[[`, 50_000),
		"json":        `<script type="application/ld+json">` + many("[", 100_000) + "</script>",
		"svg":         many("<svg><foreignObject>", 50_000) + "x",
		"entities":    many("&amp;&#x41;&lt;", 300_000),
	}
}

// TestHostile reads them in bounded time and memory.
func TestHostile(t *testing.T) {
	for name, page := range hostile(30) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := Read([]byte(page), "text/html", "https://site.example/", Options{MaxBytes: 1 << 20})
			if err != nil {
				t.Fatal(err)
			}
			if len(p.Markdown) > 1<<20 {
				t.Errorf("%d bytes of Markdown", len(p.Markdown))
			}
		})
	}
}

// BenchmarkHostile shows what each of them takes.
func BenchmarkHostile(b *testing.B) {
	for name, page := range hostile(1) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(page)))
			for b.Loop() {
				if _, err := Read([]byte(page), "text/html", "https://site.example/", Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRead reads the pages of testdata.
func BenchmarkRead(b *testing.B) {
	var pages [][]byte
	n := 0
	paths, _ := filepath.Glob("testdata/pages/*")
	for _, path := range paths {
		body, _ := os.ReadFile(path)
		pages = append(pages, body)
		n += len(body)
	}
	b.SetBytes(int64(n))
	for b.Loop() {
		for _, p := range pages {
			if _, err := Read(p, "text/html", "https://site.example/", Options{}); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// FuzzRead checks what holds of every page.
func FuzzRead(f *testing.F) {
	paths, _ := filepath.Glob("testdata/pages/*")
	for _, path := range paths {
		body, _ := os.ReadFile(path)
		f.Add(body, "text/html")
	}
	f.Add([]byte("# T\n\n[a](b)\n"), "text/markdown")
	f.Add([]byte("text\r\n# x"), "text/plain; charset=utf-16")
	f.Add(makePDF("Hello", ""), "application/pdf")
	f.Fuzz(func(t *testing.T, body []byte, contentType string) {
		if len(body) > 1<<16 {
			return
		}
		p, err := Read(body, contentType, "https://site.example/docs/v1/page", Options{MaxBytes: 1 << 16, MaxLinks: 50})
		if err != nil {
			if kb.CodeOf(err) == kb.Internal {
				t.Fatal(err)
			}
			return
		}
		if len(p.Markdown) > 1<<16 || len(p.Links) > 50 || !utf8.Valid(p.Markdown) || bytes.Contains(p.Markdown, []byte("\r\n")) {
			t.Fatalf("%d bytes, %d links: %q", len(p.Markdown), len(p.Links), p.Markdown)
		}
		if n := len(p.Markdown); n > 0 && p.Markdown[n-1] != '\n' {
			t.Fatalf("no newline at the end: %q", p.Markdown)
		}
		for _, l := range p.Links {
			if !strings.HasPrefix(l.URL, "http") {
				t.Fatalf("link %q", l.URL)
			}
		}
	})
}

// makePDF writes a PDF of one page that shows a line, its stream packed.
func makePDF(line, extra string) []byte {
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	fmt.Fprintf(z, "BT /F1 12 Tf 72 720 Td (%s) Tj 0 -14 Td (second line) Tj 0 -40 Td (# third) Tj ET%s", line, extra)
	z.Close()
	var b bytes.Buffer
	var at []int
	obj := func(s string) {
		at = append(at, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", len(at), s)
	}
	b.WriteString("%PDF-1.4\n")
	obj("<< /Type /Catalog /Pages 2 0 R >>")
	obj("<< /Type /Pages /Kids [3 0 R] /Count 1 >>")
	obj("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>")
	obj(fmt.Sprintf("<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream", packed.Len(), packed.String()))
	obj("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /FirstChar 32 /LastChar 126 /Widths [" + strings.Repeat("500 ", 95) + "] /Encoding /WinAnsiEncoding >>")
	obj("<< /Title (How to tie) /ModDate (D:20250102030405Z) >>")
	xref := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(at)+1)
	for _, o := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", o)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R /Info 6 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(at)+1, xref)
	return b.Bytes()
}

func TestPDF(t *testing.T) {
	p, err := Read(makePDF("First line", ""), "application/pdf", "https://site.example/a.pdf", Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := "# How to tie\n\n## Page 1 {#page=1}\n\nFirst line\nsecond line\n\n\\# third\n\n"
	if string(p.Markdown) != want || p.Title != "How to tie" || !p.Modified.Equal(time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)) {
		t.Errorf("%q, title %q, modified %v", p.Markdown, p.Title, p.Modified)
	}
}

// TestBadPDF: what is broken or unpacks without end is refused by name.
func TestBadPDF(t *testing.T) {
	good := makePDF("First line", "")
	bomb := makePDF("x", strings.Repeat(" ", pdfStream+1000))
	if len(bomb) > 200_000 {
		t.Fatalf("a bomb of %d bytes", len(bomb))
	}
	for name, c := range map[string]struct {
		body []byte
		code kb.Code
	}{
		"bomb":      {bomb, kb.TooLarge},
		"twice":     {bytes.Replace(good, []byte("/FlateDecode"), []byte("[/FlateDecode /FlateDecode]"), 1), kb.TooLarge},
		"cut":       {good[:len(good)/2], kb.Corrupt},
		"no pdf":    {[]byte("%PDF-1.4\nnothing"), kb.Corrupt},
		"own xref":  {bytes.Replace(good, []byte("/Root 1 0 R"), []byte("/Root 1 0 R /Prev 9"), 1), kb.Corrupt},
		"own pages": {bytes.Replace(good, []byte("/Kids [3 0 R]"), []byte("/Kids [2 0 R]"), 1), ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Read(c.body, "application/pdf", "https://site.example/a.pdf", Options{})
			if c.code == "" {
				return // any answer, in time
			}
			if err == nil || kb.CodeOf(err) != c.code {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestNestsArePages: pages of tags within tags are read to their end, whatever
// the parser makes of them.
func TestNestsArePages(t *testing.T) {
	const n = 100_000
	for name, body := range map[string]string{
		"divs":   strings.Repeat("<div>", n) + "walrus" + strings.Repeat("</div>", n),
		"spans":  strings.Repeat("<span>", n) + "walrus",
		"lists":  strings.Repeat("<ul><li>", n) + "walrus",
		"tables": strings.Repeat("<table><tr><td>", n) + "walrus",
		"ld":     `<script type="application/ld+json">` + strings.Repeat("[", n) + strings.Repeat("]", n) + "</script><p>walrus</p>",
	} {
		p, err := Read([]byte("<html><body>"+body+"</body></html>"), "text/html", "https://example.org/", Options{})
		if err != nil || string(p.Markdown) != "walrus\n" {
			t.Errorf("%s: %d bytes, %v", name, len(p.Markdown), err)
		}
	}
}
