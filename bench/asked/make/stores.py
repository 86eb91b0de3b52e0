"""Questions asked with every development repository in scope. Those of kind
own, named and bare are public tasks, four of each repository, by their number
among the repository's tasks; those of kind other are own ones. See ../README.md."""
import collections, json, os, sys
import common

SEED = "stores-1"


def made():
    tasks = json.load(open(os.environ["ASKED_TASKS"]))["tasks"]
    of = collections.defaultdict(list)
    for t in tasks:
        of[t["repo"]].append(len(of[t["repo"]]))
    out = []
    for repo, r in common.table().items():
        if r["part"] == "development":
            for n in sorted(common.ordered(of[repo], SEED, lambda n: repo + str(n))[:4]):
                for kind in ("own", "named", "bare"):
                    out.append(dict(repo=repo, kind=kind, task=n, **({"from": repo} if kind == "own" else {})))
    other = []
    for raw in open(common.WRITTEN / "stores.txt"):
        if raw.startswith("#") or not raw.strip():
            continue
        asker, repo, ask, files = (x.strip() for x in raw.split(" | "))
        at = common.tree(repo)
        paths = [str(p.relative_to(at)) for p in at.rglob("*") if p.is_file()]
        gold = []
        for f in files.split("; "):
            fit = sorted((p for p in paths if ("/" + p).endswith("/" + f) and not common.is_test(p)), key=len)
            gold += [dict(path=p) for p in fit[:1] if dict(path=p) not in gold]
            if f == "v4/core/schemas.ts" and len(fit) != 1:
                print(fit)
        if not gold:
            print("no", repo, files, [p for p in paths if files.split("/")[-1].split(".")[0].lower() in p.lower()][:4], file=sys.stderr)
        out_ = dict(repo=repo, kind="other", ask=ask, gold=gold)
        out_["from"] = asker
        other.append(out_)
    # The three conditions of one task go aside together.
    by = [out[i:i + 3] for i in range(0, len(out), 3)]
    by += [other[i:i + 3] for i in range(0, len(other), 3)]
    flat, files = [], [[], []]
    for i, group in enumerate(by):
        for x in group:
            files[i % 3 == 2].append({"id": "stores-%03d" % (sum(map(len, files)) + 1), **x})
    for path, items in zip((common.DATA / "stores.jsonl", common.DATA / "aside" / "stores.jsonl"), files):
        path.write_text("".join(json.dumps(x, ensure_ascii=False) + "\n" for x in items))
    print("stores", collections.Counter(x["kind"] for f in files for x in f), len(files[0]), len(files[1]))


if __name__ == "__main__":
    made()
