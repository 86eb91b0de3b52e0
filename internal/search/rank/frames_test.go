package rank

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFrames(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []Frame
		rest       string
	}{
		{"python", "Traceback (most recent call last):\n  File \"/home/a/shop/main.py\", line 20, in <module>\n    main()\n" +
			"  File \"/usr/lib/site-packages/flask/app.py\", line 120, in run\n    self.go()\nValueError: no \"x\" here\n",
			[]Frame{{"/usr/lib/site-packages/flask/app.py", 120, "run"}, {"/home/a/shop/main.py", 20, ""}},
			"Traceback (most recent call last):\n\n    main()\n\n    self.go()\nValueError: no \"x\" here\n"},
		{"pytest", "tests/test_a.py:12: \n_ _ _\nsrc/shop/cart.py:34: in add\n    x()\nsrc/shop/price.py:5: KeyError\nsrc/x.py:3: error: no such name\n",
			[]Frame{{"src/shop/price.py", 5, ""}, {"src/shop/cart.py", 34, "add"}, {"tests/test_a.py", 12, ""}, {"src/x.py", 3, ""}}, ""},
		{"node", "TypeError: no\n    at Router.handle [as go] (/a/node_modules/x/lib/router.js:12:7)\n    at async main (file:///a/src/index.ts:3:1)\n    at node:internal/main:9:1\n    at new Foo (C:\\a\\b.js:1:2)\n    at Array.map (<anonymous>)",
			[]Frame{{"/a/node_modules/x/lib/router.js", 12, "handle"}, {"/a/src/index.ts", 3, ""}, {"internal/main", 9, ""}, {"C:/a/b.js", 1, "Foo"}}, "TypeError: no\n\n\n\n\n\n"},
		{"go", "panic: oh\n\ngoroutine 1 [running]:\ngithub.com/spf13/cobra.(*Command).ExecuteC(0xc0000, {0x1, 0x2})\n\t/go/pkg/mod/github.com/spf13/cobra@v1.9.1/command.go:1148 +0x40\nmain.main.func1()\n\t/home/a/main.go:12 +0x1f\n",
			[]Frame{{"/go/pkg/mod/github.com/spf13/cobra@v1.9.1/command.go", 1148, "ExecuteC"}, {"/home/a/main.go", 12, ""}}, ""},
		{"java", "Exception in thread \"main\" java.lang.IllegalStateException: no\n\tat com.google.gson.Gson.fromJson(Gson.java:12)\n\tat java.base/java.util.ArrayList.get(ArrayList.java:427)\n\tat a.B.c(Native Method)\nCaused by: x.Y: why\n\tat com.acme.Shop$Cart.lambda$add$0(Shop.java:7)\n",
			[]Frame{{"com/acme/Shop.java", 7, "add"}, {"com/google/gson/Gson.java", 12, "fromJson"}, {"java/util/ArrayList.java", 427, "get"}}, ""},
		{"rust", "thread 'main' panicked at src/de/mod.rs:12:9:\noh no\nstack backtrace:\n   0: serde::de::Visitor::visit\n             at /c/serde-0.8.1/src/de/mod.rs:12:9\n   1: std::rt\n             at /rustc/9f/library/std/src/rt.rs:1:2\n",
			[]Frame{{"src/de/mod.rs", 12, ""}, {"/c/serde-0.8.1/src/de/mod.rs", 12, "visit"}, {"/rustc/9f/library/std/src/rt.rs", 1, "rt"}}, ""},
		{"ruby", "/gems/rack-3.1/lib/rack/builder.rb:12:in `block in call': no key (KeyError)\n\tfrom /gems/puma/x.rb:3:in 'Puma::Server#run'\n",
			[]Frame{{"/gems/rack-3.1/lib/rack/builder.rb", 12, "call"}, {"/gems/puma/x.rb", 3, "run"}}, " : no key (KeyError)\n\tfrom \n"},
		{"php", "PHP Fatal error:  Uncaught A: no in /v/a/src/B.php:7\nStack trace:\n#0 /v/a/src/C.php(9): B->go()\n#1 {main}\n  thrown in /v/a/src/B.php on line 7",
			[]Frame{{"/v/a/src/B.php", 7, ""}, {"/v/a/src/C.php", 9, ""}}, ""},
		{"csharp", "Unhandled exception. System.E: no\n   at Polly.Retry.RetryEngine.Execute[T](Func`1 a) in /_/src/Polly/Retry/RetryEngine.cs:line 12\n   at Polly.Policy.Run()\n",
			[]Frame{{"/_/src/Polly/Retry/RetryEngine.cs", 12, "Execute"}, {"Polly/Policy.cs", 0, "Run"}}, ""},
		{"elixir", "** (ArgumentError) no\n    (phoenix 1.7.1) lib/phoenix/router.ex:12: Phoenix.Router.call/2\n",
			[]Frame{{"lib/phoenix/router.ex", 12, "call"}}, ""},
		{"gdb", "Program received signal SIGSEGV\n#0  0x000055 in dictFind (c=0x7f) at dict.c:12\n#1  0x000056 in main ()\n", []Frame{{"dict.c", 12, "dictFind"}}, ""},
		{"asan", "==1==ERROR: AddressSanitizer: x\n    #0 0x4f in jv_free /a/jq/src/jv.c:12:3\n", []Frame{{"/a/jq/src/jv.c", 12, "jv_free"}}, ""},
		{"lua", "E5108: Error: ...e/mini.nvim/lua/mini/ai.lua:12: no\nstack traceback:\n\t...e/mini.nvim/lua/mini/ai.lua:12: in function 'find'\n",
			[]Frame{{"...e/mini.nvim/lua/mini/ai.lua", 12, ""}}, ""},
		{"zig", "thread 1 panic: no\n/a/src/x.zig:12:13: 0x105 in parse (zls)\n", []Frame{{"/a/src/x.zig", 12, "parse"}}, ""},
		{"haskell", "p: no\nCallStack (from HasCallStack):\n  error, called at src/A/B.hs:12:17 in p-3.6:A.B\n", []Frame{{"src/A/B.hs", 12, ""}}, ""},
		{"bash", "/h/nvm.sh: line 12: no\n    nvm called at /h/nvm.sh:40 in main\n", []Frame{{"/h/nvm.sh", 12, ""}, {"/h/nvm.sh", 40, ""}}, ""},
		{"swift", "Fatal error: no: file App/Cart.swift, line 12\n", []Frame{{"App/Cart.swift", 12, ""}}, ""},
		{"a place in a text", "why does server.go:120 wait", []Frame{{"server.go", 120, ""}}, "why does server.go:120 wait\n"},
		{"a link", "see https://github.com/a/b/blob/main/src/x.py#L12-L20", []Frame{{"//github.com/a/b/blob/main/src/x.py", 12, ""}}, ""},
		{"a line in words", "what happens in server.go, line 12", []Frame{{"server.go", 12, ""}}, "what happens in server.go, line 12\n"},
		{"lines of a link", "https://forge.example.org/a/b/src/master/src/x.py#lines-10:20",
			[]Frame{{"//forge.example.org/a/b/src/master/src/x.py", 10, ""}}, ""},
		{"a link to a file", "https://forge.example.org/a/b/-/blob/v2.1/src/x.py", []Frame{{"v2.1/src/x.py", 0, ""}}, ""},
		{"none", "how does it work in 2024: well (yes)", nil, "how does it work in 2024: well (yes)\n"},
	} {
		got, rest := Frames(c.text)
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
		if c.rest != "" && rest != c.rest {
			t.Errorf("%s: rest %q", c.name, rest)
		}
	}
}
