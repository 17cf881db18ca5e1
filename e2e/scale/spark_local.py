"""`examples/extract_spark.py` on a Spark of this machine with two workers, its output against
that of one process, byte for byte; and with a program that is killed, which must fail the job.

    spark_local.py TOOLGRAFT [RECORDS]

Needs a Java, 17 or later.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from records import FILES, made

SCRIPT = Path(__file__).resolve().parent.parent.parent / "examples" / "extract_spark.py"


def run(program, source, target):
    environment = {**os.environ, "TOOLGRAFT": program, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    environment["PYSPARK_SUBMIT_ARGS"] = "--master local[2] --conf spark.ui.enabled=false pyspark-shell"
    return subprocess.run([sys.executable, SCRIPT, source, target], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600)


def main(program, records="48000"):
    program = str(Path(program).resolve())
    each = int(records) // FILES
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "in"), Path(folder, "out")
        expected = made(program, source, each)
        done = run(program, f"{source}/*", target)
        if done.returncode != 0:
            sys.exit(f"the job ended with {done.returncode}:\n{done.stdout[-4000:]}")
        parts = sorted(target.glob("part-*"))
        found = b"".join(part.read_bytes() for part in parts)
        if len(parts) < 2 or found != expected:
            sys.exit(f"Spark made {len(found)} bytes in {len(parts)} files, one process {len(expected)}")

        killed = Path(folder, "killed")
        killed.write_text("#!/bin/sh\nhead -c 100\nkill -9 $$\n")
        killed.chmod(0o755)
        if run(str(killed), f"{source}/*", Path(folder, "lost")).returncode == 0:
            sys.exit("a program that was killed did not fail the job")
        print(f"{each * FILES} records, {len(expected)} bytes in {len(parts)} files: the same as one process")


if __name__ == "__main__":
    main(*sys.argv[1:])
