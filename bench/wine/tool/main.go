// Command tool stands in for the programs of Windows that the launcher uses and
// Wine lacks: it is curl, tar, certutil or go, by the name it is called by, and
// knows of each what the launcher asks for.
package main

import (
	"archive/zip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	tools := map[string]func(args []string) error{"curl": curl, "tar": tar, "certutil": certutil, "go": build}
	name := strings.TrimSuffix(strings.ToLower(filepath.Base(os.Args[0])), ".exe")
	do, ok := tools[name]
	if !ok {
		fmt.Fprintf(os.Stderr, "tool: called as %q\n", name)
		os.Exit(2)
	}
	if err := do(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}

// after returns the argument after flag.
func after(args []string, flag string) string {
	if i := slices.Index(args, flag); i >= 0 && i+1 < len(args) {
		return args[i+1]
	}
	return ""
}

func save(path string, from io.Reader) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if _, err := io.Copy(f, from); err != nil {
		return errors.Join(err, f.Close())
	}
	return f.Close()
}

// curl … -o FILE URL
func curl(args []string) error {
	res, err := http.Get(args[len(args)-1])
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return errors.New(res.Status)
	}
	return save(after(args, "-o"), res.Body)
}

// tar -xf ZIP -C FOLDER NAME
func tar(args []string) error {
	z, err := zip.OpenReader(after(args, "-xf"))
	if err != nil {
		return err
	}
	defer z.Close()
	name := args[len(args)-1]
	f, err := z.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return save(filepath.Join(after(args, "-C"), name), f)
}

// certutil -hashfile FILE SHA256
func certutil(args []string) error {
	f, err := os.Open(args[1])
	if err != nil {
		return err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return err
	}
	fmt.Printf("SHA256 hash of %s:\r\n%x\r\nCertUtil: -hashfile command completed successfully.\r\n", args[1], h.Sum(nil))
	return nil
}

// go build … -o FILE ./cmd/knowledge takes $STAND_IN for what it builds. It is
// too old for a go.mod that asks for Go 9.
func build(args []string) error {
	if mod, err := os.ReadFile("go.mod"); err != nil || strings.Contains(string(mod), "\ngo 9") {
		return fmt.Errorf("go.mod requires go >= 9.0.0 (running go 1.26.0; GOTOOLCHAIN=local) %v", err)
	}
	f, err := os.Open(os.Getenv("STAND_IN"))
	if err != nil {
		return err
	}
	defer f.Close()
	return save(after(args, "-o"), f)
}
