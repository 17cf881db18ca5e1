#!/usr/bin/env python3
"""Counts of the product: its lines, flags, options, words, crates and bytes.

    counts.py [PROGRAM]          a table: what is counted, now, the limit, the goal
    counts.py --hold [PROGRAM]   and fails where more is counted than the limit allows
    counts.py --lower            lowers the limits to what is counted now
    counts.py --modules          product lines by module

PROGRAM is the built `toolgraft`; without it target/debug/toolgraft is asked. What cannot be counted here (no program,
no optimised one) is left out. Limits and goals are in limits.json beside this file; so are the limits of what must not
be lost, which tests hold: `kept`. Python 3.10, its standard library alone.
"""
import argparse
import collections
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIMITS = Path(__file__).with_name("limits.json")
NOUN_PHRASE = re.compile(r"^\s*//[/!] (What|Whether|How|Where)\b")
FLAG = re.compile(r"^\s+(pub(\([a-z: ]+\))? )?[a-z_]+: bool,")
OPTION = re.compile(r"^(?:  -\w, |      )--([a-z][a-z0-9-]*)")
PRODUCT = re.compile(r"^(src|(?:cli|crates/[^/]+|bindings/[^/]+)/(?:src|build\.rs))(?:/|$)")


def tracked(*patterns):
    """The tracked files that match, with their text."""
    listed = subprocess.run(["git", "ls-files", "-z", "--", *patterns], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in filter(None, listed.stdout.split("\0")):
        path = ROOT / name
        if path.is_file():
            yield name, path.read_text(encoding="utf-8", errors="replace")


def code_lines(text):
    """Counts the lines that are neither blank nor a comment nor of an item under `#[cfg(test)]`."""
    count, skipping, depth, opened = 0, False, 0, False
    for line in map(str.strip, text.splitlines()):
        if not skipping and line.startswith("#[cfg(test)]"):
            skipping, depth, opened = True, 0, False
            line = line.removeprefix("#[cfg(test)]").strip()
            if not line:
                continue
        if skipping:
            # The item ends with its last brace, or with `;` if it has none.
            depth += line.count("{") - line.count("}")
            opened = opened or "{" in line
            skipping = not (depth <= 0 if opened else line.endswith(";"))
        elif line and not line.startswith("//"):
            count += 1
    return count


def product_lines():
    """Lines of the product by part and module."""
    lines = collections.Counter()
    for name, text in tracked("*.rs"):
        if not PRODUCT.match(name) or "/tests/" in name or name.endswith("tests.rs") or "testkit" in name:
            continue
        part, _, rest = name.rpartition("src/") if name.startswith("src/") else name.partition("/src/")
        module = rest.split("/")[0].removesuffix(".rs") or "build"
        lines[part or "library", module] += code_lines(text)
    return lines


def matching(pattern, *files):
    return sum(bool(pattern.match(line)) for _, text in tracked(*files) for line in text.splitlines())


def words(*files):
    return sum(len(text.split()) for _, text in tracked(*files))


def commands(program, path=()):
    """Every command with its options, as `--help-all` lists them."""
    asked = subprocess.run([program, *path, "--help-all"], capture_output=True, text=True, check=True, env={"LC_ALL": "C"})
    options = {found[1] for found in map(OPTION.match, asked.stdout.splitlines()) if found} - {"help", "help-all", "version"}
    yield path, options
    listed = re.search(r"^Commands:\n((?: +\S.*\n|\n)*)", asked.stdout, re.M)
    for line in listed[1].splitlines() if listed else ():
        name = re.match(r" {2}(\S+)", line)
        if name and name[1] != "help":
            yield from commands(program, (*path, name[1]))


def tree(*arguments):
    """The crates of the command's tree as name and version, its own packages apart."""
    asked = ["cargo", "tree", "--locked", "--prefix", "none", "--no-dedupe", "-p", "toolgraft-cli", *arguments]
    lines = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    crates = {" ".join(line.split()[:2]) for line in lines if line.strip()}
    return {crate for crate in crates if not crate.startswith("toolgraft")}


def with_c():
    """The crates whose build script compiles C."""
    asked = ["cargo", "metadata", "--locked", "--format-version=1"]
    packages = json.loads(subprocess.run(asked, cwd=ROOT, capture_output=True, check=True).stdout)["packages"]
    compiles = {p["name"] for p in packages if any(d["name"] == "cc" and d["kind"] == "build" for d in p["dependencies"])}
    return sorted(compiles & {crate.split()[0] for crate in tree("-e", "normal,build")})


def counted(program):
    lines = product_lines()
    of = lambda part, *modules: sum(n for (p, m), n in lines.items() if p == part and (not modules or m in modules))
    rust = [text for _, text in tracked("*.rs")]
    found = {
        "product lines": sum(lines.values()),
        "lines of the library": of("library"),
        "lines of parse, json, dialect, event": of("library", "parse", "json", "dialect", "event"),
        "lines of the command": of("cli"),
        "lines of serve": of("crates/toolgraft-protocol") + of("crates/toolgraft-serve"),
        "lines of mcp": of("crates/toolgraft-mcp"),
        "lines of the bindings": sum(n for (part, _), n in lines.items() if part.startswith("bindings/")),
        "bool fields in parse and json": matching(FLAG, "src/parse/*.rs", "src/json/*.rs"),
        "words of the docs": words("docs/*.md", ":!docs/appendix"),
        "words of the appendix": words("docs/appendix/*.md"),
        "\"behind\" in Rust files": sum(len(re.findall(r"\bbehind\b", text, re.I)) for text in rust),
        "comments that begin with What, Whether, How, Where": matching(NOUN_PHRASE, "*.rs"),
        "crates of the command": len(tree("-e", "normal")),
        "crates that compile C": with_c(),
    }
    limits = (ROOT / "benches/limits.toml").read_text(encoding="utf-8")
    for case in ("mix", "prose", "angles"):
        found[f"instructions a byte, {case} (its limit)"] = float(re.search(rf'^"{case}/16" = ([\d.]+)', limits, re.M)[1])
    if program.is_file():
        all_commands = dict(commands(str(program)))
        found["options over all commands"] = sum(map(len, all_commands.values()))
        found["names of options"] = len(set().union(*all_commands.values()))
        found["commands"] = sum(len(path) == 1 for path in all_commands)
    for profile in ("release", "dist"):
        built = ROOT / "target" / profile / "toolgraft"
        if built.is_file():
            found[f"megabytes of the program ({profile})"] = round(built.stat().st_size / 1e6, 1)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", nargs="?", type=Path, default=ROOT / "target/debug/toolgraft")
    for option in ("--hold", "--lower", "--modules"):
        parser.add_argument(option, action="store_true")
    given = parser.parse_args()
    if given.modules:
        for (part, module), n in product_lines().most_common():
            print(f"{n:7,} {part} {module}")
        return
    stated = json.loads(LIMITS.read_text(encoding="utf-8"))
    found = counted(given.program)
    more = []
    print(f"{'':52} {'now':>10} {'limit':>10} {'goal':>10}")
    for name, now in found.items():
        goal, limit = stated["goals"].get(name), stated["limits"].get(name)
        shown = [str(value) if isinstance(value, list) else "" if value is None else f"{value:,}" for value in (now, limit, goal)]
        print(f"{name:52} " + " ".join(f"{value:>10}" for value in shown))
        is_more = not set(now) <= set(limit) if isinstance(limit, list) else limit is not None and now > limit
        if is_more:
            more.append(f"{name}: {now}, where {limit} is the limit")
        elif limit is not None:
            stated["limits"][name] = now
    if given.lower:
        LIMITS.write_text(json.dumps(stated, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    if given.hold and more:
        sys.exit("more than the limits of tests/counts/limits.json:\n" + "\n".join(more))


if __name__ == "__main__":
    main()
