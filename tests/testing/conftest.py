"""Nothing is left behind by the screens that the kit makes, and it draws only some of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from labapp.testing import screens
from tests.helpers.nightly import EVERYTHING
from tests.ui.conftest import _nothing_left

__all__ = ["_nothing_left"]


@pytest.fixture(autouse=True, scope="module")
def few_drawn() -> Iterator[None]:
    """Two states of a part are drawn at every size instead of ten; `make nightly` draws all."""
    with pytest.MonkeyPatch.context() as patch:
        if not EVERYTHING:
            patch.setattr(screens, "DRAWN", 2)
        yield
