"""Issue-style questions: commits that fix a numbered issue. Their text is read
from the history when the question is asked; here stand the commit, its parent,
what it changed outside of tests, documents and lists of changes, and whether
the text names a changed file or function. See ../README.md."""
import os, re, subprocess, tempfile, pathlib, shutil
import common, outline

SEED = "issues-1"
EACH = 9
FIX = re.compile(r"(?i)\b(?:fix(?:es|ed)?|close[sd]?|resolve[sd]?|refs?|issue|gh-?)\b[^\n]{0,30}#?\d{2,}|^fix\b.*#\d+|\bfix(?:es)? .*\(#\d+\)")
NOT = re.compile(r"(?i)^(revert|bump|release|prepare|merge|update (?:change|deps|depend)|docs?\b|doc:|test|ci\b|chore|build\b|typo|lint|style)|typo|flaky|changelog|rubocop|coverage|mypy|\bpylint|document|whitespace|\brename|pre-commit|refactor|comment|deprecat|^feat|^add\b|^new\b|^move\b|^remove\b|^drop\b|^introduce|^enhance|cleanup|clean up")
BUG = re.compile(r"(?i)\b(fix\w*|bug|crash\w*|errors?|wrong\w*|incorrect\w*|leak\w*|hang\w*|fail\w*|broken|break\w*|should|prevent\w*|handl\w+|avoid\w*|exceptions?|invalid|missing|instead|ignor\w+)\b")
TRAILER = re.compile(r"(?im)^(?:signed-off-by|co-authored-by|reviewed-by|change-id|cc|acked-by|tested-by|git-svn-id)\b.*$")


def git(name, *args):
    return subprocess.run(["git", "-C", str(common.git(name)), *args], capture_output=True, check=True).stdout.decode("utf8", "replace")


def text(message):
    return re.sub(r"\n{3,}", "\n\n", TRAILER.sub("", message)).strip()


def product(path, lang):
    return pathlib.PurePosixPath(path).suffix in outline.LANG and not common.is_test(path) and not re.search(r"(?i)(^|/)(docs?|changes?|examples?|samples?|benchmarks?|ci|script|\.github|features|test\w*|vendor|node_modules|dist|client-dist)(/|$)|setup\.py$|conf\.py$|version\.\w+$|(^|/)\w*[Tt]est\w*\.\w+$|\.Specs/|\.Tests/|build\.gradle", path)


def made():
    out = []
    for name, r in common.table().items():
        if r["part"] != "training":
            continue
        log = git(name, "log", "--no-merges", "--since=2014-01-01", "--format=%H%x00%P%x00%B%x01", r["revision"])
        fit = []
        for entry in log.split("\x01"):
            f = entry.strip("\n").split("\0")
            if len(f) != 3 or " " in f[1] or not f[1]:
                continue
            t = text(f[2])
            if not FIX.search(t) or NOT.search(t.split("\n")[0]) or not BUG.search(t) or len(t) < 60 or len(t) > 9000:
                continue
            fit.append((f[0], f[1], t))
        fit = common.ordered(fit, SEED, lambda f: f[0])
        fit.sort(key=lambda f: min(len(f[2]) // 250, 1), reverse=True)
        n, tried = 0, 0
        for commit, parent, t in fit:
            if n == EACH or tried > 70:
                break
            tried += 1
            diff = git(name, "diff", "-U0", "--no-renames", "--no-color", parent, commit)
            changed, path, status = {}, None, None
            for line in diff.split("\n"):
                if line.startswith("--- "):
                    path = line[6:] if line.startswith("--- a/") else None
                elif m := re.match(r"@@ -(\d+)(?:,(\d+))? \+", line):
                    if path:
                        a, k = int(m[1]), int(m[2] or 1)
                        changed.setdefault(path, []).append((a, a + max(k, 1) - 1))
            gold = {p: h for p, h in changed.items() if product(p, r["language"])}
            if not 1 <= len(gold) <= 4 or len(changed) > 12 or sum(len(h) for h in gold.values()) > 30:
                continue
            with tempfile.TemporaryDirectory() as d:
                for p in gold:
                    to = pathlib.Path(d) / p
                    to.parent.mkdir(parents=True, exist_ok=True)
                    to.write_text(git(name, "show", parent + ":" + p))
                found = outline.declarations.__wrapped__(d)
            places, functions = [], []
            for p, hunks in gold.items():
                hit = {}
                for a, b in hunks:
                    holds = [x for x in found if x["path"] == p and x["kind"] == "callable" and x["from"] <= b and x["to"] >= a]
                    holds = [x for x in holds if not x["name"].startswith("test_")]
                    if holds:
                        x = min(holds, key=lambda x: x["to"] - x["from"])
                        hit[(x["from"], x["to"])] = x["name"]
                for (a, b), x in sorted(hit.items()):
                    functions.append(x)
                    places.append(dict(path=p, **{"from": a}, line=a, to=b, name=x))
                if not hit:
                    places.append(dict(path=p, **{"from": 0}, line=0, to=0))
            if len(functions) > 8 or not functions and common.number(SEED, commit) % 4:
                continue
            words = set(re.findall(r"\w+", t.lower()))
            names = {pathlib.PurePosixPath(p).stem.lower().lstrip("_") for p in gold} | {x.lower() for x in functions}
            named = any(len(x) >= 4 and x in words for x in names)
            out.append(dict(repo=name, kind="named" if named else "unnamed", commit=commit, parent=parent, gold=places))
            n += 1
    return out


if __name__ == "__main__":
    common.write("issues", made())
