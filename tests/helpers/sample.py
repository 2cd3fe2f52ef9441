"""What is large is looked at in a sample by `make test`, and whole by `make nightly`.

A single test that takes long is listed in tests/nightly.yaml; see tests/helpers/nightly.py.
"""

from __future__ import annotations

from tests.helpers.nightly import EVERYTHING, sample

__all__ = ["EVERYTHING", "sample"]
