"""R4: plain scikit-learn, Table 1 of paper 001, its edges and its invariances."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from labapp.base.errors import MetricError
from labapp.models.metrics import r4 as r4_module
from labapp.models.metrics.r4 import r4
from tests.helpers.sample import examples
from tests.models.metrics.brief import by_day, few_trees_of_r4
from tests.models.metrics.made import Float64, array, seeds

few = examples(3)
ONE: dict[str, Any] = {"splits": 1}
TIES = 0.02
"""Of rows that are equally near, which ones a tree parts depends on rounding."""


def mixed(seed: int, rows: int = 120) -> tuple[Float64, Float64]:
    """Two codes: nearly the first factor, and both factors."""
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(rows, 2))
    codes = np.stack([factors[:, 0] ** 3, factors.sum(axis=1)], axis=1)
    return codes + 0.1 * rng.normal(size=(rows, 2)), factors


def divisions(rows: int, seed: int, splits: int) -> list[list[NDArray[np.int64]]]:
    drawn = np.random.default_rng(seed).integers(2**32, size=splits)
    return [
        train_test_split(np.arange(rows), test_size=0.25, random_state=int(one)) for one in drawn
    ]


@by_day(few_trees_of_r4)
def test_against_plain_scikit_learn() -> None:
    codes, factors = mixed(0)
    # One division: the mean over several is asked for below, of fewer trees.
    found = r4(codes, factors, seed=4, **ONE)
    forth, back = np.zeros((2, 2, 2))
    for j, k in np.ndindex(2, 2):
        for train, test in divisions(120, 4, 1):
            for into, x, y in (
                (forth, codes[:, j], factors[:, k]),
                (back, factors[:, k], codes[:, j]),
            ):
                model = r4_module.GradientBoostingRegressor(random_state=4)
                model.fit(x[train, None], y[train])
                into[j, k] = model.score(x[test, None], y[test])
    np.testing.assert_allclose(array(found, "code_to_factor"), forth, atol=TIES)
    np.testing.assert_allclose(array(found, "factor_to_code"), back, atol=TIES)
    roots = np.sqrt(forth.clip(0) * back.clip(0))
    np.testing.assert_allclose(array(found, "r4"), roots, atol=TIES)
    assert found.score == pytest.approx(roots.max(axis=0).mean(), abs=TIES)


@few_trees_of_r4
def test_as_published_against_plain_scikit_learn() -> None:
    codes, factors = mixed(1)
    labels = np.stack([np.digitize(factors[:, 0], [-0.5, 0.5]), factors[:, 1] > 0], axis=1)
    found = r4(codes, labels, seed=4, splits=2, as_published=True)
    forth, back = np.zeros((2, 2, 2))
    for j, k in np.ndindex(2, 2):
        x, y = codes[:, j], labels[:, k]
        for train, test in divisions(120, 4, 2):
            tells = r4_module.GradientBoostingClassifier(random_state=4).fit(
                x[train, None], y[train]
            )
            forth[j, k] += tells.score(x[test, None], y[test]) / 2
            told = r4_module.GradientBoostingRegressor(random_state=4)
            told.fit(y[train, None], x[train])
            back[j, k] += told.score(y[test, None], x[test]) / 2
    np.testing.assert_allclose(array(found, "code_to_factor"), forth, atol=TIES)
    np.testing.assert_allclose(array(found, "factor_to_code"), back, atol=TIES)


@pytest.mark.parametrize("as_published", [False, True])
def test_table_1_of_paper_001(as_published: bool) -> None:
    # Printed as 99.95 for pure codes, which lie in the upper or the lower twentieth of 0 to 1.
    rng = np.random.default_rng(0)
    concepts = rng.integers(0, 2, (3_000, 2)).astype(np.float64)
    pure = 0.95 * concepts + 0.05 * rng.random((3_000, 2))
    found = r4(pure, concepts, as_published=as_published, splits=2)
    assert found.score == pytest.approx(0.9995, abs=0.0002)
    useless = array(found, "code_to_factor")[[0, 1], [1, 0]]
    if as_published:  # accuracies: half of the rows are right by chance
        np.testing.assert_allclose(useless, 0.5, atol=0.05)
    else:
        np.testing.assert_allclose(useless, 0, atol=0.05)


def test_a_code_must_be_a_function_of_the_factor_and_the_factor_of_the_code() -> None:
    z = np.random.default_rng(0).uniform(-1, 1, (300, 2))
    assert r4(z**3, z, **ONE).score > 0.97
    squared = r4(z[:, :1] ** 2, z[:, :1], **ONE)  # which does not tell the sign
    assert array(squared, "factor_to_code")[0, 0] > 0.97
    assert squared.score < 0.2
    assert r4(z.sum(axis=1, keepdims=True), z, **ONE).score < 0.6


@few
@given(seed=seeds, as_published=st.booleans())
@few_trees_of_r4
def test_parts_and_settings(seed: int, as_published: bool) -> None:
    codes, factors = mixed(seed, rows=40)
    found = r4(codes, np.round(factors), seed=seed, as_published=as_published, **ONE)
    shapes = {name: np.shape(part) for name, part in found.parts.items()}
    matrices = dict.fromkeys(("r4", "code_to_factor", "factor_to_code"), (2, 2))
    assert shapes == {"per_factor": (2,), **matrices}
    assert found.score == pytest.approx(array(found, "r4").max(axis=0).mean())
    assert 0 <= found.score <= 1
    assert all(np.isfinite(part).all() for part in found.parts.values())
    assert found.settings["seed"] == seed
    assert found.settings["as_published"] is as_published
    again = r4(codes, np.round(factors), seed=seed, as_published=as_published, **ONE)
    assert again.to_json() == found.to_json()


@few
@given(seed=seeds)
@few_trees_of_r4
def test_order_changes_nothing_and_sign_and_unit_only_ties(seed: int) -> None:
    codes, factors = mixed(seed)
    whole = r4(codes, factors, **ONE)
    moved = r4(codes[:, ::-1], factors[:, ::-1], **ONE)
    np.testing.assert_array_equal(array(moved, "r4"), array(whole, "r4")[::-1, ::-1])
    for other in (codes * [-1, 1], codes * [1e-90, 1e60]):
        np.testing.assert_allclose(
            array(r4(other, factors, **ONE), "r4"), array(whole, "r4"), atol=0.05
        )


@few
@given(seed=seeds)
@few_trees_of_r4
def test_further_codes_never_lower_the_score(seed: int) -> None:
    codes, factors = mixed(seed)
    score = r4(codes, factors, **ONE).score
    more = np.hstack([codes, codes[:, :1], np.full((120, 1), 3.1)])
    found = r4(more, factors, **ONE)
    assert found.score == score  # a copy and a constant
    assert (array(found, "r4")[3] == 0).all()
    other = np.random.default_rng(seed).normal(size=(120, 1))
    assert r4(np.hstack([codes, other]), factors, **ONE).score >= score


@pytest.mark.parametrize("as_published", [False, True])
@few_trees_of_r4
def test_threads_and_telling_progress_change_no_number(
    monkeypatch: pytest.MonkeyPatch, as_published: bool
) -> None:
    codes, factors = mixed(5, rows=60)
    factors = np.round(factors)
    found, shares = [], []
    for threads in (1, 5):
        monkeypatch.setattr(r4_module, "cores", lambda threads=threads: threads)
        found.append(
            r4(codes, factors, as_published=as_published, progress=shares.append, **ONE).to_json()
        )
    assert found[0] == found[1]
    # Both directions of each of two codes and two factors.
    assert shares == [(done + 1) / 8 for done in range(8)] * 2


@few_trees_of_r4
def test_what_has_not_begun_when_it_is_interrupted_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[int] = []
    real = r4_module._predictability

    def counted(*arguments: Any) -> float:
        begun.append(1)
        return real(*arguments)

    def interrupt(share: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(r4_module, "cores", lambda: 1)
    monkeypatch.setattr(r4_module, "_predictability", counted)
    rng = np.random.default_rng(0)
    with pytest.raises(KeyboardInterrupt):
        r4(rng.normal(size=(200, 6)), rng.normal(size=(200, 6)), progress=interrupt)
    assert len(begun) < 10  # of 72


def test_as_published_a_constant_code_is_worth_the_commonest_value() -> None:
    factors = np.repeat([[0.0], [1.0]], [30, 90], axis=0)
    codes = np.ones((120, 1))
    assert r4(codes, factors).score == 0
    published = r4(codes, factors, as_published=True)
    assert array(published, "factor_to_code")[0, 0] == 1
    assert published.score == pytest.approx(np.sqrt(0.75), abs=0.05)


@few_trees_of_r4
def test_a_rare_value_that_misses_the_test_rows() -> None:
    # One row of 120 differs: in a division where it is learnt from, nothing is there to be told.
    rare = np.zeros((120, 1))
    train, test = divisions(120, 0, 1)[0]
    rare[train[0]] = 1
    codes = mixed(2)[0]
    assert array(r4(codes, rare, **ONE), "code_to_factor").tolist() == [[0], [0]]
    assert array(r4(codes, rare, as_published=True, **ONE), "code_to_factor").tolist() == [[1], [1]]
    both = np.zeros((120, 1))
    both[test[0]] = 1  # never learnt: 1 - 1 / (30 * 1/30 * 29/30)
    assert array(r4(codes, both, **ONE), "code_to_factor") == pytest.approx(1 - 30 / 29)
    assert r4(codes, both, **ONE).score == 0
    assert array(r4(codes, both, as_published=True, **ONE), "code_to_factor").tolist() == [[1], [1]]


@few_trees_of_r4
def test_as_published_the_unit_of_classes_does_not_matter() -> None:
    codes, factors = mixed(4)
    labels = (factors[:, :1] > 0).astype(np.float64)
    scores = [r4(codes, labels * unit, as_published=True, **ONE).score for unit in (1, 1e80)]
    assert scores[0] == scores[1]


def test_one_factor_and_one_code() -> None:
    codes, factors = mixed(3)
    assert r4(factors[:, :1], factors[:, :1], **ONE).score > 0.9
    found = r4(codes[:, :1], factors[:, :1], **ONE)
    assert array(found, "r4").shape == (1, 1)
    assert found.score == array(found, "r4")[0, 0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [({"splits": 0}, "splits is 0"), ({"seed": -1}, "seed is -1"), ({"seed": 2**32}, "seed is")],
)
def test_impossible_settings_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(MetricError, match=re.escape(message)):
        r4(*mixed(0), **arguments)


@few_trees_of_r4
def test_too_few_rows_are_refused() -> None:
    codes, factors = mixed(0)
    r4(codes[:8], factors[:8], **ONE)
    with pytest.raises(MetricError, match="there are 7 rows"):
        r4(codes[:7], factors[:7], **ONE)
