"""Whatever is wrong with a session, the message names it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from labapp.analysis import load
from labapp.base.errors import RecordError
from labapp.record.journal.read import readable
from labapp.session.simulation.simulation_job import simulate_study


def _rows(change: str) -> Callable[[Path], object]:
    def changed(journal: Path) -> None:
        connection = sqlite3.connect(journal)
        with connection:
            connection.execute(change)
        connection.close()

    return changed


DAMAGES: dict[str, Callable[[Path], object]] = {
    "no journal": Path.unlink,
    "an empty one": lambda journal: journal.write_bytes(b""),
    "another file": lambda journal: journal.write_text("nothing"),
    "a part of it": lambda journal: journal.write_bytes(journal.read_bytes()[:20_000]),
    "no rows": _rows("DELETE FROM events"),
    "no first row": _rows("DELETE FROM events WHERE seq = 1"),
    "no table": _rows("DROP TABLE events"),
    "a plan without fields": _rows("UPDATE events SET payload = '{}' WHERE seq = 1"),
    "a row that is no JSON": _rows("UPDATE events SET payload = '{' WHERE seq = 2"),
    "a row that is no object": _rows("UPDATE events SET payload = '3' WHERE seq = 1"),
    "a row of a newer version": _rows("UPDATE events SET v = 99 WHERE seq = 1"),
    "a kind that nobody knows": _rows("UPDATE events SET kind = 'a.b' WHERE seq = 4"),
}


@pytest.fixture(scope="module")
def sessions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("data") / "root"
    simulate_study("quickstart", 2, "understanding", root)
    return root


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_an_analysis_of_a_folder_names_the_session_that_it_cannot_read(
    sessions: Path, tmp_path: Path, damage: Callable[[Path], object]
) -> None:
    for session in sorted(sessions.glob("quickstart/sub-*")):
        copy = tmp_path / "quickstart" / session.name
        copy.mkdir(parents=True)
        (copy / "journal.sqlite").write_bytes((session / "journal.sqlite").read_bytes())
    damage(tmp_path / "quickstart" / session.name / "journal.sqlite")
    with pytest.raises(RecordError, match=session.name):
        load([tmp_path])


def test_a_name_that_is_there_is_not_put_before_again() -> None:
    with pytest.raises(RecordError) as named, readable("data/sub-P1"):
        raise RecordError("sub-P1 is damaged.", todo="Look.")
    assert named.value.what == "sub-P1 is damaged."
    with pytest.raises(RecordError) as added, readable("data/sub-P1"):
        raise RecordError("Event 3 is damaged.", todo="Look.")
    assert (added.value.what, added.value.todo) == ("data/sub-P1: Event 3 is damaged.", "Look.")
