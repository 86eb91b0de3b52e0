package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"

	"github.com/seed-4f2d999b/knowledge/internal/command"
)

const modulePath = "github.com/seed-4f2d999b/knowledge"

// serve starts the stand-in for all servers of a release, on one port:
//
//	/releases/v1.2.3/FILE  a release on GitHub
//	/npm/                  the npm registry
//	/go/                   the Go module proxy
func (l *trial) serve() (stop func(), err error) {
	mux := http.NewServeMux()
	for _, dir := range []string{l.dist, filepath.Join(l.dist, "bundles"), filepath.Join(l.source, "packaging")} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if !e.IsDir() {
				path := filepath.Join(dir, e.Name())
				mux.HandleFunc("/releases/v"+command.Version+"/"+e.Name(), func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, path) })
			}
		}
	}
	if err := l.serveNpm(mux); err != nil {
		return nil, err
	}
	if err := l.serveGo(mux); err != nil {
		return nil, err
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	l.base = "http://" + ln.Addr().String()
	server := &http.Server{Handler: mux}
	go func() { _ = server.Serve(ln) }()
	return func() { _ = server.Close() }, nil
}

// serveNpm answers for the packages of the release as the npm registry does:
// https://github.com/npm/registry/blob/main/docs/responses/package-metadata.md
func (l *trial) serveNpm(mux *http.ServeMux) error {
	entries, err := os.ReadDir(l.channel("npm"))
	if err != nil {
		return err
	}
	tarballs := filepath.Join(l.scratch, "npm-registry")
	if err := os.MkdirAll(tarballs, 0o755); err != nil {
		return err
	}
	packuments := map[string]func(base string) any{}
	for _, e := range entries {
		manifest, err := os.ReadFile(l.channel("npm", e.Name(), "package.json"))
		if err != nil {
			return err
		}
		var m map[string]any
		if err := json.Unmarshal(manifest, &m); err != nil {
			return err
		}
		name, _ := m["name"].(string)
		version, _ := m["version"].(string)
		tarball, err := pack(l.channel("npm", e.Name()))
		if err != nil {
			return err
		}
		file := strings.NewReplacer("@", "", "/", "-").Replace(name) + "-" + version + ".tgz"
		if err := os.WriteFile(filepath.Join(tarballs, file), tarball, 0o644); err != nil {
			return err
		}
		sum := sha512.Sum512(tarball)
		packuments[name] = func(base string) any {
			m["dist"] = map[string]any{"tarball": base + "/npm/-/" + file, "integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:])}
			return map[string]any{"name": name, "dist-tags": map[string]string{"latest": version}, "versions": map[string]any{version: m}}
		}
	}
	mux.Handle("/npm/-/", http.StripPrefix("/npm/-/", http.FileServer(http.Dir(tarballs))))
	mux.HandleFunc("/npm/", func(w http.ResponseWriter, r *http.Request) {
		p, ok := packuments[strings.TrimPrefix(r.URL.Path, "/npm/")]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(p(l.base))
	})
	return nil
}

// pack makes the tarball of an npm package: its files below package/.
func pack(dir string) ([]byte, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		st, err := e.Info()
		if err != nil {
			return nil, err
		}
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "package/" + e.Name(), Size: int64(len(data)), Mode: int64(st.Mode().Perm())}); err != nil {
			return nil, err
		}
		if _, err := w.Write(data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// serveGo answers for our module as a proxy does: https://go.dev/ref/mod#goproxy-protocol
func (l *trial) serveGo(mux *http.ServeMux) error {
	version := "v" + command.Version
	var b bytes.Buffer
	if err := zip.CreateFromVCS(&b, module.Version{Path: modulePath, Version: version}, l.source, "HEAD", ""); err != nil {
		return err
	}
	gomod, err := os.ReadFile(filepath.Join(l.source, "go.mod"))
	if err != nil {
		return err
	}
	info := fmt.Appendf(nil, "{\"Version\":%q,\"Time\":\"2026-01-01T00:00:00Z\"}", version)
	for file, data := range map[string][]byte{
		"@v/list": []byte(version + "\n"), "@latest": info,
		"@v/" + version + ".info": info, "@v/" + version + ".mod": gomod, "@v/" + version + ".zip": b.Bytes(),
	} {
		mux.HandleFunc("/go/"+modulePath+"/"+file, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(data) })
	}
	return nil
}
