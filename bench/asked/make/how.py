"""How-it-works questions: how.txt names the places by file and declaration;
this finds their lines. See ../README.md."""
import sys
import common, outline


def made():
    out, bad = [], 0
    for raw in open(common.HERE / "how.txt"):
        if raw.startswith("#") or not raw.strip():
            continue
        repo, ask, places = (x.strip() for x in raw.split(" | "))
        found = outline.declarations(str(common.tree(repo)))
        gold = []
        for place in places.split(";"):
            file, name = place.strip().split(":", 1)
            scope, _, last = name.rpartition(".")
            fit = [d for d in found if ("/" + d["path"]).endswith("/" + file) and d["name"] == last and not common.is_test(d["path"]) and (not scope or d["scope"].lstrip("*").split(".")[-1].split("::")[-1] == scope)]
            fit = [d for d in fit if d["kind"] in ("callable", "type")]
            if not fit:
                near = sorted({d["scope"].split(".")[-1] + "." + d["name"] for d in found if d["name"] == last})
                print("no", repo, place.strip(), near[:4], file=sys.stderr)
                bad += 1
                continue
            d = max(fit, key=lambda d: d["to"] - d["from"])
            gold.append(dict(path=d["path"], **{"from": d["from"]}, line=d["line"], to=d["to"], name=d["name"]))
        if len(gold) < 3:
            print("few", repo, ask, file=sys.stderr)
        out.append(dict(repo=repo, ask=ask, gold=gold))
    return out, bad


if __name__ == "__main__":
    items, bad = made()
    # The order of the file is by repository; shuffled, so that a third of each goes aside.
    items = common.ordered(items, "how-1", lambda x: x["ask"])
    items.sort(key=lambda x: x["repo"])
    common.write("how", items)
    sys.exit(bad > 0)
