package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// linux unpacks Debian's sources of Linux 6.1 below scratch. The rules of its
// .gitignore that are Debian's, not Linux's, are taken out: they would leave out
// everything.
func linux(scratch string) (string, error) {
	for _, program := range []string{"apt-get", "dpkg", "tar", "xz"} {
		if _, err := exec.LookPath(program); err != nil {
			return "", fmt.Errorf("no program %s", program)
		}
	}
	dir := filepath.Join(scratch, "debian")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	do := func(name string, args ...string) error {
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", name, err, strings.TrimSpace(string(out)))
		}
		return nil
	}
	if err := do("apt-get", "download", "linux-source-6.1"); err != nil {
		return "", err
	}
	packages, err := filepath.Glob(filepath.Join(dir, "*.deb"))
	if err != nil || len(packages) != 1 {
		return "", fmt.Errorf("%d packages", len(packages))
	}
	if err := do("dpkg", "-x", packages[0], "."); err != nil {
		return "", err
	}
	if err := do("tar", "xf", "usr/src/linux-source-6.1.tar.xz"); err != nil {
		return "", err
	}
	tree := filepath.Join(dir, "linux-source-6.1")
	rules := filepath.Join(tree, ".gitignore")
	raw, err := os.ReadFile(rules)
	if err != nil {
		return "", err
	}
	lines := slices.DeleteFunc(strings.Split(string(raw), "\n"), func(l string) bool { return l == "/*" || l == "!/debian/" })
	return tree, os.WriteFile(rules, []byte(strings.Join(lines, "\n")), 0o644)
}

// feed copies files below dir to w until n bytes are written.
func feed(w io.Writer, dir string, n int64) {
	_ = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		if n <= 0 {
			return fs.SkipAll
		}
		f, err := os.Open(p)
		if err != nil {
			return nil
		}
		defer f.Close()
		k, err := io.Copy(w, io.LimitReader(f, min(n, 1<<20)))
		n -= k
		return err
	})
}
