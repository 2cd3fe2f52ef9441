"""What metrics refuse, and that every one of them does."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from labapp.base.errors import MetricError
from labapp.models.metrics.information import mutual_information
from labapp.models.metrics.inputs import (
    check_count,
    check_inputs,
    check_rows,
    check_seed,
    check_vectors,
    generator,
)
from labapp.models.metrics.registry import METRICS

RNG = np.random.default_rng(0)
CODES, FACTORS = RNG.normal(size=(40, 3)), RNG.normal(size=(40, 2))


def changed(table: np.ndarray, row: int, column: int, value: float) -> np.ndarray:
    table = table.copy()
    table[row, column] = value
    return table


REFUSED = {
    "one column as a vector": (CODES[:, 0], FACTORS, r"codes have shape \(40,\)"),
    "no code": (CODES[:, :0], FACTORS, r"codes have shape \(40, 0\)"),
    "three axes": (CODES, FACTORS[..., None], r"factors have shape \(40, 2, 1\)"),
    "other lengths": (CODES[:-1], FACTORS, "codes have 39 rows and factors 40"),
    "no rows": (CODES[:0], FACTORS[:0], "codes and factors have 0 rows"),
    "one row": (CODES[:1], FACTORS[:1], "codes and factors have 1 rows"),
    "text": (CODES.astype(str), FACTORS, "codes are of type <U"),
    "complex": (CODES, FACTORS + 1j, "factors are of type complex128"),
    "not a number": (changed(CODES, 7, 1, np.nan), FACTORS, "codes: row 7, column 1 is nan"),
    "infinite": (CODES, changed(FACTORS, 0, 1, -np.inf), "factors: row 0, column 1 is -inf"),
    "beyond squaring": (changed(CODES, 2, 2, 1e200), FACTORS, "codes: row 2, column 2 is 1e\\+200"),
    "a factor that does not vary": (CODES, FACTORS * [1, 0] + 4, "factors: column 1 is 4 in every"),
}


@pytest.mark.parametrize("name", ["checked", "mutual_information", *METRICS])
@pytest.mark.parametrize("case", REFUSED)
def test_bad_tables_are_refused_by_name_and_place(name: str, case: str) -> None:
    codes, factors, message = REFUSED[case]
    shared: dict[str, Callable[..., Any]] = {
        "checked": check_inputs,
        "mutual_information": mutual_information,
    }
    metric = shared.get(name) or METRICS[name].load()
    task = {"labels": FACTORS[:, 0] > 0} if name in METRICS and METRICS[name].labels else {}
    with pytest.raises(MetricError, match=message) as refused:
        metric(codes, factors, **task)
    assert refused.value.todo


@pytest.mark.parametrize("kind", [np.bool_, np.uint8, np.int64, np.float32, np.float64])
def test_any_kind_of_real_number_becomes_float64(kind: type) -> None:
    codes, factors = check_inputs((CODES > 0).astype(kind), (FACTORS > 0).astype(kind).tolist())
    assert codes.dtype == factors.dtype == np.float64
    assert np.array_equal(codes, CODES > 0)
    assert np.array_equal(factors, FACTORS > 0)


def test_a_code_that_does_not_vary_is_let_through() -> None:
    check_inputs(np.zeros((5, 2)), FACTORS[:5])


@pytest.mark.parametrize("case", [name for name in REFUSED if name != "three axes"])
def test_bad_tables_are_refused_of_codes_of_several_numbers_too(case: str) -> None:
    codes, factors, message = REFUSED[case]
    with pytest.raises(MetricError, match=message):
        check_vectors(codes, factors)


def test_codes_of_several_numbers_keep_their_shape() -> None:
    vectors = RNG.normal(size=(40, 3, 2))
    codes, factors = check_vectors(vectors.tolist(), FACTORS)
    assert np.array_equal(codes, vectors)
    assert np.array_equal(factors, FACTORS)
    assert np.array_equal(check_vectors(CODES, FACTORS)[0], CODES[:, :, None])


@pytest.mark.parametrize("shape", [(40, 0, 2), (40, 3, 0), (40, 3, 2, 2), (40,)])
def test_other_shapes_of_codes_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(MetricError, match=f"codes have shape {re.escape(str(shape))}"):
        check_vectors(np.ones(shape), FACTORS)


def test_the_place_of_a_bad_number_is_told() -> None:
    vectors = np.zeros((40, 3, 2))
    vectors[7, 1, 0] = np.inf
    with pytest.raises(MetricError, match="codes: row 7, column 1, number 0 is inf"):
        check_vectors(vectors, FACTORS)
    with pytest.raises(MetricError, match=r"factors have shape \(40, 2, 1\)"):
        check_vectors(CODES, FACTORS[..., None])


@pytest.mark.parametrize("seed", [-1, 2**32])
def test_a_seed_that_not_all_take_is_refused(seed: int) -> None:
    check_seed(0)
    check_seed(2**32 - 1)
    for take in (check_seed, generator):
        with pytest.raises(MetricError, match=f"the seed is {seed}"):
            take(seed)


def test_fewer_rows_or_draws_than_make_sense_are_refused() -> None:
    check_rows(10, 10)
    check_count("batch", 2, 2)
    with pytest.raises(MetricError, match="there are 9 rows"):
        check_rows(9, 10)
    with pytest.raises(MetricError, match="batch is 1") as refused:
        check_count("batch", 1, 2)
    assert refused.value.todo == "Give at least 2."
