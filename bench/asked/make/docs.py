"""Documentation questions: docs.txt names the page and the line's heading by
its beginning; this finds the section's lines. See ../README.md."""
import re, subprocess, sys
import common

RULE = re.compile(r"^([=\-~^`'\"*+#.])\1{2,}\s*$")


def sections(text, path):
    """Heading, first line and last line of each section, without the sections below it."""
    lines, found, fence = text.split("\n"), [], False
    for i, t in enumerate(lines):
        if path.endswith((".md", ".mdx", ".markdown")):
            if re.match(r"^\s*(```|~~~)", t):
                fence = not fence
            if not fence and (m := re.match(r"^#{1,6}\s+(.*?)\s*#*$", t)):
                found.append((m[1], i + 1))
        elif i and RULE.match(t) and lines[i - 1].strip() and not RULE.match(lines[i - 1]) and len(t.strip()) >= len(lines[i - 1].rstrip()) and not lines[i - 1].startswith((" ", "..")):
            found.append((lines[i - 1].strip(), i))
    return [(h, a, (found[k + 1][1] - 1 if k + 1 < len(found) else len(lines))) for k, (h, a) in enumerate(found)]


def read(repo, path):
    r = common.table()[repo]
    return subprocess.run(["git", "-C", str(common.git(repo)), "show", r["revision"] + ":" + path], capture_output=True, check=True).stdout.decode("utf8", "replace")


def made():
    out = []
    for raw in open(common.HERE / "docs.txt"):
        if raw.startswith("#") or not raw.strip():
            continue
        repo, lang, ask, places = (x.strip() for x in raw.split(" | "))
        gold = []
        for place in places.split("; "):
            path, head = place.split("::")
            fit = [s for s in sections(read(repo, path), path) if (t := re.sub(r"[`*]", "", s[0]).lower()).startswith(head.lower())]
            fit = [s for s in fit if re.sub(r"[`*]", "", s[0]).lower() == head.lower()] or fit
            if len(fit) != 1:
                print("no" if not fit else "many", repo, place, [s[0] for s in fit][:4], file=sys.stderr)
            if fit:
                gold.append(dict(path=path, **{"from": fit[0][1]}, line=fit[0][1], to=fit[0][2]))
        out.append(dict(repo=repo, kind=lang, ask=ask, gold=gold))
    return out


if __name__ == "__main__":
    items = common.ordered(made(), "docs-1", lambda x: x["ask"])
    items.sort(key=lambda x: x["repo"])
    common.write("docs", items)
