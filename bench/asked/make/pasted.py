"""What is pasted: pieces of code with other white space or other local names,
diffs, lists of names, a path with a line, links to forges, codes of errors.
See ../README.md for the label rules."""
import collections, re, subprocess
import common, outline

SEED = "pasted-1"
TAKE = {"code": 4, "diff": 2, "list": 2, "line": 1, "link": 1, "code of an error": 2}
COMMENT = re.compile(r"^\s*(//|#|\*|/\*|--|;|%|\"\"\"|''')")
FORMS = ["spaced", "renamed", "joined", "asked"]
LINKS = ["https://github.com/{gh}/blob/main/{path}#L{a}-L{b}", "https://github.com/{gh}/blob/{rev}/{path}#L{a}", "https://github.com/{gh}/blob/v2.1.0/{path}",
         "https://gitlab.com/{gh}/-/blob/main/{path}#L{a}-{b}", "https://bitbucket.org/{gh}/src/master/{path}#lines-{a}:{b}",
         "https://raw.githubusercontent.com/{gh}/main/{path}", "https://codeberg.org/{gh}/src/branch/main/{path}#L{a}"]
LINES = ["{base}:{a}", "{tail}:{a}", "{path}:{a}:9", "{base}:{a}: what happens here", "{tail} line {a}", "{path}#L{a}", "{base}, line {a}"]


def git(name, *args):
    return subprocess.run(["git", "-C", str(common.git(name)), *args], capture_output=True, check=True).stdout.decode("utf8", "replace")


def bare(text):
    return re.sub(r"\s+", "", text)


def code(name, texts, found):
    """Four to nine lines of a function that stand together nowhere else."""
    whole = "\n".join(bare(t) for t in texts.values())
    for d in common.ordered([d for d in found if d["kind"] == "callable" and d["to"] - d["from"] >= 6], SEED, lambda d: "code" + name + d["path"] + str(d["from"])):
        lines = texts[d["path"]].split("\n")
        n = common.number(SEED, "lines", name, d["path"], d["from"])
        long = 4 + n % 6
        body = range(d["line"], d["to"] - long)
        if not len(body):
            continue
        a = body[n // 6 % len(body)]
        piece = lines[a:a + long]
        if any(not x.strip() or COMMENT.match(x) for x in piece) or len(re.findall(r"[A-Za-z]{3,}", " ".join(piece))) < 12 or max(map(len, piece)) > 160:
            continue
        if whole.count(bare("\n".join(piece))) != 1:
            continue
        yield dict(form=FORMS[n // 97 % 4], seed=n % 100000, gold=[dict(path=d["path"], **{"from": a + 1}, line=a + 1 + long // 2, to=a + long)])


def diffs(name, r, texts):
    """Commits whose first hunk of a file is still there."""
    log = git(name, "log", "--no-merges", "-n", "600", "--format=%H", r["revision"], "--", *([r["root"]] if r["root"] else []))
    for commit in common.ordered(log.split()[20:], SEED, lambda c: "diff" + c):
        files = [p for p in git(name, "show", "--format=", "--name-only", commit).split("\n") if p in texts and not common.is_test(p)]
        if not 1 <= len(files) <= 3:
            continue
        path = common.ordered(files, SEED, lambda p: commit + p)[0]
        text = git(name, "show", "--format=", "-U3", "--no-color", "--no-renames", commit, "--", path)
        hunk = re.split(r"(?m)^@@ ", text)
        if len(hunk) < 2:
            continue
        body = hunk[1].split("\n")[1:]
        added = [x[1:].strip() for x in body if x.startswith("+") and len(x.strip()) > 12]
        if len(added) < 3 or len(body) > 60:
            continue
        lines = [x.strip() for x in texts[path].split("\n")]
        at = [lines.index(x) + 1 for x in added if x in lines]
        if len(at) < len(added) or max(at) - min(at) > 80:
            continue
        rest = [x for p, t in texts.items() if p != path for x in map(str.strip, t.split("\n"))]
        if all(x in rest for x in added):
            continue
        n = common.number(SEED, "diff", commit)
        yield dict(form=["whole", "hunk"][n % 2], commit=commit, gold=[dict(path=path, **{"from": min(at)}, line=at[0], to=max(at))])


def lists(name, words, found):
    """Names of one file that no other file has all of."""
    by = collections.defaultdict(list)
    for d in found:
        if len(d["name"]) >= 5 and re.fullmatch(r"\w+", d["name"]) and d["name"] not in by[d["path"]]:
            by[d["path"]].append(d["name"])
    for path in common.ordered([p for p, names in by.items() if len(names) >= 5], SEED, lambda p: "list" + name + p):
        n = common.number(SEED, "list", name, path)
        names = common.ordered(by[path], SEED, lambda x: path + x)[:4 + n % 4]
        if any(p != path and all(x in has for x in names) for p, has in words.items()):
            continue
        ask = [", ".join(names), "\n".join(names), "\n".join("- `%s`" % x for x in names), " ".join(names)][n // 4 % 4]
        yield dict(ask=ask, gold=[dict(path=path)])


def places(name, r, texts, found, kind):
    bases = collections.Counter(p.rsplit("/", 1)[-1] for p in texts)
    for d in common.ordered([d for d in found if d["kind"] == "callable" and d["to"] - d["from"] >= 3], SEED, lambda d: kind + name + d["path"] + d["name"]):
        n = common.number(SEED, kind, name, d["path"], d["name"])
        a = d["from"] + 1 + n % max(1, d["to"] - d["from"] - 1)
        form = (LINES if kind == "line" else LINKS)[n // 53 % 7]
        base = d["path"].rsplit("/", 1)[-1]
        if "{base}" in form and bases[base] > 1:
            continue
        ask = form.format(gh=r["github"], rev=r["revision"], path=d["path"], base=base, tail="/".join(d["path"].split("/")[-2:]), a=a, b=min(a + 6, d["to"]))
        gold = dict(path=d["path"])
        if "{a}" in form:
            gold |= {"from": d["from"], "line": a, "to": d["to"]}
        yield dict(ask=ask, gold=[gold])


ERRNO = """ENOENT EACCES ECONNREFUSED ECONNRESET ECONNABORTED EEXIST EAGAIN EINTR EINVAL EPIPE ETIMEDOUT ENOTDIR EISDIR EPERM EMFILE ENOMEM
    ENOTCONN EADDRINUSE EWOULDBLOCK EINPROGRESS ENOTSUP EHOSTUNREACH ENOTFOUND ELOOP ENOSPC EBADF ENOTEMPTY ENODEV ENOTTY EPROTO""".split()
SAID = re.compile(r"(?i)err|warn|code|fail|exit|throw|raise|lint|reply|status")


def errors(name, texts):
    """Codes that stand in one file alone: of the system, of a program, or E and a number on a line that speaks of errors."""
    at = collections.defaultdict(list)
    for path, text in texts.items():
        if common.is_test(path):
            continue
        for i, line in enumerate(text.split("\n"), 1):
            for c in re.findall(r"\b(?:[A-Z]{1,5}[-_]?\d{3,5}|ERR_[A-Z][A-Z_]{4,}|E[A-Z]{3,12}|[A-Z]+_ERR(?:OR)?(?:_[A-Z]+)+)\b", line):
                if c in ERRNO or "ERR" in c and "_" in c or re.match(r"E\d", c) and SAID.search(line):
                    at[c].append((path, i))
    for c in common.ordered([c for c, ps in at.items() if len({p for p, _ in ps}) == 1 and len(ps) <= 3], SEED, lambda c: name + c):
        n = common.number(SEED, "error", name, c)
        path, line = at[c][0]
        yield dict(ask=[c, "error %s" % c, "what does %s mean" % c, "process exited with %s" % c][n % 4], gold=[dict(path=path, **{"from": line}, line=line, to=line)])


def made():
    out = []
    for name, r in common.table().items():
        if r["part"] != "development":
            continue
        at = common.tree(name)
        texts = {str(p.relative_to(at)): p.read_text("utf8", "replace") for p in sorted(at.rglob("*"))
                 if p.is_file() and outline.LANG.get(p.suffix) == r["language"] and p.stat().st_size < 400_000 and "/deps/" not in str(p)}
        words = {p: set(re.findall(r"\w+", t)) for p, t in texts.items()}
        found = [d for d in outline.declarations(str(at)) if d["path"] in texts and not common.is_test(d["path"])]
        for kind, items in (("code", code(name, texts, found)), ("diff", diffs(name, r, texts)), ("list", lists(name, words, found)),
                            ("line", places(name, r, texts, found, "line")), ("link", places(name, r, texts, found, "link")), ("code of an error", errors(name, texts))):
            for i, x in zip(range(TAKE[kind]), items):
                out.append(dict(repo=name, kind=kind, **x))
    return out


if __name__ == "__main__":
    common.write("pasted", made())
