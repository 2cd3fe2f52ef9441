"""Is this tree slower than another one? Key figures of both, measured in turns on one machine.

    python -m benchmarks.ratchet --against REF [--n 7] [--only FIGURE ...]
        [--limit FIGURE=RATIO ...] [--json FILE]

REF is a commit, usually the last landing. Its files are unpacked into a temporary folder, and each
figure is taken from one tree, then the other, and so on, so that both have the same neighbours.
What counts is the ratio, this tree / REF: the median over pairs of runs that followed one another.
Above 1.10 (or the figure's own limit) the command names the figure and exits with status 1. On a
busy machine the quartiles of the ratios, printed behind it, lie far apart: then ask for more runs.

Processes are compared by CPU seconds, or by instructions where `perf` can count them; the wall time
is printed next to it. Accepted exceptions are listed in ratchet.toml, each with its reason. Each
tree runs its own scripts in benchmarks/, with the packages installed here. A figure that REF cannot
give is listed as not compared, and the status is 1. Everything takes some 15 minutes.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
EXCEPTIONS = Path(__file__).with_name("ratchet.toml")
LIMIT = 1.10
LEAST_RUNS = 7

Values = dict[str, float]
"""Figures of one run by name; the end of the name is the unit."""

HOME = """
import os, sys, time
sys.argv[1:] = [str(time.time()), sys.argv[1]]
from benchmarks import startup
exec(startup._HOME)
"""
DECODE = """
import statistics, time
try:
    from labapp.models.representations.package import load_package
except ImportError:  # before there were wings
    from labapp.representations.package import load_package
decoder = load_package("mnist8k/ss5", device="cpu", threads=1)
rows = decoder.space.encode_rows(decoder.latents[:1000]).astype("float32")
times = []
for row in rows[:, None]:
    began = time.perf_counter()
    decoder.decode(row)
    times.append(time.perf_counter() - began)
print(1000 * statistics.median(times))
"""
RECORDED = """
import sys
from pathlib import Path
from benchmarks import replay_window
session = replay_window.simulated(Path(sys.argv[1]), 10)
replay_window.recorded(session)
print(session)
"""


class NotMeasured(Exception):
    """A tree cannot give this figure; the message is the last line that the process printed."""


@dataclass(frozen=True)
class Tree:
    """A checkout to measure, and a folder for what its runs need."""

    name: str
    root: Path
    work: Path

    def run(self, *arguments: str | Path) -> tuple[str, Values]:
        """Standard output of a Python process in this tree; its cpu_s, wall_s and peak_mib."""
        environment = os.environ | {
            "PYTHONPATH": str(self.root),
            "QT_QPA_PLATFORM": "offscreen",
            "OMP_NUM_THREADS": "1",
            "LABAPP_CACHE": str(self.work / "cache"),
            "LABAPP_SETTINGS": str(self.work / "settings"),
        }
        command = [sys.executable, *map(str, arguments)]
        counted = self.work / "instructions"
        if perf_counts():
            command = ["perf", "stat", "-x,", "-e", "instructions:u", "-o", str(counted), *command]
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            began = time.perf_counter()
            process = subprocess.Popen(
                command, cwd=self.root, env=environment, stdout=out, stderr=err
            )
            _, status, used = os.wait4(process.pid, 0)
            wall = time.perf_counter() - began
            process.returncode = os.waitstatus_to_exitcode(status)
            out.seek(0)
            err.seek(0)
            printed, complaint = out.read().decode(), err.read().decode()
        if process.returncode:
            lines = complaint.strip().splitlines() or [f"exit status {process.returncode}"]
            raise NotMeasured(lines[-1])
        values = {
            "cpu_s": used.ru_utime + used.ru_stime,
            "wall_s": wall,
            "peak_mib": used.ru_maxrss / 1024,
        }
        if perf_counts():
            row = counted.read_text().strip().splitlines()[-1]
            values["instructions"] = float(row.split(",")[0])
        return printed, values


_perf: bool | None = None


def perf_counts() -> bool:
    """Whether `perf stat` can count instructions here."""
    global _perf
    if _perf is None:
        command = ["perf", "stat", "-x,", "-e", "instructions:u", "true"]
        done = (
            subprocess.run(command, capture_output=True, text=True, check=False)
            if shutil.which("perf")
            else None
        )
        _perf = done is not None and done.stderr.strip().split(",")[0].isdigit()
    return _perf


# --- what is measured ---


def help_text(tree: Tree) -> Values:
    """`labapp --help`."""
    return tree.run("-m", "labapp", "--help")[1]


def home(tree: Tree) -> Values:
    """The moderator's window, from start to painted."""
    with tempfile.TemporaryDirectory(dir=tree.work) as data:
        printed, values = tree.run("-c", HOME, data)
    return values | {"painted_ms": float(printed.split()[0])}


def slider(tree: Tree) -> Values:
    """From the hand to the picture, with the console open: 600 movements, dSprites size."""
    result = tree.work / "slider.json"
    tree.run(
        *("benchmarks/slider_path.py", "--console", "--only", "dSprites size 5", "--n", "600"),
        *("--json", result),
    )
    cases = json.loads(result.read_text())["cases"]
    case = next(case for case in cases if "console" in case["case"])
    return {"p50_ms": case["median_ms"], "p99_ms": case["p99_ms"]}


def session(tree: Tree) -> Values:
    """The peak memory of a session's program: participant's window, console, journal and sound."""
    command = ("benchmarks/slider_path.py", "--console", "--only", "dSprites size 5", "--n", "50")
    return tree.run(*command)[1]


def decode(tree: Tree) -> Values:
    """One decode of a network for handwritten digits."""
    return {"p50_ms": float(tree.run("-c", DECODE)[0])}


def seek(tree: Tree) -> Values:
    """A random time in a recorded session of ten minutes, from the seek to the painted picture."""
    kept = tree.work / "recorded"
    if not kept.exists():
        kept.write_text(tree.run("-c", RECORDED, tree.work)[0].splitlines()[-1])
    script = ("benchmarks/replay_window.py", "--seeks", "100", "--session", kept.read_text())
    printed, _ = tree.run(*script)
    return {"p50_ms": statistics.median(json.loads(printed.splitlines()[-1])["seek_ms"])}


def analysis(tree: Tree) -> Values:
    """`labapp analyze` of 64 bundles, which the tree made itself from the same seed."""
    bundles = tree.work / "many"
    if not bundles.exists():
        counts = ("--bundles", "64", "--simulated", "2", "--jobs", "2")
        tree.run("benchmarks/many_bundles.py", "--out", bundles, *counts)
    out = tree.work / "analyzed"
    shutil.rmtree(out, ignore_errors=True)
    command = ("-m", "labapp", "analyze", bundles / "bundles", "--out", out, "--workers", "1")
    return tree.run(*command)[1]


def simulation(tree: Tree) -> Values:
    """`labapp simulate` of one participant of quickstart."""
    out = tree.work / "simulated"
    shutil.rmtree(out, ignore_errors=True)
    command = ("simulate", "quickstart", "--participants", "1", "--workers", "1")
    return tree.run("-m", "labapp", *command, "--out", out)[1]


PROCESSES: dict[str, Callable[[Tree], Values]] = {
    "help": help_text,
    "home": home,
    "slider": slider,
    "decode": decode,
    "seek": seek,
    "analyze": analysis,
    "simulate": simulation,
    "session": session,
}
DECIDES = {
    "help": ("cpu_s",),
    "home": ("cpu_s", "peak_mib"),
    "slider": ("p50_ms", "p99_ms"),
    "decode": ("p50_ms",),
    "seek": ("p50_ms",),
    "analyze": ("cpu_s", "peak_mib"),
    "simulate": ("cpu_s",),
    "session": ("peak_mib",),
}
"""Which values of a figure decide. cpu_s is replaced by instructions where they can be counted."""


# --- comparing ---


@dataclass(frozen=True)
class Row:
    """One value of a figure: its medians in both trees, and quartiles of the ratios of pairs."""

    name: str
    here: float
    there: float
    quartiles: tuple[float, float, float]
    limit: float | None
    """None: printed for information."""

    @property
    def ratio(self) -> float:
        return self.quartiles[1]

    @property
    def too_high(self) -> bool:
        return self.limit is not None and self.ratio > self.limit


def compared(figure: str, here: list[Values], there: list[Values], limits: Values) -> list[Row]:
    """The rows of a figure from its runs in both trees.

    A limit may name a figure (help) or one of its values (home.peak_mib).
    """
    decides = DECIDES[figure]
    if "cpu_s" in decides and "instructions" in here[0]:
        decides = tuple("instructions" if name == "cpu_s" else name for name in decides)
    rows = []
    for name in here[0]:
        full = f"{figure}.{name}"
        limit = limits.get(full, limits.get(figure, LIMIT)) if name in decides else None
        medians = (statistics.median(run[name] for run in runs) for runs in (here, there))
        pairs = zip(here, there, strict=True)
        ratios = [mine[name] / other[name] for mine, other in pairs]
        low, middle, high = statistics.quantiles(ratios, n=4, method="inclusive")
        rows.append(Row(full, *medians, (low, middle, high), limit))
    return rows


def accepted(path: Path = EXCEPTIONS) -> Values:
    """Limits of the accepted exceptions. Raises ValueError where one has no reason."""
    limits: Values = {}
    for entry in tomllib.loads(path.read_text(encoding="utf-8")).get("exception", []):
        if not str(entry.get("reason", "")).strip():
            raise ValueError(
                f"{path.name}: the exception for {entry.get('figure')!r} has no reason"
            )
        limits[entry["figure"]] = float(entry["limit"])
    return limits


@contextmanager
def unpacked(ref: str) -> Iterator[Path]:
    """The files of commit `ref` in a temporary folder.

    They are piped through: the peak memory of a child begins with that of its parent.
    """
    command = ["git", "rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}"]
    asked = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False)
    if asked.returncode:
        raise SystemExit(f"{ref!r} is no commit of this repository. Nothing was measured.")
    commit = asked.stdout.strip()
    with tempfile.TemporaryDirectory(prefix="labapp-ratchet-") as folder:
        command = ["git", "archive", "--format=tar", commit]
        with subprocess.Popen(command, cwd=HERE, stdout=subprocess.PIPE) as git:
            assert git.stdout is not None
            with tarfile.open(fileobj=git.stdout, mode="r|") as files:
                files.extractall(folder, filter="data")
        yield Path(folder)


def in_turns(
    measure: Callable[[Tree], Values], first: Tree, second: Tree, n: int
) -> tuple[list[Values], list[Values]]:
    """`n` runs in each tree, one after the other; a run of each before them is not counted."""
    runs: dict[str, list[Values]] = {first.name: [], second.name: []}
    for turn in range(n + 1):
        for tree in (first, second) if turn % 2 else (second, first):
            try:
                values = measure(tree)
            except NotMeasured as error:
                raise NotMeasured(f"{tree.name}: {error}") from error
            if turn:
                runs[tree.name].append(values)
    return runs[first.name], runs[second.name]


def main() -> int:
    """Measure, print, and say whether a figure is above its limit."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--against", required=True, metavar="REF")
    parser.add_argument("--n", type=int, default=LEAST_RUNS, help="runs in each tree, at least 7")
    parser.add_argument("--only", nargs="+", choices=PROCESSES, default=list(PROCESSES))
    parser.add_argument("--limit", nargs="+", default=[], metavar="FIGURE=RATIO")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if options.n < LEAST_RUNS:
        parser.error(f"--n must be {LEAST_RUNS} or more: fewer runs cannot be told from noise")
    limits = accepted() | {
        name: float(ratio) for name, ratio in (text.split("=", 1) for text in options.limit)
    }
    rows: list[Row] = []
    missing: dict[str, str] = {}
    with unpacked(options.against) as root, tempfile.TemporaryDirectory() as work:
        names = f"{'figure':24}{'this tree':>16}{options.against[:14]:>16}"
        print(f"{names}{'ratio':>8}  {'quartiles':13}limit")
        trees = []
        for name, place in (("this tree", HERE), (options.against, root)):
            folder = Path(work) / str(len(trees))
            folder.mkdir()
            trees.append(Tree(name, place, folder))
        for figure in options.only:
            try:
                runs = in_turns(PROCESSES[figure], *trees, options.n)
            except NotMeasured as error:
                missing[figure] = str(error)
                print(f"{figure:24}not compared: {error}", flush=True)
                continue
            for row in compared(figure, *runs, limits):
                rows.append(row)
                low, _, high = row.quartiles
                limit = "" if row.limit is None else f"{row.limit:.2f}"
                mark = "  TOO HIGH" if row.too_high else ""
                figures = f"{row.here:16.5g}{row.there:16.5g}{row.ratio:8.3f}"
                print(f"{row.name:24}{figures}  {low:.3f} {high:.3f}  {limit}{mark}", flush=True)
    if options.json:
        compared_rows = [
            {"figure": row.name, "here": row.here, "there": row.there, "ratio": row.ratio}
            for row in rows
        ]
        options.json.write_text(json.dumps({"figures": compared_rows, "not_compared": missing}))
    if high := [row.name for row in rows if row.too_high]:
        print(f"Slower or larger than {options.against}: {', '.join(high)}.")
    if missing:
        print(f"Not compared: {', '.join(missing)}.")
    return 1 if high or missing else 0


if __name__ == "__main__":
    sys.exit(main())
