package packaging

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"
)

// entry is one file of an archive.
type entry struct {
	name       string
	data       []byte
	executable bool
}

// Bundles returns the files that carry a platform's program to clients which
// fetch it themselves: its MCP bundle, its Gemini extension and, where the
// plugin pins it, the program itself, by file name.
// The same program and texts give the same bytes. texts are further files by
// name: the licences.
func Bundles(p Platform, version string, program []byte, texts map[string][]byte) (map[string][]byte, error) {
	var licences []entry
	for _, n := range []string{"LICENSE", "NOTICE"} {
		b, ok := texts[n]
		if !ok {
			return nil, fmt.Errorf("no %s to put beside the program", n)
		}
		licences = append(licences, entry{name: n, data: b})
	}
	files := map[string][]byte{}
	for file, entries := range map[string][]entry{
		p.Bundle(version): {{name: "manifest.json", data: mcpbManifest(p, version)}, {"server/" + p.Binary(), program, true}},
		p.Extension():     {{name: "gemini-extension.json", data: geminiExtension(p, version)}, {p.Binary(), program, true}},
	} {
		write := writeZip
		if strings.HasSuffix(file, ".tar.gz") {
			write = writeTar
		}
		var b bytes.Buffer
		if err := write(&b, append(entries, licences...)); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		files[file] = b.Bytes()
	}
	files[p.Pinned()] = program
	return files, nil
}

// epoch is the time of every file: the first that a zip can hold.
var epoch = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

func (e entry) mode() fs.FileMode {
	if e.executable {
		return 0o755
	}
	return 0o644
}

func writeZip(to io.Writer, entries []entry) error {
	w := zip.NewWriter(to)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: epoch}
		h.SetMode(e.mode())
		f, err := w.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := f.Write(e.data); err != nil {
			return err
		}
	}
	return w.Close()
}

func writeTar(to io.Writer, entries []entry) error {
	z, err := gzip.NewWriterLevel(to, gzip.BestCompression)
	if err != nil {
		return err
	}
	w := tar.NewWriter(z)
	for _, e := range entries {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: e.name, Size: int64(len(e.data)), Mode: int64(e.mode()), ModTime: epoch, Uname: "root", Gname: "root"}
		if err := w.WriteHeader(h); err != nil {
			return err
		}
		if _, err := w.Write(e.data); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return z.Close()
}
