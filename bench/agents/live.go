package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/bench/agents/trial"
	"github.com/seed-4f2d999b/knowledge/bench/lab"
)

// live are the flags of runs with live agents.
type live struct {
	arm, label, command, runs, look, grades string
	batch, size, looks, chars               int
	seed                                    uint64
}

func (l *live) flags(f *flag.FlagSet) {
	f.StringVar(&l.arm, "arm", trial.Grep, "grep, mcp (the three tools) or cli (the command line in a pipe)")
	f.StringVar(&l.label, "label", "", "what the arm is called in reports; the arm without it")
	f.StringVar(&l.command, "command", "",
		"starts an agent, which reads the prompt on its standard input; without it the prompt is printed")
	f.StringVar(&l.runs, "runs", "", "folder of the runs; below -work without it")
	f.StringVar(&l.look, "look", "", "the program of bench/agents/look; built without it")
	f.StringVar(&l.grades, "grades", "", "file of grades")
	f.IntVar(&l.batch, "batch", 0, "only this batch, counted from 1")
	f.IntVar(&l.size, "size", 14, "questions of a batch")
	f.IntVar(&l.looks, "most-looks", 30, "for one question")
	f.IntVar(&l.chars, "most-chars", 600_000, "of replies, for a batch")
	f.Uint64Var(&l.seed, "seed", 1, "of the order of answers to be graded, and of intervals")
}

// run makes one run of an arm over every batch of a set, or over one.
func (o *options) run() error {
	l := &o.live
	if len(o.rest) > 1 {
		return errors.New("one set of questions at most")
	}
	file := filepath.Join(o.testdata, "knowledge.json")
	if len(o.rest) == 1 {
		file = o.rest[0]
	}
	if !slices.Contains(trial.Arms, l.arm) {
		return fmt.Errorf("no arm %q; there are %s", l.arm, join(trial.Arms))
	}
	s, root, err := o.prepare(file)
	if err != nil {
		return err
	}
	if l.look == "" {
		l.look = filepath.Join(o.work, "look")
		if err := lab.Build("bench", l.look, "./agents/look"); err != nil {
			return err
		}
	}
	r := trial.Run{Label: l.label, Arm: l.arm, Set: s.Name, Root: root, MostLooks: l.looks, MostChars: l.chars}
	if r.Label == "" {
		r.Label = l.arm
	}
	if l.arm != trial.Grep {
		if err := o.need(); err != nil {
			return err
		}
		r.Program, r.Data = o.program, o.data
		a, err := newAsker(o.program, root, o.data)
		if err != nil {
			return err
		}
		if err := a.stores(s); err != nil {
			return err
		}
	}
	for i, b := range s.Batches(l.size) {
		if l.batch != 0 && l.batch != i+1 {
			continue
		}
		r.Questions = nil
		for _, t := range b {
			r.Questions = append(r.Questions, trial.Question{ID: t.ID, Question: t.Question})
		}
		if err := o.start(&r, i+1); err != nil {
			return err
		}
	}
	return nil
}

// runsDir is the folder of the runs.
func (o *options) runsDir() string {
	if o.live.runs != "" {
		return o.live.runs
	}
	return filepath.Join(o.work, "runs")
}

// start makes the folder of one run and starts its agent, or says how to.
func (o *options) start(r *trial.Run, batch int) error {
	dir := ""
	for attempt := 1; ; attempt++ {
		name := fmt.Sprintf("%s-%s-%d-%d", r.Set, strings.ReplaceAll(r.Label, " ", "-"), batch, attempt)
		dir = filepath.Join(o.runsDir(), name)
		if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
			break
		}
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if err := r.Write(dir); err != nil {
		return err
	}
	here := filepath.Join(dir, "here") // the agent's working directory holds nothing
	for _, d := range []string{here, filepath.Join(dir, "bin")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return err
		}
	}
	look := filepath.Join(dir, "bin", "look")
	script := fmt.Sprintf("#!/bin/sh\nexec '%s' -run '%s' \"$@\"\n", o.live.look, dir)
	if err := os.WriteFile(look, []byte(script), 0o755); err != nil {
		return err
	}
	said, err := sayings(r)
	if err != nil {
		return err
	}
	prompt := promptFor(look, said)
	if err := os.WriteFile(filepath.Join(dir, "prompt.txt"), []byte(prompt), 0o644); err != nil {
		return err
	}
	if o.live.command == "" {
		fmt.Printf("== %s\n\n%s\n", dir, prompt)
		return nil
	}
	out, err := os.Create(filepath.Join(dir, "said.txt"))
	if err != nil {
		return err
	}
	defer out.Close()
	cmd := exec.Command("sh", "-c", o.live.command)
	cmd.Dir, cmd.Env = here, environment(r.Arm)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(prompt), out, out
	fmt.Println(dir)
	if err := cmd.Run(); err != nil { // an attempt all the same
		fmt.Printf("%s: the agent ended with: %v\n", dir, err)
	}
	return nil
}

// environment is what an agent runs in: nothing of it leads to data of the
// product, and in the control arm no folder of PATH that has the product.
func environment(arm string) []string {
	env := lab.Env("")
	env = slices.DeleteFunc(env, func(kv string) bool { return strings.HasPrefix(kv, "KNOWLEDGE_") })
	for i, kv := range env {
		path, ok := strings.CutPrefix(kv, "PATH=")
		if !ok || arm != trial.Grep {
			continue
		}
		dirs := slices.DeleteFunc(filepath.SplitList(path), func(d string) bool {
			_, err := os.Stat(filepath.Join(d, "knowledge"))
			return err == nil
		})
		env[i] = "PATH=" + strings.Join(dirs, string(filepath.ListSeparator))
	}
	return env
}

// sayings is what the server says of itself and of its tools, as a client puts
// it before its agent; "" for the control arm.
func sayings(r *trial.Run) (string, error) {
	if r.Arm == trial.Grep {
		return "", nil
	}
	c, err := lab.Dial(r.Root, lab.Env(r.Data), r.Program, lab.Handshake)
	if err != nil {
		return "", err
	}
	defer c.Close()
	b, err := c.Ask("tools/list", map[string]any{})
	if err != nil {
		return "", err
	}
	var list struct {
		Tools []struct{ Name, Description string }
	}
	if err := json.Unmarshal(b, &list); err != nil {
		return "", err
	}
	said := c.Instructions + "\n"
	for _, t := range list.Tools {
		said += t.Name + ": " + t.Description + "\n"
	}
	return said, nil
}

// promptFor is the same in every arm but for what a server has said, if there
// is one, and the commands that reach its tools.
func promptFor(look, said string) string {
	const text = `You answer questions about a code base that you do not know. You can look at it with one program only:

    LOOK

Use nothing else to look: no other tool, no other folder, and no memory of projects that seem alike. Its commands:

    LOOK next                            prints the next question
    LOOK answer 'TEXT'                   takes your answer (- for standard input) and prints the next question
    LOOK grep [-i] [-w] [-l] [-C N] [-g GLOB] REGEXP [PATH]
    LOOK read PATH FROM-TO               lines of a file (LOOK sed -n 'FROM,TOp' PATH is the same)
    LOOK list [GLOB or FOLDER]           paths
MORE
Work as you would for somebody who waits and pays for what you read: look as often as you have to in order
to be sure of the answer, and no more. Every look is counted, and so is every character that it prints. For
one question there is a most of looks; when it is reached, answer with what you have.

An answer is two to five sentences in plain words, and then the places that show it, each as path:from-to
with the name of the function, most important first. Name all places that the question asks for and none that
you have not seen or been shown.

Begin with LOOK next, answer every question with LOOK answer, and stop when no question is left.
`
	more := ""
	if said != "" {
		more = `    LOOK search QUERY [--limit N] [--stores NAME,NAME]                  the tool search
    LOOK context PLACES                                                 the tool get_full_context
    LOOK execute COMMAND ['JSON']                                       the tool execute
The last three are the tools of a server, which says of itself:

    ` + strings.ReplaceAll(strings.TrimSpace(said), "\n", "\n    ") + "\n\n"
	}
	return strings.ReplaceAll(strings.Replace(text, "MORE\n", more, 1), "LOOK", look)
}
