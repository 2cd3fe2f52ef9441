from tests.helpers.rough_fits import few_draws
from tests.helpers.undrawn import undrawn

__all__ = ["few_draws", "undrawn"]
