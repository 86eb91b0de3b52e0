"""The declarations of a tree, found by other means than the product's: Go by
go/ast, Python by ast, JavaScript and TypeScript by the TypeScript compiler
(ASKED_TYPESCRIPT is its folder), Java, C and C# by ctags, the rest by strict
regular expressions: a form that is not at the start of its line, or not
written as its language's style guide has it, is not found.

A declaration is a dict: path, lang, kind (callable, type, field, constant),
name, scope, from, line (of the name), to.
"""
import ast, functools, json, os, pathlib, re, subprocess
import common

LANG = {".py": "python", ".go": "go", ".ts": "typescript", ".tsx": "typescript", ".js": "javascript", ".mjs": "javascript", ".java": "java", ".rb": "ruby", ".php": "php", ".rs": "rust", ".kt": "kotlin", ".scala": "scala", ".ex": "elixir", ".exs": "elixir", ".lua": "lua", ".zig": "zig", ".hs": "haskell", ".c": "c", ".h": "c", ".cs": "csharp", ".sh": "bash"}
ID = r"([A-Za-z_]\w*[?!']?)"
FORMS = {
    "ruby": [("callable", r"^\s*(?:private |protected )?def (?:self\.)?([a-z_]\w*[?!=]?)"), ("type", r"^\s*(?:class|module) (?:\w+::)*([A-Z]\w*)\s*(?:<.*)?$"), ("constant", r"^\s*([A-Z][A-Z0-9_]{2,})\s*=[^=~]"), ("field", r"^\s*attr_(?:reader|writer|accessor) :(\w+)\s*$")],
    "php": [("callable", r"^\s*(?:(?:final|abstract|public|protected|private|static) )*function &?(\w+)\s*\("), ("type", r"^\s*(?:(?:final|abstract|readonly) )*(?:class|interface|trait|enum) (\w+)"), ("constant", r"^\s*(?:(?:final|public|protected|private) )*const (?:\w+ )?([A-Z_0-9]+)\s*="), ("field", r"^    (?:(?:public|protected|private|static|readonly) )+(?:[?\w|\\]+ )?\$(\w+)\s*[;=]")],
    "rust": [("callable", r"^\s*(?:pub(?:\([a-z]+\))? )?(?:const )?(?:async )?(?:unsafe )?fn (\w+)"), ("type", r"^\s*(?:pub(?:\([a-z]+\))? )?(?:struct|enum|trait|union|type) (\w+)"), ("constant", r"^\s*(?:pub(?:\([a-z]+\))? )?(?:const|static) ([A-Z][A-Z0-9_]*)\s*:"), ("field", r"^    (?:pub(?:\([a-z]+\))? )?([a-z_]\w*): [A-Z&\[(]?[\w:<>,& '\[\]()]*,$")],
    "kotlin": [("callable", r"^\s*(?:(?:public|internal|private|protected|override|suspend|inline|open|abstract|actual|expect|final|operator|infix|tailrec) )*fun (?:<[^>]*> )?(?:[\w<>?, *]+\.)?(\w+)\s*\("), ("type", r"^\s*(?:(?:public|internal|private|sealed|abstract|open|data|expect|actual|fun|inner|value) )*(?:class|interface|object|enum class|typealias) (\w+)"), ("constant", r"^\s*(?:(?:public|internal|private) )*const val (\w+)"), ("field", r"^    (?:(?:public|internal|private|protected|override|open|lateinit|abstract) )*va[lr] (\w+)\s*[:=]")],
    "scala": [("callable", r"^\s*(?:(?:override|final|private|protected|implicit|inline)(?:\[\w+\])? )*def (\w+)"), ("type", r"^\s*(?:(?:sealed|abstract|final|case|private|implicit|open)(?:\[\w+\])? )*(?:class|trait|object) (\w+)"), ("field", r"^  (?:(?:override|final|private|protected|implicit|lazy)(?:\[\w+\])? )*va[lr] (\w+)\s*[:=]")],
    "elixir": [("callable", r"^\s*(?:def|defp|defmacro|defmacrop|defguard) ([a-z_]\w*[?!]?)"), ("type", r"^\s*(?:defmodule|defprotocol) (?:[\w]+\.)*(\w+) do"), ("type", r"^\s*@typep? (\w+)(?:\(.*\))? ::"), ("constant", r"^  @([a-z_]\w*) (?!\"\"\"|false|~S)[\[%~\"\d:{]")],
    "lua": [("callable", r"^\s*(?:local )?function (?:\w+[.:])*(\w+)\s*\("), ("callable", r"^(?:local )?(?:\w+\.)*(\w+)\s*=\s*function\s*\("), ("constant", r"^\s*local ([A-Z_]{3,})\s*=")],
    "zig": [("callable", r"^\s*(?:pub )?(?:inline )?(?:export )?fn (\w+)\s*\("), ("type", r"^\s*(?:pub )?const ([A-Z]\w*)\s*=\s*(?:packed |extern )?(?:struct|enum|union|error)\b"), ("field", r"^    ([a-z_]\w*): [^=]+(?:= .*)?,$"), ("constant", r"^(?:pub )?const ([a-z_]\w*)(?:: [^=]+)? = (?!@import|struct|std\.|enum)")],
    "haskell": [("callable", r"^([a-z_][\w']*)\s*::"), ("type", r"^(?:data|newtype|type|class)(?: family)?\s+(?:[^=]*=>\s*)?([A-Z]\w*)"), ("field", r"^\s+[{,]\s*([a-z]\w*)\s*::")],
    "bash": [("callable", r"^([a-zA-Z_]\w*)\s*\(\)\s*\{")],
}
TAG = {"java": {"method": "callable", "class": "type", "interface": "type", "enum": "type", "annotation": "type", "field": "field", "enumConstant": "constant"},
       "c": {"function": "callable", "struct": "type", "typedef": "type", "enum": "type", "member": "field", "macro": "constant", "enumerator": "constant"},
       "csharp": {"method": "callable", "class": "type", "interface": "type", "struct": "type", "enum": "type", "field": "field", "property": "field", "enumerator": "constant"}}


def braces(lines, i):
    """The last line of what begins at line i, by braces; i when there is none before ';'."""
    depth, seen = 0, False
    for j in range(i, min(len(lines), i + 8000)):
        text = re.sub(r"\"(\\.|[^\"\\])*\"|'(\\.|[^'\\])'|//.*", "", lines[j])
        for c in text:
            if c == "{":
                depth, seen = depth + 1, True
            elif c == "}":
                depth -= 1
            elif c == ";" and not seen and depth == 0:
                return j
        if seen and depth <= 0:
            return j
        if not seen and j > i + 12:
            return i
    return i


def blocks(lines, i, end):
    """The last line by indentation: up to a line that closes, or before the next one as far to the left."""
    pad = len(lines[i]) - len(lines[i].lstrip())
    last = i
    for j in range(i + 1, min(len(lines), i + 8000)):
        t = lines[j]
        if not t.strip():
            continue
        if len(t) - len(t.lstrip()) <= pad:
            return j if re.match(end, t.strip()) else last
        last = j
    return last


def last(lang, lines, i):
    if lang in ("ruby", "elixir", "lua"):
        if lang == "elixir" and re.search(r",\s*do:", lines[i]) or re.search(r"\bend\s*$", lines[i]):
            return i
        return blocks(lines, i, r"end\b")
    if lang == "scala":
        return blocks(lines, i, r"[})]")
    if lang == "haskell":
        name = re.match(r"[\w']+", lines[i])
        j = i + 1
        while j < len(lines) and (not lines[j].strip() or lines[j][0].isspace() or name and re.match(re.escape(name[0]) + r"\b", lines[j])):
            j += 1
        while not lines[j - 1].strip():
            j -= 1
        return j - 1
    return braces(lines, i)


def python(path, text):
    out = []

    def add(kind, name, scope, n, line=None):
        first = min([n.lineno] + [d.lineno for d in getattr(n, "decorator_list", [])])
        out.append(dict(path=path, lang="python", kind=kind, name=name, scope=scope, **{"from": first}, line=line or n.lineno, to=n.end_lineno))

    def walk(n, scope, inside, cls):
        for c in ast.iter_child_nodes(n):
            if isinstance(c, ast.ClassDef):
                add("type", c.name, scope, c)
                walk(c, (scope + "." if scope else "") + c.name, False, True)
            elif isinstance(c, (ast.FunctionDef, ast.AsyncFunctionDef)):
                add("callable", c.name, scope, c)
                walk(c, (scope + "." if scope else "") + c.name, True, False)
            elif isinstance(c, (ast.Assign, ast.AnnAssign)) and not inside:
                for t in c.targets if isinstance(c, ast.Assign) else [c.target]:
                    if isinstance(t, ast.Name):
                        add("field" if cls else "constant", t.id, scope, c)
            elif isinstance(c, (ast.Assign, ast.AnnAssign)) and scope.endswith("__init__"):
                for t in c.targets if isinstance(c, ast.Assign) else [c.target]:
                    if isinstance(t, ast.Attribute) and isinstance(t.value, ast.Name) and t.value.id == "self":
                        add("field", t.attr, scope.rsplit(".", 1)[0], c)
            else:
                walk(c, scope, inside, cls)

    try:
        walk(ast.parse(text), "", False, False)
    except SyntaxError:
        pass
    return out


def regular(path, lang, lines):
    comment = {"python": "#", "ruby": "#", "elixir": "#", "bash": "#", "lua": "--", "haskell": "--"}.get(lang, "//")
    scopes, out, quoted = [], [], False
    for i, t in enumerate(lines):
        s = t.strip()
        if lang == "elixir" and s.count('"""') == 1:
            quoted = not quoted
            continue
        if quoted or s.startswith((comment, "*", "/*")):
            continue
        if lang == "rust" and (m := re.match(r"^impl(?:<.*?>)? (?:.* for )?&?(?:'\w+ )?(?:mut )?(?:\w+::)*(\w+)", t)):
            scopes.append((braces(lines, i), m[1]))
        while scopes and scopes[-1][0] < i:
            scopes.pop()
        for kind, form in FORMS[lang]:
            m = re.match(form, t)
            if not m:
                continue
            j = last(lang, lines, i) if kind in ("callable", "type") else i
            full = m[1]
            if kind == "type" and lang == "elixir" and (q := re.match(r"\s*defmodule ([\w.]+)", t)):
                full = q[1]
            out.append(dict(path=path, lang=lang, kind=kind, name=m[1], scope=".".join(n for _, n in scopes), **{"from": i + 1}, line=i + 1, to=j + 1))
            if kind == "type" and j > i:
                scopes.append((j, full))
            break
    # A Rust field stands in a struct, a Zig field in a type.
    if lang in ("rust", "zig"):
        types = [d for d in out if d["kind"] == "type"]
        fns = [d for d in out if d["kind"] == "callable"]
        out = [d for d in out if d["kind"] != "field" or any(x["from"] < d["line"] < x["to"] for x in types) and not any(x["from"] <= d["line"] <= x["to"] for x in fns)]
    return out


@functools.cache
def declarations(at):
    at = pathlib.Path(at)
    by, out = {}, []
    for p in sorted(at.rglob("*")):
        lang = LANG.get(p.suffix)
        if lang and p.is_file() and p.stat().st_size < 400_000 and not re.search(r"node_modules|/deps/|/vendor/|\.min\.|\.d\.ts$|\.pb\.go$", str(p)):
            by.setdefault(lang, []).append(str(p.relative_to(at)))
    for lang, paths in by.items():
        if lang == "python":
            for p in paths:
                out += python(p, (at / p).read_text("utf8", "replace"))
        elif lang in ("go", "typescript", "javascript"):
            cmd = ["node", str(common.HERE / "tsast.js"), os.environ["ASKED_TYPESCRIPT"]]
            if lang == "go":
                goast = str(common.TREES.resolve() / "goast.program")
                subprocess.run(["go", "build", "-o", goast, str(common.HERE / "goast" / "main.go")], check=True)
                cmd = [goast]
            said = subprocess.run(cmd, cwd=at, input="\n".join(paths) + "\n", text=True, capture_output=True, check=True).stdout
            for line in said.splitlines():
                path, kind, name, scope, first, at_, to = json.loads(line)
                out.append(dict(path=path, lang=lang, kind=kind, name=name, scope=scope, **{"from": first}, line=at_, to=to))
        elif lang in TAG:
            files = set(paths)
            flag = {"java": "Java", "c": "C,C++", "csharp": "C#"}[lang]
            for t in common.ctags(at, flag):
                kind = TAG[lang].get(t["kind"])
                if kind and t["path"] in files:
                    end = t["end"] or braces((at / t["path"]).read_text("utf8", "replace").split("\n"), t["line"] - 1) + 1
                    out.append(dict(path=t["path"], lang=lang, kind=kind, name=t["name"], scope=t["scope"], **{"from": t["line"]}, line=t["line"], to=end))
        else:
            for p in paths:
                out += regular(p, lang, (at / p).read_text("utf8", "replace").split("\n"))
    return out
