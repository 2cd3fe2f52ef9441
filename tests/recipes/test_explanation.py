"""The recipe "add an explanation method"."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from labapp.models.explanations.building import sets
from labapp.models.stimuli import library
from labapp.session.resuming import finished, read_verified_events
from tests.recipes.conftest import Follow


def test_a_method_explains_birds_as_the_page_says(
    follow: Follow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = sets.held_rows
    # As many photos as one set needs; painting two thousand takes most of the time.
    monkeypatch.setattr(sets, "held_rows", lambda *of: replace(whole(*of), per_species=9))
    with follow("explanation") as recipe:
        assert "bird-occlusion" in recipe.outputs["plugins list"]
        assert "birds-occlusion" in recipe.outputs["stimuli list"]
        manifest = library.load("birds-occlusion").manifest
    assert manifest.method.name == "Occlusion"
    assert [len(photo.heatmaps) for photo in manifest.photos] == [4] * 10
    (session,) = (tmp_path / "simulated" / "occlusion-study").glob("sub-*")
    assert finished(read_verified_events(session))
