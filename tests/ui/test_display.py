"""Whether windows can be shown is found out once, also by the processes that a window begins."""

from __future__ import annotations

import pytest

from labapp.ui import display


@pytest.fixture(autouse=True)
def _anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(display.sys, "platform", "linux")
    monkeypatch.setenv("DISPLAY", ":42")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setenv("QT_QPA_PLATFORM", "")
    monkeypatch.delenv(display.ANSWERED, raising=False)
    display.choose.cache_clear()
    yield
    display.choose.cache_clear()


def test_a_process_of_a_window_does_not_try_the_display_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(display, "_probe", lambda: None)
    assert display.choose().visible
    told = display.answered()
    assert told
    display.choose.cache_clear()
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(display, "_probe", lambda: pytest.fail("it was tried again"))
    assert display.choose().visible


def test_another_display_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(display, "_probe", lambda: None)
    for name, value in display.answered().items():
        monkeypatch.setenv(name, value)
    display.choose.cache_clear()
    monkeypatch.setenv("DISPLAY", ":43")
    monkeypatch.setattr(display, "_probe", lambda: "no answer")
    assert not display.choose().visible
    assert display.answered() == {}
