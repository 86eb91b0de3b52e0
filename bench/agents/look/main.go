// Command look is the only program with which an agent of the experiment looks
// at a tree. It hands out the questions of a run one after another, takes the
// answers, and logs every look with what it has cost. See bench/agents/README.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/bench/agents/trial"
	"github.com/seed-4f2d999b/knowledge/bench/agents/window"
	"github.com/seed-4f2d999b/knowledge/internal/text/tokens"
)

// mostReply bounds one reply, in bytes, as clients of agents do.
const mostReply = 30_000

func main() {
	dir := flag.String("run", os.Getenv("LOOK_RUN"), "the folder of the run")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	text, err := do(ctx, *dir, flag.Args(), os.Stdin)
	if err != nil {
		fmt.Fprintln(os.Stderr, "look:", err)
		os.Exit(1)
	}
	fmt.Print(text)
}

// do runs one command and returns what the agent reads.
func do(ctx context.Context, dir string, args []string, in io.Reader) (string, error) {
	r, err := trial.Read(dir)
	if err != nil {
		return "", err
	}
	if len(args) == 0 {
		return usage(r.Arm), nil
	}
	answers, err := trial.Answers(dir)
	if err != nil {
		return "", err
	}
	now := r.Now(answers)
	switch args[0] {
	case "serve":
		return "", serve(ctx, dir, r)
	case "next":
		return ask(now), nil
	case "answer":
		if now == nil {
			return ask(nil), nil
		}
		text := strings.TrimSpace(strings.Join(args[1:], " "))
		if text == "-" { // which no shell has to quote
			b, err := io.ReadAll(io.LimitReader(in, mostReply))
			if err != nil {
				return "", err
			}
			text = strings.TrimSpace(string(b))
		}
		if text == "" {
			return "", errors.New("the answer is empty")
		}
		a := trial.Answer{Time: time.Now(), Question: now.ID, Text: text}
		if err := trial.Append(dir, "answers.jsonl", a); err != nil {
			return "", err
		}
		return ask(r.Now(append(answers, a))), nil
	}
	if now == nil {
		return ask(nil), nil
	}
	return look(dir, r, now, args)
}

// ask is what an agent is shown of a question.
func ask(q *trial.Question) string {
	if q == nil {
		return "No question is left. You are done.\n"
	}
	return fmt.Sprintf("Question %s: %s\n", q.ID, q.Question)
}

// look runs and logs one look.
func look(dir string, r *trial.Run, now *trial.Question, args []string) (string, error) {
	before, err := trial.Looks(dir)
	if err != nil {
		return "", err
	}
	l := trial.Look{Time: time.Now(), Question: now.ID, Command: args[0], Args: args[1:]}
	l.Refused = refused(r, now, before, args[0])
	switch l.Refused {
	case "":
		began := time.Now()
		var err error
		if l.Reply, err = run(dir, r, args); err != nil {
			l.Reply, l.Failed = strings.TrimSpace(l.Reply+"\n"+err.Error())+"\n", true
		}
		l.MS = float64(time.Since(began).Microseconds()) / 1000
	case "arm":
		l.Reply = usage(r.Arm)
	default:
		l.Reply = "No look is left for this question. Answer now, as well as you can: look answer 'TEXT'\n"
	}
	if len(l.Reply) > mostReply {
		l.Reply = strings.ToValidUTF8(l.Reply[:mostReply], "") + "\n… cut: the reply is longer than one may be\n"
	}
	l.Chars = len([]rune(l.Reply))
	l.Tokens = tokens.Estimate("look "+strings.Join(args, " ")) + tokens.Estimate(l.Reply)
	return l.Reply, trial.Append(dir, "looks.jsonl", l)
}

// refused says why a look is not made: the arm does not have the command, or the
// bounds of the run are reached. It is the same rule in every arm.
func refused(r *trial.Run, now *trial.Question, before []trial.Look, command string) string {
	looks, chars := 0, 0
	for _, l := range before {
		chars += l.Chars
		if l.Question == now.ID && l.Refused == "" {
			looks++
		}
	}
	switch {
	case !offered(r.Arm, command):
		return "arm"
	case r.MostLooks > 0 && looks >= r.MostLooks:
		return "looks"
	case r.MostChars > 0 && chars >= r.MostChars:
		return "chars"
	}
	return ""
}

// offered reports whether an arm has a command.
func offered(arm, command string) bool {
	switch command {
	case "grep", "read", "sed", "list":
		return true
	case "search", "context", "execute":
		return arm != trial.Grep
	}
	return false
}

// usage lists the commands of an arm.
func usage(arm string) string {
	text := `look next                            the next question
look answer 'TEXT'                   your answer to it (- reads it from standard input); prints the next question
look grep [-i] [-w] [-l] [-C N] [-g GLOB] REGEXP [PATH ...]
look read PATH FROM-TO               lines of a file, as: look sed -n 'FROM,TOp' PATH
look list [GLOB or FOLDER]           paths
`
	if arm != trial.Grep {
		text += `look search QUERY [--detail minimal|contextual|full] [--limit N] [--intent I] …
look context ID                      get_full_context: an id or place that a search has named
look execute COMMAND ['JSON']        any other command of the program
`
	}
	return text
}

// run makes a look.
func run(dir string, r *trial.Run, args []string) (string, error) {
	switch args[0] {
	case "search", "context", "execute":
		return product(dir, r, args)
	}
	t, err := window.ReadTree(r.Root)
	if err != nil {
		return "", err
	}
	switch args[0] {
	case "grep":
		return grep(t, args[1:])
	case "list":
		return list(t, args[1:])
	}
	return read(t, args)
}
