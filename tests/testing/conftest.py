"""Nothing is left behind by the screens that the kit makes; it draws only some of them, and no
figures of reports."""

import pytest

from labapp.testing import answers
from tests.helpers.few_drawn import few_drawn
from tests.helpers.nightly import EVERYTHING
from tests.helpers.undrawn import undrawn
from tests.ui.conftest import _nothing_left

__all__ = ["_nothing_left", "few_drawn", "undrawn"]


@pytest.fixture
def unreported(monkeypatch: pytest.MonkeyPatch) -> None:
    """By day the kit makes no report, which takes half of its time, of a task with a fault that is
    in none: of the tasks that are in order it makes one."""
    if not EVERYTHING:
        monkeypatch.setattr(answers, "report", lambda tables: "")
