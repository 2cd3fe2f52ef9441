from tests.helpers.rough_fits import rough_fits

__all__ = ["rough_fits"]
