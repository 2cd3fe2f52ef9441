"""The corpus: inputs that once ended in a traceback, a machine without memory, or never.

A case makes its input in a folder of its own and reads it; what is large is made on the spot. It is
to end in an error of labapp whose text holds the words given with it, or, where these are empty, in
no error at all.
"""

from __future__ import annotations

# Each module puts its cases down as it is read.
from tests.hostile import (
    cases_arrays,
    cases_bundles,
    cases_growing,
    cases_sessions,
    cases_studies,
)
from tests.hostile.corpus import CASES

__all__ = [
    "CASES",
    "cases_arrays",
    "cases_bundles",
    "cases_growing",
    "cases_sessions",
    "cases_studies",
]
