"""Nothing is left behind by the screens that the kit makes; it draws only some of them, and no
figures of reports."""

from tests.helpers.few_drawn import few_drawn
from tests.helpers.undrawn import undrawn
from tests.ui.conftest import _nothing_left

__all__ = ["_nothing_left", "few_drawn", "undrawn"]
