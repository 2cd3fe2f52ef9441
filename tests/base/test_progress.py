"""A line every ten seconds where nobody sees a bar."""

from __future__ import annotations

import threading

import pytest

from labapp.base import progress


def test_a_line_says_how_far_work_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    printed = threading.Event()
    texts: list[str] = []

    def say_line(text: str, *, err: bool) -> None:
        texts.append(text)
        assert err
        printed.set()

    monkeypatch.setattr(progress, "EVERY_S", 0.01)
    monkeypatch.setattr(progress, "say_line", say_line)
    with progress.lines("beginning") as tell:
        assert printed.wait(60)
        assert texts[-1] == "0:00        beginning"
        tell(0.42, "simulated P03")
        while not texts[-1].endswith("P03"):
            printed.clear()
            assert printed.wait(60)
        assert texts[-1] == "0:00   42%  simulated P03"
    count = len(texts)
    assert not [each for each in threading.enumerate() if each.name == "progress"]
    assert len(texts) == count


def test_quick_work_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with progress.lines("work") as tell:
        tell(0.5, "half")
    assert capsys.readouterr().err == ""
