"""What holds for every test: the models of whoever runs the tests are none of theirs."""

from __future__ import annotations

import os
import tempfile

import pytest

# Set before any test module is read, and for the processes that tests start.
_MODELS = tempfile.TemporaryDirectory(prefix="labapp-tests-models-")
os.environ["LABAPP_MODELS"] = _MODELS.name


def pytest_unconfigure(config: pytest.Config) -> None:
    _MODELS.cleanup()
