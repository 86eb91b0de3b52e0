"""Messages: string literals that are raised, thrown, returned as an error or
logged. Only where a literal stands is written down, and the seed of the values
that fill its placeholders; the text is read from the checkout. See ../README.md."""
import re
import common, outline

SEED = "messages-1"
EACH = 11

# What begins a statement whose literal is a message.
CALL = {
    "python": r"\braise \w[\w.]*\(|\b(?:logger|log|_logger|internal_logger|\w+\.logger|warnings)\.(?:error|warning|warn|critical|exception)\(|\bweb_log\w*\.\w+\(",
    "go": r"errors\.New\(|fmt\.Errorf\(|\bpanic\(|log\.\w+\(|Sprintf\(\"[^\"]*(?:error|unknown|required|accept)|\bwarn\w*\(",
    "typescript": r"throw new \w[\w.]*\(|new \w*Error\(|console\.(?:error|warn)\(|logger\.(?:error|warn)\(",
    "java": r"throw new \w+\(|new \w+Exception\(|Validate\.\w+\(|\bcheck(?:Argument|State|NotNull)\(",
    "ruby": r"\braise\b|\bfail [A-Z]|\babort\b|logger\.(?:error|warn|fatal)|deprecator\.warn|\bsay_error|\bwarn[ (]|\berror [\"']",
    "php": r"throw new \\?\w[\w\\]*\(|trigger_error\(|new \\?\w*Exception\(|throw \w[\w:\\]*\(",
    "rust": r"panic!\(|unreachable!\(|\.expect\(|Error::(?:custom|new|invalid_\w+|missing_\w+)\(|error\(|bail!\(|#\[body = |assert!\(|\.error_spanned_by\(|warn!\(|trace!\(|write!\(f(?:mt|ormatter)?,|f(?:ormatter)?\.write_str\(",
    "kotlin": r"throw \w+\(|\berror\(|require(?:NotNull)?\(|\bcheck(?:NotNull)?\(|\w+Exception\(",
    "scala": r"throw new \w+\(|new \w+(?:Exception|Error)\(|ParseFailure\(|\w*Failure\(|sys\.error\(|require\(|\w*DecodeFailure\(|logger\.\w+\(",
    "elixir": r"\braise\b|Logger\.(?:error|warning|warn)|error!|ArgumentError|Mix\.raise|message:|IO\.warn",
    "lua": r"\berror\(|H\.error\(|H\.notify\(|vim\.notify\(|\bassert\(|H\.message\(|H\.check_type\(",
    "zig": r"log\.(?:err|warn|info|debug)\(|panic\(|std\.debug\.print\(|@compileError\(|\.print\(|fatal\(",
    "haskell": r"\berror\b|throwError|Error\b|\breport\b|fail\b|trace\b|hPutStrLn|-> *\"|liftIO",
    "c": r"serverLog\(|addReplyError\w*\(|serverPanic\w*\(|fprintf\(stderr|sdscatfmt\(|\berr = \"|\*err = \"|rdbReportCorruptRDB\(|exit\(|addReplyErrorFormat\(|redis_log\(",
    "csharp": r"throw new \w+\(|SelfLog\.WriteLine\(|Exception\(",
    "bash": r"nvm_err\w*\b|nvm_echo\b|nvm_stdout|>&2",
}
HOLE = {
    "python": r"%\(\w+\)[#0-9.]*[a-z]|%[-0-9.]*[srdxifc]|\{[^{}]*\}", "typescript": r"\$\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}", "go": r"%[-+#0-9.]*[a-zA-Z]", "ruby": r"#\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}|%[sd]",
    "php": r"%[sd]|\{\$[^{}]*\}|\$\w+(?:->\w+)?", "rust": r"\{[^{}]*\}", "kotlin": r"\$\{[^{}]*\}|\$\w+", "scala": r"\$\{[^{}]*\}|\$\w+", "elixir": r"#\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}",
    "lua": r"%[-0-9.]*[sdq]", "zig": r"\{[^{}]*\}", "haskell": r"%s|%d", "c": r"%[-+0-9.]*(?:ll|l|z)?[sdiuxcfpS]", "bash": r"\$\{[^{}]*\}|\$\w+", "java": r"%[sd]|\{\d?\}", "csharp": r"\{[^{}]*\}",
}
QUOTES = {"go": '"`', "java": '"', "rust": '"', "csharp": '"', "zig": '"', "haskell": '"', "c": '"', "kotlin": '"', "scala": '"', "elixir": '"', "typescript": "\"'`"}
JOIN = {"java": "+", "csharp": "+", "typescript": "+", "kotlin": "+", "scala": "+", "go": "+", "lua": "..", "elixir": "<>", "php": ".", "haskell": "<>", "ruby": "\\"}


def literal(text, i):
    """The end of the content of the literal whose quote stands at i, or None."""
    q, j, depth = text[i], i + 1, 0
    while j < len(text) and text[j] != "\n":
        c = text[j]
        if c == "\\":
            j += 2
            continue
        if text[j:j + 2] in ("#{", "${"):
            depth += 1
            j += 2
            continue
        if depth and c == "}":
            depth -= 1
        elif depth and c == "{":
            depth += 1
        elif c == q and depth == 0:
            return j
        j += 1
    return None


def skip(text, i):
    while i < len(text) and text[i].isspace():
        i += 1
    return i


def parts(text, i, lang):
    """The spans of the literals from i on that are joined to one text, None for a value between them."""
    out = []
    quotes = QUOTES.get(lang, "\"'")
    while True:
        j = literal(text, i)
        if j is None:
            return None
        if text.startswith(text[i] * 3, i):
            return None  # a block of text
        out.append((i + 1, j))
        k = skip(text, j + 1)
        if lang in ("python", "c"):
            m = re.compile(r"[fFrRbB]?(?=[\"'])").match(text, k)
            if m and (lang == "python" or text[k] == '"') and text[k - 1] != ",":
                i = m.end()
                continue
            return out
        op = JOIN.get(lang)
        if not op or not text.startswith(op, k):
            return out
        k = skip(text, k + len(op))
        if lang in ("scala", "kotlin") and text[k:k + 1] in "sf" and text[k + 1:k + 2] == '"':
            k += 1
        if text[k] in quotes:
            i = k
            continue
        out.append(None)
        m = re.compile(r"(?:[\w.$\[\]>]|->|::|\((?:[^()\n]|\([^()\n]*\))*\))+\s*").match(text, k)
        if not m or not text.startswith(op, m.end()):
            return out
        k = skip(text, m.end() + len(op))
        if lang in ("scala", "kotlin") and text[k:k + 1] in "sf" and text[k + 1:k + 2] == '"':
            k += 1
        if k >= len(text) or text[k] not in quotes:
            return out
        i = k


def pattern(text, lang):
    """What the literal looks like with any other expression in its placeholders."""
    return r"[^\"'`\n]*?".join(re.escape(t) for t in re.split(HOLE[lang], text))


def made():
    out = []
    for name, r in common.table().items():
        if r["part"] == "training":
            continue
        at, lang = common.tree(name), r["language"]
        texts = {str(p.relative_to(at)): p.read_text("utf8", "replace") for p in sorted(at.rglob("*")) if p.is_file() and outline.LANG.get(p.suffix) and p.stat().st_size < 400_000}
        whole = "\n".join(texts.values())
        fit = []
        for path, text in texts.items():
            if common.is_test(path) or outline.LANG.get("." + path.rsplit(".", 1)[1]) != lang or "/deps/" in path:
                continue
            for m in re.finditer(CALL[lang], text):
                line0 = text[text.rfind("\n", 0, m.start()) + 1:m.start()].strip()
                if line0.startswith(("//", "#", "*", "--", "/*")) and lang != "rust":
                    continue
                end = m.end() + 1
                stop = min(len(text), m.end() + (220 if lang not in ("haskell", "elixir", "ruby", "bash") else 90))
                chunk = text[m.start():stop]
                q = re.compile("[" + QUOTES.get(lang, "\"'") + "]").search(text, m.start(), stop)
                # no statement ends between the call and its literal
                while q and (literal(text, q.start()) is None or len(re.findall(r"[A-Za-z]{2,}", text[q.start() + 1:literal(text, q.start())])) < 3):
                    e = literal(text, q.start())
                    q = re.compile("[" + QUOTES.get(lang, "\"'") + "]").search(text, (e if e is not None else q.start()) + 1, stop)
                if not q or re.search(r"\n\s*\n|;\s*\n|\n\s*(?:end|return|if|def|fn|fun)\b", text[m.end():q.start()]):
                    continue
                found = parts(text, q.start(), lang)
                if not found:
                    continue
                static = [re.sub(HOLE[lang], "\0", text[a:b]) for a, b in (x for x in found if x)]
                words = re.findall(r"[A-Za-z]{2,}", " ".join(static).replace("\\n", " "))
                if not 4 <= len(words) <= 45 or len(re.findall(pattern(text[found[0][0]:found[0][1]], lang), whole)) != 1:
                    continue
                if re.search(r"^https?:|[<>]/?\w+>|^[\w./-]+$|^--", text[found[0][0]:found[0][1]]):
                    continue
                filled = any(x is None for x in found) or any("\0" in s for s in static)
                pos = lambda i: [text.count("\n", 0, i) + 1, len(text[text.rfind("\n", 0, i) + 1:i].encode())]
                spans = [None if x is None else [pos(x[0])[0], pos(x[0])[1], pos(x[1])[1]] for x in found]
                if len({(path, s[0]) for s in spans if s}) == 0 or any(path == f["path"] and spans[0] == f["parts"][0] for f in fit):
                    continue
                fit.append(dict(path=path, parts=spans, filled=filled))
        fit = common.ordered(fit, SEED, lambda f: name + f["path"] + str(f["parts"]))
        with_, without = [f for f in fit if f["filled"]], [f for f in fit if not f["filled"]]
        n = max(EACH - min(len(without), EACH // 3), 0)
        take = with_[:n]
        take += without[:EACH - len(take)]
        for f in take:
            n = common.number(SEED, "form", name, f["path"], f["parts"][0])
            form = ["bare", "bare", "bare", "bare", "bare", "type", "log"][n % 7]
            lines = [s[0] for s in f["parts"] if s]
            out.append(dict(repo=name, kind="filled" if f["filled"] else "plain", form=form, seed=n % 100000, parts=f["parts"],
                            gold=[dict(path=f["path"], **{"from": min(lines)}, line=lines[0], to=max(lines))]))
    return out


if __name__ == "__main__":
    common.write("messages", made())
