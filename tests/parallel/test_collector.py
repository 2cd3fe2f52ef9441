"""The cycle collector rests for a while, and is as it was after it, also after a failure."""

from __future__ import annotations

import gc

import pytest

from labapp.parallel.collector import collector_at_rest


def test_it_rests_and_goes_on() -> None:
    assert gc.isenabled()
    with collector_at_rest():
        assert not gc.isenabled()
        with collector_at_rest():
            assert not gc.isenabled()
        assert not gc.isenabled()
    with pytest.raises(ValueError, match="failed"), collector_at_rest():
        raise ValueError("failed")
    assert gc.isenabled()
