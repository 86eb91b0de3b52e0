// Package traces explains stack traces and logs of builds: which declarations of
// the project and of what it depends on their frames are in, what most likely
// caused them, and what else is known of it.
//
// Every failure of a text has blame to give away. Frames take it, the innermost
// most; each keeps a part and hands the rest to what it had called when it came
// to its line: most to what the values there come from. What the tests that
// failed have in common, and those that passed do not, the words of the message
// and what changed lately raise or lower what each has in the end.
package traces

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Room is the room.
func Room() command.Room {
	return command.Room{
		Name: "traces", Commands: addTraces,
		People: map[string]command.Wording{
			"trace:explain": {
				Help: "Reads what is piped to it, or a file: go test ./... 2>&1 | knowledge trace:explain. " + help,
			},
		},
		Reaches: map[string]command.Reach{"trace:explain": {Data: command.OwnIndex}},
	}
}

const help = "Frames are resolved in the project and in the stores of what it depends on. Causes are ranked: functions on the stack, " +
	"and those that had returned the values it failed on. A frame in a dependency that no store has comes with the command that adds it. " +
	"Go, Python, JavaScript, TypeScript, Java, Rust, Ruby, PHP and C#; other languages as far as their frames can be read."

type traceIn struct {
	Trace  string   `json:"trace,omitempty" arg:"1" help:"the trace or log: all that was printed, from the first line of the error on" person:"a file with the trace (default: what is piped in)"`
	File   string   `json:"file,omitempty" help:"a file of the project that holds it"`
	Stores []string `json:"stores,omitempty" help:"names or ids of stores; * is every store"`
	Limit  int      `json:"limit,omitempty" help:"at most this many causes (default 8)"`
}

func addTraces(t *command.Table) {
	c := t.Add("code", command.New("trace:explain", "What most likely caused a stack trace or a failed build", command.Reads,
		func(ctx context.Context, a *app.App, in traceIn) (Reply, error) {
			text, err := in.text(ctx, a)
			if err != nil {
				return Reply{}, err
			}
			return Explain(ctx, a, Request{Trace: text, Stores: in.Stores, Limit: in.Limit, Waiting: command.WaitingOf(ctx)})
		}).Agent(), `{"trace":"panic: runtime error: index out of range [3] with length 3\n\nmain.parse(...)\n\t/src/parse.go:42"}`, `{"file":"build.log"}`)
	c.Help = help
}

// text returns the trace: the argument, a file, or what is piped in.
func (in traceIn) text(ctx context.Context, a *app.App) (string, error) {
	person := command.IsCLI(ctx)
	switch {
	case in.Trace == "-" && person, in.Trace == "" && in.File == "":
		if in := command.InputOf(ctx); in != nil {
			text, err := tail(in, mostText)
			if err != nil {
				return "", kb.Errorf(kb.Invalid, "read what is piped in: %w", err).WithHint("name a file: knowledge trace:explain FILE")
			}
			if len(strings.TrimSpace(text)) > 0 {
				return text, nil
			}
		}
		return "", kb.Errorf(kb.Invalid, "no trace is given").
			WithHint("pass it as trace, all that was printed; or pipe it in: go test ./... 2>&1 | knowledge trace:explain")
	case in.File != "":
		return readFile(a, in.File, person)
	case person && len(in.Trace) < 300:
		text, err := readFile(a, in.Trace, true)
		if err == nil || !strings.ContainsAny(in.Trace, " \t\n(:") { // one word is no trace
			return text, err
		}
	}
	return in.Trace, nil
}

// tail reads to the end and returns the last n bytes.
func tail(r io.Reader, n int) (string, error) {
	var kept []byte
	block := make([]byte, 64<<10)
	for {
		k, err := r.Read(block)
		kept = append(kept, block[:k]...)
		if len(kept) > 2*n {
			kept = append(kept[:0], kept[len(kept)-n:]...)
		}
		if err == io.EOF {
			return string(kept[max(0, len(kept)-n):]), nil
		}
		if err != nil {
			return "", err
		}
	}
}

// readFile reads a log: a person's from anywhere, another's from the project.
func readFile(a *app.App, name string, person bool) (string, error) {
	p, err := a.Where()
	if err != nil {
		return "", err
	}
	var f *os.File
	if person {
		f, err = os.Open(filepath.Join(p.Dir, name))
		if filepath.IsAbs(name) {
			f, err = os.Open(name)
		}
	} else {
		if p.None {
			return "", kb.Errorf(kb.NotFound, "there is no project here, and so no file %q of it", kb.Clip(name, 200)).WithHint("pass the text as trace")
		}
		var root *os.Root
		if root, err = os.OpenRoot(p.Root); err != nil {
			return "", kb.Errorf(kb.NotFound, "open the folder of the project: %w", err)
		}
		defer root.Close()
		f, err = root.Open(filepath.FromSlash(name))
	}
	if err != nil {
		return "", kb.Errorf(kb.NotFound, "the file %q cannot be read: %w", kb.Clip(name, 200), err).WithHint("name one of the project, or pass its text as trace")
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return "", kb.Errorf(kb.Invalid, "%q is no file that can be read to its end", kb.Clip(name, 200)).WithHint("pass its text as trace")
	}
	if n := info.Size() - mostText; n > 0 {
		if _, err := f.Seek(n, io.SeekStart); err != nil {
			return "", kb.Errorf(kb.Denied, "read %q: %w", kb.Clip(name, 200), err)
		}
	}
	b, err := io.ReadAll(io.LimitReader(f, mostText))
	if err != nil {
		return "", kb.Errorf(kb.Denied, "read %q: %w", kb.Clip(name, 200), err)
	}
	return string(b), nil
}
