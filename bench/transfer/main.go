// Command transfer moves a store between the programs of several platforms, as
// far as they can be run here, and compares what they answer:
//
//	transfer [-repo DIR] [-queries FILE] [-only PLATFORMS] [-out FILE]
//
// The program of this platform indexes a repository and exports it. Every
// other program imports the file and is asked the queries over MCP; hits,
// scores and order must be the same. Then the other exports, and this
// platform's program imports that.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/bench/wine/forwarder"
)

// platform is a program that may run here.
type platform struct {
	name     string   // "windows/amd64"
	run      []string // what runs its programs, "" for the machine itself
	env      []string
	path     func(string) string // how it names a path of this machine
	skip     string              // why it cannot be run here
	exe      string
	importMS int64
	same     int    // queries answered the same
	differs  string // the first that was not
	backSame bool
}

func main() {
	repo := flag.String("repo", ".", "repository that is indexed")
	queries := flag.String("queries", "cmd/knowledge/testdata/export-queries.txt", "one query a line")
	only := flag.String("only", "", "platforms to try, as windows/amd64,linux/arm64; empty is all")
	out := flag.String("out", "", "file for the report; standard output without")
	flag.Parse()
	if err := run(*repo, *queries, *only, *out); err != nil {
		fmt.Fprintln(os.Stderr, "transfer:", err)
		os.Exit(1)
	}
}

func run(repo, file, only, out string) error {
	tmp, err := os.MkdirTemp("", "transfer-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	queries := strings.Split(strings.TrimSpace(string(text)), "\n")
	if repo, err = filepath.Abs(repo); err != nil {
		return err
	}
	// A copy: who edits the repository meanwhile changes no answer.
	self := filepath.Join(tmp, "self")
	if said, err := exec.Command("git", "clone", "-q", "--no-hardlinks", repo, self).CombinedOutput(); err != nil {
		return fmt.Errorf("git clone: %w: %s", err, said)
	}
	here := &platform{name: runtime.GOOS + "/" + runtime.GOARCH, path: func(p string) string { return p }}
	if err := here.build(tmp); err != nil {
		return err
	}
	began := time.Now()
	if _, err := here.do(tmp, "here", "store:create", "self", self, "--scope", "user"); err != nil {
		return err
	}
	indexed := time.Since(began)
	began = time.Now()
	export := filepath.Join(tmp, "self.kbx")
	if _, err := here.do(tmp, "here", "export", "self", export); err != nil {
		return err
	}
	exported := time.Since(began)
	want, err := here.ask(tmp, "here", queries)
	if err != nil {
		return err
	}
	// Other machines have no such folder; Wine would show its files with other stamps.
	if err := os.RemoveAll(self); err != nil {
		return err
	}
	others, err := platforms(tmp)
	if err != nil {
		return err
	}
	all := append([]*platform{{name: here.name, path: here.path}}, others...)
	failed := 0
	for _, p := range all {
		if only != "" && p.skip == "" && !slices.Contains(strings.Split(only, ","), p.name) {
			p.skip = "not asked for"
		}
		if p.skip != "" {
			continue
		}
		if err := p.try(tmp, export, queries, want, here); err != nil {
			p.differs = cmp.Or(p.differs, err.Error())
			failed++
		}
	}
	return report(out, all, indexed, exported, export, filepath.Join(tmp, "here"), len(queries), failed)
}

// platforms are the programs that could be run, each with what keeps it from it.
func platforms(tmp string) ([]*platform, error) {
	same := func(p string) string { return p }
	var out []*platform
	if runtime.GOOS == "linux" && runtime.GOARCH == "amd64" {
		out = append(out, &platform{name: "linux/386", path: same})
	}
	if runtime.GOOS == "linux" && runtime.GOARCH != "arm64" {
		p := &platform{name: "linux/arm64", path: same, skip: "no program qemu-aarch64 on the PATH"}
		for _, name := range []string{"qemu-aarch64-static", "qemu-aarch64"} {
			if exe, err := exec.LookPath(name); err == nil {
				p.run, p.skip = []string{exe}, ""
				break
			}
		}
		out = append(out, p)
	}
	p := &platform{name: "windows/amd64", skip: "no program wine on the PATH", path: func(p string) string { return `Z:` + strings.ReplaceAll(p, "/", `\`) }}
	if wine, err := exec.LookPath("wine"); err == nil && runtime.GOOS == "linux" {
		p.run, p.skip = []string{wine}, ""
		prefix := filepath.Join(tmp, "prefix")
		p.env = []string{"WINEPREFIX=" + prefix, "WINEDEBUG=-all"}
		boot := exec.Command(wine, "wineboot", "-i")
		boot.Env = append(os.Environ(), p.env...)
		if out, err := boot.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("wineboot: %w: %s", err, out)
		}
		library := filepath.Join(prefix, "drive_c", "windows", "system32", forwarder.Library)
		if _, err := os.Stat(library); errors.Is(err, os.ErrNotExist) {
			if err := os.WriteFile(library, forwarder.Bytes(), 0o600); err != nil {
				return nil, err
			}
		}
	}
	return append(out, p), nil
}

func (p *platform) build(tmp string) error {
	goos, arch, _ := strings.Cut(p.name, "/")
	p.exe = filepath.Join(tmp, "knowledge-"+goos+"-"+arch)
	if goos == "windows" {
		p.exe += ".exe"
	}
	cmd := exec.Command("go", "build", "-trimpath", "-o", p.exe, "./cmd/knowledge")
	cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+arch, "CGO_ENABLED=0")
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", p.name, err, said)
	}
	return nil
}

// command prepares a run of the program on a data directory of its own.
func (p *platform) command(tmp, data string, args ...string) *exec.Cmd {
	words := append(append([]string{}, p.run...), p.exe)
	cmd := exec.Command(words[0], append(words[1:], args...)...)
	cmd.Dir = tmp
	cmd.Env = append(os.Environ(), p.env...)
	cmd.Env = append(cmd.Env, "KNOWLEDGE_DATA_DIR="+p.path(filepath.Join(tmp, data)), "HOME="+tmp, "GIT_CONFIG_GLOBAL="+os.DevNull)
	return cmd
}

func (p *platform) do(tmp, data string, args ...string) ([]byte, error) {
	cmd := p.command(tmp, data, append(args, "--json", "--quiet")...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s %s: %w: %s", p.name, args[0], err, said.String())
	}
	return out.Bytes(), nil
}

// try imports, asks, and exports back.
func (p *platform) try(tmp, export string, queries, want []string, here *platform) error {
	if err := p.build(tmp); err != nil {
		return err
	}
	data := "there-" + strings.ReplaceAll(p.name, "/", "-")
	began := time.Now()
	if _, err := p.do(tmp, data, "import", p.path(export), "--scope", "user"); err != nil {
		return err
	}
	p.importMS = time.Since(began).Milliseconds()
	got, err := p.ask(tmp, data, queries)
	if err != nil {
		return err
	}
	for i := range got {
		if got[i] == want[i] {
			p.same++
		} else if p.differs == "" {
			p.differs = fmt.Sprintf("%q: %.300s instead of %.300s", queries[i], got[i], want[i])
		}
	}
	back := filepath.Join(tmp, data+".kbx")
	if _, err := p.do(tmp, data, "export", "self", p.path(back)); err != nil {
		return err
	}
	if _, err := here.do(tmp, data+"-back", "import", back, "--scope", "user"); err != nil {
		return err
	}
	again, err := here.ask(tmp, data+"-back", queries)
	if err != nil {
		return err
	}
	p.backSame = strings.Join(again, "\n") == strings.Join(want, "\n")
	if p.same != len(queries) || !p.backSame {
		return errors.New("the answers differ")
	}
	return nil
}

// ask returns the hits of each query as JSON: ids, places, scores, lines.
func (p *platform) ask(tmp, data string, queries []string) ([]string, error) {
	cmd := p.command(tmp, data, "mcp")
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	defer cmd.Wait()
	defer in.Close()
	lines := bufio.NewReaderSize(out, 1<<20)
	call := func(id int, method string, params any) (json.RawMessage, error) {
		b, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
		if err != nil {
			return nil, err
		}
		if _, err := in.Write(append(b, '\n')); err != nil {
			return nil, err
		}
		for {
			l, err := lines.ReadBytes('\n')
			if err != nil {
				return nil, fmt.Errorf("%s %s: %w", p.name, method, err)
			}
			var m struct {
				ID     int
				Result json.RawMessage
				Error  json.RawMessage
			}
			if json.Unmarshal(l, &m) == nil && m.ID == id {
				if m.Error != nil {
					return nil, fmt.Errorf("%s %s: %s", p.name, method, m.Error)
				}
				return m.Result, nil
			}
		}
	}
	if _, err := call(1, "initialize", map[string]any{"protocolVersion": "2025-11-25", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "transfer", "version": "1"}}); err != nil {
		return nil, err
	}
	var got []string
	for i, q := range queries {
		raw, err := call(i+2, "tools/call", map[string]any{"name": "search", "arguments": map[string]any{"query": q, "stores": []string{"self"}, "detail": "minimal"}})
		if err != nil {
			return nil, err
		}
		var r struct {
			Content []struct{ Text string }
			IsError bool
		}
		if err := json.Unmarshal(raw, &r); err != nil || len(r.Content) != 1 || r.IsError {
			return nil, fmt.Errorf("%s: %q: %s", p.name, q, raw)
		}
		var reply struct{ Hits json.RawMessage }
		if err := json.Unmarshal([]byte(r.Content[0].Text), &reply); err != nil {
			return nil, err
		}
		got = append(got, string(reply.Hits))
	}
	return got, nil
}

func report(out string, all []*platform, indexed, exported time.Duration, export, data string, queries, failed int) error {
	var b strings.Builder
	size := func(p string) (n int64) {
		_ = filepath.WalkDir(p, func(_ string, e os.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() {
				if info, err := e.Info(); err == nil {
					n += info.Size()
				}
			}
			return nil
		})
		return n
	}
	index := size(filepath.Join(data, "segments")) + size(filepath.Join(data, "generations"))
	fmt.Fprintf(&b, "# Exports between platforms, %s\n\n", time.Now().UTC().Format("2006-01-02"))
	fmt.Fprintf(&b, "Index of %.1f MB made on %s/%s in %.1f s; exported in %.2f of that time to %.2f of that size.\n\n", float64(index)/1e6, runtime.GOOS, runtime.GOARCH, indexed.Seconds(), exported.Seconds()/indexed.Seconds(), float64(size(export))/float64(index))
	b.WriteString("| imported by | time of indexing it | queries answered the same | its own export, imported here | |\n| --- | --- | --- | --- | --- |\n")
	for _, p := range all {
		if p.skip != "" {
			fmt.Fprintf(&b, "| %s | | | | skipped: %s |\n", p.name, p.skip)
			continue
		}
		fmt.Fprintf(&b, "| %s | %.2f | %d of %d | %s | %s |\n", p.name, float64(p.importMS)/1000/indexed.Seconds(), p.same, queries,
			map[bool]string{true: "the same", false: "another"}[p.backSame], cmp.Or(p.differs, "met"))
	}
	fmt.Print(b.String())
	if out != "" {
		if err := os.WriteFile(out, []byte(b.String()), 0o644); err != nil {
			return err
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d platforms failed", failed)
	}
	return nil
}
