"""What comes back of a pack is taken in whole or not at all, and changes nothing that is locked."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from labapp.base import resources
from labapp.base.clock import NS
from labapp.base.errors import AnnotationError, AnnotationsBusy
from labapp.coding.annotations import codebook as codebooks
from labapp.coding.annotations import packs, redacting
from labapp.coding.annotations.codebook import Codebook
from labapp.coding.annotations.model import Assignment, RaterMarks, Round, Text, Unit, rater_file
from labapp.coding.annotations.packs import Pack, make_pack, open_pack, receive
from labapp.coding.annotations.redacting import redact
from labapp.coding.annotations.rounds import Draw, save_draw
from labapp.coding.annotations.store import annotations_of, open_marks, open_texts, open_units
from labapp.record.journal.opening import open_record
from tests.helpers.journals import golden_session

UNITS = tuple(Unit(f"u{n}", (20 + 4 * n) * NS, (22 + 4 * n) * NS) for n in range(3))


@pytest.fixture
def sessions(tmp_path: Path) -> list[Path]:
    """Two sessions of which ben codes everything."""
    first = golden_session(tmp_path / "data")
    second = first.with_name(first.name.replace("ses-1", "ses-2"))
    shutil.copytree(first, second)
    book = resources.assets() / "codebooks" / "think-aloud.yaml"
    shutil.copy(book, first.parent / "codebook.yaml")
    for session in (first, second):
        with open_units(session, "anna") as units:
            units.put_all(UNITS)
            units.freeze()
    drawn = (
        Assignment(first.name, "ben", 0, 130 * NS),
        Assignment(second.name, "ben", 0, 30 * NS),  # else both packed sessions were the same
    )
    save_draw(first.parent, Draw("d", ("ben",), 0, 1, drawn, 2, 0))
    return [first, second]


@pytest.fixture
def book(sessions: list[Path]) -> Codebook:
    return codebooks.read(sessions[0].parent / "codebook.yaml")


def handed_over(study: Path, tmp_path: Path) -> Pack:
    """A pack for ben, on another computer."""
    report = make_pack(study, "ben", tmp_path / "ben.zip")
    there = tmp_path / "elsewhere"
    there.mkdir()
    return open_pack(Path(shutil.copy(report.file, there)))


def give(
    session: Path, book: Codebook, code: str, unit: str, round_: Round = "independent"
) -> None:
    with open_marks(session, "ben", book, round=round_) as marks:
        marks.give(code, unit=unit)
        marks.set_status("done")


@pytest.fixture
def session(sessions: list[Path]) -> Path:
    return sessions[0]


@pytest.fixture
def pack(session: Path, tmp_path: Path, book: Codebook) -> Pack:
    """On another computer, where ben has given a code in the first session."""
    opened = handed_over(session.parent, tmp_path)
    give(opened.folder / session.name, book, "explore", "u0")
    return opened


def bens(session: Path) -> RaterMarks:
    return annotations_of(open_record(session)).raters["ben"]


def test_a_locked_round_takes_nothing_in_whichever_round_was_opened_last(
    session: Path, pack: Pack, book: Codebook
) -> None:
    receive(session.parent, pack.folder)
    with open_marks(session, "ben", book) as marks:
        marks.set_status("locked")
    with open_marks(pack.folder / session.name, "ben", book) as marks:
        marks.give("goal", unit="u0")
    give(pack.folder / session.name, book, "goal", "u1", "training")
    with pytest.raises(AnnotationError, match="are locked"):
        receive(session.parent, pack.folder)
    assert [m.code for m in bens(session).marks] == ["explore"]
    assert bens(session).status_of("independent") == "locked"


def test_training_is_taken_in_beside_a_locked_round(
    session: Path, pack: Pack, book: Codebook
) -> None:
    receive(session.parent, pack.folder)
    with open_marks(session, "ben", book) as marks:
        marks.set_status("locked")
    give(pack.folder / session.name, book, "goal", "u1", "training")
    receive(session.parent, pack.folder)
    assert [(m.code, m.round) for m in bens(session).marks] == [
        ("explore", "independent"),
        ("goal", "training"),
    ]
    assert bens(session).status_of("independent") == "locked"


def test_of_several_sessions_all_are_taken_in_or_none(
    sessions: list[Path], tmp_path: Path, book: Codebook
) -> None:
    study = sessions[0].parent
    pack = handed_over(study, tmp_path)
    for session in sessions:
        give(pack.folder / session.name, book, "explore", "u0")
    with open_marks(sessions[1], "ben", book), pytest.raises(AnnotationsBusy):
        receive(study, pack.folder)
    assert not rater_file(sessions[0], "ben").exists()
    assert [entry.marks for entry in receive(study, pack.folder)] == [1, 1]


def test_nobody_writes_between_reading_and_merging(
    session: Path, pack: Pack, book: Codebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    give(session, book, "goal", "u1")
    merged = packs.merged

    def busy(*lines: Any) -> Any:
        with pytest.raises(AnnotationsBusy):
            give(session, book, "goal", "u2")
        return merged(*lines)

    monkeypatch.setattr(packs, "merged", busy)
    receive(session.parent, pack.folder)
    assert [m.unit for m in bens(session).marks] == ["u0", "u1"]


def test_nobody_writes_between_reading_and_redacting(
    sessions: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    session = sessions[0]
    with open_texts(session, "anna") as texts:
        texts.put(Text("u0", "Jane was here"))
    shown_texts = redacting.shown_texts

    def busy(*given: Any) -> Any:
        with pytest.raises(AnnotationsBusy), open_texts(session, "anna") as texts:
            texts.put(Text("u1", "written meanwhile"))
        return shown_texts(*given)

    monkeypatch.setattr(redacting, "shown_texts", busy)
    redact(session, 20 * NS, 21 * NS, "anna")
    texts_now = annotations_of(open_record(session)).texts
    assert {unit: text.text for unit, text in texts_now.items()} == {"u0": "[…]"}


def test_what_was_cut_off_on_the_way_is_told(session: Path, pack: Pack, book: Codebook) -> None:
    path = rater_file(pack.folder / session.name, "ben")
    path.write_bytes(path.read_bytes()[:-20])
    (received,) = receive(session.parent, path)
    assert "cut off" in received.remark
    assert received.status == "draft"


def test_a_rater_who_is_called_like_another_is_refused(
    session: Path, pack: Pack, book: Codebook
) -> None:
    with open_marks(session, "Ben", book) as marks:
        marks.give("goal", unit="u1")
    with pytest.raises(AnnotationError, match="There is a rater 'Ben'"):
        receive(session.parent, pack.folder)
    assert not rater_file(session, "ben").exists()
