package main

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
)

// debianCrates is where Debian's packages of Rust libraries put their sources.
const debianCrates = "/usr/share/cargo/registry"

// rust builds the reference program for Rust with syn, as Debian packages it
// (librust-syn-dev): without a network.
func rust(here, scratch string) ([]string, string) {
	if _, err := exec.LookPath("cargo"); err != nil {
		return nil, "no program cargo on the PATH"
	}
	if m, _ := filepath.Glob(filepath.Join(debianCrates, "syn-*")); len(m) == 0 {
		return nil, "no crate syn in " + debianCrates + " (package librust-syn-dev)"
	}
	dir := filepath.Join(scratch, "rust-reference")
	main, err := os.ReadFile(filepath.Join(here, "rust", "main.rs"))
	if err != nil {
		return nil, err.Error()
	}
	for name, text := range map[string]string{
		"src/main.rs":        string(main),
		"Cargo.toml":         "[package]\nname = \"symbols\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[dependencies]\nsyn = { version = \"1\", features = [\"full\", \"visit\"] }\nproc-macro2 = { version = \"1\", features = [\"span-locations\"] }\n",
		".cargo/config.toml": "[source.crates-io]\nreplace-with = \"debian\"\n[source.debian]\ndirectory = \"" + debianCrates + "\"\n",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return nil, err.Error()
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return nil, err.Error()
		}
	}
	if _, err := lab.Command(dir, nil, "cargo", "build", "--offline", "--release", "--quiet"); err != nil {
		return nil, "the reference cannot be built: " + err.Error()
	}
	return []string{filepath.Join(dir, "target", "release", "symbols")}, ""
}

var cRepos = []string{"redis/redis", "nginx/nginx", "jqlang/jq", "memcached/memcached", "nghttp2/nghttp2"}

// generatedC matches what flex and bison write, and headers of nghttp2 that
// are C++.
var generatedC = regexp.MustCompile(`(lexer|parser)\.[ch]$|^src/(shrpx|h2load|nghttp)[^/]*\.h$`)

// libclang returns the reference program for C. It reads files where they lie,
// among their headers.
func libclang(here, scratch string) ([]string, string) {
	const python = "/usr/bin/python3" // Debian's, for which its bindings are
	if _, err := lab.Command("", nil, python, "-c", "from clang import cindex; cindex.Index.create()"); err != nil {
		return nil, "no bindings of libclang (package python3-clang)"
	}
	checkouts := filepath.Join(scratch, "checkouts")
	for _, repo := range cRepos {
		git, err := checkout(repo, scratch, flag.Lookup("mirror").Value.String())
		if err != nil {
			return nil, repo + " cannot be had: " + err.Error()
		}
		dir := filepath.Join(checkouts, strings.ReplaceAll(repo, "/", "+"))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err.Error()
		}
		if _, err := lab.Command("", nil, "git", "-C", git, "archive", "-o", dir+".tar", "HEAD"); err != nil {
			return nil, repo + " cannot be read: " + err.Error()
		}
		if _, err := lab.Command(dir, nil, "tar", "-xf", dir+".tar"); err != nil {
			return nil, repo + " cannot be unpacked: " + err.Error()
		}
	}
	return []string{python, filepath.Join(here, "reference_clang.py"), filepath.Join(scratch, "C"), checkouts}, ""
}
