"""The weights that a recipe gives are those that it gave: to the bit where they were noted, and
nearly where another processor or torch rounds otherwise."""

from __future__ import annotations

import hashlib
import platform
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
import torch

from labapp.models.explanations import classifier as classifiers
from labapp.models.representations import training as representations
from tests.models.explanations.test_prototypes_trained import METHODS
from tests.models.explanations.test_prototypes_trained import RECIPE as PROTOTYPES
from tests.models.representations.conftest import RECIPE

NOTED_ON = ("2.13.0+cpu", "x86_64")
"""torch, and the processor's kind."""
NEARLY = 2e-3
"""On another processor, the sum of the sizes: rounding grows with the steps."""
RECIPES = {
    "vae": RECIPE,
    "gt": RECIPE.replace("dimensions: 3", "dimensions: 5").replace("{name: vae}", "{name: gt}"),
    **{name: PROTOTYPES.format(name=name, method=method) for name, method in METHODS.items()},
}
NOTED = {
    "AVX512": (
        {
            "vae": ("872b3a5aa4c9edc1", 4732.87997731379),
            "gt": ("67d39e713329f193", 4786.893600303833),
            "protopnet": ("ab24c4c09cba9d99", 9279.215202521818),
            "prototree": ("ecdfb9d2fb1321d2", 7844.46656040467),
        },
        {
            "vae": ("9d16adb458ca7f83", 4732.879976715785),
            "gt": ("3d027be6849a7b8b", 4786.893600761143),
            "protopnet": ("40fd95de5a936d90", 9267.52992823986),
            "prototree": ("2a7e7ae5265af34c", 7844.466626005978),
        },
    ),
    "AVX2": (
        {
            "vae": ("872b3a5aa4c9edc1", 4732.87997731379),
            "gt": ("67d39e713329f193", 4786.893600303833),
            "protopnet": ("f1b2341137f6b25f", 9383.119810544853),
            "prototree": ("e60dc8ba914b14cf", 7844.470371200464),
        },
    ),
}
"""By what torch uses of the processor, and kind: the SHA-256 of all weights, and the sum of their
sizes. Of AVX512 on two sorts of processors, for which torch's libraries choose other kernels.
Instructions do not tell which: of two with bfloat16, an EPYC of family 25 gives the first, as one
without it does."""


def trained(kind: str, folder: Path) -> Path:
    recipe = folder / "recipe.yaml"
    recipe.write_text(RECIPES[kind], encoding="utf-8")
    if "objective" in RECIPES[kind]:
        return representations.train(recipe, out=folder, device="cpu") / "decoder.safetensors"
    return classifiers.train(recipe, out=folder) / "weights.safetensors"


def fingerprint(weights: Path) -> tuple[str, float]:
    arrays = safetensors.numpy.load_file(weights)
    digest = hashlib.sha256()
    for name in sorted(arrays):
        digest.update(name.encode() + arrays[name].tobytes())
    sizes = sum(float(np.abs(values.astype(np.float64)).sum()) for values in arrays.values())
    return digest.hexdigest()[:16], sizes


@pytest.mark.parametrize("kind", RECIPES)
def test_the_same_recipe_gives_the_same_weights(kind: str, tmp_path: Path) -> None:
    digest, sizes = fingerprint(trained(kind, tmp_path))
    noted = {capability: [sort[kind] for sort in sorts] for capability, sorts in NOTED.items()}
    here = noted.get(torch.backends.cpu.get_cpu_capability())
    if here is not None and (torch.__version__, platform.machine()) == NOTED_ON:
        assert (digest, pytest.approx(sizes)) in here
    else:
        near = [size for sorts in noted.values() for _, size in sorts]
        assert any(sizes == pytest.approx(size, rel=NEARLY) for size in near)
