"""Functions of Python files: one JSON line a file, [[name, first line, last line, first line of the body], ...]."""
import ast
import json
import sys

for path in sys.stdin.read().split("\n"):
    if not path:
        continue
    out = []

    def walk(node, inside):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                name = inside + [child.name]
                body = child.body[0]
                if isinstance(body, ast.Expr) and isinstance(body.value, ast.Constant) and isinstance(body.value.value, str):
                    first = body.end_lineno + 1
                else:
                    first = body.lineno
                start = min([child.lineno] + [d.lineno for d in child.decorator_list])
                out.append([".".join(name), start, child.end_lineno, first])
                walk(child, name)
            elif isinstance(child, ast.ClassDef):
                walk(child, inside + [child.name])
            else:
                walk(child, inside)

    try:
        walk(ast.parse(open(path, encoding="utf-8").read()), [])
    except (SyntaxError, UnicodeDecodeError):
        pass
    print(json.dumps(out))
