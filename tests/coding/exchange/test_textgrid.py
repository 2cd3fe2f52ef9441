"""TextGrids as Praat reads them."""

from __future__ import annotations

from pathlib import Path

import pytest

from labapp.base.errors import ExchangeError
from labapp.coding.exchange import textgrid
from labapp.coding.exchange.incoming import read
from labapp.coding.exchange.model import Arrival

CASES = Path(__file__).resolve().parents[2] / "cases"
NS = 1_000_000_000
SHORT = 'File type = "ooTextFile"\nObject class = "TextGrid"\n\n'
TIER = '"IntervalTier" "speech: participant"'


def units(arrived: Arrival) -> list[tuple[float, float, str]]:
    return [(u.t0_ns / NS, u.t1_ns / NS, u.text) for u in arrived.utterances]


@pytest.mark.parametrize("case", ["g7_comment", "g15_plus"])
def test_signs_and_comments_are_read(case: str) -> None:
    (arrived,) = read(CASES / f"textgrid-forms/{case}.TextGrid").arrivals
    assert units(arrived) == [(1.0, 4.0, 'größer "jetzt"')]


@pytest.mark.parametrize(
    "grid",
    [
        SHORT + f'0 60 <exists> 1 {TIER} 0 60 3  0 150% "" 150% +4e0 "so" 4 60 ""',
        SHORT + f'-2 60 <exists> 1 {TIER} -2 60 3\n-2 1.5 ""\n1.5 4 "so"\n4 60 ""\n',
        SHORT + f'0 ! "3" tiers\n60 <exists> 1 {TIER} 0 60 1 !two\n1.5 4 "so"',
        (
            '"Praat chronological TextGrid text file"\n0 60   ! Time domain.\n'
            f'2   ! Number of tiers.\n{TIER} 0 60\n"TextTier" "affect / insight" 0 60\n\n'
            '1 0 1.5\n""\n\n1 1.5 4\n"so"\n\n2 2.5\n"!"\n\n1 4 60\n""\n'
        ),
    ],
    ids=["percent", "negative", "comment", "chronological"],
)
def test_other_forms_say_the_same(grid: str) -> None:
    (arrived,) = textgrid.read(grid.encode(), "a.TextGrid")
    assert units(arrived) == [(1.5, 4.0, "so")]
    points = [(a.tier, a.t0_ns / NS) for a in arrived.annotations]
    assert points == ([("affect", 2.5)] if "chronological" in grid else [])


@pytest.mark.parametrize("entry", ['3 0 1 ""', "1 0", "0 0 1"])
def test_a_chronological_file_that_is_damaged_is_refused(entry: str) -> None:
    grid = f'"Praat chronological TextGrid text file"\n0 60\n1\n{TIER} 0 60\n{entry}\n'
    with pytest.raises(ExchangeError):
        textgrid.read(grid.encode(), "a.TextGrid")


@pytest.mark.parametrize("number", ["1/2", "0x0.8", "0X1p-1", "5.0/+2.0"])
def test_a_number_that_would_be_read_as_another_one_is_refused(number: str) -> None:
    grid = SHORT + f'0 60 <exists> 1 {TIER} 0 60 1  {number} 4 "so"'
    with pytest.raises(ExchangeError, match=f"number should be where '{number[:3]}"):
        textgrid.read(grid.encode(), "a.TextGrid")
