"""A session goes on in the real windows wherever it was broken off: a sample over small studies
with every kind of part. `make torture` does it after every kind of event of every kind of part of
all shipped studies."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from labapp.session.resuming import read_verified_events
from labapp.session.simulation.simulation_job import Decoders
from labapp.study.plugins import registry
from tests.torture import studies
from tests.torture.rehearsal import Place, Rehearsal, cut, places, rehearse
from tests.torture.windows import go_on


@pytest.fixture(scope="module")
def rehearsals(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Rehearsal]:
    folder = tmp_path_factory.mktemp("rehearsals")
    decoders = Decoders()
    return {
        name: rehearse(make(folder / name / "study"), folder / name / "data", decoders)
        for name, make in studies.SMALL.items()
    }


def sample(rehearsals: dict[str, Rehearsal]) -> dict[str, list[Place]]:
    """One row for every kind of part, by study; others are for `make torture`."""
    met: set[str] = set()
    chosen: dict[str, list[Place]] = {}
    for name, rehearsal in rehearsals.items():
        by_part: dict[str, list[Place]] = {}
        for place in places(rehearsal):
            by_part.setdefault(place.part, []).append(place)
        new = by_part.keys() - met
        met |= by_part.keys()
        chosen[name] = [rows[len(rows) // 2] for part, rows in by_part.items() if part in new]
    return chosen


def test_the_small_studies_have_every_kind_of_part(rehearsals: dict[str, Rehearsal]) -> None:
    """Whoever makes a new kind of part gives a study that has it to tests.torture.studies."""
    kinds = {
        part["part"]
        for rehearsal in rehearsals.values()
        for part in read_verified_events(rehearsal.folder)[0].payload["plan"]
    }
    assert kinds == set(registry.part_kinds())


@pytest.mark.parametrize("name", studies.SMALL)
def test_it_goes_on(
    rehearsals: dict[str, Rehearsal], name: str, tmp_path: Path, qtbot: QtBot
) -> None:
    rehearsal = rehearsals[name]
    for place in sample(rehearsals)[name]:
        folder = cut(rehearsal, place.seq, tmp_path / str(place.seq))
        outcome = go_on(folder, rehearsal.strategy, tmp_path / "private", rehearsal.warm, 5)
        assert outcome.problems == [], str(place)
        assert outcome.events > 0
