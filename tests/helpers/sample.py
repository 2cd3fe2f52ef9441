"""What is large is looked at in a sample by `make test`, and whole by `make nightly`.

A single test that takes long is listed in tests/nightly.yaml; see tests/helpers/nightly.py.
"""

from __future__ import annotations

from hypothesis import settings

from tests.helpers.nightly import EVERYTHING, sample

__all__ = ["EVERYTHING", "examples", "sample"]


def examples(most: int) -> settings:
    """Of a property, `most` examples in `make nightly` and a third of them in `make test`."""
    return settings(max_examples=most if EVERYTHING else max(1, most // 3))
