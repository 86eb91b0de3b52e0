"""Plain-word questions with the files that answer; checks that the files are
there and that no question names one. See ../README.md."""
import re, sys
import common


def made():
    out = []
    for raw in open(common.WRITTEN / "plain.txt"):
        if raw.startswith("#") or not raw.strip():
            continue
        repo, ask, files = (x.strip() for x in raw.split(" | "))
        at = common.tree(repo)
        paths = [str(p.relative_to(at)) for p in at.rglob("*") if p.is_file()]
        gold = []
        for f in files.split("; "):
            fit = sorted((p for p in paths if ("/" + p).endswith("/" + f) and not common.is_test(p)), key=len)
            if not fit:
                print("no", repo, f, [p for p in paths if f.rsplit("/", 1)[-1].split(".")[0].lower() in p.lower()][:5], file=sys.stderr)
                continue
            gold += [dict(path=p) for p in fit[:1]]
            stem = re.sub(r"\.\w+$", "", f.rsplit("/", 1)[-1]).lower()
            if re.search(r"\b" + re.escape(stem) + r"\b", ask.lower()):
                print("named", repo, f, ask, file=sys.stderr)
        if gold:
            out.append(dict(repo=repo, ask=ask, gold=gold))
    return out


if __name__ == "__main__":
    items = common.ordered(made(), "plain-1", lambda x: x["ask"])
    items.sort(key=lambda x: x["repo"])
    common.write("plain", items)
