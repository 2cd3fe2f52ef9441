"""How long OIS and NIS take, beside the same networks of OIS fitted one by one, and their memory.

    python benchmarks/metrics_speed.py [--repeats 3] [--one-by-one 20] [--json]

For each size, codes with noise of K independent concepts. "One by one" is scikit-learn's
MLPClassifier with the helpers' architecture and schedule (32 hidden units, 25 epochs, batches of
128, Adam): a few of the helpers are fitted, taking turns with whole runs of OIS so that other work
on the machine meets both alike, and the median of a fit times the number of helpers is compared.
Each size is measured in a process of its own, whose peak memory is what it took above its start.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier
from threadpoolctl import threadpool_limits

from labapp.models.metrics.nis import nis
from labapp.models.metrics.ois import BATCH, EPOCHS, HIDDEN, ois

SIZES = ((5, 3_000), (20, 10_000))


def took(call: Callable[..., object], *arguments: object) -> tuple[float, float]:
    """Wall and CPU seconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    call(*arguments)
    return time.perf_counter() - wall, time.process_time() - cpu


def measure(concepts: int, rows: int, repeats: int, fits: int) -> dict[str, Any]:
    """Medians in seconds, and MB."""
    rng = np.random.default_rng(0)
    truth = (rng.random((rows, concepts)) > 0.5).astype(float)
    codes = truth + 0.3 * rng.normal(size=truth.shape)
    learnt = rows - rows // 5
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    def one_helper(index: int) -> None:
        i, j = divmod(index % concepts**2, concepts)
        helper = MLPClassifier(
            HIDDEN, batch_size=BATCH, max_iter=EPOCHS, n_iter_no_change=EPOCHS + 1, alpha=0
        )
        helper.fit(codes[:learnt, [i]], truth[:learnt, j])

    together, apart, niches, peaks = [], [], [], []
    with warnings.catch_warnings(), threadpool_limits(1, "blas"):
        warnings.simplefilter("ignore", ConvergenceWarning)
        for repeat in range(repeats):
            together.append(took(ois, codes, truth))
            peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
            some = range(repeat * fits, (repeat + 1) * fits)
            apart.extend([took(one_helper, index) for index in some])
            niches.append(took(nis, codes, truth))
    # Of a code with a concept, and of a concept with another one.
    helpers = 2 * concepts**2 - concepts
    whole, single, niche = (np.median(times, axis=0) for times in (together, apart, niches))
    return {
        "concepts": concepts,
        "rows": rows,
        "ois_s": round(float(whole[0]), 2),
        "ois_cpu_s": round(float(whole[1]), 2),
        "one_helper_s": round(float(single[0]), 3),
        "helpers": helpers,
        "one_by_one_s": round(float(single[0]) * helpers, 1),
        "ratio": round(float(single[0]) * helpers / float(whole[0]), 1),
        "ratio_cpu": round(float(single[1]) * helpers / float(whole[1]), 1),
        "nis_s": round(float(niche[0]), 2),
        "nis_cpu_s": round(float(niche[1]), 2),
        "ois_peak_mb": round((peaks[0] - before) / 1024),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3, help="runs of each metric")
    parser.add_argument("--one-by-one", type=int, default=20, help="helpers fitted after each run")
    parser.add_argument("--json", action="store_true", help="one JSON value and nothing else")
    asked = parser.parse_args()
    measured = []
    for concepts, rows in SIZES:
        with multiprocessing.get_context("spawn").Pool(1) as own:
            measured.append(own.apply(measure, (concepts, rows, asked.repeats, asked.one_by_one)))
    if asked.json:
        print(json.dumps(measured))
        return
    for row in measured:
        print(
            f"{row['concepts']} concepts, {row['rows']:,} rows: "
            f"OIS {row['ois_s']} s ({row['ois_cpu_s']} s of CPU, {row['ois_peak_mb']} MB), "
            f"its {row['helpers']} helpers one by one {row['one_by_one_s']} s "
            f"({row['ratio']} times as long; CPU {row['ratio_cpu']} times); "
            f"NIS {row['nis_s']} s ({row['nis_cpu_s']} s of CPU)"
        )


if __name__ == "__main__":
    main()
