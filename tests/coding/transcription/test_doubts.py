"""What may be invented."""

from __future__ import annotations

from labapp.coding.annotations.model import Word
from labapp.coding.transcription.session import doubts_of, is_repeated


def said(text: str, probability: float | None = 0.9, at_ns: int = 0) -> list[Word]:
    return [
        Word(at_ns + n * 10**8, at_ns + (n + 1) * 10**8, word, probability)
        for n, word in enumerate(text.split())
    ]


def test_repetitions_are_found() -> None:
    for text, repeated in {
        "No, no no NO.": True,
        "no, no, no": False,
        "and a bit and a bit and a bit": True,
        "a bit more and a bit more and then left": False,
        "well thank you very much thank you very much thank you very much": True,
        "": False,
    }.items():
        assert is_repeated(text.split()) is repeated, text


def test_each_sign_is_told() -> None:
    voice = [(0, 10**9)]
    assert doubts_of(said("this one makes it taller"), voice) == ()
    assert doubts_of([], voice) == ()
    assert doubts_of(said("this one makes it taller", 0.3), voice) == ("unsure",)
    assert doubts_of(said("this one makes it taller", None), voice) == ()
    assert doubts_of(said("no no no no"), voice) == ("repeated",)
    assert doubts_of(said("thank you", at_ns=5 * 10**9), voice) == ("quiet",)
    assert doubts_of(said("thank you"), []) == ("quiet",)
