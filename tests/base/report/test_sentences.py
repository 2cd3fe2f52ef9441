"""Sentences of the report: the same in every language, with the numbers of their rows alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labapp.analysis.statistic import Statistic
from labapp.base import resources
from labapp.base.errors import SetupError
from labapp.base.report.listing import FILE, catalogue, check, sentence
from labapp.base.report.page import ENGLISH, Translation, Verbatim, speaking

NUMBERS = st.floats(-1e4, 1e4).filter(lambda value: abs(value) > 1e-3)
LANGUAGES = (ENGLISH, "de")


def spoken(language: str, templates: dict[str, str] | None = None) -> Translation | None:
    if language == ENGLISH:
        return None
    return Translation(language, {".": ",", ",": "."}, templates or {})


def test_every_language_has_every_sentence_with_the_same_values() -> None:
    for language in LANGUAGES:
        assert catalogue(language).keys() == catalogue(ENGLISH).keys()
        check(catalogue(language), "")
    assert catalogue("fr") == {}


def rounded(text: str) -> Iterator[float]:
    for number in re.findall(r"[−-]?\d[\d,]*(?:\.\d+)?|[−-]?\.\d+", text):
        yield float(number.replace(",", "").replace("−", "-"))


@given(
    values=st.lists(NUMBERS, min_size=7, max_size=7),
    p=st.lists(st.floats(0.001, 1), min_size=2, max_size=2),
)
def test_every_number_of_a_sentence_is_of_its_row(values: list[float], p: list[float]) -> None:
    """Of two and one side, and of equivalence; no row has the numbers of another."""
    names = ("statistic", "df", "difference", "standard_error", "low", "high", "bound")
    row = Statistic(test="t", contrast="a less b", direction="two-sided", p=p[0], p_corrected=p[1])
    cells: dict[str, Any] = {
        name: abs(value) if name in ("df", "bound") else value
        for name, value in zip(names, values, strict=True)
    }
    row = replace(row, **cells)
    own = [getattr(row, each.name) for each in fields(Statistic)]
    known = [abs(value) for value in own if isinstance(value, float)]
    for name in ("design.contrast", "design.hypothesis", "design.equivalence"):
        test = sentence("design.test", letter="t", test=row)
        text = sentence(name, row=row, test=test, unit="")
        assert isinstance(text, Verbatim)
        numbers = list(rounded(re.sub(r"9[05] %", "", text)))
        assert len(numbers) >= 4
        for number in numbers:
            assert any(abs(abs(number) - value) <= 0.51 * 10 ** -_digits(value) for value in known)


def _digits(value: float) -> int:
    """Decimals with which the greatest of these are written at least."""
    return 0 if value >= 1000 else 1 if value >= 100 else 2


def test_numbers_are_written_as_the_language_writes_them() -> None:
    row = Statistic(test="F", statistic=1234.5, df=2, df_2=10.25, p=0.0423)
    assert sentence("design.test", letter="F", test=row) == "F(2, 10.25) = 1,234, p = .042"
    with speaking(spoken("de")):
        assert sentence("design.test", letter="F", test=row) == "F(2; 10,25) = 1.234, p = ,042"


def test_a_language_without_a_sentence_has_it_in_english_and_says_so() -> None:
    row = Statistic(test="F", statistic=2.5, df=2, df_2=10, p=0.5)
    french = Translation("fr", {".": ",", ",": " "})
    with speaking(french):
        assert sentence("design.test", letter="F", test=row) == "F(2, 10) = 2,50, p = ,500"
    assert french.missing == {"design.test"}
    own = {"design.test": "{{ letter }} vaut {{ test.statistic|decimal(1) }}"}
    check(own, "")
    with speaking(Translation("fr", {".": ",", ",": " "}, own)):
        assert sentence("design.test", letter="F", test=row) == "F vaut 2,5"


@pytest.mark.parametrize(
    ("template", "told"),
    [
        ("{{ tests }}", "there is no tests"),
        ("{% if %}", "line 1"),
        ("{{ letter|shout }}", "No filter named 'shout'"),
    ],
)
def test_a_template_of_ones_own_is_checked(template: str, told: str) -> None:
    with pytest.raises(SetupError, match=told):
        check({"design.test": template}, "Correct it.")


@pytest.mark.parametrize("reached", ["test.nothing", "test.p|df|df", "test.__class__.__mro__"])
def test_a_template_of_ones_own_reaches_its_row_and_no_program(reached: str) -> None:
    own = {"design.test": f"{{{{ {reached} }}}} {{{{ letter }}}}"}
    check(own, "")
    with speaking(spoken("de", own)), pytest.raises(SetupError, match=r"'design\.test'"):
        sentence("design.test", letter="F", test=Statistic(p=0.5))


def test_the_catalogues_lie_beside_the_texts_of_their_languages() -> None:
    texts = resources.assets() / "texts"
    assert sorted(path.parent.name for path in texts.glob(f"*/{FILE}")) == sorted(LANGUAGES)
