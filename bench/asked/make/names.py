"""Names: declarations whose name stands in exactly one declaration of its
repository, and in no other file's name. See ../README.md for the label rules."""
import collections, re
import common, outline

SEED = "names-1"
TAKE = {"callable": 4, "type": 3, "field": 3, "constant": 2}  # of each repository, as far as it has them


def made():
    out = []
    for name, r in common.table().items():
        if r["part"] != "development":
            continue
        at = common.tree(name)
        found = [d for d in outline.declarations(str(at)) if not common.is_test(d["path"])]
        everywhere = collections.Counter(d["name"].lower() for d in outline.declarations(str(at)))
        words = collections.Counter()
        for p in at.rglob("*"):
            if p.suffix in outline.LANG and p.is_file():
                words.update(set(w.lower() for w in re.findall(r"\w+[?!]?", p.read_text("utf8", "replace"))))
        for kind, n in TAKE.items():
            fit = [d for d in found if d["kind"] == kind and everywhere[d["name"].lower()] == 1 and len(d["name"]) >= 5
                   and words[d["name"].lower()] <= 25 and d["lang"] == r["language"]
                   and (kind in ("callable", "type") or re.search("[A-Z_]", d["name"][1:]) or words[d["name"].lower()] <= 3)
                   and not re.match(r"__|test|Test", d["name"])]
            for d in common.ordered(fit, SEED, lambda d: name + d["path"] + d["name"])[:n]:
                out.append(dict(repo=name, ask=d["name"], kind=kind, gold=[dict(path=d["path"], **{"from": d["from"]}, line=d["line"], to=d["to"])]))
    return out


if __name__ == "__main__":
    common.write("names", made())
