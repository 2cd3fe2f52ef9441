"""Every row of the table of statistics with a p is one test."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labapp.analysis.declared import declared_of
from labapp.analysis.design.analyses import analyse
from labapp.analysis.statistic import STATISTICS, Statistic, select
from labapp.analysis.tables import Tables
from tests.analysis.design.studies import MODELS, study
from tests.analysis.design.test_analyses import AGAINST, declared
from tests.analysis.design.test_r_script import STUDIES, tables_of
from tests.helpers.nightly import examples
from tests.helpers.one_test import faults


def rows(tables: Tables) -> list[Statistic]:
    return list(analyse(tables.included(), declared_of(tables, "own")).rows)


def of(made: list[Statistic]) -> list[str]:
    return faults(row.row() for row in made)


def test_a_row_has_the_columns_of_the_table() -> None:
    assert [column.name for column in STATISTICS] == [each.name for each in fields(Statistic)]
    assert len(STATISTICS) == 54
    assert all(column.meaning for column in STATISTICS)


@pytest.mark.parametrize("name", list(STUDIES))
def test_each_row_is_one_test(name: str) -> None:
    made = rows(tables_of(name))
    assert len([row for row in made if row.p is not None]) > 10
    assert of(made) == []


@given(
    seed=st.integers(0, 10**6),
    n=st.integers(8, 20),
    gaps=st.integers(0, 3),
    models=st.integers(2, 3),
    between=st.booleans(),
    transform=st.sampled_from(("log", "sqrt", "")),
    bound=st.sampled_from(({"raw": 3.0}, {"standardised": 0.4})),
    plan=st.tuples(
        st.sampled_from(("all", "per_outcome")),
        st.sampled_from(("holm", "bonferroni", "fdr", "none")),
    ),
)
@settings(max_examples=examples(12))
def test_each_row_of_a_design_that_is_drawn_is_one_test(
    seed: int, n: int, gaps: int, models: int, between: bool, transform: str,
    bound: dict[str, float], plan: tuple[str, str],
) -> None:  # fmt: skip
    names = MODELS[:models]
    pair = {"name": "pair", "weights": {"model": {names[0]: 1, names[1]: -1}}}
    hint = {"name": "hint", "weights": {"hint": {"with": 1, "without": -1}}}
    design: dict[str, object] = {"within": ["model"]}
    if between:
        design["between"] = {"hint": ["with", "without"]}
    plans = {
        "design": design,
        "analysis": {
            "family": plan[0], "correction": plan[1],
            "transform": {"response_time_s": transform} if transform else {},
            "contrasts": [pair, *([hint] if between else [])],
            "smallest_effect": {"response_time_s": {"contrast": "pair", **bound}},
        },
        "hypotheses": [
            {"text": way, "outcome": "response_time_s", "contrast": "pair", "direction": way}
            for way in ("less", "greater", "equivalent")
        ],
    }  # fmt: skip
    made = rows(study(plans, n=n, seed=seed, gaps=gaps, models=names))
    assert select(made, kind="contrast")
    assert of(made) == []


def test_rows_of_two_tests_are_found() -> None:
    """An equivalence whose t is that of the difference, a p of another test, an interval of another
    level, and families that are mixed: what was wrong with tests of equivalence once."""
    made = list(declared()[1].rows)
    assert of(made) == []
    (equal,) = select(made, kind="equivalence")
    against, *_ = select(made, kind="contrast", contrast=AGAINST["name"])
    term, *_ = select(made, kind="test", test="ANOVA F")
    for row, wrong in (
        (equal, {"statistic": against.statistic}),
        (equal, {"low": against.low, "high": against.high}),
        (against, {"p": equal.p}),
        (against, {"family": equal.family}),
        (against, {"effect": -(against.effect or 0.0)}),
        (term, {"df_2": (term.df_2 or 0.0) + 1}),
        (term, {"effect": 0.5 * (term.effect or 0.0)}),
    ):
        changed = [replace(each, **wrong) if each is row else each for each in made]
        assert of(changed), wrong
