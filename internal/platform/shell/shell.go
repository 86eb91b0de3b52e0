// Package shell takes a line for a shell apart as far as it must be understood
// to say which programs it starts on what. Nothing is expanded and nothing run.
package shell

import (
	"path"
	"slices"
	"strings"
)

// Command is what is between two operators of a line.
type Command struct {
	Words []string // without redirections, quotes and backslashes
	Piped bool     // reads what the one before writes
	File  bool     // what it prints goes into a file
}

// Commands takes a line apart: words, quotes, backslashes, the operators
// | & ; and the end of a line, redirections, comments at the begin of a word, and texts
// that are given in place ("<<EOF"), which are left out.
func Commands(line string) []Command {
	s := splitter{line: line}
	for s.i < len(s.line) {
		s.next()
	}
	s.endCommand(false)
	return s.all
}

type splitter struct {
	line   string
	i      int
	all    []Command
	now    Command
	word   strings.Builder
	in     bool     // a word
	target bool     // the next word is that of a redirection
	output bool     // which is one of what is printed
	ends   []string // of the texts that begin on the next line
}

func (s *splitter) next() {
	b := s.line[s.i]
	s.i++
	switch b {
	case ' ', '\t', '\r':
		s.endWord()
	case '#':
		if s.in {
			s.word.WriteByte(b)
			return
		}
		for s.i < len(s.line) && s.line[s.i] != '\n' {
			s.i++
		}
	case '|', ';', '&', '\n':
		s.operator(b)
	case '<', '>':
		s.redirect(b)
	case '\'', '"':
		s.quoted(b)
	case '\\':
		if s.i < len(s.line) {
			if s.line[s.i] != '\n' {
				s.in = true
				s.word.WriteByte(s.line[s.i])
			}
			s.i++
		}
	default:
		s.in = true
		s.word.WriteByte(b)
	}
}

func (s *splitter) operator(b byte) {
	if b == '&' && s.i < len(s.line) && s.line[s.i] == '>' {
		return // "&>" is a redirection
	}
	twice := s.i < len(s.line) && s.line[s.i] == b && b != '\n'
	if twice {
		s.i++
	} else if b == '|' && s.i < len(s.line) && s.line[s.i] == '&' {
		s.i++
	}
	s.endCommand(b == '|' && !twice)
	if b == '\n' {
		s.skipTexts()
	}
}

// redirect reads the sign of a redirection; its file is the next word, also
// where that is a number of a stream ("2>&1").
func (s *splitter) redirect(b byte) {
	stream := s.in && strings.Trim(s.word.String(), "0123456789") == ""
	errors := stream && s.word.String() == "2"
	if stream {
		s.word.Reset()
		s.in = false
	}
	s.endWord()
	from := s.i - 1
	for s.i < len(s.line) && strings.IndexByte("<>|&-", s.line[s.i]) >= 0 {
		s.i++
	}
	sign := s.line[from:s.i]
	switch {
	case strings.HasPrefix(sign, "<<<"):
		s.target, s.output = true, false
	case strings.HasPrefix(sign, "<<"):
		s.ends = append(s.ends, s.ending())
	default:
		s.target, s.output = true, b == '>' && !errors && !strings.Contains(sign, "&")
	}
}

// ending reads the word that ends a text given in place.
func (s *splitter) ending() string {
	for s.i < len(s.line) && (s.line[s.i] == ' ' || s.line[s.i] == '\t') {
		s.i++
	}
	from := s.i
	for s.i < len(s.line) && strings.IndexByte(" \t\n;|&<>", s.line[s.i]) < 0 {
		s.i++
	}
	return strings.Trim(s.line[from:s.i], `'"\`)
}

func (s *splitter) skipTexts() {
	for _, end := range s.ends {
		for s.i < len(s.line) {
			l, _, _ := strings.Cut(s.line[s.i:], "\n")
			s.i = min(s.i+len(l)+1, len(s.line))
			if strings.TrimLeft(strings.TrimRight(l, "\r"), "\t") == end {
				break
			}
		}
	}
	s.ends = nil
}

func (s *splitter) quoted(b byte) {
	s.in = true
	for ; s.i < len(s.line) && s.line[s.i] != b; s.i++ {
		if b == '"' && s.line[s.i] == '\\' && s.i+1 < len(s.line) && strings.IndexByte("\"\\$`", s.line[s.i+1]) >= 0 {
			s.i++
		}
		s.word.WriteByte(s.line[s.i])
	}
	s.i++
}

func (s *splitter) endWord() {
	if !s.in {
		return
	}
	w := s.word.String()
	s.word.Reset()
	s.in = false
	if s.target {
		s.target = false
		s.now.File = s.now.File || s.output && w != "/dev/null" && w != "/dev/stdout" && w != "/dev/stderr"
		return
	}
	s.now.Words = append(s.now.Words, w)
}

func (s *splitter) endCommand(piped bool) {
	s.endWord()
	s.target = false
	if len(s.now.Words) > 0 || s.now.File {
		s.all = append(s.all, s.now)
	}
	s.now = Command{Piped: piped}
}

// wrappers are programs and words of the shell that start what follows them,
// with how many words of their own they take besides flags and settings.
var wrappers = map[string]int{
	"do": 0, "then": 0, "else": 0, "if": 0, "elif": 0, "while": 0, "until": 0, "!": 0,
	"time": 0, "command": 0, "builtin": 0, "exec": 0, "env": 0, "sudo": 0, "nohup": 0, "nice": 0, "stdbuf": 0,
	"xargs": 0, "timeout": 1,
}

// valued are flags of wrappers that take the next word.
var valued = map[string][]string{
	"xargs": {"-n", "-P", "-I", "-L", "-d", "-a", "-E", "-s"}, "timeout": {"-s", "-k"},
	"nice": {"-n"}, "sudo": {"-u", "-g"}, "env": {"-u", "-C", "-S"}, "stdbuf": {"-i", "-o", "-e"},
}

// Program returns the name of the program that a command starts, without its
// folder, and its arguments: what only sets the environment or starts another is passed over. A
// command of xargs is given what it works on, so piped is false for it.
func (c Command) Program() (name string, args []string, piped bool) {
	w, piped := c.Words, c.Piped
	for len(w) > 0 {
		w0 := strings.TrimLeft(w[0], "({")
		if w0 == "" || strings.Contains(w0, "=") {
			w = w[1:]
			continue
		}
		name = path.Base(strings.ReplaceAll(w0, `\`, "/"))
		own, wraps := wrappers[name]
		if !wraps {
			return strings.TrimRight(name, ")}"), w[1:], piped
		}
		piped = piped && name != "xargs"
		for w = w[1:]; len(w) > 0 && (strings.HasPrefix(w[0], "-") || own > 0); w = w[1:] {
			switch {
			case !strings.HasPrefix(w[0], "-"):
				own--
			case slices.Contains(valued[name], w[0]) && len(w) > 1:
				w = w[1:]
			}
		}
	}
	return "", nil, piped
}
