"""Opening, reading and refusing the annotations of a session."""

from __future__ import annotations

from pathlib import Path

import pytest

from labapp.base import resources
from labapp.base.clock import NS
from labapp.base.errors import AnnotationError, AnnotationsBusy
from labapp.coding.annotations import codebook as codebooks
from labapp.coding.annotations import store
from labapp.coding.annotations.codebook import Codebook
from labapp.coding.annotations.model import Mark, Text, Unit, annotations_folder, rater_file
from labapp.record.journal.opening import open_record
from tests.helpers.journals import golden_session

FIRST, SECOND = Unit("a", NS, 2 * NS), Unit("b", 2 * NS, 4 * NS)


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """A session nobody has coded yet."""
    return golden_session(tmp_path / "data")


@pytest.fixture
def book() -> Codebook:
    """The codebook that is shipped."""
    return codebooks.read(resources.assets() / "codebooks" / "think-aloud.yaml")


@pytest.fixture
def frozen(session: Path) -> Path:
    """A session with two frozen units."""
    with store.open_units(session, "anna") as units:
        units.put_all([FIRST, SECOND])
        units.freeze()
    return session


def test_what_was_coded_is_read_again(frozen: Path, book: Codebook) -> None:
    with store.open_texts(frozen, "anna") as texts:
        texts.put(Text("a", "let me try"))
        texts.review("a")
    with store.open_marks(frozen, "ben", book) as marks:
        explore = marks.give("explore", unit="a")
        point = marks.give("insight", t0_ns=3 * NS, memo="ah")
        marks.set_status("done")
    annotations = store.annotations_of(open_record(frozen))
    assert annotations.segmentation.units == (FIRST, SECOND)
    assert annotations.segmentation.frozen
    assert annotations.texts["a"] == Text("a", "let me try", by="anna", reviewed=True)
    assert annotations.raters["ben"].marks == (explore, point)
    assert annotations.raters["ben"].status == "done"
    assert (explore.t0_ns, explore.t1_ns) == (FIRST.t0_ns, FIRST.t1_ns)
    assert explore.codebook == book.sha256
    assert store.codebooks_in(open_record(frozen)) == {book.sha256: book}


def test_what_the_moderator_wrote_down_are_marks(session: Path) -> None:
    marks = store.annotations_of(open_record(session)).raters["moderator"]
    assert marks.machine
    assert [(mark.tier, mark.code, mark.memo) for mark in marks.marks]


def test_units_that_are_not_frozen_cannot_be_coded(session: Path, book: Codebook) -> None:
    with pytest.raises(AnnotationError, match="has no units yet") as refused:
        store.open_marks(session, "anna", book)
    assert "labapp code segment" in refused.value.todo
    with store.open_units(session, "anna") as units:
        units.put(FIRST)
    with pytest.raises(AnnotationError, match="not frozen"):
        store.open_marks(session, "anna", book)
    assert not rater_file(session, "anna").exists()


def test_two_windows_do_not_write_one_file(frozen: Path, book: Codebook) -> None:
    with store.open_marks(frozen, "anna", book):
        with pytest.raises(AnnotationsBusy):
            store.open_marks(frozen, "anna", book)
        store.open_marks(frozen, "ben", book).close()
    store.open_marks(frozen, "anna", book).close()


def test_a_file_of_another_session_is_refused(frozen: Path, book: Codebook, tmp_path: Path) -> None:
    store.open_marks(frozen, "anna", book).close()
    other = golden_session(tmp_path / "other")
    (other / "journal.sqlite").unlink()
    from tests.helpers.golden import golden_builder

    builder = golden_builder()
    builder.rows = builder.rows[:-1]
    from tests.helpers.journals import write_journal

    write_journal(other / "journal.sqlite", sorted(builder.rows, key=lambda row: row[0])[:-1])
    target = rater_file(other, "anna")
    target.parent.mkdir(parents=True)
    target.write_bytes(rater_file(frozen, "anna").read_bytes())
    with pytest.raises(AnnotationError, match="journal is not the one that was coded"):
        store.annotations_of(open_record(other))


def test_sound_that_was_changed_is_refused(frozen: Path, book: Codebook) -> None:
    store.open_marks(frozen, "anna", book).close()
    sound = next(iter(sorted((frozen / "audio").glob("*.wav"))))
    content = bytearray(sound.read_bytes())
    content[-2] ^= 1
    sound.write_bytes(content)
    with pytest.raises(AnnotationError, match=f"{sound.name} is not the one that was coded"):
        store.open_marks(frozen, "anna", book)


def test_a_file_under_another_name_is_refused(frozen: Path, book: Codebook) -> None:
    store.open_marks(frozen, "anna", book).close()
    rater_file(frozen, "anna").rename(rater_file(frozen, "ben"))
    with pytest.raises(AnnotationError, match="those of anna"):
        store.open_marks(frozen, "ben", book)


@pytest.mark.parametrize("name", ["", "an na", "ä", "a" * 41, "moderator", "Moderator", "nul", "."])
def test_names_that_no_rater_can_have(frozen: Path, book: Codebook, name: str) -> None:
    with pytest.raises(AnnotationError):
        store.open_marks(frozen, name, book)


def test_two_raters_are_not_told_apart_by_capitals(frozen: Path, book: Codebook) -> None:
    store.open_marks(frozen, "anna", book).close()
    with pytest.raises(AnnotationError, match="There is a rater 'anna'"):
        store.open_marks(frozen, "Anna", book)


def test_marks_stand_where_their_units_stand(frozen: Path, book: Codebook) -> None:
    with store.open_marks(frozen, "ben", book) as marks:
        marks.give("explore", unit="a")
    with store.open_units(frozen, "ben") as units:
        units.move("a", t1_ns=NS + 5)
        (proposal,) = units.proposals
        with pytest.raises(AnnotationError, match="Only anna"):
            units.settle(proposal.id, True)
    with store.open_units(frozen, "anna") as units:
        units.settle(proposal.id, True)
    (mark,) = store.annotations_of(open_record(frozen)).raters["ben"].marks
    assert (mark.t0_ns, mark.t1_ns) == (NS, NS + 5)


@pytest.mark.parametrize(
    ("mark", "why"),
    [
        (Mark("1", "", "strategy", "zzz", NS, 2 * NS, "a"), "there is no code 'zzz'"),
        (Mark("1", "", "affect", "explore", NS, 2 * NS, "a"), "is of the tier 'strategy'"),
        (Mark("1", "", "strategy", "explore", NS, 2 * NS), "are given to units"),
        (Mark("1", "", "strategy", "explore", NS, 2 * NS, "z"), "are given to units"),
        (Mark("1", "", "moment", "frustrated", NS, 2 * NS, "a"), "are given to spans"),
        (Mark("1", "", "moment", "frustrated", NS, NS), "a span cannot begin"),
        (Mark("1", "", "moment", "insight", NS, 2 * NS), "a point cannot begin"),
        (Mark("1", "", "moment", "insight", -1, -1), "a point cannot begin"),
        (Mark("1", "", "strategy", "goal", NS, 2 * NS, "a", 1), "has no value 1"),
    ],
)
def test_what_cannot_be_coded(frozen: Path, book: Codebook, mark: Mark, why: str) -> None:
    with store.open_marks(frozen, "anna", book) as marks:
        with pytest.raises(AnnotationError, match=why):
            marks.put(mark)
        assert marks.marks == ()


def test_annotations_never_touch_the_session(frozen: Path, book: Codebook) -> None:
    before = {path: path.read_bytes() for path in frozen.rglob("*") if path.is_file()}
    with store.open_marks(frozen, "anna", book) as marks:
        marks.give("explore", unit="a")
    assert before == {path: path.read_bytes() for path in frozen.rglob("*") if path.is_file()}
    assert annotations_folder(frozen).is_dir()
