#!/usr/bin/env python3
"""How fast `toolgraft extract` reads 100,000 records, and whether it keeps every core busy.

    benches/extract.py RECORDS PROGRAM [RUNS]

RECORDS is the program `records`, PROGRAM is `toolgraft`. Each number of jobs has
RUNS runs, 3 unless said otherwise; the fastest counts.

Threads that were running or ready to run, on average, do not depend on what else
the machine does (Linux counts them): where they are as many as the cores or more,
no core waits. Records for each second of CPU time depend on it less than the rate.
"""

import os
import subprocess
import sys
import time

COUNT = 100_000


def threads(pid, seen):
    """Notes how long each thread ran and was ready to run, in seconds."""
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/schedstat", encoding="ascii") as file:
                ran, ready, _ = file.read().split()
            seen[thread] = (int(ran) + int(ready)) / 1e9
    except OSError:
        pass  # The thread has ended.


def run(program, jobs, records):
    """Seconds that passed, seconds of CPU, threads that wanted to run, and the most memory in MiB."""
    start = time.monotonic()
    child = subprocess.Popen([program, "extract", "--jobs", str(jobs), records], stdout=subprocess.DEVNULL)
    seen, ended = {}, 0
    while not ended:
        threads(child.pid, seen)
        time.sleep(0.02)
        ended, status, usage = os.wait4(child.pid, os.WNOHANG)
    passed = time.monotonic() - start
    if status != 0:
        sys.exit(f"extract ended with status {status}")
    return passed, usage.ru_utime + usage.ru_stime, sum(seen.values()) / passed, usage.ru_maxrss / 1024


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    make, program = sys.argv[1:3]
    runs = int(sys.argv[3]) if len(sys.argv) == 4 else 3
    records = os.path.join(os.path.dirname(make), "records.jsonl")
    with open(records, "wb") as file:
        subprocess.run([make, str(COUNT)], stdout=file, check=True)
    size = os.path.getsize(records)
    cores = len(os.sched_getaffinity(0))
    print(f"{COUNT:,} records, {size / 1e6:.0f} MB, {cores} cores\n")
    print("| jobs | records/s | MB/s | records per CPU second | threads running or ready | MiB |")
    print("|---:|---:|---:|---:|---:|---:|")
    for jobs in sorted({1, cores}):
        passed, cpu, busy, memory = min(run(program, jobs, records) for _ in range(runs))
        rate = f"{COUNT / passed:,.0f} | {size / passed / 1e6:.0f} | {COUNT / cpu:,.0f}"
        print(f"| {jobs} | {rate} | {busy:.1f} | {memory:.0f} |")
    os.remove(records)


main()
