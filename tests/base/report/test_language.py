"""The report's words in another language: what an entry fits, what stays as it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labapp.base.report.page import (
    Translation,
    Verbatim,
    heading,
    links,
    paragraph,
    say,
    speaking,
    spoken,
    table,
)

WORDS = {
    ".": ",",
    ",": ".",
    "Mean": "Mittel",
    "none": "keine",
    "{a:n} sessions": "{a} Sitzungen",
    "{a} of {b}, written {c:x}.": "{a} von {b}, geschrieben {c}.",
    "median {a:n}, n = {b:n}": "Median {a}, n = {b}",
    "Study {a:x}": "Studie {a}",
    "First thing. Second thing of {a:n}.": "Erstes. Zweites von {a}.",
}


@pytest.fixture
def german() -> Translation:
    return Translation("de", WORDS)


@pytest.mark.parametrize(
    ("english", "said"),
    [
        ("Mean", "Mittel"),
        ("mean", "mean"),
        ("12 sessions", "12 Sitzungen"),
        ("twelve sessions", "twelve sessions"),
        ("1,234.5", "1.234,5"),
        ("0.54 ± 1.2", "0,54 ± 1,2"),
        ("median 3.25, n = 1,200", "Median 3,25, n = 1.200"),
        (
            "3 sessions of none, written 2026-01-02.",
            "3 Sitzungen von keine, geschrieben 2026-01-02.",
        ),
        ("Study Mean", "Studie Mean"),
        ("Second thing of 1.5.", "Zweites von 1,5."),
        ("Unknown words. First thing.", "Unknown words. Erstes."),
        ("12:05", "12:05"),
        ("2026-01-02", "2026-01-02"),
        ("labapp 0.1.0", "labapp 0.1.0"),
    ],
)
def test_a_text_is_translated_as_far_as_an_entry_fits(
    german: Translation, english: str, said: str
) -> None:
    assert german.say(english) == said


def test_a_line_break_in_a_label_is_no_other_text(german: Translation) -> None:
    assert german.say("First\nthing.") == "Erstes."
    assert german.say("dsprites/gt\nn = 3") == "dsprites/gt\nn = 3"


@given(st.text())
def test_no_text_breaks_it(text: str) -> None:
    Translation("de", WORDS).say(text)


@given(st.text())
def test_what_people_wrote_is_never_changed(text: str) -> None:
    with speaking(Translation("de", WORDS)):
        assert say(Verbatim(text)) == text


def test_a_page_speaks_it_and_keeps_what_people_wrote(german: Translation) -> None:
    with speaking(german):
        assert spoken() == "de"
        shown = table(("Mean", "x"), [(Verbatim("none"), "none"), ("2 sessions", 1.5)])
        assert ">Mittel<" in shown
        assert ">none<" in shown
        assert ">keine<" in shown
        assert ">2 Sitzungen<" in shown
        assert ">1,5<" in shown
    assert "Mean" in paragraph("Mean"), "English again"
    assert spoken() == "en"


def test_what_a_browser_reads_is_not_translated() -> None:
    with speaking(Translation("de", {"note": "Notiz", "who": "wer"})):
        shown = paragraph("note", "note") + heading(2, "who", "who") + links([("who", "who")])
    assert '<p class="note">Notiz</p>' in shown
    assert '<h2 id="who">wer</h2>' in shown
    assert '<a href="#who">wer</a>' in shown
