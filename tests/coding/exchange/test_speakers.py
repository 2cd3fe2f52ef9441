"""Who may speak in a unit, by what the moderator noted."""

from __future__ import annotations

from dataclasses import replace

from labapp.base.clock import NS
from labapp.coding.annotations.model import Mark, RaterMarks, Segmentation, SessionAnnotations, Unit
from labapp.coding.exchange.speakers import suggested_speakers


def test_a_prompt_that_was_noted_suggests_the_moderator() -> None:
    """Next to it, and no further away; never where somebody was named already."""
    noted = [Mark("p", "moderator", "prompt", "prompt", 20 * NS, 20 * NS)]
    units = (
        Unit("far", 0, 10 * NS, origin="detector"),
        Unit("near", 21 * NS, 23 * NS, origin="detector"),
        Unit("later", 24 * NS, 26 * NS, origin="detector"),
    )
    known = SessionAnnotations(
        "s", Segmentation(units), raters={"moderator": RaterMarks("moderator", tuple(noted))}
    )
    assert suggested_speakers(known) == {"near": "moderator"}
    assert not known.segmentation.speakers_said
    said = replace(units[1], speaker="moderator")
    known = replace(known, segmentation=Segmentation((units[0], said)))
    assert suggested_speakers(known) == {}
    assert known.segmentation.speakers_said
