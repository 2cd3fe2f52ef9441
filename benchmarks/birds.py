"""How many birds are painted a second at each size, and how many are measured for visibility.

    python benchmarks/birds.py [--repeats 15] [--json]

One thread; the median of the repeats, from row numbers to pictures. Run it alone on the machine.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable

import numpy as np

from labapp.models.datasets.birds import birds
from labapp.models.datasets.split import Int64

SIZES = (96, 384, 512)
BATCH = 40


def rate(make: Callable[[Int64], object], repeats: int) -> int:
    """Rows a second."""
    times = []
    for turn in range(repeats + 1):
        rows = np.arange(turn * BATCH, (turn + 1) * BATCH)
        began = time.perf_counter()
        make(rows)
        times.append(time.perf_counter() - began)
    return round(BATCH / float(np.median(times[1:])))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeats", type=int, default=15, help="batches of each kind, to 40")
    parser.add_argument("--json", action="store_true", help="one JSON value and nothing else")
    asked = parser.parse_args()
    rates = {
        f"pictures of {size} px": rate(birds(seed=0, size=size).test.instances, asked.repeats)
        for size in SIZES
    }
    rates["factors"] = rate(birds(seed=0).test.factors, asked.repeats)
    if asked.json:
        print(json.dumps(rates))
        return
    for name, per_s in rates.items():
        print(f"{name}: {per_s:,} a second")


if __name__ == "__main__":
    main()
