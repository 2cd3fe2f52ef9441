"""Mixed models are fitted roughly, a tenth of the time, where their last digits are not the point.

`make nightly` fits them fully; tests/analysis/test_mixed_logistic.py always does. A conftest.py
imports the fixture for its folder.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest

from labapp.analysis import mixed_logistic
from tests.helpers.nightly import EVERYTHING


@pytest.fixture(autouse=True, scope="module")
def rough_fits() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        if not EVERYTHING:
            patch.setattr(mixed_logistic, "fit", partial(mixed_logistic.fit, rough=True))
        yield
