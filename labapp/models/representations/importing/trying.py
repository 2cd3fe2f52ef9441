"""What a decoder makes of latents, tried before anything is written: shapes, faults and numbers."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labapp.models.datasets.split import Float32
from labapp.models.representations.card import LARGEST_SIDE
from labapp.models.representations.distance import USUAL, named
from labapp.models.representations.effects import FRAME_BUDGET_MS
from labapp.models.representations.importing import latents as rows_of
from labapp.models.representations.importing.graph import Layout, layout, refused
from labapp.models.representations.space import Chart, Continuous, LatentSpace

Run = Callable[[Float32], NDArray[Any]]
"""Latents, float32 (n, width) -> what a decoder makes of them."""
CLOSE = 1e-4
"""Most that a converted graph may differ from its file, of values of the size 1."""
BEYOND = 1e-3
"""So far values of a picture may lie outside 0 to 1, from rounding."""
TIMED = 100
AT_ONCE = 16
PAIRS = 500
LEVEL = 1 / 255
"""The least difference of a pixel that a screen shows."""
ALIKE = 0.1
"""Pictures whose pixels differ less than this are told apart by few people."""


@dataclass
class Tried:
    """What a decoder made of the latents that it was tried on.

    Attributes
    ----------
    low, high : the least and the greatest value.
    instances : list of ndarray
        The first of them.
    apart : how far a converted graph is from its file at most.
    """

    low: float = np.inf
    high: float = -np.inf
    instances: list[Float32] = field(default_factory=list)
    apart: float = 0.0


def layout_of(name: Path | str, run: Run, trial: Float32, shape: tuple[int, ...] | None) -> Layout:
    """How what it makes of one row becomes a picture. Raises ModelError."""
    made = run(trial[:1])
    if made.dtype != np.float32:
        raise refused(
            name, [f"it makes {made.dtype}, not 32-bit floating point numbers."], "Cast them."
        )
    if made.ndim < 2 or made.shape[0] != 1:
        problem = (
            f"of one row of latents it makes an array of the shape {made.shape}; "
            "the first axis must be that of the latents."
        )
        raise refused(name, [problem], "Export it so that n latents give n pictures.")
    try:
        how = layout(made.shape[1:], shape)
    except ValueError as error:
        raise refused(
            name, [f"{error}."], "Say the shape with --shape, such as 28x28 or 64x64x3."
        ) from error
    if len(how.shape) > 1 and max(how.shape[:2]) > LARGEST_SIDE:
        problem = (
            f"its pictures are {how.shape[1]} pixels wide and {how.shape[0]} high; at most "
            f"{LARGEST_SIDE} are shown."
        )
        raise refused(name, [problem], "Export a decoder of smaller pictures.")
    return how


def decode(
    name: Path | str,
    run: Run,
    rows: Float32,
    space: LatentSpace,
    how: Layout,
    expected: Float32 | None,
) -> Tried:
    """Decode all dial states that it is tried on, alone and together.

    Parameters
    ----------
    rows : shape (n, dimensions).
    expected : what the file itself made of them, where it was converted.

    Raises
    ------
    ModelError : with all faults.
    """
    tried = Tried()
    trial = space.encode_rows(rows).astype(np.float32)
    broken = np.zeros(len(trial), bool)
    beyond, far = 0, 0
    for start in range(0, len(trial), AT_ONCE):
        part = trial[start : start + AT_ONCE]
        made = run(part)
        if made.shape != (len(part), *how.shape):
            problem = (
                f"of {len(part)} latents at once it makes an array of "
                f"the shape {made.shape}; each must give a picture of its own."
            )
            raise refused(name, [problem], "Export it with n left open (dynamic axes).")
        if start == 0:
            _same_again(name, run, trial, made)
        bad = ~np.isfinite(made).reshape(len(made), -1).all(axis=1)
        broken[start : start + AT_ONCE] = bad
        fine = made[~bad]
        if fine.size:
            tried.low = min(tried.low, float(fine.min()))
            tried.high = max(tried.high, float(fine.max()))
            flat = fine.reshape(len(fine), -1)
            beyond += int(((flat < -BEYOND) | (flat > 1 + BEYOND)).any(axis=1).sum())
        if expected is not None:
            own = expected[start : start + AT_ONCE].reshape(-1, *how.reshape)
            own = np.moveaxis(own, 1, -1) if how.channels_first else own
            apart = np.abs(own - made).reshape(len(made), -1).max(axis=1)
            far += int((~(apart <= CLOSE * max(1.0, float(np.abs(own).max())))).sum())
            tried.apart = max(tried.apart, float(np.nanmax(apart, initial=0.0)))
        if len(tried.instances) * made[0].size < 1 << 22:
            tried.instances += list(fine)
    problems = []
    if broken.any():
        problems.append(
            f"{int(broken.sum())} of {len(trial)} latents give NaN or infinity; "
            f"{rows_of.where(rows, broken, space)}."
        )
    if beyond and len(how.shape) > 1:
        problems.append(
            f"{beyond} of {len(trial)} pictures have values beyond 0 to 1 (from {tried.low:.3g} to "
            f"{tried.high:.3g}); 0 is drawn black and 1 white."
        )
    if far and not broken.any():
        problems.append(
            f"what it was converted to differs from it on {far} of {len(trial)} latents, by up to "
            f"{tried.apart:.2g}."
        )
    if problems:
        todo = (
            "Let the decoder end with a sigmoid, torch.clamp(x, 0, 1) or numpy.clip(x, 0, 1)."
            if beyond and not broken.any() and not far
            else "Correct the decoder, or give latents or --limits that it was made for."
        )
        raise refused(name, problems, todo)
    return tried


def _same_again(name: Path | str, run: Run, trial: Float32, made: NDArray[Any]) -> None:
    """Raises ModelError where the first picture is another one alone, or another one each time."""
    alone, again = run(trial[:1]), run(trial[:1])
    if not np.allclose(alone, again, rtol=0, atol=CLOSE, equal_nan=True):
        problem = "the same latents give another picture each time: it draws at random."
        raise refused(name, [problem], "Leave out what draws, such as dropout or sampling.")
    if not np.allclose(made[:1], alone, rtol=0, atol=CLOSE, equal_nan=True):
        problem = "a picture depends on the others that are decoded with it."
        todo = "Export it for evaluation (model.eval()), so that no batch is normalised."
        raise refused(name, [problem], todo)


def differing(name: Path | str, distance: str, instances: Sequence[Float32]) -> list[str]:
    """How different the pictures are, as remarks, by the distance that is used. Raises ModelError
    where nobody could see a difference."""
    pairs = _pairs(instances)
    steps = [float(np.abs(instances[a] - instances[b]).max()) for a, b in pairs]
    greatest = max(steps, default=0.0)
    is_picture = instances[0].ndim > 1
    if greatest < (LEVEL if is_picture else 1e-6):
        least = f"a screen shows steps of {LEVEL:.2g}" if is_picture else "that is rounding"
        problem = (
            f"its pictures are all alike: in {len(pairs)} pairs of them no value differs by more "
            f"than {greatest:.2g}, and {least}."
        )
        todo = (
            "Check that the latents are those of this decoder, and that it was trained: a VAE "
            "whose latents carry nothing draws the same picture for all of them."
        )
        raise refused(name, [problem], todo)
    measure = named(distance)
    apart = [measure(instances[a], instances[b]) for a, b in pairs]
    middle = float(np.median(steps))
    remark = (
        f"Two of its pictures differ by {float(np.median(apart)):.3g} in {distance} (median of "
        f"{len(pairs)} pairs), and by {middle:.3g} in the pixel or point that differs most."
    )
    notes = [remark]
    if is_picture and middle < ALIKE:
        notes.append(
            f"Warning: that is little. People will hardly see what its dials do where pixels "
            f"differ by less than {ALIKE:g} of 0 to 1."
        )
    return notes


def scaled_distance(name: str, instances: Sequence[Float32]) -> tuple[str, list[str]]:
    """A usual distance without a scale gets the model's: the median of pairs of its pictures."""
    if name not in USUAL:
        return name, []
    apart = [USUAL[name](instances[a], instances[b]) for a, b in _pairs(instances)]
    scale = float(np.median(apart)) if apart else 0.0
    if not scale > 0:
        return name, ["Most pictures of this decoder are equal, so that its distance has no scale."]
    note = (
        f"Alignment is 1 − {name} / {scale:.3g}: 1 of equal pictures, 0 of two that are as far "
        "apart as two of its pictures usually are."
    )
    return f"{name}/{scale:.3g}", [note]


def _pairs(instances: Sequence[Float32]) -> list[tuple[int, int]]:
    rng = np.random.default_rng(0)
    firsts, seconds = rng.integers(len(instances), size=(2, PAIRS)).tolist()
    return [(a, b) for a, b in zip(firsts, seconds, strict=True) if a != b]


def idle_dials(run: Run, space: LatentSpace, rows: Float32) -> list[str]:
    """Dials that change nothing, from one end to the other."""
    middle = np.median(rows, axis=0).astype(np.float32)
    names = []
    for at, dial in enumerate(space.dimensions):
        ends = np.stack([middle, middle])
        if isinstance(dial, Continuous):
            ends[:, at] = (dial.low, dial.high)
        else:
            ends[:, at] = (0, dial.k - 1)
        first, last = run(space.encode_rows(ends).astype(np.float32))
        if np.abs(first - last).max() < 1e-6:
            names.append(dial.name)
    return [f"Turning {', '.join(names)} changes nothing in the picture."] if names else []


def measured_pace(run: Run, trial: Float32) -> tuple[float, float]:
    """How long single decodes take: median and 95th percentile, in milliseconds."""
    times = []
    for row in trial[: TIMED + 5]:
        start = time.perf_counter()
        run(row[None])
        times.append((time.perf_counter() - start) * 1000)
    median, slow = np.percentile(times[5:], (50, 95))
    return float(median), float(slow)


def pace_words(median: float, slow: float) -> str:
    """The same in words, beside the time of a frame."""
    text = f"A decode takes {median:.2f} ms here (95 %: {slow:.2f} ms), on one core."
    if slow <= FRAME_BUDGET_MS:
        return text
    return (
        f"{text} That is more than the {FRAME_BUDGET_MS:g} ms of a frame: the picture follows the "
        "hand in jerks. A smaller decoder, or smaller pictures, would be smooth."
    )


def chart(tried: Tried) -> Chart:
    """The limits of the y axis: those of what it makes, and a twentieth more."""
    room = (tried.high - tried.low) * 0.05 or 0.5
    return Chart(round(tried.low - room, 4), round(tried.high + room, 4))
