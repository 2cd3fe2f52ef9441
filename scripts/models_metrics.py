"""Every metric of every shipped model whose data have true factors, kept in models/metrics.json.

    python scripts/models_metrics.py [--model MODEL ...] [--metric NAME ...] [--jobs N]

Takes minutes a model, most of them for R4. What is there already is not computed again unless it is
named, or the model is another now: its hashes are kept beside its scores. The table of
models/README.md is made of it (`models_table.py`); tests hold both to the code.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

from joblib import Parallel, delayed

from labapp.base import resources
from labapp.models.metrics.evaluation.scores import (
    LEARNT_WITHOUT_CONCEPTS,
    compute_all,
    without_labels,
)
from labapp.models.representations import card as cards
from labapp.models.representations import package
from labapp.models.representations.measuring import load_labelled_encodings

MODELS = (
    "dsprites/ae", "dsprites/vae", "dsprites/gt", "sinelines/ae", "sinelines/vae", "sinelines/gt",
)  # fmt: skip
NAMES = without_labels()
"""The metrics: the models' data have no task."""
FILE = resources.models() / "metrics.json"


def row(model: str, name: str) -> dict[str, Any]:
    """One metric's score and settings, as `labapp models evaluate` computes them."""
    rows = load_labelled_encodings(model)
    assert rows is not None
    (result,) = compute_all(
        rows.codes, rows.factors, cut=True, settings=LEARNT_WITHOUT_CONCEPTS, names=[name]
    )
    assert result.score is not None, result.reason
    # Versions of libraries would only say where this was computed.
    settings = {
        key: value
        for key, value in result.score.settings.items()
        if key not in ("scikit_learn", "torch")
    }
    return {"score": round(result.score.score, 6), "settings": settings}


def hashes(model: str) -> dict[str, str | None]:
    """Of the decoder and of the kept encodings, as on the card; None where it has no such file."""
    card = cards.read(package.find(model, resources.models()))
    return {"weights_sha256": card.weights_sha256, "latents_sha256": card.latents_sha256}


def kept() -> dict[str, dict[str, Any]]:
    """By model and metric; nothing of a model that is another now."""
    if not FILE.exists():
        return {}
    stored = json.loads(FILE.read_text(encoding="utf-8"))
    return {
        model: entry["scores"]
        for model, entry in stored.items()
        if hashes(model).items() <= entry.items()
    }


def keep(scores: dict[str, dict[str, Any]]) -> None:
    """In the order of models and metrics, whatever was computed first."""
    ordered = {
        model: {
            **hashes(model),
            "scores": {name: scores[model][name] for name in NAMES if name in scores[model]},
        }
        for model in MODELS
        if model in scores
    }
    FILE.write_text(json.dumps(ordered, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", action="append", choices=MODELS, help="compute it again")
    parser.add_argument("--metric", action="append", choices=NAMES, help="compute it again")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    asked = parser.parse_args()
    scores = kept()
    again = asked.model or asked.metric
    pairs = [
        (model, name)
        for name in sorted(asked.metric or NAMES, key=lambda name: name == "r4")
        for model in asked.model or MODELS
        if again or name not in scores.get(model, {})
    ]
    work = Parallel(n_jobs=asked.jobs, batch_size=1, return_as="generator")
    for (model, name), entry in zip(
        pairs, work(delayed(row)(*pair) for pair in pairs), strict=True
    ):
        scores.setdefault(model, {})[name] = entry
        keep(scores)
        print(f"{model} {name} {entry['score']}", flush=True)


if __name__ == "__main__":
    main()
