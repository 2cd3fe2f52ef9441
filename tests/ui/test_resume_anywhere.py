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
from tests.helpers.nightly import EVERYTHING
from tests.torture import studies
from tests.torture.rehearsal import Place, Rehearsal, cut, places, rehearse
from tests.torture.windows import go_on

ORDER = sorted(studies.SMALL, key=lambda name: name != "masked")
"""First that which `make test` resumes: it is looked at without the others."""


class Rehearsals(dict[str, Rehearsal]):
    """By study, each simulated when it is first asked for."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder, self.decoders = folder, Decoders()

    def __missing__(self, name: str) -> Rehearsal:
        folder = self.folder / name
        study = studies.SMALL[name](folder / "study")
        self[name] = rehearse(study, folder / "data", self.decoders)
        return self[name]


@pytest.fixture(scope="module")
def rehearsals(tmp_path_factory: pytest.TempPathFactory) -> Rehearsals:
    return Rehearsals(tmp_path_factory.mktemp("rehearsals"))


def sample(rehearsals: Rehearsals, study: str) -> list[Place]:
    """One row of a study for every kind of part that no study before it has; others are for
    `make torture`."""
    met: set[str] = set()
    for name in ORDER[: ORDER.index(study)]:
        met |= {place.part for place in places(rehearsals[name])}
    by_part: dict[str, list[Place]] = {}
    for place in places(rehearsals[study]):
        by_part.setdefault(place.part, []).append(place)
    return [rows[len(rows) // 2] for part, rows in by_part.items() if part not in met]


def test_the_small_studies_have_every_kind_of_part(rehearsals: Rehearsals) -> None:
    """Whoever makes a new kind of part gives a study that has it to tests.torture.studies."""
    kinds = {
        part["part"]
        for name in ORDER
        for part in read_verified_events(rehearsals[name].folder)[0].payload["plan"]
    }
    assert kinds == set(registry.part_kinds())


@pytest.mark.parametrize("name", ORDER)
def test_it_goes_on(rehearsals: Rehearsals, name: str, tmp_path: Path, qtbot: QtBot) -> None:
    rehearsal = rehearsals[name]
    chosen = sample(rehearsals, name)
    for place in chosen if EVERYTHING else chosen[-1:]:
        folder = cut(rehearsal, place.seq, tmp_path / str(place.seq))
        outcome = go_on(folder, rehearsal.strategy, tmp_path / "private", rehearsal.warm, 5)
        assert outcome.problems == [], str(place)
        assert outcome.events > 0
