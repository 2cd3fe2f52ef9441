"""Scores kept in a file, so that a run that was broken off, or a larger one, goes on from there."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from joblib import Parallel, delayed

Key = tuple[str | float, ...]
"""What was asked; of texts, numbers and truth values."""


def scored(
    asked: Sequence[Key], compute: Callable[..., float], jobs: int, file: Path | None
) -> dict[Key, float]:
    """`compute(*key)` of each key. Those in `file` are not computed again; others are
    added to it as they come, one JSON list a line: the key, then the score."""
    scores = _read(file)
    missing = [key for key in asked if key not in scores]
    parallel = Parallel(n_jobs=jobs, batch_size=1, return_as="generator")
    for key, score in zip(
        missing, parallel(delayed(compute)(*key) for key in missing), strict=True
    ):
        scores[key] = score
        if file:
            with file.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps([*key, score]) + "\n")
    return {key: scores[key] for key in asked}


def _read(file: Path | None) -> dict[Key, float]:
    if file is None or not file.exists():
        return {}
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return {tuple(key): score for *key, score in lines}
