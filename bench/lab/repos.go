package lab

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Repository returns the git directory of a project, "owner/name", below a
// folder that holds one folder per project, OWNER+NAME, with a repository in it or in its
// folder repo. It has to hold the commit, which it returns in full.
func Repository(repos, project, commit string) (dir, hash string, err error) {
	name := strings.ReplaceAll(project, "/", "+")
	for _, at := range []string{filepath.Join(repos, name, "repo"), filepath.Join(repos, name)} {
		out, err := exec.Command("git", "-C", at, "rev-parse", "--verify", "-q", commit+"^{commit}").Output()
		if err == nil {
			return at, strings.TrimSpace(string(out)), nil
		}
	}
	return "", "", fmt.Errorf("no repository %s with %s below %s", name, commit, repos)
}

// Export writes the files of a commit that are wanted, by their paths, as far
// as the repository holds them: of some snapshots the largest files are
// missing, at which "git archive" would stop. Links are left out.
func Export(repo, commit, dir string, wanted func(path string) bool) error {
	tree, err := exec.Command("git", "-C", repo, "ls-tree", "-r", "-z", commit).Output()
	if err != nil {
		return err
	}
	var paths []string
	var ask strings.Builder
	for line := range strings.SplitSeq(string(tree), "\x00") {
		info, path, ok := strings.Cut(line, "\t")
		f := strings.Fields(info)
		if ok && len(f) == 3 && f[1] == "blob" && f[0] != "120000" && wanted(path) {
			paths = append(paths, path)
			ask.WriteString(f[2] + "\n")
		}
	}
	cat := exec.Command("git", "-C", repo, "cat-file", "--batch")
	cat.Stdin = strings.NewReader(ask.String())
	stdout, err := cat.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cat.Start(); err != nil {
		return err
	}
	in := bufio.NewReader(stdout)
	for _, path := range paths {
		head, err := in.ReadString('\n')
		if err != nil {
			return err
		}
		f := strings.Fields(head)
		if len(f) != 3 {
			continue // missing
		}
		var size int
		if _, err := fmt.Sscan(f[2], &size); err != nil {
			return err
		}
		data := make([]byte, size+1)
		if _, err := io.ReadFull(in, data); err != nil {
			return err
		}
		name := filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, data[:size], 0o644); err != nil {
			return err
		}
	}
	return cat.Wait()
}

// ReadLines reads a file of one JSON value a line.
func ReadLines[T any](path string) ([]T, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []T
	s := bufio.NewScanner(f)
	s.Buffer(nil, 16<<20)
	for s.Scan() {
		var v T
		if err := json.Unmarshal(s.Bytes(), &v); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, len(out)+1, err)
		}
		out = append(out, v)
	}
	return out, s.Err()
}
