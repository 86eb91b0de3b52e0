"""Traces: from real runs (the programs in real/, whose output lies in
ASKED_REAL) and made by rule. Frames stand from the inside to the outside, each
as [name, path, line, whose]: whose is "own", else where the foreign file
belongs: "std", "dep" or "app". See ../README.md."""
import json, os, pathlib, re
import common, outline, messages

SEED = "traces-1"
REAL = pathlib.Path(os.environ.get("ASKED_REAL", "real-runs"))
TAKE = {"aiohttp": 14, "flask": 14, "zod": 14, "trpc": 13, "vitest": 5, "cobra": 14, "gson": 14, "commons-lang": 14, "rack": 14}
MAKE = {"axum": 8, "serde": 5, "cats": 6, "http4s": 7, "kotlinx-coroutines": 8, "ecto": 8, "phoenix": 7, "guzzle": 7, "monolog": 8, "mini.nvim": 8, "zls": 8, "zig-clap": 2, "redis": 10, "rails": 9, "nvm": 5, "model2vec": 5, "pandoc": 5, "xmonad": 2, "polly": 6}
# Errors of the languages' own run times.
ERRORS = {
    "rust": [("panic", "called `Option::unwrap()` on a `None` value"), ("panic", "index out of bounds: the len is 3 but the index is 7"), ("panic", "called `Result::unwrap()` on an `Err` value: Custom { kind: InvalidData, error: \"stream closed\" }"), ("panic", "attempt to subtract with overflow")],
    "scala": [("java.util.NoSuchElementException", "None.get"), ("scala.MatchError", "null"), ("java.lang.NullPointerException", ""), ("java.lang.IndexOutOfBoundsException", "7")],
    "kotlin": [("java.lang.IllegalStateException", "Already resumed"), ("java.lang.NullPointerException", ""), ("java.util.concurrent.CancellationException", ""), ("java.lang.ClassCastException", "class java.lang.Integer cannot be cast to class java.lang.String")],
    "elixir": [("KeyError", "key :opts not found in: %{id: 7}"), ("FunctionClauseError", ""), ("MatchError", "no match of right hand side value: {:error, :timeout}"), ("ArgumentError", "argument error"), ("BadMapError", "expected a map, got: nil")],
    "php": [("TypeError", "Unsupported operand types: string + array"), ("Error", "Call to a member function getName() on null"), ("ErrorException", "Undefined array key \"total\""), ("ErrorException", "Array to string conversion")],
    "lua": [("", "attempt to index a nil value (local 'item')"), ("", "attempt to compare number with nil"), ("", "bad argument #1 to 'ipairs' (table expected, got nil)"), ("", "attempt to call a nil value (field 'source')")],
    "zig": [("", "attempt to use null value"), ("", "index out of bounds: index 4, len 4"), ("", "reached unreachable code"), ("", "integer overflow")],
    "c": [("SIGSEGV", "Segmentation fault."), ("SIGABRT", "Aborted.")],
    "ruby": [("NoMethodError", "undefined method `fetch' for nil:NilClass"), ("TypeError", "no implicit conversion of nil into String"), ("ArgumentError", "wrong number of arguments (given 3, expected 1..2)"), ("KeyError", "key not found: :primary")],
    "bash": [("", "local: can only be used in a function"), ("", "printf: write error: Broken pipe"), ("", "cd: too many arguments"), ("", "[: =: unary operator expected"), ("", "unbound variable")],
    "python": [("KeyError", "'tokens'"), ("TypeError", "unsupported operand type(s) for /: 'NoneType' and 'int'"), ("IndexError", "list index out of range"), ("AttributeError", "'NoneType' object has no attribute 'shape'")],
    "haskell": [("", "Prelude.head: empty list"), ("", "Prelude.read: no parse"), ("", "Maybe.fromJust: Nothing")],
    "csharp": [("System.NullReferenceException", "Object reference not set to an instance of an object."), ("System.InvalidOperationException", "Sequence contains no elements"), ("System.ObjectDisposedException", "Cannot access a disposed object."), ("System.OperationCanceledException", "The operation was canceled.")],
}
# Foreign frames within and around the own ones.
INNER = {
    "rust": [["rust_begin_unwind", "std/src/panicking.rs", 665], ["core::panicking::panic_fmt", "core/src/panicking.rs", 74], ["core::option::unwrap_failed", "core/src/option.rs", 2009]],
    "scala": [["scala.None$.get", "Option.scala", 627]], "kotlin": [["java.base/java.util.concurrent.locks.ReentrantLock.lock", "ReentrantLock.java", 322]],
    "elixir": [["Enum.\"-map/2-lists^map/1-1-\"/2", "lib/enum.ex", 1708]], "c": [["__GI_raise", "../sysdeps/unix/sysv/linux/raise.c", 50], ["__GI_abort", "abort.c", 79]],
    "haskell": [["error", "libraries/base/GHC/List.hs", 1646], ["errorEmptyList", "libraries/base/GHC/List.hs", 85]], "csharp": [["System.Threading.CancellationToken.ThrowOperationCanceledException()", "", 0]],
    "zig": [["defaultPanic", "std/debug.zig", 412]], "lua": [["[C]: in function 'ipairs'", "", 0]], "ruby": [["fetch", "logger/formatter.rb", 12]],
    "python": [["forward", "torch/nn/modules/linear.py", 114]],
}
OUTER = {
    "rust": [["tokio::runtime::task::harness::poll_future", "tokio-1.38.0/src/runtime/task/harness.rs", 473], ["std::thread::local::LocalKey<T>::with", "std/src/thread/local.rs", 284], ["start_thread", "", 0]],
    "scala": [["cats.effect.IOFiber.runLoop", "IOFiber.scala", 305], ["cats.effect.unsafe.WorkerThread.run", "WorkerThread.scala", 743]],
    "kotlin": [["com.example.orders.OrderSync$refresh$2.invokeSuspend", "OrderSync.kt", 88], ["kotlin.coroutines.jvm.internal.BaseContinuationImpl.resumeWith", "ContinuationImpl.kt", 33], ["java.base/java.lang.Thread.run", "Thread.java", 840]],
    "elixir": [["Shop.Orders.list_open/1", "lib/shop/orders.ex", 57], [":proc_lib.init_p_do_apply/3", "proc_lib.erl", 241]],
    "php": [["App\\Service\\InvoiceExporter->export", "app/Service/InvoiceExporter.php", 73], ["{main}", "public/index.php", 20]],
    "lua": [["main chunk", "init.lua", 31]], "zig": [["main", "main.zig", 90], ["posixCallMainAndExit", "std/start.zig", 524]],
    "c": [["__libc_start_main", "../csu/libc-start.c", 308], ["_start", "", 0]],
    "ruby": [["require", "bootsnap/load_path_cache/core_ext/kernel_require.rb", 32], ["<main>", "bin/rails", 4]],
    "bash": [], "python": [["<module>", "train.py", 27]], "haskell": [["main", "app/Main.hs", 31]],
    "csharp": [["Shop.Orders.OrderClient.SendAsync(Order order)", "src/Shop/Orders/OrderClient.cs", 61]],
}


def inside(found, path, line):
    """The innermost function that holds a line."""
    fit = [d for d in found if d["path"] == path and d["kind"] == "callable" and d["from"] <= line <= d["to"]]
    return min(fit, key=lambda d: d["to"] - d["from"], default=None)


def foreign(name, file, lang):
    """A path without the machine it was seen on, and whose it is."""
    for pattern, whose in ((r".*/site-packages/|.*/dist-packages/|.*/werkzeug/src/", "dep"), (r".*/node_modules/", "dep"), (r"^node:", "std"), (r".*/lib/python3\.\d+/", "std"), (r".*/usr/lib/ruby/(?:vendor_ruby|\d\.\d\.\d)/", "std"), (r".*/pkg/mod/", "dep"), (r".*/go/src/", "std")):
        if re.match(pattern, file):
            return (file if whose == "std" and file.startswith("node:") else re.sub(pattern, "", file)), whose
    if file.startswith("<"):
        return file, "std"
    if lang == "go" and "@" in file:
        return file, "dep"
    return (file, "std") if not file.startswith("/") else (None, None)


def real():
    out = []
    trees = str(common.TREES)
    for name, n in TAKE.items():
        at, lang = common.tree(name), common.table()[name]["language"]
        found = [d for d in outline.declarations(str(at))]
        own = os.path.join(trees, name) + "/"
        bases = {}
        for d in found:
            bases.setdefault(d["path"].rsplit("/", 1)[-1], set()).add(d["path"])
        fit = []
        for raw in open(REAL / (name + ".jsonl")):
            x = json.loads(raw)
            frames = x["frames"][::-1] if lang == "python" else x["frames"]
            made, ok = [], True
            for f in frames:
                func, file, line = f[0], f[1], f[2]
                if file.startswith(own):
                    made.append([func, file[len(own):], line, "own"])
                elif lang == "go" and "spf13/cobra@" in file:
                    made.append([func, file.split("/", 3)[3], line, "own"])
                elif lang == "java":
                    cls = func.rsplit(".", 1)[0].split("$")[0].rsplit(".", 1)[0].replace(".", "/")
                    hit = [p for p in bases.get(file, ()) if ("/" + p).endswith("/" + cls + "/" + file)]
                    made.append([(f[3] + "/" if f[3] else "") + func, hit[0] if hit else file, line, "own" if hit else "std"])
                else:
                    path, whose = foreign(func, file, lang)
                    if path is None:
                        ok = False
                        break
                    made.append([func, path, line, whose])
                if lang == "typescript":
                    made[-1].append(f[3])
            first = next((f for f in made if f[3] == "own"), None)
            if not ok or not first or any(not (at / f[1]).exists() for f in made if f[3] == "own") or len(made) > 25:
                continue
            d = inside(found, first[1], first[2])
            if not d or common.is_test(first[1]):
                continue
            source = (at / first[1]).read_text("utf8", "replace")
            text = source.split("\n")
            item = dict(error=x["error"], message=x["message"] or "", parts=None)
            start = sum(len(t) + 1 for t in text[:first[2] - 1])
            near = "\n".join(text[max(0, first[2] - 2):first[2] + 1])
            if made[0][3] == "own" and re.search(r"\braise\b|\bthrow\b|panic\(|\bfail\b|checkArg|Validate|isTrue|notNull", near):
                # The text is the repository's: only its place is written down.
                m = re.compile("[" + messages.QUOTES.get(lang, "\"'") + "]").search(source, start, start + 300)
                spans = messages.parts(source, m.start(), lang) if m else None
                item["message"] = ""
                if spans:
                    pos = lambda i: [source.count("\n", 0, i) + 1, len(source[source.rfind("\n", 0, i) + 1:i].encode())]
                    item["parts"] = [None if s is None else [pos(s[0])[0], pos(s[0])[1], pos(s[1])[1]] for s in spans]
            elif not runtime(item["message"]):
                item["message"] = ""
            fit.append(dict(repo=name, lang=lang, kind="real", **item, frames=made, gold=[dict(path=first[1], **{"from": d["from"]}, line=first[2], to=d["to"], name=d["name"])]))
        # Those with more frames of their own first, no function twice.
        fit = common.ordered(fit, SEED, lambda f: json.dumps(f["frames"]))
        fit.sort(key=lambda f: min(3, len({g[1] + g[0] for g in f["frames"] if g[3] == "own"})), reverse=True)
        seen, files, take = set(), {}, []
        for f in fit:
            g = f["gold"][0]
            if (g["path"], g["name"]) not in seen and files.get(g["path"], 0) < 4 and len(take) < n:
                seen.add((g["path"], g["name"]))
                files[g["path"]] = files.get(g["path"], 0) + 1
                take.append(f)
        out += take
    return out


RUNTIME = r"object (?:has no|is not|of type)|not (?:callable|iterable|subscriptable|a function|iterable)|Cannot read prop|Cannot set prop|Cannot use 'in'|Cannot invoke|Cannot load|Cannot read field|Cannot store|is not a function|undefined method|no implicit|wrong number of arg|out of (?:range|bounds)|runtime error|unsupported operand|missing \d+ required|takes \d+ positional|expected str|must be str|argument of type|cannot be cast|Index \d+|can't convert|comparison of|uninitialized constant|For input string|not enough values|too many values|a bytes-like object|concatenate|begin \d|is null"


def runtime(message):
    """Whether a text is one of the language's own, made of names alone."""
    return bool(re.search(RUNTIME, message)) and len(message) < 160


def arity(text):
    m = re.search(r"\(([^()]*(?:\([^()]*\)[^()]*)*)\)", text)
    return 0 if not m or not m[1].strip() else len(re.sub(r"\([^()]*\)|\[[^\]]*\]|\{[^}]*\}|<<.*?>>", "", m[1]).split(","))


def called(d, name, lang, root, text, at):
    """The function as a trace names it."""
    p = d["path"]
    if lang == "rust":
        mod = re.sub(r".*/?src/|\.rs$", "", p).replace("/mod", "").replace("/", "::")
        crate = {"axum": "axum", "serde": p.split("/")[0].replace("-", "_")}[name]
        return "::".join(x for x in (crate, "" if mod in ("lib", "mod") else mod, d["scope"], d["name"]) if x)
    if lang in ("scala", "kotlin"):
        pk = re.search(r"^package ([\w.]+)", text, re.M)
        second = re.search(r"^package ([\w.]+)\npackage ([\w.]+)", text, re.M)
        pack = second[1] + "." + second[2] if second else pk[1] if pk else ""
        holder = d["scope"].replace(".", "$") or re.sub(r"\.kt$", "Kt", p.rsplit("/", 1)[1]).replace(".scala", "package$")
        return pack + "." + holder + "." + d["name"]
    if lang == "elixir":
        return (d["scope"].split(".")[0] if "." not in d["scope"] else d["scope"]) + "." + d["name"] + "/" + str(arity(text.split("\n")[d["line"] - 1].split(d["name"], 1)[1]))
    if lang == "php":
        ns = re.search(r"^namespace ([\w\\]+);", text, re.M)
        return (ns[1] + "\\" if ns else "") + (d["scope"] + "->" if d["scope"] else "") + d["name"]
    if lang == "csharp":
        ns = re.search(r"^namespace ([\w.]+)", text, re.M)
        scope = d["scope"]
        return (ns[1] + "." if ns and not scope.startswith(ns[1]) else "") + scope + "." + d["name"] + "()"
    if lang == "zig":
        return d["name"]
    return d["name"]


def made():
    out = []
    for name, n in MAKE.items():
        at, r = common.tree(name), common.table()[name]
        lang = r["language"]
        found = [d for d in outline.declarations(str(at)) if d["kind"] == "callable" and d["lang"] == lang and not common.is_test(d["path"]) and d["to"] - d["from"] >= 3 and d["to"] - d["from"] < 300]
        names = {}
        for d in found:
            names.setdefault(d["name"], []).append(d)
        text = {p: (at / p).read_text("utf8", "replace") for p in {d["path"] for d in found}}
        mark = {"elixir": "#", "ruby": "#", "bash": "#", "python": "#", "lua": "--", "haskell": "--"}.get(lang, "//")

        users = {}
        for d in found:
            if len(names[d["name"]]) <= 3:
                for w in set(re.findall(r"\w+[?!]?", "\n".join(text[d["path"]].split("\n")[d["line"]:d["to"]]))):
                    users.setdefault(w, []).append(d)

        def lines(d):
            for i, t in enumerate(text[d["path"]].split("\n")[d["line"]:d["to"] - 1], d["line"] + 1):
                if t.strip() and not t.strip().startswith((mark, "*", "/*", "@", "#[", "|")) and len(t) < 200:
                    yield i, t

        def where(d, callee=None):
            form = re.compile(r"(?<![\w.])" if lang == "c" else r"\b") if not callee else re.compile(r"(?<!def )(?<!fn )(?<!function )(?<!\w)" + re.escape(callee) + (r"\b" if lang in ("haskell", "bash", "ruby", "elixir") else r"\s*[(<{]"))
            usual = r"[\w\])]\(|\$|<-" if lang == "haskell" else r"\w[?!]?[( ]\S" if lang in ("ruby", "bash", "elixir") else r"\w\("
            fit = [i for i, t in lines(d) if (form.search(t) if callee else re.search(usual, t) and not re.search(r"^\s*(if|for|while|return;|else|case|match|when)\b.*\($", t))]
            return fit[common.number(SEED, d["path"], d["name"], callee) % len(fit)] if fit else None

        take, files = [], {}
        for d in common.ordered(found, SEED, lambda d: name + d["path"] + d["scope"] + d["name"] + str(d["line"])):
            if len(take) == n:
                break
            if len(d["name"]) < 4 or len(names[d["name"]]) > (1 if lang not in ("elixir", "haskell") else 2) or len(users.get(d["name"], ())) > 8 or files.get(d["path"], 0) >= (2 if len(text) > 4 else 9):
                continue
            line = where(d)
            if not line:
                continue
            chain, at_ = [(d, line)], d
            while len(chain) < 2 + common.number(SEED, "depth", d["path"], d["name"]) % 4:
                near = common.ordered(users.get(at_["name"], []), SEED, lambda c: d["name"] + c["path"] + c["name"] + str(c["line"]))
                up = [(c, l) for c in near[:12] if c["name"] != at_["name"] and all(c is not x for x, _ in chain) for l in [where(c, at_["name"])] if l] if len(names[at_["name"]]) == 1 and len(near) <= 8 else []
                if not up:
                    break
                chain.append(up[0])
                at_ = up[0][0]
            if len(chain) < 2 and lang != "bash" and name not in ("zig-clap", "model2vec", "xmonad"):
                continue
            k = common.number(SEED, "error", name, d["path"], d["name"])
            error, message = ERRORS[lang][k % len(ERRORS[lang])]
            if error == "FunctionClauseError":
                message = "no function clause matching in " + called(d, name, lang, r["root"], text[d["path"]], at)
            inner = INNER.get(lang, []) if lang in ("rust", "c", "haskell") or k // 7 % 3 == 0 else []
            if lang == "c" and error == "SIGSEGV":
                inner = []
            frames = [f + ["std"] for f in inner] + [[called(c, name, lang, r["root"], text[c["path"]], at), c["path"], l, "own"] for c, l in chain] + [f + ["app" if f[1].startswith(("app/", "lib/shop", "bin/", "public/", "train", "init", "main", "src/Shop", "Order")) else "std"] for i, f in enumerate(OUTER[lang])]
            if lang == "rust" and "Option" not in message:
                frames = [f for f in frames if "unwrap_failed" not in f[0]]
            take.append(dict(repo=name, lang=lang, kind="made", error=error, message=message, parts=None, frames=frames, gold=[dict(path=d["path"], **{"from": d["from"]}, line=line, to=d["to"], name=d["name"])]))
            files[d["path"]] = files.get(d["path"], 0) + 1
        out += take
    return out


if __name__ == "__main__":
    items = real() + made()
    for x in items:
        x["seed"] = common.number(SEED, x["repo"], json.dumps(x["frames"])) % 100000
    common.write("traces", items)
