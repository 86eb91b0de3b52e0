package lint

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	yaml "github.com/oasdiff/yaml3"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/findings"
	"github.com/seed-4f2d999b/knowledge/internal/platform/project"
	"github.com/seed-4f2d999b/knowledge/internal/specs/kdd"
)

// ConfigFile is where a project configures the linter:
//
//	severity:
//	  unnamed-rule: off
//	baseline: .knowledge/check-baseline.json
//
// It is read without anybody's trust: it can do nothing but leave findings out.
const ConfigFile = ".knowledge/check.yaml"

// mostConfig bounds the files of a project that configure the linter.
const mostConfig = 8 << 20

// Config is how severe the findings of each rule are, and which are known.
type Config struct {
	changed  map[string]findings.Severity
	baseline findings.Baseline
}

// ReadConfig reads the configuration of the project at root, and what a
// question changes: severities as "rule=severity", and the path of a baseline.
// Whole does without a baseline.
func ReadConfig(root string, severities []string, baseline string, whole bool) (*Config, error) {
	c := &Config{changed: map[string]findings.Severity{}}
	var file struct {
		Severity map[string]string `yaml:"severity"`
		Baseline string            `yaml:"baseline"`
	}
	raw, err := ofProject(root, ConfigFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	d := yaml.NewDecoder(bytes.NewReader(raw))
	d.KnownFields(true)
	if err := d.Decode(&file); err != nil && !errors.Is(err, io.EOF) {
		return nil, kb.Errorf(kb.Invalid, "%s cannot be read: %w", ConfigFile, err).WithHint("it has severity, a map from rules to severities, and baseline, a path")
	}
	for rule, sev := range file.Severity {
		if err := c.set(rule, sev); err != nil {
			return nil, err
		}
	}
	for _, x := range severities {
		rule, sev, _ := strings.Cut(x, "=")
		if err := c.set(rule, sev); err != nil {
			return nil, err
		}
	}
	name := file.Baseline
	if baseline != "" {
		name = baseline
	}
	if name == "" || whole {
		return c, nil
	}
	if raw, err = ofProject(root, name); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = kb.Errorf(kb.NotFound, "there is no baseline %q", name).WithHint("make it: knowledge kdd:check --format baseline > FILE")
		}
		return nil, err
	}
	c.baseline, err = findings.ReadBaseline(raw)
	return c, err
}

// ofProject reads a small file within a project.
func ofProject(root, name string) ([]byte, error) {
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(root, filepath.FromSlash(name))
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !project.Within(project.RealPath(root), project.RealPath(path)) {
		return nil, kb.Errorf(kb.Denied, "%q lies outside of the project", name).WithHint("name a file of the project")
	}
	if !info.Mode().IsRegular() || info.Size() > mostConfig {
		return nil, kb.Errorf(kb.Invalid, "%q is no regular file of at most %d MiB", name, mostConfig>>20).WithHint("name another")
	}
	return os.ReadFile(path)
}

// set changes the severity of a rule.
func (c *Config) set(rule, severity string) error {
	rule = strings.TrimSpace(rule)
	var names []string
	for _, r := range kdd.Rules {
		names = append(names, r.Name)
		if r.Name != rule {
			continue
		}
		sev, err := findings.ParseSeverity(severity)
		if err == nil {
			c.changed[rule] = sev
		}
		return err
	}
	e := kb.Errorf(kb.Invalid, "there is no rule %q", kb.Clip(rule, 60))
	if near := kb.Nearest(rule, names); near != "" {
		return e.WithHint("did you mean %s?", near)
	}
	return e.WithHint("the rules are %s", strings.Join(names, ", "))
}

// Severity returns that of a rule.
func (c *Config) Severity(rule string) findings.Severity {
	for _, r := range c.Rules() {
		if r.Name == rule {
			return r.Severity
		}
	}
	return findings.Off
}

// Rules returns the rules that are on, as they are configured.
func (c *Config) Rules() []findings.Rule {
	var out []findings.Rule
	for _, r := range kdd.Rules {
		if sev, ok := c.changed[r.Name]; ok {
			r.Severity = sev
		}
		if r.Severity != findings.Off {
			out = append(out, r)
		}
	}
	return out
}
