"""Few trees, and networks that are trained briefly, for tests in which how well they predict is not
the point. Each is a decorator."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar
from unittest.mock import patch

import pytest
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor

from labapp.models.metrics import dci, nis, r4
from tests.helpers.sample import EVERYTHING

Test = TypeVar("Test", bound=Callable[..., Any])
TREES = 10
few_trees_of_r4 = patch.multiple(
    r4,
    GradientBoostingRegressor=partial(GradientBoostingRegressor, n_estimators=TREES),
    GradientBoostingClassifier=partial(GradientBoostingClassifier, n_estimators=TREES),
)
few_trees_of_dci = patch.object(
    dci,
    "GradientBoostingRegressor",
    partial(GradientBoostingRegressor, n_estimators=2 * TREES),
)


def by_day(decorator: Callable[[Test], Test]) -> Callable[[Test], Test]:
    """One of these in `make test` alone; `make nightly` runs the test as it stands."""
    return (lambda test: test) if EVERYTHING else decorator


@contextmanager
def few_trees() -> Iterator[None]:
    """The same for a fixture, in which others may be within it; `make nightly` grows them all."""
    with pytest.MonkeyPatch.context() as patch:
        if not EVERYTHING:
            few = partial(GradientBoostingRegressor, n_estimators=TREES)
            patch.setattr(dci, "GradientBoostingRegressor", few)
        yield


few_depths_of_forests = patch.object(dci, "DEPTHS", range(3, 5))
few_epochs_of_nis = patch.object(nis, "EPOCHS", 100)
