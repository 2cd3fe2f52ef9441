"""The conformance kit draws two states of a part at every size instead of ten.

`make nightly` draws all. A conftest.py imports the fixture for its folder.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from labapp.testing import screens
from tests.helpers.nightly import EVERYTHING


@pytest.fixture(autouse=True, scope="module")
def few_drawn() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        if not EVERYTHING:
            patch.setattr(screens, "DRAWN", 2)
        yield
