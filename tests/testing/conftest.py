"""Nothing is left behind by the screens that the kit makes, and it draws only some of them."""

from tests.helpers.few_drawn import few_drawn
from tests.ui.conftest import _nothing_left

__all__ = ["_nothing_left", "few_drawn"]
