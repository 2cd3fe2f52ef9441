from tests.helpers.undrawn import undrawn

__all__ = ["undrawn"]
