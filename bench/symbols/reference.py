"""Lists the declarations of Python files with CPython's own ast.

Reads paths from standard input, one a line, and prints for each a line of
JSON: {"file": path, "symbols": [[class, qualified name, line], ...]}, or
{"file": path, "error": why}.
"""

import ast
import json
import sys


def targets(node):
    if isinstance(node, ast.Name):
        yield node
    elif isinstance(node, (ast.Tuple, ast.List)):
        for n in node.elts:
            yield from targets(n)
    elif isinstance(node, ast.Starred):
        yield from targets(node.value)


def walk(node, path, top, out):
    for c in ast.iter_child_nodes(node):
        if isinstance(c, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            kind = "type" if isinstance(c, ast.ClassDef) else "function"
            out.append([kind, ".".join(path + [c.name]), c.lineno])
            walk(c, path + [c.name], False, out)
            continue
        if top:
            if isinstance(c, ast.Assign):
                for t in c.targets:
                    out.extend(["value", n.id, n.lineno] for n in targets(t))
            elif isinstance(c, ast.AnnAssign):
                out.extend(["value", n.id, n.lineno] for n in targets(c.target))
        walk(c, path, top, out)


sys.setrecursionlimit(20000)
for line in sys.stdin:
    name = line.rstrip("\n")
    try:
        with open(name, "rb") as f:
            tree = ast.parse(f.read())
    except (SyntaxError, ValueError) as e:
        print(json.dumps({"file": name, "error": str(e)}))
        continue
    symbols = []
    walk(tree, [], True, symbols)
    print(json.dumps({"file": name, "symbols": symbols}))
