"""Pictures as bytes, their batches, and what augmentation may do to them."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from labapp.models.datasets.birds import BirdRows
from labapp.models.explanations.photos import (
    CAST,
    GAIN,
    SHIFT,
    Batches,
    Photos,
    UInt8,
    as_bytes,
    as_input,
    augment,
    load_photos,
)


def test_a_part_is_painted_once_and_as_its_rows_are() -> None:
    rows = BirdRows("test", 2, seed=3, size=48)
    photos = load_photos(rows)
    assert load_photos(rows) is photos
    chosen = np.array([0, 7, 39])
    assert (photos.pictures[chosen] == as_bytes(rows.instances(chosen))).all()
    assert (photos.species == np.arange(40) % 20).all()
    assert (photos.genus == photos.species // 4).all()
    assert len(load_photos(rows, 10)) == 10
    with pytest.raises(ValueError, match="read-only"):
        photos.pictures[0] = 0


def test_bytes_lose_half_a_step_at_most() -> None:
    values = np.linspace(0, 1, 3 * 16 * 16, dtype=np.float32).reshape(1, 3, 16, 16)
    assert np.abs(as_input(as_bytes(values)).numpy() - values).max() <= 0.5 / 255 + 1e-6


def ramps(n: int, size: int = 32) -> UInt8:
    """Pictures whose red grows to the right and whose green grows downwards; blue is even."""
    across = np.broadcast_to(np.arange(size) * 4, (size, size))
    one = np.stack([across, across.T, np.full((size, size), 100)])
    return np.broadcast_to(one, (n, 3, size, size)).astype(np.uint8)


def test_augmentation_moves_mirrors_and_lights_each_picture_by_itself() -> None:
    random = np.random.default_rng(0)
    made = augment(ramps(400), random).numpy() * 255
    gains = made[:, 2].mean((1, 2)) / 100
    assert np.allclose(made[:, 2], made[:, 2, :1, :1], atol=1e-3), "even colour stays even"
    assert gains.min() >= (1 - GAIN) * (1 - CAST)
    assert gains.max() <= (1 + GAIN) * (1 + CAST)
    assert gains.std() > 0.05

    mirrored = made[:, 0, 16, 0] > made[:, 0, 16, -1]
    assert 150 < mirrored.sum() < 250
    down = made[:, 1, 16, 0] / np.maximum(made[:, 1, 17, 0] - made[:, 1, 16, 0], 1e-6)
    shifts = np.rint(down - 16).astype(int)
    assert set(shifts) == set(range(-SHIFT, SHIFT + 1))
    assert (made[:, 0] == made[:, 0, :1]).all(), "rows stay rows"
    edge = made[shifts == SHIFT][0, 1, :, 0]
    assert (edge[-SHIFT:] == edge[-1]).all(), "what moves in repeats the edge"


def test_augmentation_is_a_function_of_its_chance() -> None:
    pictures = ramps(4)
    first, again, other = (augment(pictures, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_batches_go_through_everything_once_a_round() -> None:
    photos = Photos(BirdRows("train", 1, 0), ramps(10), np.arange(10))
    batches = Batches(photos, 4, seed=1, augmented=False)
    seen = np.concatenate([batches.rows(number) for number in range(5)])
    assert sorted(seen[:10]) == list(range(10)) == sorted(seen[10:])
    assert (seen[:10] != seen[10:]).any()
    assert (Batches(photos, 4, seed=1).rows(3) == batches.rows(3)).all()
    assert (Batches(photos, 4, seed=2).rows(3) != batches.rows(3)).any()
    inputs, species = batches.take(3, np.random.default_rng(0))
    assert species.tolist() == batches.rows(3).tolist()
    assert torch.equal(inputs, as_input(photos.pictures[:4]))
