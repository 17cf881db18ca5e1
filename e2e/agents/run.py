"""Runs real programs against a scripted model that has no tools, by `toolgraft launch` or `serve`.

    run.py TOOLGRAFT [--row ROW]… [--sizes] [--write FILE] [PROGRAM[@VERSION]…]
    run.py TOOLGRAFT --real URL MODEL CONTEXT PROGRAM…    one task with a real model, told as it went

Each is installed at its current version below e2e/agents/installed. Without names all are run. All
rows of a program run in one home, twice: what an earlier start has left there is found by the later one.
`--write` has the tables of docs/clients.md written anew.
"""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from model import Model, Real, text_of
from programs import PROGRAMS
from rows import REAL, ROWS

HERE = Path(__file__).parent
INSTALLED = HERE / "installed"
# One run may take so long; a loaded machine is slow.
PATIENCE = 240
# A real model of a billion parameters reads some 50 tokens a second on two processors.
REAL_PATIENCE = 1_200
# Versions that are tried, the newest first: what a registry has is not always whole.
VERSIONS = 3
# Times that all rows are run in one home.
STARTS = 2
# A current node, which several programs want, and a counter of tokens.
NODE, COUNTER = "node@22", "gpt-tokenizer"
CONTEXTS = (8_192, 16_384, 32_768)
SAYING = threading.Lock()


@dataclass
class Run:
    code: int
    out: str
    err: str
    model: Model
    seconds: float


def say(text):
    with SAYING:
        print(text, flush=True)


def npm_versions(package):
    listed = subprocess.run(["npm", "view", package, "versions", "--json"], check=True, capture_output=True, text=True).stdout
    stable = [version for version in json.loads(listed) if re.fullmatch(r"[\d.]+", version)]
    newest = subprocess.run(["npm", "view", package, "version"], check=True, capture_output=True, text=True).stdout.strip()
    return [newest, *[version for version in reversed(stable) if version != newest]][:VERSIONS]


def npm_install(folder, package):
    """Into a folder of its own; the version that came."""
    (folder / "package.json").write_text('{"private": true}\n', encoding="utf-8")
    plain = re.sub(r"(?<=.)@.*", "", package)
    versions = npm_versions(package) if plain == package else [package[len(plain) + 1:]]
    for version in versions:
        if f"{npm_version(folder, plain)}.".startswith(f"{version}."):
            break
        command = ["npm", "install", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error", f"{plain}@{version}"]
        done = subprocess.run(command, cwd=folder, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode == 0:
            break
        say(f"{plain} {version} cannot be installed: {' '.join(done.stderr.split())[:300]}")
    else:
        raise subprocess.CalledProcessError(1, f"npm install {plain}")
    return npm_version(folder, plain)


def npm_version(folder, package):
    """The version that is there."""
    file = folder / "node_modules" / package / "package.json"
    return json.loads(file.read_text(encoding="utf-8"))["version"] if file.exists() else None


def newest_python():
    """Programs may want a newer one than that which runs this."""
    named = (shutil.which(f"python3.{minor}") for minor in range(14, sys.version_info.minor, -1))
    runs = (python for python in named if python and subprocess.run([python, "-c", ""], check=False, capture_output=True).returncode == 0)
    return next(runs, sys.executable)


def is_new_enough(python):
    """Whether the newest Python here is that of this minor version or a later one."""
    return subprocess.run([newest_python(), "-c", f"import sys; sys.exit(sys.version_info.minor < {python})"], check=False).returncode == 0


def pypi_install(folder, package):
    subprocess.run([newest_python(), "-m", "venv", folder / "venv"], check=True)
    python = folder / "venv/bin/python"
    pip = [python, "-m", "pip", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "--quiet", "--upgrade", package], check=True)
    shown = subprocess.run([*pip, "show", re.split(r"[\[=]", package)[0]], check=True, capture_output=True, text=True).stdout
    return re.search(r"^Version: (.+)$", shown, re.M)[1]


def install(name, package, kind="npm", version=None):
    folder = INSTALLED / name
    folder.mkdir(parents=True, exist_ok=True)
    if kind == "pypi":
        return pypi_install(folder, f"{package}=={version}" if version else package)
    return npm_install(folder, f"{package}@{version}" if version else package)


def environment(program, home, name):
    """Nothing of the machine's but where programs are."""
    own = [INSTALLED / name / "node_modules/.bin", INSTALLED / name / "venv/bin"]
    folders = [INSTALLED / "node/node_modules/.bin", *own, "/usr/local/bin", "/usr/bin", "/bin"]
    temporary = home.parent / "tmp"
    temporary.mkdir(exist_ok=True)
    return {"HOME": str(home), "TMPDIR": str(temporary), "PATH": ":".join(map(str, folders)), "TERM": "xterm-256color",
            "LANG": "C.UTF-8", **program.variables}


@contextmanager
def started(toolgraft, program, model, home, variables):
    """The command's beginning, in front of the model; what it needs runs as long as this."""
    url = model.start()
    try:
        if program.launch:
            yield [toolgraft, "launch", program.launch, "--base-url", url, "--model", model.name, "--"]
            return
        command = [toolgraft, "serve", "--listen", "127.0.0.1:0", "--base-url", url, "--model", model.name, "--quiet"]
        server = subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            variables.update(program.settings(home, server.stdout.readline().strip(), model.context))
            yield [program.command]
        finally:
            server.terminate()
            server.wait(timeout=60)
    finally:
        model.stop()


def in_fresh_home(toolgraft, name, row_name, **options):
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        home = Path(place).resolve() / "home"
        home.mkdir()
        return run_row(toolgraft, name, row_name, home, **options)


def running_in(home):
    """Commands of the processes that were started in a home."""
    found, variable = [], f"HOME={home}".encode()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if variable in (process / "environ").read_bytes().split(b"\0"):
                found.append((process / "comm").read_text(encoding="utf-8").strip())
        except OSError:
            # It is gone, or another user's.
            continue
    return found


def run_row(toolgraft, name, row_name, home, context=None, keep=None, real=None):
    program = PROGRAMS[name]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        place = Path(place).resolve()
        project = place / "project"
        project.mkdir()
        subprocess.run(["git", "init", "--quiet", "."], cwd=project, check=True)
        row = (program.rows.get(row_name) or {**ROWS, **REAL}[row_name])(program, project)
        model = real or Model(row.steps, row.sub_steps, context or row.context, has_tools=not program.rows)
        variables, late = environment(program, home, name), None
        with started(toolgraft, program, model, home, variables) as command:
            begun = time.monotonic()
            found = subprocess.run(["which", command[0]], env=variables, check=True, capture_output=True, text=True).stdout.strip()
            process = subprocess.Popen([found, *command[1:], *program.ask(row.prompt), *row.arguments], cwd=project, env=variables,
                                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                       text=True, errors="replace", start_new_session=True)
            try:
                out, err = process.communicate(timeout=REAL_PATIENCE if real else PATIENCE)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                out, err = process.communicate()
                late = f"it did not end within {REAL_PATIENCE if real else PATIENCE} seconds"
        run = Run(process.returncode, out, err, model, time.monotonic() - begun)
        wrong = late or row.check(run)
        left = [path.name for path in (home.parent / "tmp").glob("toolgraft-launch-*")] if program.launch else []
        left += running_in(home) if program.launch else []
        if left and not late:
            wrong = wrong or f"left behind: {left}"
        if keep:
            kept(Path(keep) / f"{name}-{row_name.replace(' ', '_')}", run)
        return run, wrong


def kept(place, run):
    """What was said and asked, for whoever looks for a fault."""
    place.mkdir(parents=True, exist_ok=True)
    (place / "out").write_text(run.out, encoding="utf-8")
    (place / "err").write_text(run.err, encoding="utf-8")
    lines = [json.dumps({"kind": kind, "tokens": tokens, "body": body}) for kind, tokens, body in run.model.asked]
    (place / "asked").write_text("\n".join(lines), encoding="utf-8")


def count(texts):
    """Tokens of each text in o200k."""
    script = "const {countTokens} = require('gpt-tokenizer/encoding/o200k_base'); const texts = JSON.parse(require('fs')" \
             ".readFileSync(0, 'utf8')); console.log(JSON.stringify(texts.map((text) => countTokens(text, {allowedSpecial: 'all'}))))"
    node = INSTALLED / "node/node_modules/.bin/node"
    out = subprocess.run([node, "-e", script], cwd=INSTALLED / "counter", input=json.dumps(texts), check=True,
                         capture_output=True, text=True).stdout
    return json.loads(out)


def sizes(args, name):
    """By context: tokens of the first request, and whether a file is read and told within it."""
    found = []
    for context in CONTEXTS:
        run, wrong = in_fresh_home(args.toolgraft, name, "read", context=context)
        first = next((body for _, body in run.model.of_kind("main")), None)
        tokens = count(["\n".join(map(text_of, first["messages"]))])[0] if first else None
        found.append((tokens, wrong))
        say(f"{name} at {context}: {tokens} tokens, {wrong or 'works'}")
    return found


def all_rows(args, name, home):
    """What came of each row; what has failed once has failed."""
    program, came = PROGRAMS[name], {}
    for start in range(1, STARTS + 1):
        for row in args.row or ROWS:
            if row in program.own:
                say(f"-       {name}: {row}: {program.own[row]}")
                continue
            run, wrong = run_row(args.toolgraft, name, row, home, keep=args.keep)
            came[row] = came.get(row) or wrong
            verdict = "FAILED" if wrong else "passed"
            detail = f"start {start}, {len(run.model.asked)} requests, {run.model.longest()} tokens at most, {run.seconds:.1f} s"
            say(f"{verdict}  {name}: {row}{': ' + wrong if wrong else ''} ({detail})")
    return came


def tried(args, wanted):
    """A program through all rows: its version, what came of each, and its sizes. None where it cannot be tried here."""
    name, _, wanted_version = wanted.partition("@")
    program, begun = PROGRAMS[name], time.monotonic()
    if not is_new_enough(program.python):
        say(f"-       {name}: needs Python 3.{program.python}, which is not here")
        return None
    try:
        version = "" if args.installed else install(name, program.package, program.kind, wanted_version)
    except subprocess.CalledProcessError as error:
        say(f"FAILED  {name}: it cannot be installed: {error}")
        return "", {row: "it could not be installed" for row in ROWS}, []
    say(f"{program.title} {version}: installed after {time.monotonic() - begun:.0f} s")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        home = Path(place).resolve() / "home"
        home.mkdir()
        came = all_rows(args, name, home)
    return version, came, sizes(args, name) if args.sizes else []


def with_real(args):
    """One task in each program with a real model: what the program shows of it, and how long it took."""
    url, model, context = args.real
    for name in args.programs:
        title, version = PROGRAMS[name].title, install(name, PROGRAMS[name].package, PROGRAMS[name].kind)
        run, wrong = in_fresh_home(args.toolgraft, name, "told", keep=args.keep, real=Real(url, model, int(context)))
        say(f"{'FAILED' if wrong else 'passed'}  {title} {version}: {wrong or 'told'} ({run.seconds:.0f} s)\n{run.out.strip()[-600:]}\n")


def tables(results):
    """The two tables of docs/clients.md, and what stands below them."""
    notes, lines = [], []

    def note(text):
        if text not in notes:
            notes.append(text)
        return f"({notes.index(text) + 1})"

    lines += [f"| program | interface | {' | '.join(ROWS)} |", f"|---|---|{'---|' * len(ROWS)}"]
    for name, (version, came, _) in results.items():
        program, cells = PROGRAMS[name], []
        for row in ROWS:
            if row in program.own:
                cells.append(note(f"{program.title}: {program.own[row]}."))
            elif came.get(row):
                cells.append(note(f"{program.title}: {came[row]}."))
            elif row == "16 KB" and program.alteration:
                cells.append("yes " + note(f"{program.title}: {program.alteration}; all else is byte for byte."))
            else:
                cells.append("yes")
        lines.append(f"| {program.title} {version} | {program.interface} | {' | '.join(cells)} |")
    lines += ["", *(f"({at}) {text}\n" for at, text in enumerate(notes, 1))]
    lines += ["| program | " + " | ".join(f"{context // 1024}k" for context in CONTEXTS) + " |", "|---|---|---|---|"]
    for name, (_, _, found) in results.items():
        if not found:
            continue
        cells = [f"{tokens:,}" + ("" if not wrong else ", does not fit") if tokens else "nothing was asked" for tokens, wrong in found]
        lines.append(f"| {PROGRAMS[name].title} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("toolgraft")
    parser.add_argument("programs", nargs="*")
    parser.add_argument("--row", action="append", choices=ROWS)
    parser.add_argument("--sizes", action="store_true", help="measure the first request at three contexts")
    parser.add_argument("--write", help="the page whose tables are written anew")
    parser.add_argument("--real", nargs=3, metavar=("URL", "MODEL", "CONTEXT"), help="a running endpoint and its model")
    parser.add_argument("--keep", help="a folder for what each run said and was asked")
    parser.add_argument("--installed", action="store_true", help="take what is installed")
    args = parser.parse_intermixed_args()
    args.sizes |= bool(args.write)
    if not args.installed:
        install("node", NODE)
    if args.real:
        return with_real(args)
    if args.sizes:
        install("counter", COUNTER)
    names = args.programs or list(PROGRAMS)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        tries = zip(names, pool.map(lambda name: tried(args, name), names))
        results = {name: result for name, result in tries if result}
    if args.write:
        page = Path(args.write)
        text, marks = page.read_text(encoding="utf-8"), ("<!-- what `make agents` found -->\n", "<!-- end -->")
        before, after = text.split(marks[0])[0], text.split(marks[1])[1]
        page.write_text(f"{before}{marks[0]}\n{tables(results)}\n\n{marks[1]}{after}", encoding="utf-8")
    failed = sum(bool(wrong) for _, came, _ in results.values() for wrong in came.values())
    passed = sum(not wrong for _, came, _ in results.values() for wrong in came.values())
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
