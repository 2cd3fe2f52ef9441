"""Ids that still say what a thing is called in another script."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labapp.base.documents import WORD
from labapp.coding.exchange.refi import id_of


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("Gefühle & Ärger", "gefuehle_aerger"),
        ("Émotion", "emotion"),
        ("frohlich", "frohlich"),
        ("fröhlich", "froehlich"),
        ("Łódź, Straße, Ørsted", "lodz_strasse_orsted"),
        ("Неуверенность", "neuverennost"),
        ("Ελπίδα", "elpida"),
        ("감정", "gamjeong"),
        ("かなしい", "kanasii"),
        ("感情", "u611fu60c5"),
        ("2nd try", "code_2nd_try"),
        ("😀", "code"),
    ],
)
def test_letters_are_written_in_latin(name: str, own: str) -> None:
    assert id_of(name, "code", ()) == own
    assert id_of(unicodedata.normalize("NFD", name), "code", ()) == own


@given(st.text(max_size=90), st.sets(st.sampled_from(["code", "a", "code_2"])))
def test_every_id_is_one_that_a_codebook_takes_and_nobody_has(name: str, taken: set[str]) -> None:
    own = id_of(name, "code", taken)
    assert re.fullmatch(WORD, own)
    assert own not in taken
