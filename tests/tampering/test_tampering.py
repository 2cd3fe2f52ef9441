"""What somebody changes is noticed, or stands in the list of what cannot be noticed yet."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tampering.catalogue import BACKUP, INSIDER, Manipulation, catalogue
from tests.tampering.places import Places, copied, make
from tests.tampering.table import judged

CATALOGUE = catalogue()


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Places:
    return make(tmp_path_factory.mktemp("tampering"))


def test_there_are_many_and_what_is_not_noticed_has_one_of_few_reasons() -> None:
    assert len(CATALOGUE) >= 93
    assert {one.unnoticed for one in CATALOGUE} == {"", INSIDER, BACKUP}
    assert all(one.sentence.endswith(".") for one in CATALOGUE)


def test_what_nobody_touched_is_whole(places: Places) -> None:
    for path in (
        places.session,
        places.other,
        places.bundle,
        places.archive,
        places.killed,
        places.coded,
    ):
        assert judged(path)[0] == [], path
    assert judged(places.bundle)[1] == []
    assert len(judged(places.killed)[1]) == 1


@pytest.mark.parametrize("done", CATALOGUE, ids=[one.name for one in CATALOGUE])
def test_tampering(done: Manipulation, places: Places, tmp_path: Path) -> None:
    problems, notes = judged(done.do(copied(places, tmp_path, done.needs)))
    if done.told:
        assert any(done.told in problem for problem in problems), (problems, notes)
        return
    # A sentence in the list that a later version makes untrue has to leave it.
    assert problems == []
    if done.noted:
        assert any(done.noted.casefold() in note.casefold() for note in notes), notes
    else:
        assert notes == []
