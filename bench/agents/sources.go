package main

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/seed-4f2d999b/knowledge/bench/agents/task"
	"github.com/seed-4f2d999b/knowledge/bench/agents/window"
	"github.com/seed-4f2d999b/knowledge/bench/lab"
)

// sources is where the tree of a set lies once it is made, and of one that is asked
// in other words the questions in these. A set that has changed gets another tree in other words.
func (o *options) sources(s *task.Set, file string) (dir, set string, err error) {
	at := s.Commit
	if at == "" {
		_, at, _ = strings.Cut(s.Repository, "@")
	}
	if s.Rename == 0 {
		// The folder's name is what the product calls the store.
		return filepath.Join(o.work, "sources", fmt.Sprintf("%.12s-%d", at, s.Seed), s.Name), file, nil
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return "", "", err
	}
	key := fmt.Sprintf("%.12s-%d-%x", at, s.Rename, sha256.Sum256(b))
	dir = filepath.Join(o.work, "sources", key[:len(key)-56], s.Name)
	return dir, dir + ".json", nil
}

// prepare makes the tree of a set without what it hides, once, in other words
// where the set says so, and checks its places. It returns the set as it is asked.
func (o *options) prepare(file string) (*task.Set, string, error) {
	s, err := task.Load(file)
	if err != nil {
		return nil, "", err
	}
	dir, asked, err := o.sources(s, file)
	if err != nil {
		return nil, "", err
	}
	stores, err := folders(s)
	if err != nil {
		return nil, "", err
	}
	if _, err := os.Stat(filepath.Join(dir, ".git", "HEAD")); err != nil {
		if s.Seed != 0 {
			return nil, "", fmt.Errorf("%s is in other words already; what has rename is put into them here", s.Name)
		}
		if err := o.makeTree(s, file, dir, asked, stores); err != nil {
			return nil, "", err
		}
	}
	if asked != file {
		if s, err = task.Load(asked); err != nil {
			return nil, "", err
		}
	}
	return s, dir, s.CheckTree(dir, stores)
}

// makeTree exports a tree, checks the places in it and puts it into other words
// where the set says so.
func (o *options) makeTree(s *task.Set, file, dir, asked string, stores map[string]string) error {
	plain := dir
	if s.Rename != 0 {
		plain = dir + ".plain"
		defer os.RemoveAll(plain)
	}
	for _, d := range []string{plain, dir} { // what an attempt has left that was broken off
		if err := os.RemoveAll(d); err != nil {
			return err
		}
	}
	if err := o.export(s, plain); err != nil {
		return err
	}
	if err := s.CheckTree(plain, stores); err != nil {
		return err
	}
	if s.Rename != 0 {
		rename := filepath.Join(o.work, "rename")
		if err := lab.Build("bench", rename, "./agents/rename"); err != nil {
			return err
		}
		said, err := lab.Command("", os.Environ(), rename,
			"-from", plain, "-to", dir, "-seed", fmt.Sprint(s.Rename), "-set", file, "-out", asked)
		if err != nil {
			return fmt.Errorf("%w\n%s", err, said)
		}
		fmt.Print(said)
	}
	return fakeGit(dir)
}

// export writes the files of a set that are not hidden.
func (o *options) export(s *task.Set, dir string) error {
	folder := ""
	if s.Folder != "" {
		folder = s.Folder + "/"
	}
	wanted := func(p string) bool { return strings.HasPrefix(p, folder) && !task.Hidden(p, s.Hide) }
	if strings.HasPrefix(s.Repository, task.Module) {
		from, err := moduleFolder(s.Repository)
		if err != nil {
			return err
		}
		t, err := window.ReadTree(from)
		if err != nil {
			return err
		}
		for _, p := range t.Paths {
			if !wanted(p) {
				continue
			}
			to := filepath.Join(dir, filepath.FromSlash(p))
			if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(to, []byte(strings.Join(t.Lines[p], "\n")+"\n"), 0o644); err != nil {
				return err
			}
		}
		return nil
	}
	repo := "."
	if err := exec.Command("git", "-C", repo, "cat-file", "-e", s.Commit+"^{commit}").Run(); err != nil {
		if repo, _, err = lab.Repository(o.repos, s.Repository, s.Commit); err != nil {
			return err
		}
	}
	return lab.Export(repo, s.Commit, dir, wanted)
}

// folders returns where the stores of a set lie on this machine.
func folders(s *task.Set) (map[string]string, error) {
	out := map[string]string{}
	for _, x := range s.Stores {
		dir, err := moduleFolder(x)
		if err != nil {
			return nil, err
		}
		out[x] = dir
	}
	return out, nil
}

// moduleFolder returns where the go command keeps a module, which it gets first
// where it has not. The Go of this machine is not got again.
func moduleFolder(source string) (string, error) {
	at := strings.TrimPrefix(source, task.Module)
	if version, ok := strings.CutPrefix(at, toolchain); ok {
		out, err := exec.Command("go", "env", "GOVERSION", "GOROOT").Output()
		have, root, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
		if err == nil && strings.HasPrefix(version, have+".") {
			return root, nil
		}
	}
	cmd := exec.Command("go", "mod", "download", "-json", at)
	out, err := cmd.Output()
	var got struct{ Dir, Error string }
	if jerr := json.Unmarshal(out, &got); jerr != nil || got.Dir == "" {
		return "", errors.Join(fmt.Errorf("%s: go mod download: %s", source, got.Error), err)
	}
	return got.Dir, nil
}

// toolchain is the module of Go itself.
const toolchain = "golang.org/toolchain@v0.0.1-"
