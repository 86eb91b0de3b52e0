package terms

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestOf(t *testing.T) {
	tests := []struct{ text, want string }{
		{"parseHTTPHeader", "pars http header parsehttpheader"},
		{"max_retries", "max retry max_retries"},
		{"URLs", "url"},
		{"userIDs", "user id userids"},
		{"utf8", "utf utf8"},
		{"Parsing parsed parses parse", "pars"},
		{"parser", "parser"},
		{"stopped stopping stops", "stop"},
		{"class pass bus this", "class pass bus this"},
		{"0x7FFF 12", "0x7fff 12"},
		{"_private __init__", "privat init"},
		{"señal configuración", "senal configuracion"},
		{"naïve_Bayes", "naiv bay naive_bayes"},
		{"日本語", "日本 本語"},
		{"東", "東"},
		{"привет Мир", "привет мир"},
		{"x := a[i]", "x a i"},
		{"", ""},
	}
	for _, tt := range tests {
		if got := strings.Join(Of(tt.text), " "); got != tt.want {
			t.Errorf("Of(%q) = %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestWordsLeavesWholesOut(t *testing.T) {
	want := []string{"http", "server", "conn", "test"}
	if diff := cmp.Diff(want, Words("httpServer_conn.test")); diff != "" {
		t.Error(diff)
	}
}

func FuzzScan(f *testing.F) {
	for _, s := range []string{"parseHTTPHeader", "日本語x", "é_é", "\xff\xfe", strings.Repeat("a", 200), strings.Repeat("é", 100)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			t.Skip()
		}
		var s Scanner
		s.Scan(text, func(b []byte, _ bool) {
			if len(b) == 0 || len(b) > MaxLen {
				t.Fatalf("term of %d bytes", len(b))
			}
			if !utf8.Valid(b) {
				t.Fatalf("term %q is not UTF-8", b)
			}
		})
	})
}

func BenchmarkScan(b *testing.B) {
	text := strings.Repeat("func (s *Server) parseHTTPHeader(r *bufio.Reader) (max_len int, err error) {\n", 100)
	b.SetBytes(int64(len(text)))
	var s Scanner
	for b.Loop() {
		n := 0
		s.Scan(text, func([]byte, bool) { n++ })
	}
}

func TestEdits(t *testing.T) {
	for _, c := range []struct {
		a, b string
		most int
		want int
	}{
		{"parser", "parser", 2, 0},
		{"paresr", "parser", 2, 1},
		{"parsr", "parser", 2, 1},
		{"parsser", "parser", 2, 1},
		{"psrsar", "parser", 2, 2},
		{"max_retries", "maxretries", 1, 0},
		{"maxretreis", "max_retries", 1, 1},
		{"parser", "printer", 2, 3},
		{"parser", "pars", 1, 2},
		{"", "", 1, 0},
	} {
		if got := Edits(c.a, c.b, c.most); got != c.want {
			t.Errorf("%q %q within %d: %d, not %d", c.a, c.b, c.most, got, c.want)
		}
		if got := Edits(c.b, c.a, c.most); got != c.want {
			t.Errorf("%q %q within %d: %d, not %d", c.b, c.a, c.most, got, c.want)
		}
	}
}
