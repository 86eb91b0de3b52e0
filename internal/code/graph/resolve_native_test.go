package graph

// nativeCases are those of languages that are compiled ahead, of scripts and of
// functional ones; see resolveCases.
var nativeCases = []struct{ name, docs, want string }{
	{"rust: modules, impls, traits, use", `
== src/lib.rs rust
mod shapes 1-1
import crate::shapes::Circle - Circle 2
import std::fmt - fmt 3
function top 4-10
call Circle.new 5
call fmt.write 6
bind c Circle 5-10
call c.area 7
call shapes.free 8
call crate.util.deep.dig 9
module tests 20-40
import super * - 21
function tests.check 22-30
call top 23
call self.near 24
function tests.near 31-32
== src/shapes.rs rust
struct Circle 1-3
bind self.kind Kind 1-3
method Circle.new 5-8
call Self.helper 6
method Circle.area 9-12
call self.helper 10
call self.kind.name 11
method Circle.helper 13-14
function free 15-16
call super.top 16
struct Kind 17-18
inherit Named 19
method Kind.name 20-24
call self.shout 21
trait Named 30-35
method Named.name 31-31
method Named.shout 32-34
== src/util/mod.rs rust
import self::deep::dig - exported 1
== src/util/deep.rs rust
import crate::shapes Circle Circle 1
function dig 2-3
method Circle.extra 5-8
call self.area 6
call exported 7
call super.exported 8
== src/util/use.rs rust
import crate::shapes::Circle - Round 1
function f 2-9
bind r Round 2-9
call r.extra 3
call top 4
`, `
src/lib.rs:5 > src/shapes.rs:5 call
src/lib.rs:7 > src/shapes.rs:9 call 0.9
src/lib.rs:8 > src/shapes.rs:15 call
src/lib.rs:9 > src/util/deep.rs:2 call
src/lib.rs:23 > src/lib.rs:4 call
src/lib.rs:24 > src/lib.rs:31 call
src/shapes.rs:6 > src/shapes.rs:13 call
src/shapes.rs:10 > src/shapes.rs:13 call
src/shapes.rs:11 > src/shapes.rs:20 call 0.9
src/shapes.rs:16 > src/lib.rs:4 call
src/shapes.rs:19 > src/shapes.rs:30 inherit
src/shapes.rs:21 > src/shapes.rs:32 call 0.9
src/util/deep.rs:6 > src/shapes.rs:9 call
src/util/deep.rs:8 > src/util/deep.rs:2 call
src/util/use.rs:3 > src/util/deep.rs:5 call 0.9
`},
	{"rust: crates of one workspace", `
== crates/my-core/src/lib.rs rust
function start 1-2
== crates/app/src/main.rs rust
import my_core::start - start 1
import other::start - begin 2
call start 3
call begin 4
call my_core.start 5
`, `
crates/app/src/main.rs:3 > crates/my-core/src/lib.rs:1 call
crates/app/src/main.rs:5 > crates/my-core/src/lib.rs:1 call
`},
	{"rust: crates named with a prefix, macros of the crate", `
== crates/cli/src/lib.rs rust
function start 1-2
== crates/matcher/src/lib.rs rust
function find 1-2
== crates/core/src/main.rs rust
import grep_cli::start - start 1
import grep_matcher - - 2
import serde_json::find - find_json 2
call start 3
call grep_matcher.find 4
call find_json 5
call shout 6
call twice 7
== crates/core/src/say.rs rust
macro shout 1-2
mod inner 3-9
macro inner.twice 4-5
== crates/core/src/say2.rs rust
macro twice 1-2
`, `
crates/core/src/main.rs:3 > crates/cli/src/lib.rs:1 call
crates/core/src/main.rs:4 > crates/matcher/src/lib.rs:1 call 0.9
crates/core/src/main.rs:6 > crates/core/src/say.rs:1 call 0.9
`},
	{"rust: chains of calls, by what each says it returns", `
== src/lib.rs rust
struct Builder 1-2
method Builder.new fn_new()_->_Self 3-4
method Builder.size fn_size(&mut_self)_->_&mut_Builder 5-6
method Builder.build fn_build(&self)_->_Result<Tool,_Error> 7-8
method Builder.odd fn_odd(&self)_->_Vec<Tool> 9-10
struct Tool 20-21
method Tool.size fn_size(&self)_->_usize 22-23
method Tool.run fn_run(&self) 24-25
function main 30-60
call ().run 35
call ().unwrap 34
call ().build 33
call ().size 32
call Builder.new 31
call ().run 37
call ().odd 37
call Builder.new 37
call ().run 38
call main 30
`, `
src/lib.rs:31 > src/lib.rs:3 call
src/lib.rs:32 > src/lib.rs:5 call 0.8
src/lib.rs:33 > src/lib.rs:7 call 0.8
src/lib.rs:35 > src/lib.rs:24 call 0.8
src/lib.rs:37 > src/lib.rs:9 call 0.8
src/lib.rs:37 > src/lib.rs:3 call
`},
	{"c: headers, statics, several definitions", `
== src/a.c c
import a.h - - 1
import dup_one.h - - 2
function helper 3-5
function main 6-20
call helper 7
call shared_thing 8
call twice 9
call unclear 10
== src/b.c c
function helper 1-3
function shared_thing 4-6
function unclear 7-8
== src/a.h c
function shared_thing 1-1
== src/dup_one.h c
function twice 1-1
== src/dup_one.c c
function twice 1-5
== src/dup_two.c c
function twice 1-5
function unclear 7-8
`, `
src/a.c:7 > src/a.c:3 call
src/a.c:8 > src/b.c:4 call
src/a.c:9 > src/dup_one.c:1 call 0.9
`},
	{"c: a definition rather than the prototype above it", `
== a.c c
function late 1-1
function user 3-9
call late 4
call assert 5
function late 10-15
== b.h c
function assert 1-1
`, `
a.c:4 > a.c:10 call
`},
	{"cpp: members outside their class", `
== w.cpp cpp
import w.hpp - - 1
method ui:Widget:draw 2-8
call paint 3
call ui.make 4
bind o Widget 2-8
call o.paint 5
== w.hpp cpp
namespace ui 1-30
class ui:Widget 2-9
method ui:Widget:draw 3-3
method ui:Widget:paint 4-6
function ui:make 10-12
`, `
w.cpp:3 > w.hpp:4 call
w.cpp:4 > w.hpp:10 call
w.cpp:5 > w.hpp:4 call 0.9
`},
	{"ruby: nesting, constructors, mixins", `
== lib/a.rb ruby
module App 1-30
class App:Client 2-20
inherit Loud 2
method App:Client:initialize 3-4
method App:Client:call 5-10
call shout 6
call Helper.new 7
call Other.new 8
call puts 9
== lib/b.rb ruby
module App 1-20
class App:Helper 2-5
method App:Helper:initialize 3-4
module App:Loud 6-9
method App:Loud:shout 7-8
class App:Other 10-11
== lib/c.rb ruby
call App.Client.new 1
call shout 2
`, `
lib/a.rb:2 > lib/b.rb:6 inherit
lib/a.rb:6 > lib/b.rb:7 call 0.8
lib/a.rb:7 > lib/b.rb:3 call
lib/a.rb:8 > lib/b.rb:10 call
lib/c.rb:1 > lib/a.rb:3 call
`},
	{"php: namespaces and use", `
== a.php php
pkg App\Http
import App\Model\User - User 1
class Page 2-30
method Page.__construct 3-4
method Page.show 5-20
call User.find 6
call $this.draw 7
call draw 8
bind $u User 5-20
call $u.name 9
call Page 10
method Page.draw 21-22
== b.php php
pkg App\Model
class User 1-9
method User.find 2-3
method User.name 4-5
`, `
a.php:6 > b.php:2 call
a.php:7 > a.php:21 call
a.php:9 > b.php:4 call 0.9
a.php:10 > a.php:3 call
`},
	{"swift: modules and extensions", `
== Sources/Kit/a.swift swift
class Box 1-9
method Box.open 2-3
== Sources/Kit/b.swift swift
method Box.shut 1-3
call open 2
function use 4-9
bind b Box 4-9
call b.shut 5
call Box 6
== Sources/Other/c.swift swift
import Kit - - 1
call Box 2
== Sources/Third/d.swift swift
call Box 2
`, `
Sources/Kit/b.swift:2 > Sources/Kit/a.swift:2 call
Sources/Kit/b.swift:5 > Sources/Kit/b.swift:1 call 0.9
Sources/Kit/b.swift:6 > Sources/Kit/a.swift:1 call
Sources/Other/c.swift:2 > Sources/Kit/a.swift:1 call
`},
	{"elixir: modules and aliases", `
== a.ex elixir
module App.Web 1-20
function App.Web:run 2-8
import App.Store - Store 2
import App.Tools * - 2
call Store.put 3
call near 4
call App.Store.put 5
call tool 6
function App.Web:near 9-10
== b.ex elixir
module App.Store 1-9
function App.Store:put 2-3
module App.Tools 10-20
function App.Tools:tool 11-12
`, `
a.ex:3 > b.ex:2 call
a.ex:4 > a.ex:9 call
a.ex:5 > b.ex:2 call
a.ex:6 > b.ex:11 call
`},
	{"haskell, lua, bash, zig", `
== A.hs haskell
pkg App.A
import App.B * - 1
import App.C - C 2
call fromB 3
call C.fromC 4
call fromC 5
== B.hs haskell
pkg App.B
function fromB 1-2
== C.hs haskell
pkg App.C
function fromC 1-2
== lua/m/init.lua lua
method M.go 1-2
call M.go 3
bind M - 1-9
== lua/x.lua lua
import m - mod 1
call mod.go 2
== run.sh bash
import ./lib.sh - - 1
call helper_fn 2
call ls 3
== lib.sh bash
function helper_fn 1-2
== a.zig zig
import b.zig - b 1
call b.run 2
== b.zig zig
function run 1-2
`, `
A.hs:3 > B.hs:1 call
A.hs:4 > C.hs:1 call
a.zig:2 > b.zig:1 call
lua/m/init.lua:3 > lua/m/init.lua:1 call
lua/x.lua:2 > lua/m/init.lua:1 call
run.sh:2 > lib.sh:1 call
`},
	{"languages do not see each other", `
== a.py python
function f 1-2
== a.rb ruby
call f 1
== a.json json
call f 1
== a.foo foo
function g 1-2
call g 3
`, `
a.foo:3 > a.foo:1 call
`},
}
