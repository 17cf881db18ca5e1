#!/usr/bin/env python3
"""`toolgraft extract` over more records than one machine holds, by Ray Data.

    extract_ray.py INPUT OUTPUT [OPTION OF EXTRACT…]

INPUT is a folder or a URL of files with one record a line, as docs/extract.md has them; OUTPUT is
a folder that every machine sees, and gets a file of the same name for each. The program
`toolgraft` must be on every machine, on the PATH or at TOOLGRAFT. Needs `pip install "ray[data]"`.

Files are what is spread over the machines, so many are better than few; each must fit into
memory. One whose machine is lost is read again elsewhere; one of OUTPUT is whole or not there.
"""

import os
import subprocess
import sys

import ray

PROGRAM = os.environ.get("TOOLGRAFT", "toolgraft")


def extract(file, folder, options):
    """One file through `extract`; one job for each processor that Ray gives."""
    # Bytes from end to end: Ray's reader of text breaks lines at U+2028 too, which JSON may hold.
    done = subprocess.run([PROGRAM, "extract", "--threads", "1", *options], input=file["bytes"], stdout=subprocess.PIPE)
    # 1 says that a line was no record; it became one with an `error`.
    if done.returncode not in (0, 1):
        raise RuntimeError(f"{PROGRAM} ended with {done.returncode}")
    name = os.path.basename(file["path"])
    # A task that is run again beside this one has a file of its own until it is done; one that
    # was killed leaves it behind, hidden.
    begun = os.path.join(folder, f".{name}.{os.uname().nodename}.{os.getpid()}")
    with open(begun, "wb") as out:
        out.write(done.stdout)
    os.replace(begun, os.path.join(folder, name))
    return {"file": name, "records": done.stdout.count(b"\n")}


def main(source, folder, *options):
    os.makedirs(folder, exist_ok=True)
    files = ray.data.read_binary_files(source, include_paths=True)
    done = files.map(extract, fn_kwargs={"folder": os.path.abspath(folder), "options": options}, num_cpus=1)
    print(f"{done.sum('records')} records")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
