package graph

// resolveCases are stores of few documents, and all the edges there must be:
// every reference that has no edge here must have none.
var resolveCases = []struct{ name, docs, want string }{
	{"python: scopes", `
== a.py python
function helper 1-2
function outer 4-12
function outer.inner 5-6
call inner 7
call helper 8
bind helper - 9-9
call helper 9
call inner 20
call print 21
var limit 22-22
use limit 23
bind limit - 30-40
use limit 31
`, `
a.py:7 > a.py:5 call
a.py:8 > a.py:1 call
a.py:23 > a.py:22 use
`},
	{"python: imports, aliases, stars, packages, relative paths", `
== src/pkg/__init__.py python
import .core run go 1
import .core * - 2
import . util util 3
call util.mix 4
== src/pkg/core.py python
function run 1-2
class Base 3-9
method Base.step 4-5
== src/pkg/util.py python
function mix 1-2
== src/pkg/sub/deep.py python
import ..core Base Base 1
import ..missing Gone Gone 2
class Deep 3-9
inherit Base 3
call Gone 4
method Deep.work 5-8
call self.step 6
call super.step 7
== tests/test_a.py python
import pkg - pkg 1
import pkg.core - core 2
import pkg.util - pkg 3
import json - json 4
import pkg go go 5
import os * - 6
call pkg.go 7
call core.run 8
call pkg.util.mix 9
call json.run 10
call pkg.Base 11
call go 12
`, `
src/pkg/__init__.py:4 > src/pkg/util.py:1 call
src/pkg/sub/deep.py:3 > src/pkg/core.py:3 inherit
src/pkg/sub/deep.py:6 > src/pkg/core.py:4 call 0.8
src/pkg/sub/deep.py:7 > src/pkg/core.py:4 call 0.8
tests/test_a.py:7 > src/pkg/core.py:1 call
tests/test_a.py:8 > src/pkg/core.py:1 call
tests/test_a.py:9 > src/pkg/util.py:1 call
tests/test_a.py:11 > src/pkg/core.py:3 call
tests/test_a.py:12 > src/pkg/core.py:1 call
`},
	{"python: the standard library is not a file of that name", `
== pkg/__init__.py python
== pkg/types.py python
class Thing 1-2
== pkg/a.py python
import types Thing Thing 1
call Thing 2
== tools/json.py python
function loads 1-2
== tests/b.py python
import json loads loads 1
call loads 2
`, ``},
	{"python: receivers", `
== a.py python
class Server 1-20
method Server.__init__ 2-4
method Server.serve 5-9
bind self.store Store 2-4
call self.store.load 6
call self.serve 7
call self.unknown_thing 8
function make 22-30
bind s Server 23-30
call Server 23
call s.serve 24
call s.store.load 25
bind q - 26-30
call q.serve 26
call q.distinctive_name 27
call q().distinctive_name 28
call Server.serve 29
class Store 40-50
method Store.load 41-42
method Store.serve 43-44
method Store.distinctive_name 45-46
method Store.append 47-48
function late 60-70
bind q - 60-70
call q.append 61
`, `
a.py:6 > a.py:41 call 0.9
a.py:7 > a.py:5 call
a.py:23 > a.py:2 call
a.py:24 > a.py:5 call 0.9
a.py:25 > a.py:41 call 0.9
a.py:27 > a.py:45 call 0.6
a.py:28 > a.py:45 call 0.6
a.py:29 > a.py:5 call
`},
	{"python: a class sees its own names, its methods do not", `
== a.py python
class A 1-9
method A.field 2-3
call field 4
method A.other 5-6
call field 6
`, `
a.py:4 > a.py:2 call
`},
	{"javascript: what a module passes on of its own", `
== a.js javascript
function card 1-3
function other 4-5
import - card default 7
import - other renamed 8
== b.js javascript
function make module.exports_=_function_make() 1-3
== c.js javascript
import ./a default Card 1
import ./a renamed renamed 1
import ./b default made 1
function f 2-9
call Card 3
call renamed 4
call made 5
`, `
c.js:3 > a.js:1 call
c.js:4 > a.js:4 call
c.js:5 > b.js:1 call
`},
	{"typescript: paths, index, re-exports, namespaces, default", `
== src/index.ts typescript
import ./util * - 1
import ./lib/thing Thing Renamed 2
== src/util.ts typescript
function parse 1-2
const limit 3-3
== src/lib/thing.ts typescript
class Thing 1-9
constructor Thing.constructor 2-3
method Thing.act 4-5
call this.act 3
== src/lib/index.js javascript
function fromLib 1-2
== src/view.tsx tsx
function View 1-5
== src/main.ts typescript
import . Renamed Renamed 1
import ./index parse parse 2
import ./util.js * u 3
import ./lib fromLib fromLib 4
import ./view default View 5
import react useState useState 6
import lodash default _ 7
import ./util - - 8
call Renamed 9
call parse 10
call u.parse 11
use u.limit 12
call fromLib 13
call View 14
call useState 15
call _.parse 16
bind t Renamed 17-20
call t.act 18
type Renamed 19
call limit 20
`, `
src/lib/thing.ts:3 > src/lib/thing.ts:4 call
src/main.ts:9 > src/lib/thing.ts:2 call
src/main.ts:10 > src/util.ts:1 call
src/main.ts:11 > src/util.ts:1 call
src/main.ts:12 > src/util.ts:3 use
src/main.ts:13 > src/lib/index.js:1 call
src/main.ts:14 > src/view.tsx:1 call
src/main.ts:18 > src/lib/thing.ts:4 call 0.9
src/main.ts:19 > src/lib/thing.ts:1 type
`},
	{"typescript: a scope of npm that is the store's own", `
== packages/core/src/index.ts typescript
import @own/util help help 1
import @own/extra/deep dig dig 2
import @babel/core help other 3
call help 4
call other 5
call dig 6
== packages/util/src/index.ts typescript
function help 1-2
== packages/extra/src/index.ts typescript
import @babel/types * t 1
import @babel/parser * p 1
import @own/core x y 1
import @own/core x x 1
== packages/extra/src/deep.ts typescript
function dig 1-2
`, `
packages/core/src/index.ts:4 > packages/util/src/index.ts:1 call
packages/core/src/index.ts:6 > packages/extra/src/deep.ts:1 call
`},
	{"javascript: prototypes and objects", `
== a.js javascript
function Emitter 1-3
method Emitter.fire 4-6
call this.stop 5
method Emitter.stop 7-8
const api 10-20
method api.open 11-13
call this.close 12
method api.close 14-15
call api.open 21
call new 22
`, `
a.js:5 > a.js:7 call
a.js:12 > a.js:14 call
a.js:21 > a.js:11 call
`},
	{"java: packages, nested classes, static imports, inheritance", `
== src/com/x/A.java java
pkg com.x
import com.y.B - B 1
import com.y.Tools help help 2
import com.z * - 3
import java.util.List - List 4
class A 5-40
inherit Base 5
field A.b 6-6
bind self.b B 6-6
constructor A.A 7-8
method A.go 9-20
call b.act 10
call this.b.act 11
call help 12
call inBase 13
call Sib.make 14
call List.of 15
call A 16
call Z.zap 17
call com.y.B.still 18
bind x - 9-20
call x.act 19
class A.In 21-30
method A.In.deep 22-29
call go 23
call inBase 24
type In 25
== src/com/x/Base.java java
pkg com.x
class Base 1-9
method Base.inBase 2-3
== src/com/x/Sib.java java
pkg com.x
class Sib 1-9
method Sib.make 2-3
== src/com/y/B.java java
pkg com.y
class B 1-9
method B.act 2-3
method B.still 4-5
== src/com/y/Tools.java java
pkg com.y
class Tools 1-9
method Tools.help 2-3
== src/com/z/Z.java java
pkg com.z
class Z 1-9
method Z.zap 2-3
== src/com/w/Sib.java java
pkg com.w
class Sib 1-9
method Sib.make 2-3
`, `
src/com/x/A.java:5 > src/com/x/Base.java:1 inherit
src/com/x/A.java:10 > src/com/y/B.java:2 call 0.9
src/com/x/A.java:11 > src/com/y/B.java:2 call 0.9
src/com/x/A.java:12 > src/com/y/Tools.java:2 call
src/com/x/A.java:13 > src/com/x/Base.java:2 call 0.8
src/com/x/A.java:14 > src/com/x/Sib.java:2 call
src/com/x/A.java:16 > src/com/x/A.java:7 call
src/com/x/A.java:17 > src/com/z/Z.java:2 call
src/com/x/A.java:18 > src/com/y/B.java:4 call
src/com/x/A.java:23 > src/com/x/A.java:9 call
src/com/x/A.java:24 > src/com/x/Base.java:2 call 0.8
src/com/x/A.java:25 > src/com/x/A.java:21 type
`},
	{"java: a type's name means the type, not its constructor", `
== a/A.java java
pkg a
import b.Base - Base 1
class A 2-20
inherit Base 2
bind self.base Base 2-20
bind self.own A 2-20
constructor A.A 3-4
method A.run 5-10
call base.stop 6
call own.run 7
type Base 8
type A 9
== b/Base.java java
pkg b
class Base 2-9
constructor Base.Base 3-4
method Base.stop 5-6
`, `
a/A.java:2 > b/Base.java:2 inherit
a/A.java:6 > b/Base.java:5 call 0.9
a/A.java:7 > a/A.java:5 call 0.9
a/A.java:8 > b/Base.java:2 type
a/A.java:9 > a/A.java:2 type
`},
	{"java: what is of a type from outside has no member here", `
== a/A.java java
pkg a
import java.util.BitSet - BitSet 1
import java.util BitSet BitSet 1
class A 2-30
bind self.bits BitSet 2-30
bind self.what - 2-30
method A.run 5-20
call bits.nextClearBit 6
call what.nextClearBit 7
call what.ofNothing 8
call run().nextClearBit 9
bind b BitSet 5-20
call b.nextClearBit 10
method A.again 21-25
call what.nextClearBit 22
== a/Bits.java java
pkg a
class Bits 2-9
method Bits.nextClearBit 3-4
call bits.nextClearBit 4
method Bits.ofNothing static_Bits_ofNothing() 5-6
`, `
a/A.java:7 > a/Bits.java:3 call 0.6
a/A.java:9 > a/Bits.java:3 call 0.6
a/A.java:22 > a/Bits.java:3 call 0.6
`},
	{"java: overloads call each other", `
== A.java java
class A 1-20
method A.run 2-4
call run 3
method A.run 5-8
call run 6
method A.one 9-12
call run 10
`, `
A.java:3 > A.java:5 call 0.9
A.java:6 > A.java:2 call 0.9
A.java:10 > A.java:2 call 0.7
`},
	{"java: overloads by the number of arguments, private ones", `
== A.java java
class A 1-20
method A.run void_run(int_a) 2-4
method A.run void_run(int_a,int_b) 5-8
method A.run private_void_run() 9-10
method A.go 11-15
call run/2 12
call run/1 13
call run/0 14
== B.java java
class B 1-20
bind a A 1-20
method B.go 2-9
call a.run/2 3
call a.run/0 4
`, `
A.java:12 > A.java:5 call 0.9
A.java:13 > A.java:2 call 0.9
A.java:14 > A.java:9 call 0.9
B.java:3 > A.java:5 call 0.9
B.java:4 > A.java:9 call 0.9
`},
	{"kotlin: packages, extensions, companions, an import of the function's own name", `
== a.kt kotlin
pkg a.b
import a.util hash hash 1
import a.util join join 1
class Box 2-20
bind self.size Int 2-20
method Box.hash 3-5
call hash 4
method Box.Companion.of 6-7
method Box.grow 8-12
call shrink 9
call join 10
call Box.of 11
== b.kt kotlin
pkg a.b
function Box.shrink 1-2
function use 3-9
bind b Box 3-9
call b.grow 4
call b.shrink 5
call b.size.toString 6
call Box.of 7
call local 8
function local 10-11
== util.kt kotlin
pkg a.util
function hash 1-2
function join 3-4
== Old.java java
pkg a.b
class Old 1-9
bind self.box Box 1-9
method Old.go 2-8
call box.grow 3
`, `
Old.java:3 > a.kt:8 call 0.9
a.kt:4 > util.kt:1 call
a.kt:9 > b.kt:1 call
a.kt:10 > util.kt:3 call
a.kt:11 > a.kt:6 call
b.kt:4 > a.kt:8 call 0.9
b.kt:5 > b.kt:1 call 0.9
b.kt:7 > a.kt:6 call
b.kt:8 > b.kt:10 call
`},
	{"csharp: namespaces as declarations", `
== a.cs csharp
import Lib.Text - - 1
namespace App.Core 2-30
class App.Core:Main 3-29
method App.Core:Main:Go 4-20
call Helper.Do 5
call Format.All 6
call Inner 7
== b.cs csharp
pkg App.Core
class App.Core:Helper 3-9
method App.Core:Helper:Do 4-5
class App.Core:Main 10-20
method App.Core:Main:Inner 11-12
== c.cs csharp
pkg Lib.Text
class Format 1-9
method Format.All 2-3
`, `
a.cs:5 > b.cs:4 call
a.cs:6 > c.cs:2 call
a.cs:7 > b.cs:11 call
`},
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
