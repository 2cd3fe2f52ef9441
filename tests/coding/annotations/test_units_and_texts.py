"""The shared units and text of a session: by random work, taken back, frozen, proposed, settled."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labapp.base.errors import AnnotationError
from labapp.coding.annotations.model import Proposal, Redaction, Speaker, Text, Unit, Word
from labapp.coding.annotations.texts import TextsFile, TextsFold
from labapp.coding.annotations.units import UnitsFile, UnitsFold
from tests.helpers.nightly import examples

Act = Callable[[UnitsFile], object]
TIMES = st.integers(0, 40)
PLACES = st.integers(0, 20)


def opened(path: Path, by: str = "anna") -> UnitsFile:
    """A session's units."""
    return UnitsFile(path, by, fold=UnitsFold())


def putting(name: int, begin: int, length: int, speaker: Speaker) -> Act:
    return lambda file: file.put(Unit(f"u{name}", begin, begin + length, speaker))


def with_unit(place: int, act: Callable[[UnitsFile, Unit], object]) -> Act:
    return lambda file: act(file, file.units[place % len(file.units)]) if file.units else None


def merging(place: int) -> Act:
    def act(file: UnitsFile, unit: Unit) -> None:
        file.merge(unit.id, file.units[(place + 1) % len(file.units)].id)

    return with_unit(place, act)


WORK: st.SearchStrategy[Act] = st.one_of(
    st.builds(
        putting,
        st.integers(0, 6),
        TIMES,
        st.integers(1, 9),
        st.sampled_from(["participant", "moderator"]),
    ),
    st.builds(lambda p: with_unit(p, lambda f, u: f.remove(u.id)), PLACES),
    st.builds(lambda p, t: with_unit(p, lambda f, u: f.split(u.id, u.t0_ns + t)), PLACES, TIMES),
    st.builds(lambda p, t: with_unit(p, lambda f, u: f.move(u.id, t1_ns=t)), PLACES, TIMES),
    st.builds(merging, PLACES),
    st.just(lambda file: file.undo()),
    st.just(lambda file: file.redo()),
)


@settings(max_examples=examples(60))
@given(st.lists(WORK, max_size=25))
def test_any_work_is_read_again_and_can_be_taken_back(work: list[Act]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "units.jsonl"
        with opened(path) as file:
            for act in work:
                before = file.units
                try:
                    act(file)
                except AnnotationError:
                    assert file.units == before, "what is refused changes nothing"
                for speaker in ("participant", "moderator"):
                    own = [unit for unit in file.units if unit.speaker == speaker]
                    assert all(a.t1_ns <= b.t0_ns for a, b in pairwise(own))
            while file.redo():
                """All that can be done again is done again."""
            last = file.segmentation
            while file.undo():
                """Everything is taken back."""
            assert file.units == ()
            while file.redo():
                """And done again."""
            assert file.units == last.units
        with opened(path) as again:
            assert again.units == last.units


@settings(max_examples=examples(40))
@given(st.lists(WORK, max_size=15))
def test_frozen_units_change_by_accepted_proposals_alone(work: list[Act]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "units.jsonl"
        with opened(path) as file:
            file.put_all([Unit("u0", 0, 10), Unit("u1", 10, 20), Unit("u2", 30, 35)])
            file.freeze()
            frozen = file.units
        with opened(path, "ben") as file:
            for act in work:
                try:
                    act(file)
                except AnnotationError:
                    """It could not be so."""
                assert file.units == frozen
            waiting = file.proposals
        with opened(path, "anna") as file:
            assert file.proposals == waiting, "the file says the same"
            assert all(proposal.by == "ben" for proposal in waiting)
            for proposal in waiting:
                before = file.units
                try:
                    file.settle(proposal.id, True)
                except AnnotationError:  # another one, accepted before, stands against it
                    assert file.units == before
                    file.settle(proposal.id, False)
                else:
                    ids = {unit.id for unit in file.units}
                    assert set(proposal.put) <= set(file.units)
                    assert not ids & set(proposal.removed)
            assert not file.proposals


def test_whoever_froze_them_settles(tmp_path: Path) -> None:
    path = tmp_path / "units.jsonl"
    with opened(path) as file:
        with pytest.raises(AnnotationError, match="no units to freeze"):
            file.freeze()
        file.put(Unit("u0", 0, 10))
        file.freeze()
        file.freeze()
        assert not file.undo(), "freezing is not taken back by the way"
    with opened(path, "ben") as file:
        assert isinstance(file.put(Unit("u9", 20, 30)), Proposal)
        (proposal,) = file.proposals
        with pytest.raises(AnnotationError, match="Only anna, who froze them"):
            file.settle(proposal.id, True)
        assert file.undo(), "who proposes may take it back"
        assert file.proposals == ()
        file.redo()
    with opened(path) as file:
        file.settle(proposal.id, True)
        assert [unit.id for unit in file.units] == ["u0", "u9"]
        with pytest.raises(AnnotationError, match="already have been settled"):
            file.settle(proposal.id, True)


@pytest.mark.parametrize(
    ("act", "why"),
    [
        (lambda file: file.put(Unit("x", 5, 5)), "cannot begin at 5e-09 s and end at 5e-09 s"),
        (lambda file: file.put(Unit("x", -1, 5)), "cannot begin at -1e-09 s"),
        (lambda file: file.put(Unit("x", 5, 15)), "would overlap"),
        (lambda file: file.split("a", 0), "between its beginning and its end"),
        (lambda file: file.split("a", 10), "between its beginning and its end"),
        (lambda file: file.merge("a", "a"), "with itself"),
        (lambda file: file.merge("a", "m"), "different speakers"),
        (lambda file: file.move("a", t1_ns=15), "would overlap"),
        (lambda file: file.remove("nothing"), "There is no unit 'nothing'"),
    ],
)
def test_what_units_cannot_be(tmp_path: Path, act: Act, why: str) -> None:
    with opened(tmp_path / "units.jsonl") as file:
        file.put_all([Unit("a", 0, 10), Unit("b", 10, 20), Unit("m", 0, 10, "moderator")])
        before = file.units
        with pytest.raises(AnnotationError, match=why):
            act(file)
        assert file.units == before


def test_an_id_is_never_used_again(tmp_path: Path) -> None:
    with opened(tmp_path / "units.jsonl") as file:
        file.put(Unit("a", 0, 10))
        file.split("a", 5)
        with pytest.raises(AnnotationError, match="The id 'a' has already been used"):
            file.put(Unit("a", 20, 30))


def test_a_unit_whose_split_was_undone_can_be_changed_on(tmp_path: Path) -> None:
    path = tmp_path / "units.jsonl"
    with opened(path) as file:
        file.put_all([Unit("u", 0, 10), Unit("v", 20, 30)])
        file.split("u", 5)
        file.undo()
        file.move("u", t1_ns=8)
        file.merge("u", "v")
        file.undo()
    with opened(path) as file:
        file.put(Unit("u", 0, 9))
        assert [(unit.id, unit.t1_ns) for unit in file.units] == [("u", 9), ("v", 30)]


def test_text_is_written_reviewed_and_taken_back(tmp_path: Path) -> None:
    path = tmp_path / "transcript.jsonl"
    with TextsFile(path, "anna", fold=TextsFold()) as file:
        heard = Text("u0", "let me", (Word(0, 5, "let", 0.9), Word(5, 9, "me")), "recogniser")
        file.put(heard)
        file.put(Text("u0", "let him"))
        file.undo()
        file.review("u0")
        with pytest.raises(AnnotationError, match="no text to check"):
            file.review("u1")
        texts = file.texts
    assert texts["u0"].words == heard.words
    assert texts["u0"].reviewed
    with TextsFile(path, "ben", fold=TextsFold()) as file:
        assert file.texts == texts


def test_redactions_are_put_and_taken_back(tmp_path: Path) -> None:
    with TextsFile(tmp_path / "transcript.jsonl", "anna", fold=TextsFold()) as file:
        with pytest.raises(AnnotationError, match="must have a length"):
            file.redact(Redaction("r", 5, 5))
        file.redact(Redaction("r", 5, 9))
        file.undo()
        assert file.redactions == ()
        file.redo()
        assert file.redactions == (Redaction("r", 5, 9),)
