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
}
