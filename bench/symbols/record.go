package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// recording says to write what the references find in the examples of package
// syntax beside them, so that its tests compare without the references.
var recording = flag.Bool("record", false, "record what the references find in the examples of package syntax")

// record asks the references about the examples and writes one file for each
// language: the symbols by the name of the example.
func record(root, scratch, only string) error {
	examples := filepath.Join(root, "internal", "code", "syntax", "testdata")
	for _, w := range rows {
		if only != "" && !slices.Contains(strings.Split(only, ","), w.name) {
			continue
		}
		var files []string
		for ext, language := range w.languages {
			found, err := filepath.Glob(filepath.Join(examples, language, "*"+ext))
			if err != nil {
				return err
			}
			files = append(files, found...)
		}
		slices.Sort(files)
		files = slices.Compact(files)
		if len(files) == 0 {
			continue
		}
		command, why := w.prepare(filepath.Join(root, "bench", "symbols"), scratch)
		if why != "" {
			fmt.Printf("skipped: %s: %s\n", w.name, why)
			continue
		}
		cmd := exec.Command(command[0], command[1:]...)
		cmd.Stdin = strings.NewReader(strings.Join(files, "\n") + "\n")
		cmd.Stderr = os.Stderr
		said, err := cmd.Output()
		if err != nil {
			return fmt.Errorf("the reference of %s fails: %v", w.name, err)
		}
		found := map[string]map[string][]string{}
		for line := range bytes.Lines(said) {
			var x struct {
				File, Error string
				Symbols     []symbol
			}
			if err := json.Unmarshal(line, &x); err != nil {
				return fmt.Errorf("the reference of %s prints no JSON: %v", w.name, err)
			}
			if x.Error != "" {
				fmt.Printf("refused: %s: %s\n", filepath.Base(x.File), x.Error)
				continue
			}
			language := w.languages[filepath.Ext(x.File)]
			if found[language] == nil {
				found[language] = map[string][]string{}
			}
			all := []string{}
			for _, s := range x.Symbols {
				all = append(all, s.String())
			}
			slices.Sort(all)
			found[language][filepath.Base(x.File)] = all
		}
		for language, of := range found {
			b, err := json.MarshalIndent(of, "", " ")
			if err != nil {
				return err
			}
			to := filepath.Join(examples, "references", language+".json")
			if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(to, append(b, '\n'), 0o644); err != nil {
				return err
			}
			fmt.Printf("recorded: %s, %d files\n", language, len(of))
		}
	}
	return nil
}
