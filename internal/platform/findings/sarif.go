package findings

import (
	"encoding/json"
	"net/url"
	"path"
	"slices"
	"strings"
)

// The parts of a SARIF log that are written: see
// https://docs.oasis-open.org/sarif/sarif/v2.1.0/.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool    sarifTool            `json:"tool"`
		Bases   map[string]sarifBase `json:"originalUriBaseIds,omitempty"`
		Results []sarifResult        `json:"results"`
		Columns string               `json:"columnKind"`
	}
	sarifBase struct {
		Description sarifText `json:"description"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"semanticVersion,omitempty"`
		Address string      `json:"informationUri,omitempty"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID      string      `json:"id"`
		Short   sarifText   `json:"shortDescription"`
		Default sarifConfig `json:"defaultConfiguration"`
	}
	sarifConfig struct {
		Level string `json:"level"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		Rule      string          `json:"ruleId"`
		Index     *int            `json:"ruleIndex,omitempty"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations,omitempty"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI  string `json:"uri"`
		Base string `json:"uriBaseId,omitempty"`
	}
	sarifRegion struct {
		Start int `json:"startLine"`
	}
)

const (
	sarifVersion = "2.1.0"
	sarifSchema  = "https://json.schemastore.org/sarif-2.1.0.json"
	sourceRoot   = "%SRCROOT%"
)

// sarif writes the report as a SARIF log of one run.
func (r Report) sarif() (string, error) { return SARIF([]Report{r}) }

// SARIF writes reports as one log, each as a run.
func SARIF(reports []Report) (string, error) {
	log := sarifLog{sarifSchema, sarifVersion, []sarifRun{}}
	for _, r := range reports {
		log.Runs = append(log.Runs, r.run())
	}
	raw, err := json.MarshalIndent(log, "", "  ")
	return string(raw) + "\n", err
}

func (r Report) run() sarifRun {
	run := sarifRun{Results: []sarifResult{}, Columns: "unicodeCodePoints", Bases: map[string]sarifBase{sourceRoot: {sarifText{"the root of the project"}}}}
	run.Tool.Driver = sarifDriver{Name: r.Tool, Version: r.Version, Address: r.Address, Rules: []sarifRule{}}
	for _, x := range r.Rules {
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{x.Name, sarifText{x.Text}, sarifConfig{level(x.Severity)}})
	}
	for _, f := range r.Findings {
		x := sarifResult{Rule: f.Rule, Level: level(f.Severity), Message: sarifText{f.Text()}}
		if i := slices.IndexFunc(r.Rules, func(x Rule) bool { return x.Name == f.Rule }); i >= 0 {
			x.Index = &i
		}
		if f.File != "" {
			at := sarifPhysical{Artifact: sarifArtifact{(&url.URL{Path: f.File}).EscapedPath(), sourceRoot}}
			if path.IsAbs(f.File) || strings.Contains(f.File, "://") {
				at.Artifact.Base = ""
			}
			if f.Line > 0 {
				at.Region = &sarifRegion{f.Line}
			}
			x.Locations = []sarifLocation{{at}}
		}
		run.Results = append(run.Results, x)
	}
	return run
}

// level returns a severity as SARIF has it.
func level(s Severity) string {
	if s == Off {
		return "none"
	}
	return string(s)
}
