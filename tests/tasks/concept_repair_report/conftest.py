from tests.helpers.rough_fits import rough_fits
from tests.helpers.undrawn import undrawn

__all__ = ["rough_fits", "undrawn"]
