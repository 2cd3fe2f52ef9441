"""The recipe "add a data set"."""

from __future__ import annotations

from pathlib import Path

from labapp.session.resuming import finished, read_verified_events
from tests.recipes.conftest import Follow


def test_pictures_become_a_study_as_the_page_says(follow: Follow, tmp_path: Path) -> None:
    with follow("data-set") as recipe:
        assert "Discs and squares" in recipe.outputs["models show own/shapes"]
    (session,) = (tmp_path / "simulated" / "shapes-study").glob("sub-*")
    events = read_verified_events(session)
    assert finished(events)
    drawn = [event.payload for event in events if event.kind == "stimulus.drawn"]
    assert {stimulus["truth"] for stimulus in drawn} == {"disc", "square"}
