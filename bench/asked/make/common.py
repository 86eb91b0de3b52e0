"""What the makers of the sets share: the repositories and their revisions, an
export of each, an outline of its declarations, and the rule by which a third
of every set is put aside.

    ASKED_REPOS   folder of repositories, OWNER+NAME or OWNER+NAME/repo
    ASKED_TREES   folder that the trees are written to
    ASKED_PART    folder of testdata and of the written questions, for sets made later
"""
import collections, hashlib, io, json, os, pathlib, re, subprocess, tarfile

HERE = pathlib.Path(__file__).resolve().parent
PART = os.environ.get("ASKED_PART", "")
DATA = HERE.parent / "testdata" / PART
WRITTEN = HERE / PART
REPOS = pathlib.Path(os.environ.get("ASKED_REPOS", "repos"))
TREES = pathlib.Path(os.environ.get("ASKED_TREES", "trees"))


def table():
    return {r["name"]: r for r in json.load(open(DATA / "repos.json"))}


def git(name):
    base = REPOS / table()[name]["github"].replace("/", "+")
    return base / "repo" if (base / "repo").exists() else base


def tree(name):
    """The folder with the files of a repository below its root, paths as in the repository."""
    at = TREES / name
    if not at.exists():
        r = table()[name]
        cmd = ["git", "-C", str(git(name)), "archive", "--format=tar", r["revision"]]
        if r["root"]:
            cmd += ["--", r["root"]]
        raw = subprocess.run(cmd, check=True, capture_output=True).stdout
        at.mkdir(parents=True)
        with tarfile.open(fileobj=io.BytesIO(raw)) as t:
            for m in t:
                if m.isfile():
                    t.extract(m, at)
    return at


def number(*key):
    """A number that depends on the key alone."""
    return int.from_bytes(hashlib.sha256("\0".join(map(str, key)).encode()).digest()[:6], "big")


def ordered(items, seed, key):
    """Items in an order that the seed alone decides."""
    return sorted(items, key=lambda x: number(seed, key(x)))


def write(name, items):
    """Writes a set: every third item, counted in the order of the file, goes aside."""
    (DATA / "aside").mkdir(exist_ok=True)
    files = [open(DATA / (name + ".jsonl"), "w"), open(DATA / "aside" / (name + ".jsonl"), "w")]
    for i, x in enumerate(items):
        x = {"id": "%s-%03d" % (name, i + 1), **x}
        files[i % 3 == 2].write(json.dumps(x, ensure_ascii=False) + "\n")
    for f in files:
        f.close()
    by = collections.Counter(x.get("repo") for x in items)
    print(name, len(items), dict(by))


def is_test(path):
    return bool(re.search(r"(^|/)(tests?|spec|specs|testing|__tests__|fixtures?|examples?|benches|benchmarks?|testdata|test-d)(/|$)|(_test|_spec|\.test|\.spec|Test|Tests|Spec)\.\w+$|(^|/)test_[^/]*$", path))


def ctags(at, langs=None):
    """Every declaration that ctags finds: path, name, kind, line, end or None, scope, language."""
    cmd = ["ctags", "-R", "--output-format=json", "--fields=+neKZlS", "-f", "-", "."]
    if langs:
        cmd.insert(1, "--languages=" + langs)
    out = subprocess.run(cmd, cwd=at, check=True, capture_output=True).stdout
    for line in out.decode("utf-8", "replace").splitlines():
        t = json.loads(line)
        if t.get("_type") == "tag":
            yield {"path": t["path"].removeprefix("./"), "name": t["name"], "kind": t.get("kind", ""), "line": t["line"], "end": t.get("end"), "scope": t.get("scope", ""), "lang": t.get("language", "")}
