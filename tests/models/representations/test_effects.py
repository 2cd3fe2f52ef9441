"""How much a dial changes, against pictures whose change can be counted."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from labapp.models.datasets.split import Float32
from labapp.models.representations import effects
from labapp.models.representations.decoders import LoadedDecoder, percentiles_of
from labapp.models.representations.distance import mnist
from labapp.models.representations.package import load_package
from labapp.models.representations.recipe import ARCHITECTURES
from labapp.models.representations.space import Continuous, Discrete, LatentSpace

CIRCLES = load_package("circles/gt", "cpu")
"""Its card stands in for that of the bars: only the data set is read from it."""


def bars(latents: Float32) -> LoadedDecoder:
    """Pictures of 1 x 12 pixels: a choice of three backgrounds (0, 1 or 2 pixels at the right end),
    a bar at the left end as long as the first slider, and a slider that does nothing."""
    space = LatentSpace(
        (Discrete("kind", 3), Continuous("long", 0, 8, 1), Continuous("idle", -1, 1, 0.01))
    )

    def forward(z: Float32) -> Float32:
        place = np.arange(12)
        kind = z[:, :3].argmax(axis=1)[:, None]
        drawn = (place < z[:, 3:4]) | (place >= 12 - kind)
        return drawn.astype(np.float32)[:, None, :]

    return LoadedDecoder(
        "test/bars", space, CIRCLES.card, latents, percentiles_of(latents), "cpu", 1, forward
    )


def sample(n: int, *, kind: float = 1.0) -> Float32:
    """Lengths 2 to 6 in turn."""
    rows = np.zeros((n, 3), np.float32)
    rows[:, 0], rows[:, 1] = kind, 2 + np.arange(n) % 5
    rows[:, 2] = np.linspace(-1, 1, n)
    return rows


def test_a_slider_goes_from_its_low_to_its_high_percentile_with_the_others_at_rest() -> None:
    latents = sample(100)
    decoder = bars(latents)
    low, high = (float(decoder.percentiles[at][1]) for at in (5, 95))
    assert (low, high) == (2, 6)
    found = {one.name: one for one in effects.effects(decoder, "mnist")}
    # Bars of two and six pixels and the one pixel of background: 3 of 7 in common.
    assert found["long"].distance == pytest.approx(1 - 3 / 7)
    assert found["long"].change == found["long"].squares == pytest.approx(4)


def test_of_a_choice_every_pair_of_values_is_compared() -> None:
    decoder = bars(sample(5, kind=0.0))
    (choice, *_) = effects.effects(decoder, "mnist")
    drawn = [
        [set(range(length)) | set(range(12 - kind, 12)) for kind in range(3)]
        for length in range(2, 7)
    ]
    apart = [1 - len(a & b) / len(a | b) for kinds in drawn for a, b in combinations(kinds, 2)]
    assert choice.distance == pytest.approx(np.mean(apart))
    assert choice.change == pytest.approx((1 + 2 + 1) / 3)


def test_a_dial_that_does_nothing_has_little_effect() -> None:
    *_, idle = effects.effects(bars(sample(20)), "mnist")
    assert (idle.distance, idle.change, idle.share, idle.little) == (0, 0, 0, True)
    assert idle.to_json()["little"] is True


def test_without_a_distance_the_absolute_change_is_compared() -> None:
    decoder = bars(sample(20))
    unknown = replace(
        decoder, card=decoder.card.model_copy(update={"dataset": "own", "task": None})
    )
    found = effects.effects(unknown)
    assert [one.distance for one in found] == [None] * 3
    most = max(one.change for one in found)
    assert [one.share for one in found] == [one.change / most for one in found]


def test_a_model_that_always_draws_the_same_has_no_strongest_dial() -> None:
    decoder = bars(sample(20))
    still = LoadedDecoder(
        decoder.id,
        decoder.space,
        decoder.card,
        decoder.latents,
        decoder.percentiles,
        "cpu",
        1,
        lambda z: np.zeros((len(z), 1, 12), np.float32),
    )
    assert all(one.share == 0 and one.little for one in effects.effects(still, "mnist"))


def test_the_distance_is_that_of_the_data_set() -> None:
    assert ARCHITECTURES[CIRCLES.card.architecture].display == "image"
    by_default = effects.effects(CIRCLES)
    assert by_default == effects.effects(CIRCLES, "dsprites")
    assert [one.name for one in by_default] == ["radius", "shade"]
    assert not any(one.little for one in by_default)


def test_the_dials_that_the_penalty_switched_off_are_told_from_the_others() -> None:
    """Those that the card of the shipped model names as collapsed."""
    decoder = load_package("mnist8k/tc10", "cpu")
    found = effects.effects(decoder)
    off = [one.name for one in found if one.little]
    assert off == ["z3", "z5", "z7", "z10"]
    assert "(z3, z5, z7, z10)" in " ".join(decoder.card.notes.split())
    assert max(one.share for one in found if one.little) < 0.02
    assert min(one.share for one in found if not one.little) > 0.1


def test_of_many_instances_a_draw_is_taken_that_is_always_the_same() -> None:
    latents = sample(1000)
    asked: list[int] = []
    decoder = bars(latents)

    def forward(z: Float32) -> Float32:
        asked.append(len(z))
        return decoder.forward(z)

    counted = LoadedDecoder(
        decoder.id,
        decoder.space,
        decoder.card,
        latents,
        decoder.percentiles,
        "cpu",
        1,
        forward,
    )
    assert effects.effects(counted, "mnist") == effects.effects(counted, "mnist")
    assert set(asked) == {effects.ROWS}


def test_distances_are_those_of_single_pictures() -> None:
    """The mean of d, not d of mean pictures."""
    latents = sample(5)
    decoder = bars(latents)
    moved = []
    for at in (5, 95):
        rows = latents.copy()
        rows[:, 1] = decoder.percentiles[at][1]
        moved.append(decoder.decode(decoder.space.encode_rows(rows).astype(np.float32)))
    expected = np.mean([mnist(a, b) for a, b in zip(*moved, strict=True)])
    assert effects.effects(decoder, "mnist")[1].distance == pytest.approx(expected)
