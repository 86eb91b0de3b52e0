package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/command"
)

// launcher tries the program as it is released, by itself and by
// bin/knowledge.cmd, in the order of its header. A row is a step, whether it went
// as expected, how many archives were fetched until then, and what was said. Wine
// has none of curl, tar and certutil, so the command tool stands in for them;
// what Windows itself does stays untried.
func launcher(wine, tmp, prefix string, env []string) (rows [][]string, failed int, _ error) {
	tools, plugin := filepath.Join(tmp, "tools"), filepath.Join(tmp, "my plugin")
	for _, d := range []string{tools, filepath.Join(plugin, "bin"), filepath.Join(plugin, ".claude-plugin"), filepath.Join(plugin, "cmd", "knowledge"), filepath.Join(tmp, "path")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return nil, 0, err
		}
	}
	program := filepath.Join(tmp, "knowledge.exe")
	for to, pkg := range map[string][2]string{program: {".", "./cmd/knowledge"}, filepath.Join(tools, "curl.exe"): {"bench", "./wine/tool"}} {
		build := exec.Command("go", "build", "-C", pkg[0], "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", to, pkg[1])
		build.Env = append(os.Environ(), "GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			return nil, 0, fmt.Errorf("%s: %w: %s", pkg[1], err, out)
		}
	}
	put := func(from string, to ...string) error {
		b, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to...), b, 0o755)
	}
	for _, name := range []string{"tar.exe", "certutil.exe"} {
		if err := put(filepath.Join(tools, "curl.exe"), tools, name); err != nil {
			return nil, 0, err
		}
	}
	for _, name := range []string{"bin/knowledge.cmd", ".claude-plugin/plugin.json"} {
		if err := put(name, plugin, filepath.FromSlash(name)); err != nil {
			return nil, 0, err
		}
	}
	exe, err := os.ReadFile(program)
	if err != nil {
		return nil, 0, err
	}
	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	w, err := z.Create("knowledge.exe")
	if err != nil {
		return nil, 0, err
	}
	if _, err := w.Write(exe); err != nil {
		return nil, 0, err
	}
	if err := z.Close(); err != nil {
		return nil, 0, err
	}
	name := "knowledge_" + command.Version + "_windows_amd64.zip"
	gets := 0
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		gets++
		if r.URL.Path == "/v"+command.Version+"/"+name {
			_, _ = w.Write(archive.Bytes())
			return
		}
		http.NotFound(w, r)
	}))
	defer host.Close()
	env = append(env, "WINEPATH="+windows(tools)+";"+windows(filepath.Join(tmp, "path")), "KNOWLEDGE_RELEASE_URL="+host.URL, "STAND_IN="+windows(program))
	run := func(input string, args ...string) string {
		cmd := exec.Command(wine, append([]string{"cmd", "/c", windows(filepath.Join(plugin, "bin", "knowledge"))}, args...)...)
		cmd.Env, cmd.Dir, cmd.WaitDelay = env, plugin, 20*time.Second
		if input != "" {
			cmd.Stdin = strings.NewReader(input)
		}
		began := time.Now()
		out, err := cmd.CombinedOutput()
		return fmt.Sprintf("%s [%v] %v", strings.TrimSpace(strings.ReplaceAll(string(out), "\r", "")), err, time.Since(began).Round(10*time.Millisecond))
	}
	local, err := filepath.Glob(filepath.Join(prefix, "drive_c", "users", "[^P]*", "AppData", "Local"))
	if err != nil || len(local) != 1 {
		return nil, 0, fmt.Errorf("%d users in %s (%w)", len(local), prefix, err)
	}
	cache := filepath.Join(local[0], "knowledge-bin")
	kept := filepath.Join(cache, command.Version, "knowledge.exe")
	promise := func(b []byte) error {
		return os.WriteFile(filepath.Join(plugin, ".claude-plugin", "checksums.txt"), fmt.Appendf(nil, "%x  %s\r\n", sha256.Sum256(b), name), 0o644)
	}
	forget := func() error { return os.RemoveAll(cache) }
	// short is what was said, fit for a cell.
	short := func(said string) string {
		said = strings.ReplaceAll(strings.ReplaceAll(said, windows(tmp), "…"), "\n", " / ")
		if len(said) > 200 {
			said = strings.ToValidUTF8(said[:200], "") + "…"
		}
		return said
	}
	version := "knowledge " + command.Version + " windows/amd64 " + runtime.Version() + " [<nil>]"
	const hello = `{"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a & <b>","version":"1"}},"jsonrpc":"2.0","id":7}` + "\n"
	alone := exec.Command(wine, program, "version")
	alone.Env = env
	said, err := alone.Output()
	if got := fmt.Sprintf("%s [%v]", strings.TrimSpace(string(said)), err); got != version {
		return nil, 0, fmt.Errorf("the program by itself: %s", got)
	}
	rows = append(rows, []string{"the program by itself", "yes", "0", version})
	for _, s := range []struct {
		name  string
		do    func() error
		input string
		args  []string
		want  string
		gets  int
	}{
		{"nothing to be had", nil, "", []string{"version"}, "there is no source here to build", 0},
		{"a hook has no time", nil, "", []string{"hook", "session-start"}, "[<nil>]", 0},
		{"the first reply says why", nil, hello, []string{"mcp"}, `"id":7,"error":{"code":-32000,"message":"knowledge: no release of version`, 0},
		{"a wrong archive", func() error { return promise([]byte("another")) }, "", []string{"version"}, "nothing was installed", 1},
		{"a release", func() error { return promise(archive.Bytes()) }, "", []string{"version"}, version, 2},
		{"kept", nil, "", []string{"version"}, version, 2},
		{"over MCP", nil, hello, []string{"mcp"}, `"serverInfo":{"name":"knowledge"`, 2},
		{"a first answer", func() error {
			return os.WriteFile(filepath.Join(plugin, "retry.go"), []byte("package retry\n\n// Backoff doubles the pause between attempts.\nfunc Backoff(n int) int { return 1 << n }\n"), 0o644)
		}, "", []string{"search", "pause"}, "retry.go", 2},
		{"cut off", func() error { return os.Truncate(kept, 1000) }, "", []string{"version"}, version, 3},
		{"a folder in its place", func() error { return replace(kept) }, "", []string{"version"}, version, 4},
		{"on the PATH", func() error {
			if err := forget(); err != nil {
				return err
			}
			return put(program, tmp, "path", "knowledge.exe")
		}, "", []string{"version"}, version, 4},
		{"another program on the PATH, and a Go that is too old", func() error {
			err := put(filepath.Join(tools, "curl.exe"), tmp, "path", "knowledge.exe")
			for _, e := range []error{err, forget(), os.Remove(filepath.Join(plugin, ".claude-plugin", "checksums.txt")), put(filepath.Join(tools, "curl.exe"), tools, "go.exe"),
				os.WriteFile(filepath.Join(plugin, "go.mod"), []byte("module github.com/seed-4f2d999b/knowledge\n\ngo 9.0.0\n"), 0o644), put("cmd/knowledge/main.go", plugin, "cmd", "knowledge", "main.go")} {
				if e != nil {
					return e
				}
			}
			return nil
		}, "", []string{"version"}, "Go 9.0.0 is needed to build it", 4},
		{"a Go", func() error { return put("go.mod", plugin, "go.mod") }, "", []string{"version"}, version, 4},
		{"a client is told that a build takes time", forget, hello, []string{"mcp"}, `"id":7,"error":{"code":-32000,"message":"knowledge: the program is being built with Go`, 4},
		{"and finds it done", func() error {
			for range 60 {
				if built, _ := filepath.Glob(filepath.Join(cache, command.Version, "built", "*", "*", "*", "*", "knowledge.exe.sum")); len(built) > 0 {
					return os.Remove(filepath.Join(tools, "go.exe"))
				}
				time.Sleep(time.Second)
			}
			return errors.New("nothing was built in the background")
		}, "", []string{"version"}, version, 4},
	} {
		if s.do != nil {
			if err := s.do(); err != nil {
				return rows, failed, fmt.Errorf("%s: %w", s.name, err)
			}
		}
		got := run(s.input, s.args...)
		mark := "ok  "
		if !strings.Contains(got, s.want) || gets != s.gets {
			failed++
			mark = "FAIL"
		}
		fmt.Printf("%s launcher: %s (%d fetched): %.300s\n", mark, s.name, gets, got)
		rows = append(rows, []string{s.name, map[bool]string{true: "yes", false: "no"}[mark == "ok  "], strconv.Itoa(gets), short(got)})
	}
	return rows, failed, nil
}

// replace puts a folder where the file path was.
func replace(path string) error {
	if err := os.Remove(path); err != nil {
		return err
	}
	return os.Mkdir(path, 0o755)
}

// windows is how Wine names a path of this machine.
func windows(path string) string { return "Z:" + strings.ReplaceAll(path, "/", `\`) }
