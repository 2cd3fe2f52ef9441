"""Study files and decoders for screens that no shipped study shows yet."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from labapp.models.representations.space import Continuous, Dimension, Discrete, LatentSpace
from tests.helpers.beside import put_beside
from tests.helpers.rooms import FormulaDecoder

Array = NDArray[np.float32]

SIZE = {"mnist8k": 28, "dsprites": 64}


def write_study(folder: Path, model: str, **settings: object) -> Path:
    """A study of one stage on a model; settings: of `stages`, or `presentation`."""
    presentation = settings.pop("presentation", "improved")
    stages = {"task": "reconstruction", "trials": 3, "skip": "always", "after": ["seq"], **settings}
    lines = [f"      {key}: {_yaml(value)}" for key, value in stages.items()]
    path = folder / f"{model.replace('/', '-')}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    put_beside(folder)
    path.write_text(
        "\n".join(
            [
                f"id: {model.replace('/', '-')}",
                "title: A study for tests",
                "version: 1",
                f"presentation: {presentation}",
                "flow:",
                "  - stages:",
                f"      models: [{model}]",
                *lines,
            ]
        )
        + "\n"
    )
    return path


def _yaml(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"[{', '.join(map(str, value))}]" if isinstance(value, list) else str(value)


def ring_decoder(
    model: str, continuous: int, discrete: int = 0, limit: float = 3.0
) -> FormulaDecoder:
    """Soft ring-shaped pictures that every dial changes; discrete: values of a discrete dial."""
    size = SIZE[model.split("/")[0]]
    dimensions: list[Dimension] = [Discrete("y", discrete)] if discrete else []
    dimensions += [Continuous(f"z{i + 1}", -limit, limit) for i in range(continuous)]
    space = LatentSpace(tuple(dimensions))
    rng = np.random.default_rng(3)
    states = rng.uniform(-limit * 0.8, limit * 0.8, (100, len(space)))
    if discrete:
        states[:, 0] = rng.integers(discrete, size=100)
    mix = rng.standard_normal((space.width, 6)) / np.sqrt(space.width) * 3.0 / limit
    y, x = np.mgrid[0:size, 0:size] / size - 0.5

    def formula(z: Array) -> Array:
        cx, cy, wide, high, turn, thick = np.tanh((z @ mix).T)[:, :, None, None]
        angle = 1.6 * turn
        u = (x - 0.12 * cx) * np.cos(angle) + (y - 0.12 * cy) * np.sin(angle)
        v = -(x - 0.12 * cx) * np.sin(angle) + (y - 0.12 * cy) * np.cos(angle)
        radius = np.hypot(u / (0.24 + 0.08 * wide), v / (0.28 + 0.08 * high))
        inside = (0.3 + 0.1 * thick) - np.abs(radius - 1.0)
        return np.asarray(np.clip(0.5 + 8 * inside, 0, 1), dtype=np.float32)

    return FormulaDecoder(model, space, states.astype(np.float32), formula)
