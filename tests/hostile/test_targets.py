"""Every reader for a moment of hostile bytes; `make fuzz` is for longer."""

from __future__ import annotations

import gzip
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labapp.base.errors import LabappError
from tests.helpers.nightly import examples
from tests.hostile.targets import TARGETS, fuzz

FINDINGS = sorted((Path(__file__).parent / "findings").glob("*.gz"))
"""What was found once: TARGET-NUMBER.gz, kept for ever."""
FEW = {"zip": 2, "events": 4, "study": 15, "words": 15}
"""Of the slower ones."""


@pytest.mark.parametrize("name", TARGETS)
def test_nothing_but_an_error_of_ours_comes_out(name: str) -> None:
    tried, bad = fuzz(name, seconds=10, seed=1, most=examples(FEW.get(name, 30)))
    assert tried
    assert not bad


@pytest.mark.parametrize("name", sorted(TARGETS.keys() - FEW.keys() - {"journal"}))
def test_any_bytes_are_told_or_read(name: str) -> None:
    read, _ = TARGETS[name]

    @settings(max_examples=10)
    @given(st.binary(max_size=100))
    def check(data: bytes) -> None:
        with suppress(LabappError):
            read(data)

    check()


@pytest.mark.parametrize("path", FINDINGS, ids=lambda path: path.name)
def test_what_was_found_once_is_told(path: Path) -> None:
    read, _ = TARGETS[path.name.partition("-")[0].replace("_", " ")]
    with suppress(LabappError):
        read(gzip.decompress(path.read_bytes()))
