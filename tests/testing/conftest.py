"""Nothing is left behind by the screens that the kit makes."""

from tests.ui.conftest import _nothing_left

__all__ = ["_nothing_left"]
