"""ELAN's files as ELAN writes them: tiers below others, and times that are not written down."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from labapp.coding.exchange import eaf
from labapp.coding.exchange.incoming import read
from labapp.coding.exchange.model import Arrival

CASES = Path(__file__).resolve().parents[2] / "cases"
NS = 1_000_000_000
TYPES = "".join(
    f'<LINGUISTIC_TYPE LINGUISTIC_TYPE_ID="{name}" CONSTRAINTS="{name}"/>'
    for name in ("Symbolic_Association", "Symbolic_Subdivision", "Time_Subdivision")
)


def document(slots: Sequence[int | None], *tiers: str) -> Arrival:
    """A file with time slots 1, 2, …; None for one without a time."""
    order = "".join(
        f'<TIME_SLOT TIME_SLOT_ID="{number}"'
        + (f' TIME_VALUE="{at}"/>' if at is not None else "/>")
        for number, at in enumerate(slots, start=1)
    )
    text = f"<TIME_ORDER>{order}</TIME_ORDER>{''.join(tiers)}{TYPES}"
    content = f"<ANNOTATION_DOCUMENT>{text}</ANNOTATION_DOCUMENT>".encode()
    (arrived,) = eaf.read(content, "a.eaf")
    return arrived


def tier(name: str, rows: str, kind: str = "", parent: str = "") -> str:
    below = f' PARENT_REF="{parent}"' if parent else ""
    return f'<TIER TIER_ID="{name}" LINGUISTIC_TYPE_REF="{kind}"{below}>{rows}</TIER>'


def timed(own: str, begin: int, end: int, value: str = "") -> str:
    return (
        f'<ANNOTATION><ALIGNABLE_ANNOTATION ANNOTATION_ID="{own}" TIME_SLOT_REF1="{begin}" '
        f'TIME_SLOT_REF2="{end}"><ANNOTATION_VALUE>{value or own}</ANNOTATION_VALUE>'
        "</ALIGNABLE_ANNOTATION></ANNOTATION>"
    )


def on(own: str, parent: str, previous: str = "") -> str:
    before = f' PREVIOUS_ANNOTATION="{previous}"' if previous else ""
    return (
        f'<ANNOTATION><REF_ANNOTATION ANNOTATION_ID="{own}" ANNOTATION_REF="{parent}"{before}>'
        f"<ANNOTATION_VALUE>{own}</ANNOTATION_VALUE></REF_ANNOTATION></ANNOTATION>"
    )


def codes(arrived: Arrival) -> list[tuple[str, str, float, float]]:
    return [(a.tier, a.code, a.t0_ns / NS, a.t1_ns / NS) for a in arrived.annotations]


SPEECH = tier("speech: participant", timed("a", 1, 2) + timed("b", 3, 4))


def test_an_annotation_on_another_has_its_time() -> None:
    (arrived,) = read(CASES / "eaf-child-tiers/e1_assoc.eaf").arrivals
    assert codes(arrived) == [
        ("affect", "uncertain", 1.0, 4.0),
        ("affect", "frustrated", 5.0, 9.0),
    ]
    assert not arrived.lost


def test_through_levels_and_in_any_order_of_tiers() -> None:
    arrived = document(
        [1000, 4000, 5000, 9000],
        tier("why", on("d", "c"), "Symbolic_Association", "affect"),
        tier("affect", on("c", "a"), "Symbolic_Association", "speech: participant"),
        SPEECH,
    )
    assert codes(arrived) == [("why", "d", 1.0, 4.0), ("affect", "c", 1.0, 4.0)]


def test_what_divides_an_annotation_is_evenly_spaced() -> None:
    rows = on("e", "a", "d") + on("c", "a") + on("d", "a", "c")
    arrived = document(
        [1000, 4000, 5000, 9000],
        SPEECH,
        tier("steps", rows, "Symbolic_Subdivision", "speech: participant"),
    )
    assert codes(arrived) == [
        ("steps", "c", 1.0, 2.0),
        ("steps", "d", 2.0, 3.0),
        ("steps", "e", 3.0, 4.0),
    ]


def test_so_are_slots_without_times() -> None:
    rows = timed("c", 1, 5) + timed("d", 5, 6) + timed("e", 6, 2) + timed("f", 3, 4)
    arrived = document(
        [1000, 4000, 5000, 9000, None, None, None],
        SPEECH,
        tier("steps", rows, "Time_Subdivision", "speech: participant"),
        tier("parts", timed("g", 5, 7) + timed("h", 7, 6), "Time_Subdivision", "steps"),
    )
    assert sorted(codes(arrived), key=lambda row: row[1]) == [
        ("steps", "c", 1.0, 2.0),
        ("steps", "d", 2.0, 3.0),
        ("steps", "e", 3.0, 4.0),
        ("steps", "f", 5.0, 9.0),
        ("parts", "g", 2.0, 2.5),
        ("parts", "h", 2.5, 3.0),
    ]


@pytest.mark.parametrize("rows", [timed("c", 1, 5), on("c", "nobody"), on("c", "c")])
def test_what_has_no_time_is_named(rows: str) -> None:
    arrived = document([1000, 4000, 5000, 9000, None], tier("affect", rows, "", "affect"), SPEECH)
    assert arrived.lost == ("tier 'affect': 'c' has no times",)


def test_an_end_before_its_beginning_is_named_as_that() -> None:
    (arrived,) = read(CASES / "eaf-reversed/e6_reversed.eaf").arrivals
    why = "'backwards' ends at 1.000 s, before it begins at 4.000 s"
    assert arrived.lost == (f"tier 'speech: participant': {why}",)
    arrived = document(
        [4000, 1000], tier("affect", timed("a", 1, 2)), tier("why", on("b", "a"), "", "affect")
    )
    assert arrived.lost == (
        "tier 'affect': 'a' ends at 1.000 s, before it begins at 4.000 s",
        "tier 'why': 'b' ends at 1.000 s, before it begins at 4.000 s",
    )


def test_an_annotation_within_another_one_is_not_passed_over() -> None:
    deeper = timed("c", 3, 4)
    nested = timed("b", 2, 3).replace("</ANNOTATION>", deeper + "</ANNOTATION>")
    outer = timed("a", 1, 2).replace("</ANNOTATION>", nested + "</ANNOTATION>")
    arrived = document([0, 1000, 2000, 3000], tier("goal", outer))
    assert codes(arrived) == [("goal", "a", 0, 1), ("goal", "b", 1, 2), ("goal", "c", 2, 3)]
    assert not arrived.lost
