"""Whether windows can be shown is found out once, also by the processes that a window begins."""

from __future__ import annotations

import os

import pytest

from labapp.ui import qtapp


@pytest.fixture(autouse=True)
def _anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(qtapp.sys, "platform", "linux")
    monkeypatch.setenv("DISPLAY", ":42")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setenv("QT_QPA_PLATFORM", "")
    monkeypatch.delenv(qtapp.ANSWERED, raising=False)
    qtapp.choose.cache_clear()
    yield
    qtapp.choose.cache_clear()


def test_a_process_of_a_window_does_not_try_the_display_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(qtapp, "_probe", lambda: None)
    assert qtapp.choose().visible
    told = qtapp.make_child_environment()
    assert told
    qtapp.choose.cache_clear()
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(qtapp, "_probe", lambda: pytest.fail("it was tried again"))
    assert qtapp.choose().visible


def test_another_display_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(qtapp, "_probe", lambda: None)
    for name, value in qtapp.make_child_environment().items():
        monkeypatch.setenv(name, value)
    qtapp.choose.cache_clear()
    monkeypatch.setenv("DISPLAY", ":43")
    monkeypatch.setattr(qtapp, "_probe", lambda: "no answer")
    assert not qtapp.choose().visible
    assert qtapp.make_child_environment() == {}


def test_pictures_for_files_keep_the_screens_that_were_chosen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[str] = []
    monkeypatch.setattr(qtapp, "make_app", lambda: made.append(os.environ["QT_QPA_PLATFORM"]))
    for platform in ("offscreen:configfile=screens.json", "xcb", ""):
        monkeypatch.setenv("QT_QPA_PLATFORM", platform)
        qtapp.make_offscreen_app()
    assert made == ["offscreen:configfile=screens.json", "offscreen", "offscreen"]
