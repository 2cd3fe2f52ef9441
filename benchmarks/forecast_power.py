"""Power and false positives of the two primary tests of the study concept-forecast.

    .venv/bin/python -m benchmarks.forecast_power [--studies 500] [--out FILE]

Studies are drawn as rows of single forecasts: the people, models, order, pictures and changes of
the shipped study, and the models' OIS as its stimulus sets have it. They are tested by the code of
the report. No session is run; tests/benchmarks/test_forecast_power.py checks that simulated
participants leave such rows.

Power: forecasts follow a model with stated components of variance; whether the answer is forecast
to move is probit (sensitivity), whether it is right is logistic (trust). False positives: the
same without a slope, and people who heed no model.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import special

from labapp.base.resources import assets
from labapp.models.stimuli import library
from labapp.study import loading
from labapp.study.conditions import Cells
from labapp.tasks.concept_repair.planner import read_changes
from labapp.tasks.concept_repair.report.forecasts import (
    PURITY,
    RATES,
    SENSITIVITY,
    TRUST,
    model_estimates,
    slope_over_models,
    with_outcomes,
)

Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]
STUDY = "concept-forecast"
PLACES = ("first", "second", "third", "fourth")
LEVEL = 0.05
SEED = 20260212


@dataclass(frozen=True, eq=False)
class Design:
    """The forecasts of the study's tests, one a row: the person, the model, the place at which it
    was met, the picture (all numbers from 0) and the type; z: the models' OIS, standardised."""

    person: Int64
    model: Int64
    block: Int64
    picture: Int64
    kind: Int64
    names: tuple[str, ...]
    purity: Float64

    @property
    def z(self) -> Float64:
        return np.asarray((self.purity - self.purity.mean()) / self.purity.std(ddof=1))

    def people(self, moved: Float64, right: Float64) -> pd.DataFrame:
        """A row a participant and model, with the outcomes. moved, right: of each forecast."""
        pair = self.person * len(PLACES) + self.block
        size = int(pair.max()) + 1
        counts = {}
        for number, kind in enumerate(RATES):
            own = self.kind == number
            counts[f"n_{kind}"] = np.bincount(pair[own], minlength=size).astype(float)
            for name, values in (("moved", moved), ("right", right)):
                counts[f"{name}_{kind}"] = np.bincount(pair[own], values[own], minlength=size)
        at = np.zeros(size, np.int64)
        at[pair] = self.model
        frame = pd.DataFrame(counts).assign(
            person=np.arange(size) // len(PLACES), block=np.arange(size) % len(PLACES), at=at
        )
        return with_outcomes(frame, pd.DataFrame({"name": self.names}))

    def p(self, people: pd.DataFrame, outcome: str) -> float | None:
        """p of a primary test; None where nothing varies, so that nothing is found."""
        own = people.dropna(subset=[outcome])
        columns = [own[name].to_numpy(np.int64) for name in ("person", "block", "at")]
        estimates = model_estimates(own[outcome].to_numpy(np.float64), *columns)
        slope = slope_over_models(estimates, self.purity)
        return None if slope is None else slope.p


def read_design() -> Design:
    """The shipped study's."""
    place = loading.load(STUDY).study.assignment["place"]
    assert isinstance(place, Cells)
    cells = list(place.cells.values())
    names = tuple(sorted({str(cell[which]) for cell in cells for which in PLACES}))
    sets = {name: library.load(name) for name in names}
    rows = []
    pictures: dict[str, int] = {}
    for person, cell in enumerate(cells):
        text = (assets() / "changes" / STUDY / f"{cell['list']}.csv").read_text(encoding="utf-8")
        listed = read_changes(text)
        for block, which in enumerate(PLACES):
            name = str(cell[which])
            for at, change in enumerate(listed[name, "test"]):
                number = pictures.setdefault(change.picture, len(pictures))
                # As they are drawn: those that follow, those that stay, those that leak.
                rows.append((person, names.index(name), block, number, at // 12))
    scores = [sets[name].manifest.concept_model for name in names]
    purity = np.array([model.scores[PURITY] for model in scores if model is not None])
    person, model, block, picture, kind = np.array(rows, np.int64).T
    return Design(person, model, block, picture, kind, names, purity)


@dataclass(frozen=True)
class Spread:
    """Standard deviations of what varies, in units of the outcome; slope: a standard deviation of
    the models; level: of the outcome in the middle."""

    level: float
    slope: float
    person: float
    model: float
    both: float
    picture: float


def draw_sensitivity(design: Design, spread: Spread, rng: np.random.Generator) -> Float64:
    """Whether each forecast says that the answer moves: probit, of changes that stay and leak."""
    people, models = int(design.person.max()) + 1, len(design.names)
    criterion = -1.0 + 0.4 * rng.normal(size=people)[design.person]
    criterion += spread.both * rng.normal(size=(people, models))[design.person, design.model]
    criterion += spread.picture * rng.normal(size=int(design.picture.max()) + 1)[design.picture]
    d = spread.level + spread.slope * design.z + spread.model * rng.normal(size=models)
    sensitivity = d[design.model] + spread.person * rng.normal(size=people)[design.person]
    eta = criterion + np.where(design.kind == 2, sensitivity, 0.0)
    return (rng.normal(size=eta.size) < eta).astype(np.float64)


def draw_trust(design: Design, spread: Spread, rng: np.random.Generator) -> Float64:
    """Whether each forecast is right: logistic, of changes that follow and stay."""
    people, models = int(design.person.max()) + 1, len(design.names)
    eta = (
        spread.level
        + (spread.slope * design.z + spread.model * rng.normal(size=models))[design.model]
    )
    eta = eta + spread.person * rng.normal(size=people)[design.person]
    eta += spread.both * rng.normal(size=(people, models))[design.person, design.model]
    eta += spread.picture * rng.normal(size=int(design.picture.max()) + 1)[design.picture]
    return (rng.random(eta.size) < special.expit(eta)).astype(np.float64)


Strategy = Callable[[Design, np.random.Generator], tuple[Float64, Float64]]
"""What people forecast who heed no model: moved, right."""
CLASSES = 12


def same(design: Design, rng: np.random.Generator) -> tuple[Float64, Float64]:
    return np.zeros(design.kind.size), (design.kind == 1).astype(float)


def guess(design: Design, rng: np.random.Generator) -> tuple[Float64, Float64]:
    """One of the classes, each as probably."""
    moved = rng.random(design.kind.size) >= 1 / CLASSES
    to_the_answer = rng.random(design.kind.size) < 1 / (CLASSES - 1)
    right = np.where(design.kind == 1, ~moved, moved & to_the_answer)
    return moved.astype(float), right.astype(float)


def card(design: Design, rng: np.random.Generator) -> tuple[Float64, Float64]:
    return (design.kind == 0).astype(float), (design.kind != 2).astype(float)


def careful(design: Design, rng: np.random.Generator) -> tuple[Float64, Float64]:
    """By the card, but for lapses to any other class; how often differs between people."""
    applies = rng.uniform(0.75, 1.0, int(design.person.max()) + 1)[design.person]
    lapse = rng.random(design.kind.size) >= applies
    to_first = rng.random(design.kind.size) < 1 / (CLASSES - 1)
    moved = np.where(design.kind == 0, ~lapse | ~to_first, lapse)
    leaked = lapse & (rng.random(design.kind.size) < 1 / (CLASSES - 1))
    right = np.where(design.kind == 2, leaked, ~lapse)
    return moved.astype(float), right.astype(float)


STRATEGIES: dict[str, Strategy] = {
    "always the same": same,
    "guessing": guess,
    "reading the card": card,
    "careful, with lapses": careful,
}
SENSITIVITIES = tuple(
    Spread(level=0.8, slope=slope, person=0.5, model=model, both=both, picture=picture)
    for slope in (0.0, 0.3, 0.5)
    for model in (0.2, 0.35, 0.5)
    for both, picture in ((0.3, 0.3), (0.5, 0.6))
)
TRUSTS = tuple(
    Spread(level=1.8, slope=slope, person=0.8, model=model, both=both, picture=picture)
    for slope in (0.0, 0.3, 0.5)
    for model in (0.2, 0.4, 0.6)
    for both, picture in ((0.3, 0.3), (0.5, 0.6))
)


def share(design: Design, outcome: str, studies: int, draw: Callable[..., pd.DataFrame]) -> float:
    """Of studies the share in which a test is below the level."""
    below = 0
    for number in range(studies):
        p = design.p(draw(np.random.default_rng([SEED, number])), outcome)
        below += p is not None and p < LEVEL
    return below / studies


def lines(design: Design, studies: int) -> Iterator[str]:
    people = int(design.person.max()) + 1
    yield "# Power and false positives of concept-forecast"
    yield ""
    yield (
        f"Made by `python -m benchmarks.forecast_power --studies {studies}`: {studies} studies of "
        f"{people} participants and {len(design.names)} models a row, tested two-sided at .05 as "
        "the report does. Holm's correction asks .025 of the smaller of the two primary p and .05 "
        "of the other: the column *at .025* is the least power with it."
    )
    yield ""
    yield "## People who heed no model"
    yield ""
    yield "| forecasts | sensitivity to leaks | trust in the card |"
    yield "| --- | ---: | ---: |"
    for name, strategy in STRATEGIES.items():
        cells = []
        for outcome in (SENSITIVITY, TRUST):

            def drawn(rng: np.random.Generator, strategy: Strategy = strategy) -> pd.DataFrame:
                return design.people(*strategy(design, rng))

            cells.append(f"{share(design, outcome, studies, drawn):.3f}")
        yield f"| {name} | {' | '.join(cells)} |"
    for title, outcome, unit, spreads, draw in (
        ("Sensitivity to leaks", SENSITIVITY, "d'", SENSITIVITIES, draw_sensitivity),
        ("Trust in the card", TRUST, "log odds", TRUSTS, draw_trust),
    ):
        yield ""
        yield f"## {title}: power"
        yield ""
        middle = spreads[0]
        yield f"In {unit}; level in the middle {middle.level:g}, SD of people {middle.person:g}."
        yield ""
        yield "| slope, a SD of models | models | person × model | pictures | power | at .025 |"
        yield "| ---: | ---: | ---: | ---: | ---: | ---: |"
        for spread in spreads:
            p = []
            for number in range(studies):
                values = draw(design, spread, np.random.default_rng([SEED, number]))
                own = design.p(design.people(values, values), outcome)
                p.append(1.0 if own is None else own)
            levels = [f"{np.mean(np.array(p) < level):.3f}" for level in (LEVEL, LEVEL / 2)]
            yield (
                f"| {spread.slope:g} | {spread.model:g} | {spread.both:g} | {spread.picture:g} | "
                f"{' | '.join(levels)} |"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--studies", type=int, default=500)
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".md"))
    asked = parser.parse_args()
    text = "\n".join(lines(read_design(), asked.studies)) + "\n"
    asked.out.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
