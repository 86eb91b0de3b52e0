"""A plugin of pytest that runs the suite of a changed file again and again, without starting it anew.

It collects the tests once and runs each once, noting which lines of the folders in TRACE_SOURCES it runs, and writes
that to the file TRACE_COVERED. Then it reads jobs from standard input, a JSON line each: the file that was changed,
the line, the style of traces. A child process gives the functions of that file the code that they have now, runs
the tests that run the line, and answers with a JSON line what failed of them.
"""
import gc
import json
import os
import signal
import sys
import types

import coverage
import pytest

SOURCES = os.environ["TRACE_SOURCES"].split(":")
COV = coverage.Coverage(data_file=None, config_file=False, source=SOURCES)
COV.start()
OUT = os.fdopen(os.dup(1), "w")
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what tests print is no answer
FAILED = []
MOST = 12


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    if call.excinfo is None or not report.failed:
        return
    frames = []
    tb = call.excinfo.value.__traceback__
    while tb is not None:
        code = tb.tb_frame.f_code
        frames.append([os.path.realpath(code.co_filename), tb.tb_lineno, code.co_name])
        tb = tb.tb_next
    frames = [f for f in frames if "/_pytest/" not in f[0] and "/pluggy/" not in f[0]]
    FAILED.append({"test": item.nodeid, "error": call.excinfo.type.__name__, "frames": frames, "first": report.longreprtext.split("\n")[-1],
                   "text": "____ %s ____\n%s\n" % (item.name, report.longreprtext)})


def renew(path):
    """Give every function of a file the code that the file has now."""
    codes = {}

    def walk(code):
        for c in code.co_consts:
            if isinstance(c, types.CodeType):
                codes[(c.co_name, c.co_firstlineno)] = c
                walk(c)

    walk(compile(open(path, encoding="utf-8").read(), path, "exec", dont_inherit=True))
    for f in gc.get_objects():
        if isinstance(f, types.FunctionType) and os.path.realpath(f.__code__.co_filename) == path:
            c = codes.get((f.__code__.co_name, f.__code__.co_firstlineno))
            if c is not None:
                f.__code__ = c.replace(co_filename=f.__code__.co_filename)


def run(config, items):
    for item in items:
        config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        if len(FAILED) >= MOST:
            break


def pytest_runtestloop(session):
    config = session.config
    for item in session.items:
        COV.switch_context(item.nodeid)
        config.hook.pytest_runtest_protocol(item=item, nextitem=None)
    COV.stop()
    broken = {f["test"] for f in FAILED}
    FAILED.clear()
    data = COV.get_data()
    lines = {os.path.realpath(f): {n: [c for c in cs if c and c not in broken] for n, cs in data.contexts_by_lineno(f).items()} for f in data.measured_files()}
    with open(os.environ["TRACE_COVERED"], "w") as f:
        json.dump({p: {str(n): 1 for n, cs in by.items() if cs} for p, by in lines.items()}, f)
    named = {i.nodeid: i for i in session.items}
    OUT.write("ready\n")
    OUT.flush()
    for job in os.fdopen(3):
        job = json.loads(job)
        sys.stdout.flush()
        r, w = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(r)
            signal.alarm(60)
            try:
                config.option.tbstyle = job["style"]
                import linecache
                linecache.clearcache()
                renew(job["file"])
                tests = [named[c] for c in sorted(lines.get(job["file"], {}).get(job["line"], []), key=list(named).index)]
                run(config, tests[:60])
                with os.fdopen(w, "w") as f:
                    json.dump(FAILED, f)
            finally:
                os._exit(0)
        os.close(w)
        with os.fdopen(r) as f:
            text = f.read()
        os.waitpid(pid, 0)
        OUT.write((text or "null") + "\n")
        OUT.flush()
    return True
