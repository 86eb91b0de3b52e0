"""Lists the declarations of C files with clang, by libclang's bindings.

Reads paths from standard input, one a line, and prints for each a line of
JSON: {"file": path, "symbols": [[class, qualified name, line], ...],
"skipped": [[from, to], ...]}, or {"file": path, "error": why}. Skipped are the
lines that the preprocessor leaves out, whose declarations clang cannot know,
and those in bodies of functions, which are not compared.

Arguments: the folder below which the files lie, and that of the checkouts they
are from, both with one folder for each repository. Headers are looked for in
every folder of the checkout that has some.
"""

import ctypes
import json
import os
import re
import sys
import tempfile

from clang import cindex
from clang.cindex import CursorKind, TranslationUnit

CLASSES = {
    CursorKind.FUNCTION_DECL: "function",
    CursorKind.VAR_DECL: "value",
    CursorKind.STRUCT_DECL: "type",
    CursorKind.UNION_DECL: "type",
    CursorKind.ENUM_DECL: "type",
    CursorKind.TYPEDEF_DECL: "type",
    CursorKind.ENUM_CONSTANT_DECL: "value",
    CursorKind.MACRO_DEFINITION: "function",
}
FLAGS = ["-x", "c", "-std=gnu11", "-D_GNU_SOURCE", "-DHAVE_CONFIG_H", "-include", "stdio.h", "-include", "stdint.h", "-include", "stddef.h", "-include", "stdbool.h", "-include", "string.h", "-include", "sys/types.h"]
RECORDS = (CursorKind.STRUCT_DECL, CursorKind.UNION_DECL)
TAGS = RECORDS + (CursorKind.ENUM_DECL,)


class Ranges(ctypes.Structure):
    _fields_ = [("count", ctypes.c_uint), ("ranges", ctypes.POINTER(cindex.SourceRange))]


def skipped(tu, path):
    """The lines between the directives around what is not compiled."""
    f = cindex.conf.lib.clang_getSkippedRanges
    f.restype = ctypes.POINTER(Ranges)
    f.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    r = f(tu, tu.get_file(path)).contents
    return [[r.ranges[i].start.line, r.ranges[i].end.line] for i in range(r.count)]


def named(tag):
    """Whether a tag has a name of its own: without one it lies at its keyword."""
    return tag.location.offset != tag.extent.start.offset


def walk(cursor, path, prefix, out):
    for c in cursor.get_children():
        if c.location.file is None or c.location.file.name != path:
            continue
        line, name = c.location.line, c.spelling
        if c.kind in TAGS:
            if not c.is_definition():
                continue
            inner = prefix
            if named(c):
                out.append(["type", ".".join(prefix + [name]), line])
                if c.kind in RECORDS:
                    inner = prefix + [name]
            walk(c, path, inner, out)
        elif c.kind == CursorKind.MACRO_DEFINITION:
            # Those without a value only say that they are there.
            if sum(1 for _ in c.get_tokens()) > 1:
                out.append(["function", name, line])
        elif c.kind == CursorKind.TYPEDEF_DECL:
            # "typedef struct x x" says nothing new.
            t = c.underlying_typedef_type.get_declaration()
            if t.kind in TAGS and t.spelling == name and named(t):
                continue
            out.append(["type", name, line])
        elif c.kind in CLASSES:
            top = c.kind in (CursorKind.VAR_DECL, CursorKind.FUNCTION_DECL)
            out.append([CLASSES[c.kind], ".".join(([] if top else prefix) + [name]), line])
        elif c.kind in (CursorKind.LINKAGE_SPEC, CursorKind.UNEXPOSED_DECL):
            walk(c, path, prefix, out)


PIECES = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|//[^\n]*|/\*.*?\*/|[{}]', re.S)


def bodies(cursor, path, text):
    """The lines of functions behind that of their name."""
    out = []
    for c in cursor.get_children():
        if c.location.file is None or c.location.file.name != path:
            continue
        # One whose body is passed over counts as no definition.
        if c.kind == CursorKind.FUNCTION_DECL and re.match(r"(\s|//[^\n]*|/\*.*?\*/)*\{", text[c.extent.end.offset:][:2000], re.S):
            depth, end = 0, c.location.line
            for m in PIECES.finditer(text, c.location.offset):
                depth += {"{": 1, "}": -1}.get(m.group(), 0)
                if m.group() == "}" and depth <= 0:
                    end = text.count("\n", 0, m.start()) + 1
                    break
            if end > c.location.line:
                out.append([c.location.line + 1, end])
        elif c.kind in (CursorKind.LINKAGE_SPEC, CursorKind.UNEXPOSED_DECL):
            out += bodies(c, path, text)
    return out


def folders(root):
    out = []
    for d, subs, names in os.walk(root):
        subs[:] = sorted(s for s in subs if not s.startswith("."))
        if any(n.endswith(".h") for n in names):
            out += ["-idirafter", d]
            if os.path.dirname(d) != root:
                out += ["-idirafter", os.path.dirname(d)]
    return out


def main():
    base, checkouts = sys.argv[1:3]
    known = {}
    index = cindex.Index.create()
    empty = tempfile.mkdtemp()
    for line in sys.stdin:
        sample = line.rstrip("\n")
        rel = os.path.relpath(sample, base)
        repo = rel.split(os.sep)[0]
        if repo not in known:
            known[repo] = folders(os.path.join(checkouts, repo))
        path = os.path.join(checkouts, rel)
        options = TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD | TranslationUnit.PARSE_SKIP_FUNCTION_BODIES
        # A header that configuring would make, or of a library that is not
        # here, is taken to be empty; what then does not compile is refused.
        for _ in range(20):
            try:
                tu = index.parse(path, args=FLAGS + known[repo] + ["-idirafter", empty], options=options)
            except cindex.TranslationUnitLoadError as e:
                tu, bad = None, [str(e)]
                break
            bad = [d.spelling for d in tu.diagnostics if d.severity >= cindex.Diagnostic.Error]
            missing = [b.split("'")[1] for b in bad if b.endswith("file not found")]
            if not missing:
                break
            for m in missing:
                at = os.path.join(empty, m)
                os.makedirs(os.path.dirname(at), exist_ok=True)
                open(at, "w").close()
        if bad:
            print(json.dumps({"file": sample, "error": f"{len(bad)} errors: {bad[0]}"}))
            continue
        out = []
        walk(tu.cursor, path, [], out)
        # What a macro declares under a name that it makes is not written here.
        with open(path, encoding="latin-1", newline="") as f:
            text = f.read()
        lines = [""] + text.split("\n")
        out = [s for s in out if s[1].split(".")[-1] in lines[s[2]]]
        # A header that includes itself is left out when it is read again.
        left = [r for r in skipped(tu, path) if not any(r[0] <= s[2] <= r[1] for s in out)]
        inside = bodies(tu.cursor, path, text)
        out = [s for s in out if not any(r[0] <= s[2] <= r[1] for r in inside)]
        print(json.dumps({"file": sample, "symbols": sorted(map(list, set(map(tuple, out))), key=lambda s: s[2]), "skipped": left + inside}))


main()
