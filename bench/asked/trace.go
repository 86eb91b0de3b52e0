package main

import (
	"fmt"
	"math/rand/v2"
	"path"
	"strings"
)

// trace is a stack trace as the language prints it.
func (s *source) trace(it *item) string {
	rng := rand.New(rand.NewPCG(uint64(it.Seed), 7))
	msg := it.Message
	if msg == "" && len(it.Parts) > 0 {
		msg = s.literal(it.Gold[0].Path, it.Lang, it.Parts, true, rng)
	}
	at := func(f frame) string { return where(f, it) }
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	fs := it.Frames
	join := func(kind, text string) string {
		switch {
		case text == "":
			return kind
		case kind == "":
			return text
		}
		return kind + ": " + text
	}
	switch it.Lang {
	case "python":
		p("Traceback (most recent call last):\n")
		if it.Kind == "real" {
			p("  File \"/home/ana/shop/main.py\", line %d, in <module>\n    main()\n", 20+it.Seed%60)
		}
		for i := len(fs) - 1; i >= 0; i-- {
			p("  File \"%s\", line %d, in %s\n", at(fs[i]), fs[i].line, fs[i].name)
			if fs[i].whose == "own" {
				p("    %s\n", strings.TrimSpace(s.line(fs[i].path, fs[i].line)))
			}
		}
		p("%s", join(it.Error, msg))
	case "typescript":
		p("%s\n", join(it.Error, msg))
		for _, f := range fs {
			if f.name == "" {
				p("    at %s:%d:%d\n", at(f), f.line, f.col)
			} else {
				p("    at %s (%s:%d:%d)\n", f.name, at(f), f.line, f.col)
			}
		}
		p("    at main (/home/ana/shop/src/index.ts:%d:7)", 10+it.Seed%90)
	case "go":
		if it.Error == "runtime" {
			p("panic: %s\n[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x%x]\n\ngoroutine 1 [running]:\n", msg, 0x4a0000+it.Seed)
		} else {
			p("panic: %s\n\ngoroutine 1 [running]:\n", msg)
		}
		for _, f := range fs {
			p("%s(0xc%09x, {0x%x, 0x2})\n\t%s:%d +0x%x\n", f.name, it.Seed*16, 0x6b0000+it.Seed, at(f), f.line, 0x20+it.Seed%400)
		}
		p("main.main()\n\t/home/ana/tool/main.go:%d +0x1f\nexit status 2", 12+it.Seed%40)
	case "java", "kotlin", "scala":
		head := join(it.Error, msg)
		if it.Seed%2 == 0 {
			head = "Exception in thread \"main\" " + head
		}
		p("%s\n", head)
		for _, f := range fs {
			p("\tat %s(%s:%d)\n", f.name, path.Base(f.path), f.line)
		}
		p("\tat com.example.shop.Main.main(Main.java:%d)", 15+it.Seed%50)
	case "ruby":
		for i, f := range fs {
			if i == 0 {
				p("%s:%d:in `%s': %s (%s)\n", at(f), f.line, f.name, msg, it.Error)
			} else {
				p("\tfrom %s:%d:in `%s'\n", at(f), f.line, f.name)
			}
		}
		p("\tfrom /home/ana/shop/config.ru:%d:in `block in <main>'", 3+it.Seed%20)
	case "rust":
		own := first(fs)
		p("thread 'tokio-runtime-worker' panicked at %s:%d:%d:\n%s\nstack backtrace:\n", at(own), own.line, 9, msg)
		for i, f := range fs {
			p("%4d: %s\n", i, f.name)
			if f.path != "" {
				p("             at %s:%d:%d\n", at(f), f.line, 9)
			}
		}
		p("note: Some details are omitted, run with `RUST_BACKTRACE=full` for a verbose backtrace.")
	case "elixir":
		p("** (%s) %s\n", it.Error, msg)
		for _, f := range fs {
			app := map[string]string{"own": it.Repo + " 3.13.1", "app": "shop 0.1.0", "std": "stdlib 5.2"}[f.whose]
			if f.path == "lib/enum.ex" {
				app = "elixir 1.17.2"
			}
			p("    (%s) %s:%d: %s\n", app, f.path, f.line, f.name)
		}
	case "php":
		p("PHP Fatal error:  Uncaught %s in %s:%d\nStack trace:\n", join(it.Error, msg), at(fs[0]), fs[0].line)
		for i := range fs[1:] {
			p("#%d %s(%d): %s()\n", i, at(fs[i+1]), fs[i+1].line, fs[i].name)
		}
		p("#%d {main}\n  thrown in %s on line %d", len(fs)-1, at(fs[0]), fs[0].line)
	case "csharp":
		p("Unhandled exception. %s\n", join(it.Error, msg))
		for _, f := range fs {
			if f.path == "" {
				p("   at %s\n", f.name)
			} else {
				p("   at %s in %s:line %d\n", f.name, at(f), f.line)
			}
		}
	case "lua":
		own := first(fs)
		p("E5108: Error executing lua: %s:%d: %s\nstack traceback:\n", at(own), own.line, msg)
		for _, f := range fs {
			switch {
			case f.path == "":
				p("\t%s\n", f.name)
			case f.whose == "app":
				p("\t%s:%d: in %s\n", at(f), f.line, f.name)
			default:
				p("\t%s:%d: in function '%s'\n", at(f), f.line, f.name)
			}
		}
	case "zig":
		p("thread %d panic: %s\n", 20000+it.Seed%9000, msg)
		for i, f := range fs {
			p("%s:%d:%d: 0x%x in %s (%s)\n", at(f), f.line, 13, 0x1050000+it.Seed*7+i*311, f.name, it.Repo)
			if f.whose == "own" {
				p("%s\n            ^\n", s.line(f.path, f.line))
			}
		}
	case "c":
		p("Program received signal %s, %s\n", it.Error, msg)
		for i, f := range fs {
			if f.path == "" {
				p("#%-2d 0x%016x in %s ()\n", i, 0x55d200000000+it.Seed*64+i*900, f.name)
			} else {
				p("#%-2d 0x%016x in %s (c=0x7f%08x) at %s:%d\n", i, 0x55d200000000+it.Seed*64+i*900, f.name, it.Seed*48, path.Base(f.path), f.line)
			}
		}
	case "haskell":
		p("%s: %s\nCallStack (from HasCallStack):\n", it.Repo, msg)
		callee := ""
		for _, f := range fs {
			switch {
			case f.whose == "std":
				p("  %s, called at %s:%d:5 in base:GHC.List\n", f.name, f.path, f.line)
				callee = "head"
			case f.whose == "own":
				if callee == "" {
					callee = "error"
				}
				module := strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(f.path, "src/"), ".hs"), "/", ".")
				p("  %s, called at %s:%d:17 in %s-3.6:%s\n", callee, f.path, f.line, it.Repo, module)
				callee = f.name
			default:
				p("  %s, called at %s:%d:3 in main:Main\n", callee, f.path, f.line)
			}
		}
	case "bash":
		p("%s: line %d: %s\n", at(fs[0]), fs[0].line, msg)
		for i, f := range fs[1:] {
			p("    %s called at %s:%d in %s\n", fs[i].name, at(f), f.line, f.name)
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

func first(fs []frame) frame {
	for _, f := range fs {
		if f.whose == "own" {
			return f
		}
	}
	return fs[0]
}

// where is the path of a frame on somebody's machine: half the traces come
// from an installed package, half from a checkout.
func where(f frame, it *item) string {
	installed := it.Seed%2 == 0
	own := f.path
	switch f.whose {
	case "own":
		switch {
		case !installed || it.Lang == "zig" || it.Lang == "csharp":
			if it.Lang == "csharp" {
				return "/_/" + own
			}
			if it.Lang == "bash" {
				return "/home/ana/.nvm/" + own
			}
			return "/home/ana/src/" + it.Repo + "/" + own
		case it.Lang == "python":
			return "/usr/local/lib/python3.11/site-packages/" + strings.TrimPrefix(own, "src/")
		case it.Lang == "typescript":
			return "file:///home/ana/shop/node_modules/.pnpm/" + it.Repo + "/" + own
		case it.Lang == "go":
			return "/home/ana/go/pkg/mod/github.com/spf13/cobra@v1.9.1/" + own
		case it.Lang == "ruby":
			return "/usr/lib/ruby/gems/3.1.0/gems/" + strings.Replace(it.Repo, "rails", "railties", 1) + "-7.1.0/" + strings.TrimPrefix(own, "railties/")
		case it.Lang == "rust":
			return "/home/ana/.cargo/registry/src/index.crates.io-6f17d22bba15001f/" + it.Repo + "-0.8.1/" + strings.TrimPrefix(strings.TrimPrefix(own, it.Repo+"/"), "serde_core/")
		case it.Lang == "php":
			return "/var/www/vendor/" + it.Repo + "/" + it.Repo + "/" + own
		case it.Lang == "lua":
			return "...e/pack/deps/start/mini.nvim/" + own
		case it.Lang == "bash":
			return "/home/ana/.nvm/" + own
		}
		return "/home/ana/src/" + it.Repo + "/" + own
	case "app":
		return "/home/ana/shop/" + own
	case "dep":
		switch it.Lang {
		case "python":
			return "/usr/local/lib/python3.11/site-packages/" + own
		case "go":
			return "/home/ana/go/pkg/mod/" + own
		}
		return "/home/ana/shop/node_modules/" + own
	}
	if strings.HasPrefix(own, "<") || strings.HasPrefix(own, "node:") || strings.HasPrefix(own, "../") {
		return own
	}
	switch it.Lang {
	case "python":
		return "/usr/lib/python3.11/" + own
	case "go":
		return "/usr/local/go/src/" + own
	case "ruby":
		return "/usr/lib/ruby/3.1.0/" + own
	case "rust":
		if strings.HasPrefix(own, "tokio") {
			return "/home/ana/.cargo/registry/src/index.crates.io-6f17d22bba15001f/" + own
		}
		return "/rustc/9fc6b43126469e3858e2fe86cafb4f0fd5068869/library/" + own
	case "zig":
		return "/usr/lib/zig/" + own
	}
	return own
}
