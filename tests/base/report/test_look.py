"""How figures look is asked for in words: lengths, a font, a palette."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labapp.base.errors import UsageError
from labapp.base.figure_style import PALETTES, USUAL_LOOK, Look, looking, panels_across, points_of
from labapp.base.report.page import UNITS, look_of


def test_nothing_asked_is_the_usual_look() -> None:
    assert look_of() == USUAL_LOOK


@given(st.floats(3, 10), st.sampled_from(list(UNITS)))
def test_a_width_is_the_same_in_every_unit(inches: float, unit: str) -> None:
    assert look_of(f"{inches / UNITS[unit]:.6f}{unit}").width_in == pytest.approx(inches, abs=1e-5)


def test_text_is_smaller_in_a_column_and_never_unreadable() -> None:
    with looking(Look(width_in=3.33)):
        assert points_of(9) == 8
        assert points_of(7.5) == points_of(7) == 7
        assert (panels_across(4), panels_across(2), panels_across(7)) == (1, 1, 2)
    with looking(look_of("7in", size="6pt")):
        assert points_of(9) == pytest.approx(6)
    assert points_of(7.5) == 7.5


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"width": "3.33"}, "this is no length"),
        ({"width": "wide"}, "this is no length"),
        ({"width": "3.33 feet"}, "in, cm, mm, pt"),
        ({"width": "1mm"}, "2.5 to 20 in"),
        ({"size": "2pt"}, "4 to 24 pt"),
        ({"palette": "rainbow"}, "labapp, okabe-ito, greys"),
        ({"font": "No Such Font"}, "DejaVu Sans"),
    ],
)
def test_what_cannot_be_is_refused_with_what_can(asked: dict[str, str], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        look_of(**asked)


def test_a_font_is_found_however_it_is_written() -> None:
    assert look_of(font="dejavu serif").font == "DejaVu Serif"


def test_there_is_a_palette_for_the_colour_blind_and_one_without_colour() -> None:
    assert "okabe-ito" in PALETTES
    assert all(len({c[1:3], c[3:5], c[5:7]}) == 1 for c in PALETTES["greys"].cycle)
