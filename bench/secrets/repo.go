package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/seed-4f2d999b/knowledge/internal/platform/secret"
)

// look applies the rules to every text of the newest commit of a repository.
func look(dir, name string) (counts, error) {
	c := counts{kinds: map[string]int{}}
	if _, err := os.Stat(filepath.Join(dir, "repo")); err == nil {
		dir = filepath.Join(dir, "repo")
	}
	err := blobs(dir, func(path string, data []byte) {
		if len(data) > 1<<20 || bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0 || !utf8.Valid(data) {
			return
		}
		c.files++
		switch {
		case inSecretDir(path), secret.Name(path):
			c.byName++
			c.left = append(c.left, spot{path: name + ": " + path, why: "name"})
			return
		case secret.File(path, data):
			c.byContent++
			c.left = append(c.left, spot{path: name + ": " + path, why: "content"})
			return
		}
		found := secret.Find(path, string(data))
		if len(found) > 0 {
			c.masked++
		}
		c.places += len(found)
		for _, m := range found {
			c.kinds[m.Kind]++
			start := bytes.LastIndexByte(data[:m.From], '\n') + 1
			end := min(len(data), m.To+20)
			c.spots = append(c.spots, spot{fmt.Sprintf("%s: %s:%d", name, path, bytes.Count(data[:m.From], []byte("\n"))+1), m.Kind, strings.Join(strings.Fields(string(data[max(start, m.From-80):end])), " ")})
		}
	})
	return c, err
}

func inSecretDir(path string) bool {
	parts := strings.Split(path, "/")
	for _, d := range parts[:len(parts)-1] {
		if secret.Dir(d) {
			return true
		}
	}
	return false
}

// blobs calls f with every file of the commit at HEAD.
func blobs(dir string, f func(path string, data []byte)) error {
	list, err := exec.Command("git", "-C", dir, "ls-tree", "-r", "-z", "HEAD").Output()
	if err != nil {
		return fmt.Errorf("git ls-tree: %w", err)
	}
	var hashes, paths []string
	for line := range strings.SplitSeq(string(list), "\x00") {
		meta, path, ok := strings.Cut(line, "\t")
		if field := strings.Fields(meta); ok && field[1] == "blob" && field[0] != "120000" {
			hashes, paths = append(hashes, field[2]), append(paths, path)
		}
	}
	cat := exec.Command("git", "-C", dir, "cat-file", "--batch")
	cat.Stdin = strings.NewReader(strings.Join(hashes, "\n") + "\n")
	out, err := cat.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cat.Start(); err != nil {
		return err
	}
	in := bufio.NewReaderSize(out, 1<<20)
	for _, path := range paths {
		head, err := in.ReadString('\n')
		if err != nil {
			return err
		}
		var hash, kind string
		var size int
		if _, err := fmt.Sscan(head, &hash, &kind, &size); err != nil {
			continue // "missing": a partial clone
		}
		data := make([]byte, size+1)
		if _, err := io.ReadFull(in, data); err != nil {
			return err
		}
		f(path, data[:size])
	}
	return cat.Wait()
}
