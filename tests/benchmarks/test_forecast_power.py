"""The rows of the power of concept-forecast are those that simulated participants leave."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.forecast_power import STUDY
from labapp.record.events.registry import Pauses
from labapp.session.simulation.names import ORACLE
from labapp.study import loading, planner
from labapp.tasks.concept_repair.machine import ConceptRepairTask
from labapp.tasks.concept_repair.plan import SAME, ConceptRepairPart, Repair
from labapp.tasks.concept_repair.report import forecast_power as power
from labapp.tasks.concept_repair.report.forecasts import SENSITIVITY, TRUST
from labapp.tasks.concept_repair.simulated import Eyesight, Learnt, Repairer
from tests.helpers.play import SPACE


@pytest.fixture(scope="module")
def design() -> power.Design:
    made = power.read_design(loading.load(STUDY))
    assert made is not None
    return made


@pytest.fixture(scope="module")
def stages() -> list[tuple[ConceptRepairPart, int]]:
    loaded = loading.load(STUDY)
    plan = planner.realise(loaded, "P01", space_of=lambda model: SPACE, drawn=("list-01",))
    return [
        (part, place)
        for place, part in enumerate(plan.parts)
        if isinstance(part, ConceptRepairPart) and part.withheld
    ]


def forecasts(
    stages: list[tuple[ConceptRepairPart, int]], strategy: str
) -> dict[str, list[tuple[bool, bool]]]:
    """By type of change what a simulated participant forecasts: moves, right."""
    out: dict[str, list[tuple[bool, bool]]] = {}
    for part, place in stages:
        task = ConceptRepairTask(part, place)
        repairer = Repairer(part, strategy, (1, "P01"), Eyesight(), Learnt())
        assert task.initial(Pauses()).trial is None
        for number, item in enumerate(part.items, start=1):
            trial = task.drawn(task.draw(number, 1), number, 1)
            assert isinstance(trial, Repair)
            assert item.given is not None
            answer, _ = repairer.foretold(trial)
            forecast = trial.answer if answer == SAME else answer
            came = task._set(trial, trial.pending, "plan").answer_after  # type: ignore[arg-type]
            kind = str(item.change_type(part.repaired.rules))
            out.setdefault(kind, []).append((forecast != trial.answer, forecast == came))
    return out


@pytest.mark.parametrize(
    ("strategy", "drawn"), [("unmoved", power.same), (ORACLE, power.card), ("oracle", power.card)]
)
def test_those_who_heed_no_model_forecast_as_the_rows_have_it(
    stages: list[tuple[ConceptRepairPart, int]],
    design: power.Design,
    strategy: str,
    drawn: power.Strategy,
) -> None:
    moved, right = drawn(design, np.random.default_rng(1))
    own = design.person == 0
    for number, kind in enumerate(("follows", "stays", "leaks")):
        made = forecasts(stages, strategy)[kind]
        rows = own & (design.kind == number)
        assert len(made) == rows.sum() == 48
        assert [m for m, _ in made] == moved[rows].astype(bool).tolist()
        assert [r for _, r in made] == right[rows].astype(bool).tolist()


@pytest.mark.parametrize(
    ("strategy", "drawn"), [("random", power.guess), ("careful", power.careful)]
)
def test_guesses_and_lapses_are_as_frequent_as_in_the_rows(
    stages: list[tuple[ConceptRepairPart, int]],
    design: power.Design,
    strategy: str,
    drawn: power.Strategy,
) -> None:
    moved, right = drawn(design, np.random.default_rng(1))
    made = forecasts(stages, strategy)
    for number, kind in enumerate(("follows", "stays", "leaks")):
        shares = np.mean(made[kind], axis=0)
        rows = design.kind == number
        assert shares == pytest.approx([moved[rows].mean(), right[rows].mean()], abs=0.17)


def test_the_rows_find_a_slope_and_nothing_where_there_is_none(design: power.Design) -> None:
    rng = np.random.default_rng(4)
    planted = power.Spread(level=0.8, slope=0.6, person=0.4, model=0.1, both=0.2, picture=0.2)
    values = power.draw_sensitivity(design, planted, rng)
    p = design.p(design.people(values, values), SENSITIVITY)
    assert p is not None
    assert p < 0.01
    for outcome in (SENSITIVITY, TRUST):
        assert design.p(design.people(*power.same(design, rng)), outcome) is None
        assert design.p(design.people(*power.card(design, rng)), outcome) is None


def test_the_design_is_the_studys(design: power.Design) -> None:
    assert design.person.size == 72 * 4 * 36
    assert len(design.names) == 24
    assert abs(design.z.mean()) < 1e-9


def test_a_plan_has_the_tables_of_the_declared_tests() -> None:
    heedless, sensitivity, trust = power.planned(loading.load(STUDY), studies=2)
    assert [row["forecasts"] for row in heedless.rows] == list(power.STRATEGIES)
    assert all(row[title] == 0.0 for row in heedless.rows[::2] for title in power.TITLES.values())
    assert len(sensitivity.rows) == len(trust.rows) == 18
    strong = max(sensitivity.rows, key=lambda row: (row["slope"], -float(row["models"])))
    assert strong["power"] == 1.0
    assert not list(power.planned(loading.load("concept-foresight"), studies=2))
