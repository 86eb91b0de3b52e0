// Command releasefiles makes the files of a release that GoReleaser does not:
//
//	releasefiles bundle GOOS GOARCH PROGRAM DIR
//	releasefiles channels DIST
//
// The first, run after each platform's build, puts the platform's MCP bundle,
// Gemini extension and pinned program into DIR, so that the release's checksums cover them.
// The second, run after the release is built, reads DIST/checksums.txt and the
// archives beside it and makes DIST/channels:
//
//	homebrew/knowledge.rb  for the tap
//	scoop/knowledge.json   for the bucket
//	server.json            for the MCP registry
//	npm/*                  folders to publish: six with the program, then wrapper
//	docker/                the context of packaging/Dockerfile
//	plugin/                what the plugin's commit after the release changes
//
// It runs in the root of the repository. The same commit gives the same bytes.
package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/face/packaging"
)

func main() {
	var err error
	switch args := os.Args[1:]; {
	case len(args) == 5 && args[0] == "bundle":
		err = bundle(args[1], args[2], args[3], args[4])
	case len(args) == 2 && args[0] == "channels":
		err = channels(args[1])
	default:
		fmt.Fprintln(os.Stderr, "usage: releasefiles bundle GOOS GOARCH PROGRAM DIR | releasefiles channels DIST")
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "releasefiles:", err)
		os.Exit(1)
	}
}

// licences go with every program.
func licences() (map[string][]byte, error) {
	texts := map[string][]byte{}
	for _, n := range []string{"LICENSE", "NOTICE"} {
		b, err := os.ReadFile(n)
		if err != nil {
			return nil, fmt.Errorf("%w; run it in the root of the repository", err)
		}
		texts[n] = b
	}
	return texts, nil
}

func bundle(goos, goarch, program, dir string) error {
	texts, err := licences()
	if err != nil {
		return err
	}
	b, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	for _, p := range packaging.Platforms {
		if p.OS != goos || p.Arch != goarch {
			continue
		}
		files, err := packaging.Bundles(p, command.Version, b, texts)
		if err != nil {
			return err
		}
		return writeAll(dir, files)
	}
	return fmt.Errorf("releases have no platform %s/%s", goos, goarch)
}

func channels(dist string) error {
	text, err := os.ReadFile(filepath.Join(dist, "checksums.txt"))
	if err != nil {
		return err
	}
	sums, err := packaging.ParseSums(text)
	if err != nil {
		return err
	}
	texts, err := licences()
	if err != nil {
		return err
	}
	files, err := packaging.Channels(command.Version, sums)
	if err != nil {
		return err
	}
	for to, from := range map[string]string{"npm/wrapper/knowledge.js": "packaging/npm/knowledge.js"} {
		if files[to], err = os.ReadFile(from); err != nil {
			return err
		}
	}
	for n, b := range texts {
		files["docker/"+n] = b
		files["npm/wrapper/"+n] = b
	}
	if files["docker/ca-certificates.crt"], err = certificates(); err != nil {
		return err
	}
	files["plugin/.claude-plugin/checksums.txt"] = text
	manifest, err := os.ReadFile(".claude-plugin/plugin.json")
	if err != nil {
		return err
	}
	if files["plugin/.claude-plugin/plugin.json"], err = packaging.PinnedPlugin(manifest, sums); err != nil {
		return err
	}
	programs := map[string][]byte{}
	for _, p := range packaging.Platforms {
		b, err := program(dist, p, sums)
		if err != nil {
			return err
		}
		npm := "npm/" + p.NodeOS + "-" + p.NodeArch + "/"
		programs[npm+p.Binary()] = b
		for n, b := range texts {
			files[npm+n] = b
		}
		if p.OS == "linux" {
			programs["docker/linux/"+p.Arch+"/"+p.Binary()] = b
		}
	}
	to := filepath.Join(dist, "channels")
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	if err := writeAll(to, files); err != nil {
		return err
	}
	for n, b := range programs {
		if err := write(filepath.Join(to, filepath.FromSlash(n)), b, 0o755); err != nil {
			return err
		}
	}
	return os.MkdirAll(filepath.Join(to, "docker", "empty"), 0o755)
}

// program returns the program of a platform out of its archive, which it
// compares with the checksum first.
func program(dist string, p packaging.Platform, sums packaging.Sums) ([]byte, error) {
	archive := p.Archive(command.Version)
	b, err := os.ReadFile(filepath.Join(dist, archive))
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(b); hex.EncodeToString(sum[:]) != sums[archive] {
		return nil, fmt.Errorf("%s is not what checksums.txt says", archive)
	}
	b, err = member(b, p.Binary())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", archive, err)
	}
	return b, nil
}

// member returns one file of a zip or a compressed tar.
func member(archive []byte, name string) ([]byte, error) {
	if z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive))); err == nil {
		f, err := z.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return io.ReadAll(f)
	}
	z, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil, err
	}
	t := tar.NewReader(z)
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("no %s in it", name)
		}
		if err != nil {
			return nil, err
		}
		if h.Name == name {
			return io.ReadAll(t)
		}
	}
}

// certificates returns the authorities that this machine trusts: an image made
// from nothing has none, and stores of repositories and sites need them.
func certificates() ([]byte, error) {
	places := []string{"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"}
	for _, p := range places {
		if b, err := os.ReadFile(p); err == nil {
			return b, nil
		}
	}
	return nil, fmt.Errorf("no certificates of authorities at %v; install the package ca-certificates", places)
}

func writeAll(dir string, files map[string][]byte) error {
	for n, b := range files {
		if err := write(filepath.Join(dir, filepath.FromSlash(n)), b, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func write(path string, b []byte, mode os.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, b, mode)
}
