"""How long the numbers of the unmasking study take: reading its sessions, and all that is computed.

    python benchmarks/unmasking_analysis.py [--participants 62] [--json]

Sessions are simulated first, as `labapp simulate unmasking-faces` does. Seconds; run it alone on
the machine.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))


def timed(what: Callable[[], Any]) -> tuple[float, Any]:
    began = time.perf_counter()
    result = what()
    return time.perf_counter() - began, result


def measured(participants: int, folder: Path) -> dict[str, float]:
    """Seconds by what was done."""
    from labapp.analysis import load
    from labapp.tasks.unmasking.report.contents import findings, groups_of
    from labapp.tasks.unmasking.report.curves import AnnotationCells

    command = [sys.executable, "-m", "labapp", "simulate", "unmasking-faces"]
    options = ["--participants", str(participants), "--strategy", "understanding"]
    simulated, _ = timed(
        lambda: subprocess.run(
            [*command, *options, "--out", str(folder)], check=True, capture_output=True
        )
    )
    read, tables = timed(lambda: load(folder))
    counted = tables.included()
    arrays, _ = timed(lambda: [AnnotationCells.of(group) for group in groups_of(counted)])
    computed, _ = timed(lambda: findings(counted))
    return {"simulate": simulated, "read": read, "arrays": arrays, "compute": computed}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--participants", type=int, default=62)
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        seconds = measured(given.participants, Path(folder) / "sessions")
    if given.json:
        print(json.dumps(seconds))
        return
    for name, value in seconds.items():
        print(f"{name:10} {value:6.2f} s")


if __name__ == "__main__":
    main()
