#!/usr/bin/env python3
"""`toolgraft extract` over more records than one machine holds, by Ray Data.

    extract_ray.py INPUT OUTPUT [OPTION OF EXTRACT…]

INPUT is a file, a folder or a URL with one record a line, as docs/extract.md has them; OUTPUT is
a folder that every machine sees. It gets files whose names sort as the records did. The program
`toolgraft` must be on every machine, on the PATH or at TOOLGRAFT. Needs `pip install "ray[data]"`.

A batch whose machine is lost is read again elsewhere, and a file appears whole or not at all. A
line that is no record becomes one with an `error`, whose line number is that within its batch.
"""

import os
import subprocess
import sys

import ray
from ray.data import DataContext, Datasink

PROGRAM = os.environ.get("TOOLGRAFT", "toolgraft")

# Lines of a batch: enough that starting the program costs nothing beside it.
LINES = 5_000


def extract(batch, options):
    """The lines that `extract` makes of these; one job for each processor that Ray gives."""
    lines = "".join(f"{line}\n" for line in batch["text"]).encode()
    done = subprocess.run([PROGRAM, "extract", "--jobs", "1", *options], input=lines, stdout=subprocess.PIPE)
    # 1 says that a line was no record.
    if done.returncode not in (0, 1):
        raise RuntimeError(f"{PROGRAM} ended with {done.returncode}")
    return {"text": done.stdout.decode().split("\n")[:-1]}


class Lines(Datasink):
    """Files of lines, one for each task."""

    def __init__(self, folder):
        self.folder = folder

    def write(self, blocks, ctx):
        name = f"part-{ctx.task_idx:06}.jsonl"
        # A task that is run again beside this one has a file of its own until it is done; one
        # that was killed leaves it behind, hidden.
        begun = os.path.join(self.folder, f".{name}.{os.uname().nodename}.{os.getpid()}")
        with open(begun, "w", encoding="utf-8") as file:
            for block in blocks:
                file.writelines(f"{line}\n" for line in block.column("text").to_pylist())
        os.replace(begun, os.path.join(self.folder, name))


def main(source, folder, *options):
    os.makedirs(folder, exist_ok=True)
    context = DataContext.get_current()
    context.execution_options.preserve_order = True
    # Empty lines are lines, too.
    lines = ray.data.read_text(source, drop_empty_lines=False)
    lines = lines.map_batches(extract, batch_size=LINES, fn_kwargs={"options": options}, num_cpus=1)
    lines.write_datasink(Lines(os.path.abspath(folder)))


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
