package lab

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Npm installs packages into dir and returns "" or why that cannot be done here.
func Npm(dir string, packages ...string) string {
	for _, p := range []string{"npm", "node"} {
		if _, err := exec.LookPath(p); err != nil {
			return "no program " + p + " on the PATH"
		}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err.Error()
	}
	cmd := exec.Command("npm", append([]string{"install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--prefix", dir}, packages...)...)
	cmd.Dir = dir
	cmd.WaitDelay = time.Second
	timer := time.AfterFunc(3*time.Minute, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	if out, err := cmd.CombinedOutput(); err != nil {
		first, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
		return fmt.Sprintf("npm install did not work: %v: %.200s", err, strings.ReplaceAll(first, dir, "DIR"))
	}
	return ""
}

// NpmVersion returns the version of a package that Npm installed.
func NpmVersion(dir, name string) string {
	var p struct {
		Version string `json:"version"`
	}
	b, err := os.ReadFile(filepath.Join(dir, "node_modules", filepath.FromSlash(name), "package.json"))
	if err != nil || json.Unmarshal(b, &p) != nil {
		return "?"
	}
	return p.Version
}

// TokenizerPackage is the published tokenizer that budgets are counted by.
const TokenizerPackage = "@anthropic-ai/tokenizer"

// Tokenizer counts tokens with the npm package.
type Tokenizer struct{ dir string }

const tokenizerScript = `
const { countTokens } = require('@anthropic-ai/tokenizer');
const texts = JSON.parse(require('fs').readFileSync(0, 'utf8'));
console.log(JSON.stringify(texts.map(t => countTokens(t))));
`

// NewTokenizer installs the tokenizer below scratch; the second result says why it cannot be had.
func NewTokenizer(scratch string) (*Tokenizer, string) {
	dir := filepath.Join(scratch, "tokenizer")
	if why := Npm(dir, TokenizerPackage); why != "" {
		return nil, why
	}
	if err := os.WriteFile(filepath.Join(dir, "count.js"), []byte(tokenizerScript), 0o600); err != nil {
		return nil, err.Error()
	}
	return &Tokenizer{dir: dir}, ""
}

// Name is the package with its version.
func (t *Tokenizer) Name() string {
	return TokenizerPackage + " " + NpmVersion(t.dir, TokenizerPackage)
}

// Count returns the number of tokens of each text.
func (t *Tokenizer) Count(texts []string) ([]int, error) {
	in, err := json.Marshal(texts)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("node", "count.js")
	cmd.Dir, cmd.Stdin = t.dir, strings.NewReader(string(in))
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	var counts []int
	if err := json.Unmarshal(out, &counts); err != nil {
		return nil, err
	}
	if len(counts) != len(texts) {
		return nil, fmt.Errorf("%d counts for %d texts", len(counts), len(texts))
	}
	return counts, nil
}
