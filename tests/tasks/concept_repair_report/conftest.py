from tests.helpers.rough_fits import few_draws, rough_fits
from tests.helpers.undrawn import undrawn

__all__ = ["few_draws", "rough_fits", "undrawn"]
