package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
)

// colorings are the values of --color.
var colorings = []string{"auto", "always", "never"}

// paint decides whether standard output and standard error are coloured, by
// --color, and else by what other programs go by: no-color.org, CLICOLOR.
func (s *session) paint(when string) {
	env := s.env.Getenv
	colored := func(terminal bool) bool {
		switch force := env("CLICOLOR_FORCE"); {
		case when != "auto":
			return when == "always"
		case env("NO_COLOR") != "":
			return false
		case force != "" && force != "0":
			return true
		}
		return terminal && env("TERM") != "dumb" && env("CLICOLOR") != "0"
	}
	s.Color, s.errs.Color = colored(s.env.Terminal), colored(s.env.ErrTerminal)
	s.Locate = nil
	if s.env.Terminal && s.Color && understandsLinks(env) {
		s.Locate = s.locate()
	}
}

// understandsLinks reports whether the terminal is known to show the links of
// OSC 8. What is not known gets none, since some print them; the terminal of
// Visual Studio Code makes links of path:line by itself, which open at the line.
func understandsLinks(env func(string) string) bool {
	if force := env("FORCE_HYPERLINK"); force != "" {
		return force != "0"
	}
	least := func(name string, least float64) bool {
		v, err := strconv.ParseFloat(strings.TrimRight(env(name), "abcdefghijklmnopqrstuvwxyz"), 64)
		return err == nil && v >= least
	}
	if slices.ContainsFunc([]string{"alacritty", "contour", "foot", "xterm-ghostty", "xterm-kitty"}, func(t string) bool {
		return strings.HasPrefix(env("TERM"), t)
	}) {
		return true
	}
	switch env("TERM_PROGRAM") {
	case "iTerm.app", "WezTerm", "ghostty", "rio", "WarpTerminal", "Hyper":
		return true
	case "tmux":
		return least("TERM_PROGRAM_VERSION", 3.4)
	case "":
		return env("KITTY_WINDOW_ID") != "" || env("WT_SESSION") != "" || least("VTE_VERSION", 5000) || least("KONSOLE_VERSION", 201200)
	}
	return false
}

// locate returns what finds the file of a document of a store that lies in a
// folder, and the page of a site.
func (s *session) locate() func(store, path string) string {
	host, err := os.Hostname()
	if err != nil {
		host = "" // this machine
	}
	var folders map[string]string
	return func(store, path string) string {
		if strings.HasPrefix(path, "https://") || strings.HasPrefix(path, "http://") {
			return path
		}
		if folders == nil {
			folders = map[string]string{}
			if a, err := s.open(); err == nil {
				if list, err := a.Stores(context.Background(), "", true); err == nil {
					for _, r := range slices.Backward(list.Stores) { // the nearest comes first
						folders[r.Name] = r.Source
					}
				}
			}
		}
		file := filepath.Join(folders[store], filepath.FromSlash(path))
		if !filepath.IsAbs(file) {
			return ""
		}
		if _, err := os.Stat(file); err != nil {
			return ""
		}
		return printer.FileURL(host, file)
	}
}

// output is where standard output goes: as it comes, or, for results, at the
// end and through a pager.
type output struct {
	w    io.Writer
	hold bool // what comes now is a result
	held bytes.Buffer
}

// page has what is printed from now on shown page by page, where it is long.
func (s *session) page() error {
	err := s.buffer.Flush() // a question to the user, say
	s.out.hold = true
	return err
}

func (o *output) Write(b []byte) (int, error) {
	if o.hold {
		return o.held.Write(b)
	}
	return o.w.Write(b)
}

// end writes what was held, through a pager where it is longer than the terminal.
func (o *output) end(s *session) error {
	text := o.held.Bytes()
	if len(text) == 0 {
		return nil
	}
	if s.env.Terminal && s.env.InTerminal && !s.noPager && s.env.Height > 0 && bytes.Count(text, []byte("\n")) >= s.env.Height {
		if pager := s.pager(); pager != nil {
			pager.Stdin = bytes.NewReader(links.ReplaceAll(text, nil)) // older pagers print them
			pager.Stdout, pager.Stderr = o.w, s.env.Stderr
			err := pager.Run()
			if e := (*exec.ExitError)(nil); err == nil || errors.As(err, &e) && e.ExitCode() < 126 {
				return nil // 126 and 127: a shell could not start it
			}
		}
	}
	_, err := o.w.Write(text)
	return err
}

// links is what emit of package printer writes around a link.
var links = regexp.MustCompile("\x1b\\]8;;[^\x1b]*\x1b\\\\")

// pager returns the program that shows long results, nil for none: as git
// chooses it, and with the settings that git gives less.
func (s *session) pager() *exec.Cmd {
	line := s.env.Getenv("KNOWLEDGE_PAGER")
	if line == "" {
		line = s.env.Getenv("PAGER")
	}
	if line == "" {
		line = "less"
	}
	words := strings.Fields(line)
	if len(words) == 0 || words[0] == "cat" {
		return nil
	}
	if _, err := exec.LookPath(words[0]); err != nil && !strings.Contains(line, "=") {
		return nil
	}
	cmd := exec.Command(words[0], words[1:]...)
	if runtime.GOOS != "windows" {
		cmd = exec.Command("sh", "-c", line) // quotes, variables
	}
	cmd.Env = os.Environ()
	for _, v := range []string{"LESS=FRX", "LV=-c"} {
		if name, _, _ := strings.Cut(v, "="); s.env.Getenv(name) == "" {
			cmd.Env = append(cmd.Env, v)
		}
	}
	return cmd
}
