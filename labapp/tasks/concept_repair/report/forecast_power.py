"""Power of the tests of forecasts, and how often they find what is not there, for the plan of a
study that withholds answers.

Studies are drawn as rows of single forecasts: the people, models, order, pictures and changes that
the study has drawn, and the models' OIS as its stimulus sets have it. They are tested by the code
of the report. No session is run.

Power: forecasts follow a model with stated components of variance; whether the answer is forecast
to move is probit (sensitivity), whether it is right is logistic (trust). False positives: the same
without a slope, and people who heed no model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import special

from labapp.analysis.task_report import PlannedTests
from labapp.models.stimuli import interventions, library, score_files
from labapp.models.stimuli.library import StimulusSet
from labapp.study import conditions
from labapp.study.conditions import Cells
from labapp.study.flow import items_of
from labapp.study.loading import LoadedStudy
from labapp.tasks.concept_repair.plan import rules_of
from labapp.tasks.concept_repair.planner import ConceptRepairStages, ListedChange, read_changes
from labapp.tasks.concept_repair.report.forecasts import (
    PURITY,
    RATES,
    SENSITIVITY,
    TESTS,
    TRUST,
    UNITS,
    model_estimates,
    slope_over_models,
    with_outcomes,
)
from labapp.tasks.concept_repair.report.measures import LEAST_MODELS

Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]
LEVEL = 0.05
SEED = 20260212
STUDIES = 100
"""Drawn for each row of a plan."""


@dataclass(frozen=True, eq=False)
class Design:
    """The forecasts of the study's tests, one per row: the person, the model, the place at which it
    was met, the picture (all numbers from 0) and the type; z: the models' OIS, standardised;
    classes: how many there are to choose from."""

    person: Int64
    model: Int64
    block: Int64
    picture: Int64
    kind: Int64
    names: tuple[str, ...]
    purity: Float64
    classes: int

    @property
    def z(self) -> Float64:
        return np.asarray((self.purity - self.purity.mean()) / self.purity.std(ddof=1))

    def people(self, moved: Float64, right: Float64) -> pd.DataFrame:
        """One row per participant and model, with the outcomes. moved, right: of each forecast."""
        blocks = int(self.block.max()) + 1
        pair = self.person * blocks + self.block
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
            person=np.arange(size) // blocks, block=np.arange(size) % blocks, at=at
        )
        return with_outcomes(frame, pd.DataFrame({"name": self.names}))

    def p(self, people: pd.DataFrame, outcome: str) -> float | None:
        """p of a primary test; None if nothing varies, so that nothing is found."""
        own = people.dropna(subset=[outcome])
        columns = [own[name].to_numpy(np.int64) for name in ("person", "block", "at")]
        estimates = model_estimates(own[outcome].to_numpy(np.float64), *columns)
        slope = slope_over_models(estimates, self.purity)
        return None if slope is None else slope.p


def read_design(loaded: LoadedStudy) -> Design | None:
    """The forecasts of withheld answers that a study has drawn for the places of its cells, one
    participant each; None if it has drawn none, or its sets do not have OIS."""
    cells = [each for each in loaded.study.assignment.values() if isinstance(each, Cells)]
    tests = [
        stages
        for item in items_of(loaded.study.flow)
        if isinstance(stages := item.task_stages(), ConceptRepairStages)
        and stages.answers == "withheld"
        and stages.changes is not None
    ]
    if len(cells) != 1 or not tests:
        return None
    sets: dict[str, StimulusSet] = {}
    kinds: dict[tuple[str, ListedChange], str | None] = {}
    pictures: dict[str, int] = {}
    rows = []
    for person, cell in enumerate(cells[0].cells.values()):
        for block, stages in enumerate(tests):
            assert stages.changes is not None
            name = conditions.fill(stages.stimuli, cell)
            made = sets.setdefault(name, library.load(name))
            text = loaded.text(conditions.fill(stages.changes.file, cell))
            listed = read_changes(text)[made.manifest.id, stages.changes.phase]
            kinds |= _types(made, [each for each in listed if (name, each) not in kinds])
            for change in listed:
                if (kind := kinds[name, change]) in RATES:
                    picture = pictures.setdefault(change.picture, len(pictures))
                    rows.append((person, name, block, picture, list(RATES).index(str(kind))))
    names = tuple(sorted(sets))
    models = [sets[name].manifest.concept_model for name in names]
    purity = [model.scores.get(PURITY) for model in models if model is not None]
    known = np.array([value for value in purity if value is not None])
    if len(known) < len(names) or not rows:
        return None
    numbers = np.array([(p, names.index(name), b, at, kind) for p, name, b, at, kind in rows])
    person, model, block, picture, kind = numbers.T.astype(np.int64)
    classes = max(len(made.manifest.classes) for made in sets.values())
    return Design(person, model, block, picture, kind, names, known, classes)


def _types(
    made: StimulusSet, changes: list[ListedChange]
) -> Iterator[tuple[tuple[str, ListedChange], str | None]]:
    """What changes of pictures of a set do."""
    manifest = made.manifest
    assert manifest.answers is not None
    answers = score_files.read_answers(made.folder, manifest.answers)
    rules = rules_of(manifest.concepts, tuple(known.concepts for known in manifest.classes))
    ids = [concept.id for concept in manifest.concepts]
    places = {photo.id: place for place, photo in enumerate(manifest.photos)}
    for change in changes:
        at = places[change.picture]
        state = [interventions.AS_IT_IS] * len(ids)
        state[ids.index(change.concept)] = change.to
        beliefs = manifest.photos[at].beliefs
        kind = interventions.change_type(answers[at], rules, beliefs, tuple(state))
        yield (manifest.id, change), kind


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


def same(design: Design, rng: np.random.Generator) -> tuple[Float64, Float64]:
    return np.zeros(design.kind.size), (design.kind == 1).astype(float)


def guess(design: Design, rng: np.random.Generator) -> tuple[Float64, Float64]:
    """One of the classes, each as probably."""
    moved = rng.random(design.kind.size) >= 1 / design.classes
    to_the_answer = rng.random(design.kind.size) < 1 / (design.classes - 1)
    right = np.where(design.kind == 1, ~moved, moved & to_the_answer)
    return moved.astype(float), right.astype(float)


def card(design: Design, rng: np.random.Generator) -> tuple[Float64, Float64]:
    return (design.kind == 0).astype(float), (design.kind != 2).astype(float)


def careful(design: Design, rng: np.random.Generator) -> tuple[Float64, Float64]:
    """By the card, but for lapses to any other class; how often differs between people."""
    applies = rng.uniform(0.75, 1.0, int(design.person.max()) + 1)[design.person]
    lapse = rng.random(design.kind.size) >= applies
    to_first = rng.random(design.kind.size) < 1 / (design.classes - 1)
    moved = np.where(design.kind == 0, ~lapse | ~to_first, lapse)
    leaked = lapse & (rng.random(design.kind.size) < 1 / (design.classes - 1))
    right = np.where(design.kind == 2, leaked, ~lapse)
    return moved.astype(float), right.astype(float)


STRATEGIES: dict[str, Strategy] = {
    "always the same": same,
    "guessing": guess,
    "reading the card": card,
    "careful, with lapses": careful,
}
GRIDS = {
    SENSITIVITY: tuple(
        Spread(level=0.8, slope=slope, person=0.5, model=model, both=both, picture=picture)
        for slope in (0.0, 0.3, 0.5)
        for model in (0.2, 0.35, 0.5)
        for both, picture in ((0.3, 0.3), (0.5, 0.6))
    ),
    TRUST: tuple(
        Spread(level=1.8, slope=slope, person=0.8, model=model, both=both, picture=picture)
        for slope in (0.0, 0.3, 0.5)
        for model in (0.2, 0.4, 0.6)
        for both, picture in ((0.3, 0.3), (0.5, 0.6))
    ),
}
"""Stated, by outcome: they say what a study can find, not what people do."""


def count_below(
    design: Design, outcome: str, studies: int, draw: Callable[[np.random.Generator], pd.DataFrame]
) -> tuple[float, float]:
    """Of drawn studies the shares in which a test is below the level, and below half of it."""
    p = np.array(
        [
            design.p(draw(np.random.default_rng([SEED, number])), outcome)
            for number in range(studies)
        ],
        np.float64,
    )  # None becomes NaN, and is below nothing
    return float((p < LEVEL).mean()), float((p < LEVEL / 2).mean())


Draw = Callable[[Design, Spread, np.random.Generator], Float64]
DRAWS: Mapping[str, Draw] = MappingProxyType({SENSITIVITY: draw_sensitivity, TRUST: draw_trust})
TITLES = {SENSITIVITY: "Sensitivity to leaks", TRUST: "Trust in the rule card"}


def planned(loaded: LoadedStudy, studies: int = STUDIES) -> Iterator[PlannedTests]:
    """The tables of a plan: of people who heed no model, and of each outcome the power over a grid
    of components of variance; none if the study declares no such test or has too few models."""
    tests = [TESTS.get(each.test or "") for each in loaded.study.hypotheses]
    declared = {test.outcome for test in tests if test is not None}
    outcomes = [outcome for outcome in TITLES if outcome in declared]
    design = read_design(loaded) if outcomes else None
    if design is None or len(design.names) < LEAST_MODELS:
        return
    people = int(design.person.max()) + 1
    drawn = (
        f"{studies} studies a row of {people} participants and {len(design.names)} models, with "
        "the pictures and changes that the study has drawn; tested as the report does, two-sided."
    )
    rows: list[dict[str, float | str]] = []
    for name, strategy in STRATEGIES.items():
        rows.append({"forecasts": name})
        for outcome in outcomes:

            def heedless(rng: np.random.Generator, strategy: Strategy = strategy) -> pd.DataFrame:
                return design.people(*strategy(design, rng))

            rows[-1][TITLES[outcome]] = count_below(design, outcome, studies, heedless)[0]
    yield PlannedTests(
        "People who heed no model",
        f"Share of studies with p below {LEVEL:g}: {drawn} Nobody can find a slope here, so more "
        "than .05 beyond chance would be false positives.",
        tuple(rows),
    )
    for outcome in outcomes:
        grid: list[dict[str, float | str]] = []
        for spread in GRIDS[outcome]:

            def draw(
                rng: np.random.Generator, drawn: Draw = DRAWS[outcome], spread: Spread = spread
            ) -> pd.DataFrame:
                values = drawn(design, spread, rng)
                return design.people(values, values)

            power, at_half = count_below(design, outcome, studies, draw)
            grid.append(
                {
                    "slope": spread.slope, "models": spread.model,
                    "person x model": spread.both, "pictures": spread.picture,
                    "power": power, "power at .025": at_half,
                }
            )  # fmt: skip
        middle = GRIDS[outcome][0]
        yield PlannedTests(
            TITLES[outcome],
            f"Share of studies with p below {LEVEL:g}, and below .025, which Holm's correction "
            f"asks of the smaller of two primary p: {drawn} Slope: {UNITS[outcome]} of the models. "
            f"Other columns: standard deviations. Level in the middle {middle.level:g}, SD of "
            f"people {middle.person:g}.",
            tuple(grid),
        )
