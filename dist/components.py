#!/usr/bin/env python3
"""What a program or a module of Rust is built of: a list in CycloneDX, and all licences.

    components.py MANIFEST PACKAGE TARGET FOLDER

Asks cargo which crates are compiled into the package for the target, build scripts' own and
macros apart, and writes PACKAGE.cdx.json and PACKAGE.licences.txt into the folder. A crate without
a licence, or without its text where its package brings none, is named in the latter.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

manifest, package, target, folder = sys.argv[1:]


def cargo(*arguments: str) -> str:
    command = ["cargo", arguments[0], "--manifest-path", manifest, "--locked", *arguments[1:]]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


# `name v1.2.3 (path)`, each once; the first is the package itself.
tree = cargo("tree", "-p", package, "--target", target, "-e", "normal,no-proc-macro", "--prefix", "none", "-f", "{p}")
used = {tuple(line.split()[:2]) for line in tree.splitlines() if line}
known = {}
for one in json.loads(cargo("metadata", "--format-version=1", "--filter-platform", target))["packages"]:
    known[one["name"], f"v{one['version']}"] = one
crates = sorted((known[crate] for crate in used), key=lambda crate: (crate["name"], crate["version"]))
(own,) = (crate for crate in crates if crate["name"] == package)


def reference(crate: dict) -> str:
    return f"pkg:cargo/{crate['name']}@{crate['version']}"


def checksums() -> dict[tuple[str, str], str]:
    """What Cargo.lock says of the crates' archives."""
    lock = Path(own["manifest_path"]).parent / "Cargo.lock"
    while not lock.exists():
        lock = lock.parent.parent / "Cargo.lock"
    entry = r'name = "([^"]+)"\nversion = "([^"]+)"\nsource = "[^"]+"\nchecksum = "([^"]+)"'
    return {(name, version): value for name, version, value in re.findall(entry, lock.read_text())}


SUMS = checksums()


def component(crate: dict, kind: str = "library") -> dict:
    made = {
        "type": kind,
        "bom-ref": reference(crate),
        "name": crate["name"],
        "version": crate["version"],
        "purl": reference(crate),
        # Older crates write `/` for `OR`.
        "licenses": [{"expression": crate["license"].replace("/", " OR ")}],
    }
    if crate.get("description"):
        made["description"] = " ".join(crate["description"].split())
    if checksum := SUMS.get((crate["name"], crate["version"])):
        made["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    if crate.get("repository"):
        made["externalReferences"] = [{"type": "vcs", "url": crate["repository"]}]
    return made


others = [crate for crate in crates if crate is not own]
bill = {
    "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json",
    "bomFormat": "CycloneDX",
    "specVersion": "1.5",
    "version": 1,
    "metadata": {
        "component": component(own, "application"),
        "properties": [{"name": "cdx:rustc:target", "value": target}],
    },
    "components": [component(crate) for crate in others],
}
Path(folder, f"{package}.cdx.json").write_text(json.dumps(bill, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

# One text for all crates that have the same one.
NAMES = re.compile(r"(?i)^(licen[cs]es?|copying|notice|unlicense|copyright)([-_.].*)?$")
texts: dict[str, list[str]] = {}
bare = []
for crate in others:
    root = Path(crate["manifest_path"]).parent
    name = f"{crate['name']} {crate['version']} ({crate['license']})"
    files = sorted(path for path in root.iterdir() if NAMES.match(path.name) and path.is_file())
    if not files:
        bare.append(f"{name} {crate.get('repository') or ''}".rstrip())
    for path in files:
        text = path.read_text(encoding="utf-8", errors="replace").strip()
        texts.setdefault(text, []).append(name)
parts = [
    f"{package} {own['version']} for {target} is under {own['license']}. What follows are the licences of the "
    f"{len(others)} crates that are compiled into it."
]
if bare:
    parts.append("These bring no text of theirs:\n" + "\n".join(bare))
parts += ["\n".join(sorted(set(names))) + "\n\n" + text for text, names in texts.items()]
Path(folder, f"{package}.licences.txt").write_text(f"\n\n{'=' * 80}\n\n".join(parts) + "\n", encoding="utf-8")
print(f"{package}: {len(others)} crates, {len(bare)} of them without a text of their licence")
