package crawltest

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
)

// breaks serves answers that break off, that are too large, or that are no page.
func (s *Site) breaks(w *recorder, req *http.Request, parts []string, count int) bool {
	switch parts[0] {
	case "huge":
		w.Header().Set("Content-Type", "text/html")
		chunk := []byte("<p>" + prose(s.rng(-10000), 10000, nil) + "</p>\n")
		for range 400 { // about 26 MB
			if _, err := w.Write(chunk); err != nil {
				return true
			}
		}
	case "bomb":
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Content-Encoding", "gzip")
		g := gzip.NewWriter(w)
		zeros := make([]byte, 1<<20)
		for range 512 {
			if _, err := g.Write(zeros); err != nil {
				return true
			}
		}
		g.Close()
	case "flaky":
		if count < 3 {
			http.Error(w, "not now", http.StatusBadGateway)
			return true
		}
		s.html(w, req, "Flaky", s.own("Flaky", -11000, 150), nil, "")
	case "broken":
		switch parts[len(parts)-1] {
		case "500":
			http.Error(w, "broken", http.StatusInternalServerError)
		case "reset":
			if c, _, err := w.ResponseWriter.(http.Hijacker).Hijack(); err == nil {
				c.Close()
			}
		default:
			w.Header().Set("Content-Type", "text/html")
			w.Header().Set("Content-Length", "100000")
			io.WriteString(w, "<p>begun")
			w.Flush()
			panic(http.ErrAbortHandler)
		}
	case "deep":
		s.html(w, req, "Deep", s.own("Deep", -13000-len(parts), 80), []link{{"deep/", "Deeper"}}, "")
	case "files":
		w.Header().Set("Content-Type", "image/png")
		w.Write(bytes.Repeat([]byte{0x89, 'P', 'N', 'G'}, 1000))
	default:
		return false
	}
	return true
}

// own makes the main text of a page outside the ordinary ones.
func (s *Site) own(title string, seed, words int) string {
	return fmt.Sprintf("<h1>%s</h1>\n<p>%s</p>", title, prose(s.rng(seed), words, nil))
}
