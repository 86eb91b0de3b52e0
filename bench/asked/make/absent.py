"""Questions that nothing answers, each with one of the public tasks of the same
repository that is answered and has about as many words. See ../README.md."""
import json, os, re, sys
import common


def made():
    tasks = json.load(open(os.environ["ASKED_TASKS"]))["tasks"]
    by = {}
    for i, t in enumerate(tasks):
        n = sum(1 for u in tasks[:i] if u["repo"] == t["repo"])
        if t["category"] != "symbol":
            by.setdefault(t["repo"], []).append((n, len(t["query"].split())))
    out = []
    for raw in open(common.WRITTEN / "absent.txt"):
        if raw.startswith("#") or not raw.strip():
            continue
        repo, kind, ask, words = (x.strip() for x in raw.split(" | "))
        for p in common.tree(repo).rglob("*"):
            if p.is_file() and p.stat().st_size < 1_000_000:
                text = p.read_text("utf8", "replace").lower()
                for w in words.split(","):
                    n = len(re.findall(r"\b" + re.escape(w), text))
                    if n:
                        print(repo, repr(ask), "has", w, n, p.name, file=sys.stderr)
        x = dict(repo=repo, kind=kind, ask=ask)
        if by.get(repo):
            n = min(by[repo], key=lambda t: (abs(t[1] - len(ask.split())), t[0]))
            by[repo].remove(n)
            x["pair"] = n[0]
        out.append(x)
    return out


if __name__ == "__main__":
    common.write("absent", made())
