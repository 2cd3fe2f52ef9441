"""Sessions excluded and included by hand: kept with the reason, followed everywhere, reversible."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from labapp.analysis import load
from labapp.analysis.analyze import analyze
from labapp.base.errors import RecordError, StudyFull, UsageError
from labapp.record.journal.decisions import decision_problems, decisions
from labapp.record.journal.layout import DECISIONS
from labapp.record.journal.sessions import SessionIndex, list_problems, summary
from labapp.session.bids.export import export
from labapp.session.bids.verify import verify
from labapp.session.condition_assignment import held_counts, people_of, preview, session_states
from labapp.session.simulation.simulation_job import simulate_study
from labapp.session.withdrawal import decide_by_hand, withdraw
from labapp.study.loading import LoadedStudy
from tests.analysis.test_report import Page
from tests.helpers.nightly import EVERYTHING
from tests.session.test_slots import slotted

FIRST, SECOND = "sub-P01_", "sub-P02_"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[LoadedStudy, Path]:
    folder = tmp_path_factory.mktemp("decided")
    loaded = slotted(folder / "study", per_cell=2)
    simulate_study(str(loaded.path), 4, "knowing", folder / "data")
    return loaded, folder / "data"


@pytest.fixture
def data(made: tuple[LoadedStudy, Path]) -> Path:
    (made[1] / "drawn" / DECISIONS).unlink(missing_ok=True)
    return made[1]


def session(data: Path, label: str = FIRST) -> Path:
    return next((data / "drawn").glob(f"{label}*"))


def included(data: Path) -> dict[str, bool]:
    people = load([data]).participants
    return dict(zip(people["participant"], map(bool, people["included"]), strict=True))


def test_an_exclusion_is_followed_everywhere_and_can_be_taken_back(
    made: tuple[LoadedStudy, Path], data: Path, tmp_path: Path
) -> None:
    loaded, path = made[0], session(data)
    (held,) = [row for row in session_states(data / loaded.study.id) if row.folder == path.name]
    with pytest.raises(StudyFull):
        preview(data, loaded, "P05")
    index = SessionIndex(data)
    index.read()
    _, lines = decide_by_hand(path, False, " fire \n alarm ")
    assert lines == [
        f"{path.name}: excluded by hand. Its data stay.",
        "P01 does not count now and holds no place of the study.",
    ]
    assert included(data) == {"P01": False, "P02": True, "P03": True, "P04": True}
    person = load([data]).participants.set_index("participant").loc["P01"]
    assert person["excluded_because"] == "by_hand"
    assert (person["decided_by_hand"], person["decision_reason"]) == ("excluded", "fire alarm")
    assert preview(data, loaded, "P05") == held.cells, "the place is handed out again"
    for line in (summary(path), next(line for line in index.read() if line.path == path)):
        assert (line.decision, line.decision_reason) == ("excluded", "fire alarm")
    assert verify(path).ok
    analyze([data], tmp_path / "out")
    report = Page((tmp_path / "out" / "report.html").read_text()).text
    assert "P01 1 excluded fire alarm" in report
    _, lines = decide_by_hand(path, True, "")
    assert lines[1].startswith("Before, it was excluded by hand (fire alarm).")
    assert all(included(data).values())
    with pytest.raises(StudyFull):
        preview(data, loaded, "P05")
    assert len((data / "drawn" / DECISIONS).read_text().splitlines()) == 2, "both are kept"


def test_whoever_fails_a_rule_can_count_all_the_same(data: Path, tmp_path: Path) -> None:
    loaded = slotted(tmp_path / "study", per_cell=2)
    simulate_study(str(loaded.path), 2, "knowing", tmp_path / "data", careless=1.0)
    own = tmp_path / "data"
    assert not any(included(own).values())
    _, lines = decide_by_hand(session(own), True, "the dials were mislabelled")
    assert lines[1] == "It counts although it does not meet: min_solved."
    assert included(own) == {"P01": True, "P02": False}
    person = load([own]).participants.set_index("participant").loc["P01"]
    assert person["excluded_because"] == "min_solved", "what was overruled stays to be seen"
    analyze([own], tmp_path / "out")
    report = Page((tmp_path / "out" / "report.html").read_text()).text
    assert "P01 1 included min_solved the dials were mislabelled" in report


def test_a_bundle_takes_the_decision_along_and_a_copy_without_names_no_reason(
    data: Path, tmp_path: Path
) -> None:
    decide_by_hand(session(data), False, "Mrs Miller fell ill")
    sessions = sorted((data / "drawn").glob("sub-*"))
    for deidentify in (False, True):
        out = tmp_path / f"bundle-{deidentify}"
        export(sessions, out, deidentify=deidentify)
        assert verify(out).ok
        person = load([out]).participants.set_index("participant").loc["P01"]
        assert (bool(person["included"]), person["decided_by_hand"]) == (False, "excluded")
        told = [f for f in out.rglob("*") if f.is_file() and b"Miller" in f.read_bytes()]
        assert bool(told) is not deidentify, told


@pytest.mark.parametrize(
    ("included", "reason", "says"),
    [(False, "  ", "needs a reason"), (False, "x" * 1001, "1001 characters")],
)
def test_a_reason_that_is_none_is_refused(
    data: Path, included: bool, reason: str, says: str
) -> None:
    with pytest.raises(UsageError, match=says):
        decide_by_hand(session(data), included, reason)
    assert not (data / "drawn" / DECISIONS).exists()


def test_the_same_decision_twice_is_told(data: Path) -> None:
    decide_by_hand(session(data), False, "ill")
    with pytest.raises(UsageError, match="is excluded by hand already, with that reason"):
        decide_by_hand(session(data), False, "ill")
    decide_by_hand(session(data), False, "ill, as the doctor says")


def test_what_a_crash_cut_off_decides_nothing_and_is_told(data: Path) -> None:
    path = session(data)
    decide_by_hand(path, False, "ill")
    decide_by_hand(session(data, SECOND), False, "late")
    log = data / "drawn" / DECISIONS
    log.write_bytes(log.read_bytes()[:-20])
    assert list(decisions(data / "drawn")) == [path.name]
    assert decision_problems(data / "drawn") == [f"{log}, line 2: damaged; it decides nothing"]
    assert list_problems(data) == decision_problems(data / "drawn")
    decide_by_hand(session(data, SECOND), False, "late")
    assert len(decisions(data / "drawn")) == 2


def test_who_withdrew_cannot_be_included_and_leaves_no_reason_behind(tmp_path: Path) -> None:
    loaded = slotted(tmp_path / "study", per_cell=2)
    simulate_study(str(loaded.path), 2, "knowing", tmp_path / "data")
    data = tmp_path / "data"
    decide_by_hand(session(data), False, "ill")
    decide_by_hand(session(data, SECOND), False, "late")
    withdraw(session(data), tmp_path / "private", delete=True)
    entries = [json.loads(text) for text in (data / "drawn" / DECISIONS).read_text().splitlines()]
    assert [entry["text"] for entry in entries] == ["late"]
    withdraw(session(data, SECOND), tmp_path / "private", delete=False)
    with pytest.raises(RecordError, match="does not count in any case"):
        decide_by_hand(session(data, SECOND), True, "")


@settings(
    max_examples=25 if EVERYTHING else 4,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(steps=st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=8))
def test_places_and_tables_follow_every_decision(
    made: tuple[LoadedStudy, Path], data: Path, steps: list[tuple[int, bool]]
) -> None:
    """Whoever counts holds a place, and nobody else does."""
    loaded = made[0]
    (data / "drawn" / DECISIONS).unlink(missing_ok=True)
    counts = dict.fromkeys(("P01", "P02", "P03", "P04"), True)
    for number, (who, counted) in enumerate(steps):
        label = f"P0{who + 1}"
        decide_by_hand(session(data, f"sub-{label}_"), counted, f"step {number}")
        counts[label] = counted
    rows = session_states(data / loaded.study.id)
    assert {row.participant: row.state == "included" for row in rows} == counts
    assert sum(held_counts(people_of(data, loaded.study)).values()) == sum(counts.values())
    if all(counts.values()):
        with pytest.raises(StudyFull):
            preview(data, loaded, "P05")
    else:
        lost = {row.cells for row in rows if not counts[row.participant]}
        assert preview(data, loaded, "P05") in lost
