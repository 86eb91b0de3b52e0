"""Words as they are written that stand in one file alone, wherever in it: names,
constants of the environment, options, words joined by hyphens, numbers, routes.
See ../README.md for the label rules."""
import re
import common

SEED = "tokens-1"
ENDS = (".bash .c .cc .cpp .cs .ex .exs .go .h .hpp .hs .java .js .kt .kts .lua .md .mdx .mjs .php .pyi .py .rb .rs .rst .scala .sh .sol .swift .ts .tsx .txt .zig").split()
KINDS = {
    "name": (r"(?<![\w$])(?:[A-Za-z][A-Za-z0-9]*_[A-Za-z0-9_]*[A-Za-z0-9]|[a-z]+[A-Z][A-Za-z0-9]+|[A-Z][a-z]+[A-Z][A-Za-z0-9]*)(?![\w$])", 4),
    "constant": (r"(?<![\w$])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?![\w$])", 2),
    "option": (r"(?<![\w-])--[a-z][a-z0-9]*(?:-[a-z0-9]+)+(?![\w-])", 2),
    "hyphens": (r"(?<![\w/.-])[a-z]{2,}(?:-[a-z]{2,})+(?![\w/.-])", 2),
    "number": (r"(?<![\w.])(?:0x[0-9a-fA-F]{4,}|[1-9][0-9]{4,8})(?![\w.])", 2),
    "route": (r"(?<=[\"'])/[a-z]+(?:/[a-z0-9_:{}-]+)+(?=[\"'])", 2),
}


def texts(at):
    out = {}
    for p in sorted(at.rglob("*")):
        if p.is_file() and p.suffix in ENDS and p.stat().st_size < 200_000:
            raw = p.read_bytes()
            if b"\0" not in raw:
                out[str(p.relative_to(at))] = raw.decode("utf8", "replace")
    return out


items = []
for name, r in common.table().items():
    if r["part"] != "development":
        continue
    have = texts(common.tree(name))
    folded = {p: t.lower() for p, t in have.items()}
    for kind, (form, most) in KINDS.items():
        found = {}
        for p, t in have.items():
            for m in re.finditer(form, t):
                w = m.group(0)
                if 5 <= len(w) <= 40 and (kind != "name" or w != w.upper()):
                    found.setdefault(w, (p, t.count("\n", 0, m.start()) + 1))
        n = 0
        for w in common.ordered(sorted(found), SEED, lambda w: kind + name + w):
            # Whatever its case, and as a part of another word.
            if n == most or sum(w.lower() in t for t in folded.values()) != 1:
                continue
            path, line = found[w]
            items.append(dict(repo=name, ask=w, kind=kind, gold=[{"path": path, "from": line, "line": line, "to": line}]))
            n += 1
common.write("tokens", items)
