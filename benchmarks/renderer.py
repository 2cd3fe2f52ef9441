"""How many pictures of dSprites are drawn a second, in random batches as training asks for them.

    python benchmarks/renderer.py [--repeats 200] [--json]

One thread; the median of the repeats, from row numbers to pictures. Run it alone on the machine.
"""

from __future__ import annotations

import argparse
import json
import time

import numpy as np

from labapp.models.datasets import dsprites

BATCHES = (64, 1024)


def measure(batch: int, repeats: int) -> dict[str, float]:
    """Pictures a second, and the milliseconds that a batch takes."""
    rows = dsprites.RenderedSprites(np.arange(dsprites.COUNT))
    rng = np.random.default_rng(0)
    times = []
    for _ in range(repeats + 3):
        asked = rng.integers(0, len(rows), batch)
        began = time.perf_counter()
        rows.instances(asked)
        times.append(time.perf_counter() - began)
    took = np.array(times[3:])
    return {
        "batch": batch,
        "pictures_per_s": round(batch / float(np.median(took))),
        "median_ms": round(float(np.median(took)) * 1e3, 3),
        "p95_ms": round(float(np.percentile(took, 95)) * 1e3, 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeats", type=int, default=200, help="batches of each size")
    parser.add_argument("--json", action="store_true", help="one JSON value and nothing else")
    asked = parser.parse_args()
    rows = [measure(batch, asked.repeats) for batch in BATCHES]
    if asked.json:
        print(json.dumps(rows))
        return
    for row in rows:
        print(
            f"batch {row['batch']:>5}: {row['pictures_per_s']:>9,} pictures a second, "
            f"median {row['median_ms']} ms, p95 {row['p95_ms']} ms"
        )


if __name__ == "__main__":
    main()
