// Package page is the face that people look at in a browser: a program for
// browsers, written in src and built into built, which asks the commands of
// httpapi and nothing else.
//
// The files hold nothing of anybody's, so they are served without the token,
// which the page takes from the fragment of the address it was opened with.
// What the page shows comes from strangers: it puts it in as text, and its
// policy lets no script, style, frame or address from outside act in it.
//
// The view is chosen from the path by the page, so every path of a view gets
// the same document.
package page

import (
	"bytes"
	"compress/gzip"
	"embed"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/platform/httpguard"
)

// built is made of src by build.mjs: index.html and what it loads, under names
// that hold a hash of what is in them. SOURCES has the hashes of what it was
// made of, which a test compares.
//
//go:embed built
var built embed.FS

// views are the first parts of the paths that show something; routes.ts has them too.
var views = []string{"search", "read", "at", "ask", "stores", "jobs", "specs", "graph", "evidence", "answers", "status"}

// policy is what the page may do: load its own files, ask its own server, and
// make no HTML of strings. "worker" is the one address that a script is started
// at, which the page makes itself.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; worker-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types worker"

// Handlers returns what serves the page, by patterns of http.ServeMux. The
// guard checks the Host header.
func Handlers(guard *httpguard.Guard) map[string]http.Handler {
	open := func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, err := guard.Check(r, httpguard.Open); err != nil {
				http.Error(w, err.Error(), http.StatusForbidden)
				return
			}
			h.ServeHTTP(w, r)
		})
	}
	document := open(file("index.html"))
	all := map[string]http.Handler{"GET /{$}": document}
	for _, v := range views {
		all["GET /"+v] = document
		all["GET /"+v+"/"] = document
	}
	entries, _ := fs.ReadDir(built, "built") // compiled in
	for _, e := range entries {
		if e.Name() != "index.html" && e.Name() != "SOURCES" {
			all["GET /assets/"+e.Name()] = open(file(e.Name()))
		}
	}
	return all
}

// file serves one file of built, compressed for those that take it so.
func file(name string) http.Handler {
	raw, _ := built.ReadFile("built/" + name) // compiled in; a test asks for each
	packed := sync.OnceValue(func() []byte {
		var b bytes.Buffer
		z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level is one
		z.Write(raw)
		z.Close()
		return b.Bytes()
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
		h.Set("Content-Security-Policy", policy)
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Vary", "Accept-Encoding")
		if name != "index.html" { // its name changes with it
			h.Set("Cache-Control", "public, max-age=31536000, immutable")
		}
		body := raw
		if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			h.Set("Content-Encoding", "gzip")
			body = packed()
		}
		http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(body))
	})
}
