"""Every metric of every shipped model whose data have true factors, kept in models/metrics.json.

    python scripts/models_metrics.py [MODEL ...] [--jobs N]

Takes minutes a model. Models that are named are computed again, the others kept as they are. The
table of models/README.md is made of it (`models_table.py`); tests hold both to the code.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

from joblib import Parallel, delayed

from labapp import resources
from labapp.metrics.registry import METRICS
from labapp.representations.scored import encoded
from labapp.scoring.scores import compute_all

MODELS = (
    "dsprites/ae", "dsprites/vae", "dsprites/gt", "sinelines/ae", "sinelines/vae", "sinelines/gt",
)  # fmt: skip
FILE = resources.models() / "metrics.json"


def row(model: str, name: str) -> dict[str, Any]:
    """One metric's score and settings, as `labapp models evaluate` computes them."""
    rows = encoded(model)
    assert rows is not None
    settings = {"ois": {"align": True}}
    (found,) = compute_all(rows.codes, rows.factors, cut=True, settings=settings, names=[name])
    assert found.score is not None, found.reason
    # Versions of libraries would only say where this was computed.
    told = {
        key: value
        for key, value in found.score.settings.items()
        if key not in ("scikit_learn", "torch")
    }
    return {"score": round(found.score.score, 6), "settings": told}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", nargs="*", help="all of them by default")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    asked = parser.parse_args()
    kept = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    pairs = [(model, name) for model in asked.model or MODELS for name in METRICS]
    # The slowest first, so that processes end together.
    pairs.sort(key=lambda pair: pair[1] != "r4")
    found = Parallel(n_jobs=asked.jobs, batch_size=1, verbose=5)(
        delayed(row)(*pair) for pair in pairs
    )
    for (model, name), one in zip(pairs, found, strict=True):
        kept.setdefault(model, {})[name] = one
    ordered = {
        model: {name: kept[model][name] for name in METRICS} for model in MODELS if model in kept
    }
    FILE.write_text(json.dumps(ordered, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
