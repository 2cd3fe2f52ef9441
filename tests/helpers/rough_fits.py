"""Mixed models are fitted roughly, a tenth of the time, intervals drawn 200 times, and the networks
of NIS trained briefly, where their last digits are not the point.

`make nightly` does all of it fully; tests/analysis/test_mixed_logistic.py always does. A
conftest.py imports the fixtures for its folder, or a module for itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest

from labapp.analysis import bootstrap, mixed_logistic
from tests.helpers.nightly import EVERYTHING


@pytest.fixture(autouse=True, scope="module")
def rough_fits() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        if not EVERYTHING:
            patch.setattr(mixed_logistic, "fit", partial(mixed_logistic.fit, rough=True))
        yield


@pytest.fixture(autouse=True, scope="module")
def few_draws() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        if not EVERYTHING:
            patch.setattr(bootstrap.weights, "__defaults__", (200, bootstrap.SEED))
        yield


@pytest.fixture(autouse=True, scope="module")
def brief_nis() -> Iterator[None]:
    from labapp.models.metrics import nis

    with pytest.MonkeyPatch.context() as patch:
        if not EVERYTHING:
            patch.setattr(nis, "EPOCHS", 30)
        yield
