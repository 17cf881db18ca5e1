"""`examples/extract_ray.py` on a cluster of three machines on this one, of which one is lost and
one process is killed while it runs; its output against that of one process, byte for byte.

    ray_cluster.py TOOLGRAFT [RECORDS]
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
from ray.cluster_utils import Cluster

from records import FILES, made

SCRIPT = Path(__file__).resolve().parent.parent.parent / "examples" / "extract_ray.py"


def children_that_extract():
    """Workers of Ray that run a task of the program's now."""
    for process in psutil.process_iter(["name", "cmdline"]):
        command = process.info["cmdline"] or []
        if len(command) > 1 and command[1] == "extract" and "toolgraft" in command[0]:
            try:
                yield process.parent()
            except psutil.Error:
                continue


def main(program, records="200000"):
    program = str(Path(program).resolve())
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "in"), Path(folder, "out")
        each = int(records) // FILES
        expected = made(program, source, each)

        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
        lost = cluster.add_node(num_cpus=1)
        cluster.add_node(num_cpus=1)
        cluster.wait_for_nodes()
        environment = {**os.environ, "TOOLGRAFT": program, "RAY_ADDRESS": cluster.address, "RAY_DATA_DISABLE_PROGRESS_BARS": "1"}
        begun = time.monotonic()
        driver = subprocess.Popen([sys.executable, SCRIPT, source, target], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        killed = removed = 0
        while driver.poll() is None and time.monotonic() - begun < 300:
            time.sleep(0.02)
            worker = next(children_that_extract(), None)
            if worker is None:
                continue
            if not killed:
                worker.send_signal(signal.SIGKILL)
                killed = worker.pid
            elif not removed and worker.pid != killed:
                cluster.remove_node(lost, allow_graceful=False)
                removed = 1
        try:
            out, _ = driver.communicate(timeout=300)
        except subprocess.TimeoutExpired:
            driver.kill()
            out, _ = driver.communicate()
        cluster.shutdown()
        if driver.returncode != 0:
            sys.exit(f"the driver ended with {driver.returncode}:\n{out[-4000:]}")
        if not killed or not removed:
            sys.exit("nothing was killed: the run was too short, give it more records")
        parts = sorted(target.glob("*.jsonl"))
        found = b"".join(part.read_bytes() for part in parts)
        if found != expected:
            sys.exit(f"the cluster made {len(found)} bytes in {[p.name for p in parts]}, one process {len(expected)}")
        print(f"{each * FILES} records, {len(expected)} bytes in {len(parts)} files: the same as one process, with one worker killed and one machine lost")


if __name__ == "__main__":
    main(*sys.argv[1:])
