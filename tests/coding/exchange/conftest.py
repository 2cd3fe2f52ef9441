from pathlib import Path

import pytest

from tests.helpers.exchanged import exchanged_session


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """One with units, marks and a codebook."""
    return exchanged_session(tmp_path / "data")
