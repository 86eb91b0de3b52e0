"""Misspelt and half-remembered names, and public questions with a misspelt
word. See ../README.md for the label rules."""
import collections, json, os, re
import common, outline

SEED = "typos-1"
TAKE = {"letter": 4, "half": 4, "question": 3}  # of each repository, as far as it has them
KEYS = ["qwertyuiop", "asdfghjkl", "zxcvbnm"]
SHORT = dict(p.split(":") for p in """config:cfg message:msg context:ctx request:req response:resp argument:arg parameter:param
    directory:dir string:str number:num buffer:buf connection:conn initialize:init error:err length:len command:cmd
    attribute:attr environment:env function:func expression:expr index:idx value:val object:obj iterator:iter
    information:info reference:ref document:doc database:db package:pkg pointer:ptr""".split())
LONG = {v: k for k, v in SHORT.items()}


def parts(name):
    """The parts of an identifier in lower case."""
    return [p.lower() for p in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)]


def like(model, words):
    """The words written as the model is."""
    if "_" in model.strip("_"):
        return "_".join(w.upper() if model.isupper() else w for w in words)
    out = "".join(w.capitalize() for w in words)
    return out if model[0].isupper() else out[0].lower() + out[1:]


def misspelt(word, n):
    """The word with one letter wrong: two exchanged, one missing, one twice, or the one beside it on the keyboard."""
    at = [i for i in range(1, len(word) - 1) if word[i].isalpha() and word[i + 1].isalpha()]
    i = at[n // 4 % len(at)]
    match n % 4:
        case 0:
            return word[:i] + word[i + 1] + word[i] + word[i + 2:]
        case 1:
            return word[:i] + word[i + 1:]
        case 2:
            return word[:i] + word[i] + word[i:]
    row = next((r for r in KEYS if word[i].lower() in r), "")
    if not row:
        return word
    k = row.index(word[i].lower())
    c = row[k + 1] if k + 1 < len(row) else row[k - 1]
    return word[:i] + (c.upper() if word[i].isupper() else c) + word[i + 1:]


def half(name, n):
    """What is left of a name in memory, by one of the ways that fit it."""
    p = parts(name)
    ways = []
    if len(p) == 2 or len(p) == 3:
        ways.append(("order", like(name, p[1:] + p[:1])))
    if len(p) > 2:
        k = n // 7 % len(p)
        ways.append(("dropped", like(name, p[:k] + p[k + 1:])))
    if len(p) > 1:
        other = "".join(w.capitalize() for w in p) if "_" in name.strip("_") else "_".join(p)
        ways.append(("style", other[0].lower() + other[1:] if name[0].islower() else other))
        ways.append(("style", " ".join(p)))
    last = p[-1]
    ending = last[:-3] if last.endswith("ing") and len(last) > 6 else last[:-1] if last.endswith("s") else last[:-2] if last[-2:] in ("er", "or") else last + ("s" if n % 2 else "er" if not last.endswith("e") else "r")
    if last.isalpha() and len(last) > 3:
        ways.append(("ending", like(name, p[:-1] + [ending])))
    for table in (SHORT, LONG):
        for k, w in enumerate(p):
            if w in table:
                ways.append(("short", like(name, p[:k] + [table[w]] + p[k + 1:])))
    return ways[n % len(ways)] if ways else ("", name)


def edits(a, b, most):
    """The Damerau-Levenshtein distance of two words, most + 1 when it is larger than most."""
    if abs(len(a) - len(b)) > most:
        return most + 1
    two, one = None, list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        row = [i]
        for j, y in enumerate(b, 1):
            d = min(one[j] + 1, row[j - 1] + 1, one[j - 1] + (x != y))
            if two and i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                d = min(d, two[j - 2] + 1)
            row.append(d)
        if min(row) > most:
            return most + 1
        two, one = one, row
    return one[-1]


def made():
    tasks = collections.defaultdict(list)
    for t in json.load(open(os.environ["ASKED_TASKS"]))["tasks"]:
        tasks[t["repo"]].append(t)
    out = []
    for name, r in common.table().items():
        if r["part"] != "development":
            continue
        at = common.tree(name)
        all_ = list(outline.declarations(str(at)))
        everywhere = collections.Counter(d["name"].lower() for d in all_)
        words, pieces = collections.Counter(), set()
        for p in at.rglob("*"):
            if p.suffix in outline.LANG and p.is_file():
                found = set(re.findall(r"\w+[?!]?", p.read_text("utf8", "replace")))
                words.update(set(w.lower() for w in found))
                for w in found:
                    pieces.update(parts(w))
        fit = [d for d in all_ if not common.is_test(d["path"]) and d["kind"] in ("callable", "type", "constant") and everywhere[d["name"].lower()] == 1
               and len(d["name"].strip("_")) >= 7 and words[d["name"].lower()] <= 25 and d["lang"] == r["language"] and not re.match(r"__|test|Test|\W", d["name"])
               and re.fullmatch(r"\w+", d["name"])]
        ordered = common.ordered(fit, SEED, lambda d: name + d["path"] + d["name"])
        sets = {n: collections.Counter(parts(n)) for n in {d["name"] for d in all_}}
        for kind in ("letter", "half"):
            took = 0
            for d in ordered:
                if took == TAKE[kind] or any(o["gold"][0]["path"] == d["path"] and o["gold"][0]["from"] == d["from"] for o in out if o["repo"] == name):
                    continue
                n = common.number(SEED, kind, name, d["path"], d["name"])
                way, wrong = ("", misspelt(d["name"], n)) if kind == "letter" else half(d["name"], n)
                low = wrong.lower()
                if low == d["name"].lower() or low in words or len(low) < 6:
                    continue
                if kind == "letter" and any(o != d["name"] and edits(low, o.lower(), 2) <= 2 for o in sets):
                    continue
                if kind == "half":
                    mine = collections.Counter(parts(wrong) if way != "style" else parts(d["name"]))
                    if way == "ending":
                        mine = collections.Counter(parts(d["name"])[:-1])
                    if way == "short":
                        mine = sets[d["name"]]
                    if not mine or any(o != d["name"] and not mine - has for o, has in sets.items()):
                        continue
                form = [wrong, wrong, "where is %s defined" % wrong, "what does %s do" % wrong][n // 11 % 4]
                out.append(dict(repo=name, kind=kind, form=way, ask=form, gold=[dict(path=d["path"], **{"from": d["from"]}, line=d["line"], to=d["to"])]))
                took += 1
        took = 0
        for t in common.ordered([(i, t) for i, t in enumerate(tasks[name]) if t["category"] != "symbol" and t["relevant"]], SEED, lambda t: name + t[1]["query"]):
            i, task = t
            if took == TAKE["question"]:
                break
            long = sorted((w for w in re.findall(r"[A-Za-z]{6,}", task["query"]) if w.lower() in pieces), key=lambda w: -len(w))
            if not long:
                continue
            n = common.number(SEED, "question", name, task["query"])
            wrong = misspelt(long[0], n)
            if wrong.lower() in pieces or wrong.lower() in words or wrong == long[0]:
                continue
            out.append(dict(repo=name, kind="question", task=i, was=long[0], ask=wrong))
            took += 1
    return out


if __name__ == "__main__":
    common.write("typos", made())
