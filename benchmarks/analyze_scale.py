"""How long `labapp analyze` takes over many bundles, and how much memory.

    python benchmarks/many_bundles.py --out FOLDER
    python benchmarks/analyze_scale.py FOLDER/bundles [--sizes 100,1000] [--ways serial,2,dask]

Every run is the command itself in a process of its own: wall time, processor time and the largest
memory (proportional set size, so that pages shared by processes count once) of its whole tree of
processes; of a run on Dask the local cluster of two workers counts too. What it analysed is counted
in the tables it wrote, and the time is given for 1,000 snapshots, too. Tables of all runs of one
size must be the same to the byte. Run it alone on the machine.
"""

from __future__ import annotations

import argparse
import filecmp
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow.parquet as pq

PROC = Path("/proc")
TICK = os.sysconf("SC_CLK_TCK")
DASK = 2
"""Workers of the local cluster."""
EVERY_S = 1.0
"""Between two looks at the memory: each goes through all pages, and holds the processes up."""


def tree(root: int) -> list[int]:
    """A process and all below it."""
    below: dict[int, list[int]] = {}
    for entry in PROC.iterdir():
        if entry.name.isdigit():
            try:
                after = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            below.setdefault(int(after[1]), []).append(int(entry.name))
    pids = [root]
    for pid in pids:
        pids += below.get(pid, [])
    return pids


def memory(pids: Sequence[int]) -> int:
    """Proportional set size of processes, in bytes."""
    total = 0
    for pid in pids:
        try:
            lines = (PROC / str(pid) / "smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        total += sum(1024 * int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total


def cpu(pids: Sequence[int]) -> float:
    """Processor seconds of processes and of their children that ended."""
    total = 0
    for pid in pids:
        try:
            after = (PROC / str(pid) / "stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        total += sum(map(int, after[11:15]))
    return total / TICK


class Watch:
    """The largest memory of some trees of processes, looked at every so often."""

    def __init__(self, roots: Sequence[int]) -> None:
        self.peak = 0
        self._roots = roots
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def _look(self) -> None:
        while not self._done.wait(EVERY_S):
            self.peak = max(self.peak, memory([p for root in self._roots for p in tree(root)]))

    def stop(self) -> None:
        self._done.set()
        self._thread.join()


@contextmanager
def local_cluster(folder: Path) -> Iterator[tuple[str, list[int]]]:
    """Address and processes of a Dask scheduler and its workers."""
    address = folder / "scheduler.json"
    dask = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    options = ["--port", "0", "--no-dashboard", "--scheduler-file", str(address)]
    started = [subprocess.Popen([*dask, *options], **quiet)]
    try:
        while not address.exists():
            time.sleep(0.1)
        worker = [sys.executable, "-m", "distributed.cli.dask_worker"]
        each = ["--nworkers", str(DASK), "--nthreads", "1", "--no-dashboard"]
        where = ["--scheduler-file", str(address), "--local-directory", str(folder)]
        started.append(subprocess.Popen([*worker, *each, *where], **quiet))
        time.sleep(5)
        yield json.loads(address.read_text())["address"], [process.pid for process in started]
    finally:
        for process in reversed(started):
            process.terminate()
            process.wait()


def run(bundles: Sequence[Path], way: str, out: Path) -> dict[str, float]:
    """One analysis; way: serial, a number of processes, or dask."""
    with tempfile.TemporaryDirectory() as folder:
        there = Path(folder) / "bundles"
        there.mkdir()
        for bundle in bundles:
            (there / bundle.name).symlink_to(bundle.resolve(), target_is_directory=True)
        command = [sys.executable, "-m", "labapp", "analyze", str(there), "--out", str(out)]
        if way != "dask":
            return measured([*command, "--workers", "1" if way == "serial" else way], [])
        with local_cluster(Path(folder)) as (address, pids):
            return measured([*command, "--dask", address], pids)


def measured(command: Sequence[str], beside: Sequence[int]) -> dict[str, float]:
    others = [pid for root in beside for pid in tree(root)]
    before, began = cpu(others), time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    watch = Watch([process.pid, *beside])
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - began
    watch.stop()
    if status:
        raise SystemExit(f"{' '.join(command)} failed")
    others_s = cpu([pid for root in beside for pid in tree(root)]) - before
    return {
        "wall_s": round(wall, 1),
        "cpu_s": round(used.ru_utime + used.ru_stime + others_s, 1),
        "peak_mb": round(watch.peak / 1e6),
    }


def same(first: Path, other: Path) -> list[str]:
    """The tables that differ."""
    names = [path.name for path in first.iterdir() if path.suffix in (".csv", ".parquet")]
    _, differ, missing = filecmp.cmpfiles(first, other, names, shallow=False)
    return differ + missing


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("bundles", type=Path)
    parser.add_argument("--sizes", default="100,1000")
    parser.add_argument("--ways", default="serial,2,dask")
    parser.add_argument("--keep", type=Path, help="folder for the analyses")
    given = parser.parse_args()
    bundles = sorted(given.bundles.iterdir())
    with tempfile.TemporaryDirectory() as temporary:
        keep = given.keep or Path(temporary)
        for size in map(int, given.sizes.split(",")):
            first: Path | None = None
            for way in given.ways.split(","):
                out = keep / f"{size}-{way}"
                measures = run(bundles[:size], way, out)
                count = pq.read_metadata(out / "snapshots.parquet").num_rows
                per = {"ms_per_1000": round(1e6 * float(measures["wall_s"]) / count, 1)}
                row = {"bundles": size, "snapshots": count, "way": way, **measures, **per}
                first = first or out
                differ = same(first, out)
                print(json.dumps({**row, "differ": differ}), flush=True)
                if differ:
                    raise SystemExit("The tables are not the same.")


if __name__ == "__main__":
    main()
