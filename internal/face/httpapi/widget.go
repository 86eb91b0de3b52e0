package httpapi

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"net/http"
	"time"
)

// The widget is a module for pages, web/widget.js, and the view of answers that
// it shows, web/answer.js, which other pages of ours show too. They load nothing
// else, and put text into a page as text.
//
//go:embed web/*.js
var webFiles embed.FS

// webNames are the files, and where they are served.
var webNames = []string{"widget.js", "answer.js"}

// widgetRoutes serves the files, to pages of any origin: they are the same for
// everybody.
func widgetRoutes(mux *http.ServeMux, allowed func(http.ResponseWriter, *http.Request) bool) {
	for _, name := range webNames {
		text, err := webFiles.ReadFile("web/" + name)
		if err != nil {
			continue // they are compiled in; a test asks for each
		}
		sum := sha256.Sum256(text)
		tag := `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
		mux.HandleFunc("GET /"+name, func(w http.ResponseWriter, r *http.Request) {
			if !allowed(w, r) {
				return
			}
			h := w.Header()
			h.Set("Content-Type", "text/javascript; charset=utf-8")
			h.Set("Cache-Control", "public, max-age=600")
			h.Set("Access-Control-Allow-Origin", "*") // modules are asked for so
			h.Set("Cross-Origin-Resource-Policy", "cross-origin")
			h.Set("ETag", tag)
			http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(text))
		})
	}
}
