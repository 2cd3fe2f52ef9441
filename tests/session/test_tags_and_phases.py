"""Tags, which people give to sessions later, and phases, which sessions record at their start: both
choose what is listed and analysed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from labapp.analysis import load
from labapp.analysis.analyze import analyze
from labapp.analysis.declared import Registration
from labapp.base.errors import RecordError, StudyError, UsageError
from labapp.record.journal.decisions import decisions, tags
from labapp.record.journal.layout import DECISIONS
from labapp.record.journal.opening import describe, open_record
from labapp.record.journal.opening import line as describe_line
from labapp.record.journal.sessions import SessionIndex, list_problems, list_sessions
from labapp.session import condition_assignment
from labapp.session.bids.export import export
from labapp.session.bids.verify import verify
from labapp.session.condition_assignment import (
    count_other_phases,
    coverage,
    people_of,
    preview,
)
from labapp.session.overview import overview
from labapp.session.planning.preregistration import preregister
from labapp.session.simulation.simulation_job import simulate_study
from labapp.session.withdrawal import change_tags, decide_by_hand, withdraw
from labapp.study import loading
from labapp.study.loading import LoadedStudy
from labapp.ui.moderator.checklist import about
from tests.analysis.test_report import Page
from tests.session.test_slots import slotted


def in_phase(study: Path, phase: str, labels: str = "P", *, version: int = 1) -> LoadedStudy:
    """The study with slots of `test_slots`, in a phase; labels: how those of people begin."""
    loaded = slotted(study, per_cell=1)
    text = loaded.path.read_text("utf-8").replace("version: 1", f"version: {version}")
    head = f"phase: {phase}\n" if phase else ""
    pattern = f"participants: {{pattern: '{labels}{{}}'}}\n"
    loaded.path.write_text(head + pattern + text, "utf-8")
    return loading.load(str(loaded.path))


def record(loaded: LoadedStudy, participants: int, data: Path) -> None:
    """Simulate sessions into a data folder that may have some."""
    new = data.with_name("new")
    simulate_study(str(loaded.path), participants, "knowing", new)
    (data / "drawn").mkdir(parents=True, exist_ok=True)
    for session in (new / "drawn").glob("sub-*"):
        session.rename(data / "drawn" / session.name)
    shutil.rmtree(new)


@pytest.fixture(scope="module")
def phases(tmp_path_factory: pytest.TempPathFactory) -> tuple[LoadedStudy, Path]:
    """A trial with two sessions, and the main study with two, in one data folder."""
    folder = tmp_path_factory.mktemp("phases")
    for phase, labels, version in (("trial", "T", 1), ("main", "P", 2)):
        loaded = in_phase(folder / "study", phase, labels, version=version)
        record(loaded, 2, folder / "data")
    return loaded, folder / "data"


@pytest.fixture
def data(phases: tuple[LoadedStudy, Path]) -> Path:
    (phases[1] / "drawn" / DECISIONS).unlink(missing_ok=True)
    return phases[1]


def session(data: Path, participant: str) -> Path:
    return next((data / "drawn").glob(f"sub-{participant}_*"))


def read(data: Path, **choice: list[str]) -> list[str]:
    return list(load([data], **choice).participants["participant"])  # type: ignore[arg-type]


def test_tags_are_given_taken_away_listed_and_chosen_by(data: Path) -> None:
    path, index = session(data, "T1"), SessionIndex(data)
    index.read()
    journal = path.joinpath("journal.sqlite").read_bytes()
    assert change_tags(path, [" left-handed ", "excluded  late"]) == [
        "left-handed",
        "excluded late",
    ]
    assert change_tags(path, ["glasses"], ["left-handed"]) == ["excluded late", "glasses"]
    decide_by_hand(path, False, "fire alarm")
    change_tags(session(data, "P1"), ["glasses"])
    assert path.joinpath("journal.sqlite").read_bytes() == journal
    assert len((data / "drawn" / DECISIONS).read_text("utf-8").splitlines()) == 4, "all are kept"
    for lines in (list_sessions(data), index.read()):
        (line,) = (line for line in lines if line.path == path)
        assert (line.tags, line.decision) == (("excluded late", "glasses"), "excluded")
    assert "phase trial, tag excluded late, tag glasses, simulated, exc" in describe_line(line)
    (facts,) = describe(path)
    assert (facts["phase"], facts["tags"]) == ("trial", ["excluded late", "glasses"])
    assert facts["simulated"] is line.simulated is True
    assert not list_problems(data)
    assert verify(path).ok
    people = load([data]).participants.set_index("participant")
    assert people.loc["T1", "tags"] == "excluded late; glasses"
    assert people["tags"].notna().tolist() == [True, False, True, False]
    assert read(data, only=["glasses"]) == ["P1", "T1"]
    assert read(data, only=["glasses", "main"]) == ["P1", "P2", "T1"]
    assert read(data, only=["glasses"], without=["excluded late"]) == ["P1"]
    with pytest.raises(RecordError, match="No session is chosen by --only 'glases'") as refused:
        read(data, only=["glases"])
    assert "excluded late, glasses, main, simulated, trial" in (refused.value.todo or "")
    with pytest.raises(RecordError, match="--without 'simulated'"):
        read(data, without=["simulated"])


@pytest.mark.parametrize(
    ("add", "remove", "says"),
    [
        (["a,b"], [], "is not a tag"),
        (["a;b"], [], "is not a tag"),
        (["  "], [], "is not a tag"),
        (["x" * 41], [], "is not a tag"),
        (["none"], [], "is not a tag"),
        (["simulated"], [], "is not a tag"),
        ([], ["other"], "has no tag 'other'"),
        (["known"], [], "already has"),
        ([f"tag {n}" for n in range(31)], [], "at most 30"),
    ],
)
def test_what_is_no_tag_is_refused(
    data: Path, add: list[str], remove: list[str], says: str
) -> None:
    path = session(data, "T1")
    change_tags(path, ["known"])
    with pytest.raises(UsageError, match=says):
        change_tags(path, add, remove)
    assert tags(path.parent) == {path.name: ("known",)}


def test_bundles_take_tags_along_and_copies_without_names_do_not(
    data: Path, tmp_path: Path
) -> None:
    change_tags(session(data, "P1"), ["Mrs Miller"])
    sessions = sorted((data / "drawn").glob("sub-*"))
    for deidentify in (False, True):
        out = export(sessions, tmp_path / f"bundle-{deidentify}", deidentify=deidentify)
        assert verify(out).ok
        people = load([out]).participants.set_index("participant")
        assert people["phase"].tolist() == ["main", "main", "trial", "trial"]
        assert people["tags"].notna().tolist() == [not deidentify, False, False, False]
        told = [f for f in out.rglob("*") if f.is_file() and b"Miller" in f.read_bytes()]
        assert bool(told) is not deidentify, told
        if not deidentify:
            assert read(out, only=["Mrs Miller"]) == ["P1"]


def test_who_withdrew_gets_no_tags_and_keeps_none(tmp_path: Path) -> None:
    record(in_phase(tmp_path / "study", "main"), 2, tmp_path / "data")
    gone, other = (session(tmp_path / "data", who) for who in ("P1", "P2"))
    change_tags(gone, ["glasses"])
    withdraw(gone, tmp_path / "private", delete=True)
    assert not tags(gone.parent)
    withdraw(other, tmp_path / "private", delete=False)
    with pytest.raises(RecordError, match="withdrew"):
        change_tags(other, ["glasses"])


def test_phases_are_analysed_apart_unless_both_are_named(
    phases: tuple[LoadedStudy, Path], data: Path, tmp_path: Path
) -> None:
    assert open_record(session(data, "T1")).planned.phase == "trial"
    with pytest.raises(RecordError, match=r"several phases: main \(2\), trial \(2\)") as refused:
        analyze([data], tmp_path / "none")
    assert "--only main --only trial" in (refused.value.todo or "")
    assert not (tmp_path / "none").exists()
    analyze([data], tmp_path / "main", only=["main"], formats=["xlsx"])
    told = Page((tmp_path / "main" / "report.html").read_text("utf-8")).text
    assert "Sessions were chosen by --only 'main'. Left out: sub-T1" in told
    assert "Sessions by phase and version of the study file: main 2 (v2)." in told
    analyze([data], tmp_path / "both", only=["main", "trial"], language="de")
    told = Page((tmp_path / "both" / "report.html").read_text("utf-8")).text
    assert "Zusammen ausgewertete Phasen von drawn: main (2), trial (2)." in told
    assert "Phase und Version der Studiendatei: main 2 (v2), trial 2 (v1)." in told
    assert any("together: phases of drawn" in note for note in load([data]).remarks)


def test_each_phase_has_places_of_its_own(
    phases: tuple[LoadedStudy, Path], data: Path, tmp_path: Path
) -> None:
    loaded = phases[0]
    covered = coverage(data, loaded)
    assert covered is not None
    assert covered.complete, "two cells with one participant each, who are those of this phase"
    assert [person.participant for person in people_of(data, loaded.study)] == ["P1", "P2"]
    told = "\n".join(overview(str(loaded.path), 1, data).lines())
    assert "(drawn, version 2, phase main)" in told
    assert "Participants so far: 2 (2 included)." in told
    assert "Sessions of other phases: trial 2." in told
    assert "unread" not in told
    third = in_phase(tmp_path / "study", "replication")
    assert preview(data, third, "P3"), "the study is not full in a new phase"
    assert decisions(data / "drawn") == {}


def test_a_start_stores_the_phases_and_later_ones_read_no_session_for_them(
    phases: tuple[LoadedStudy, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To read the plan of each of 300 sessions took 0.4 s."""
    loaded = phases[0]
    shutil.copytree(phases[1], data := tmp_path / "data")
    looked_at: list[str] = []
    real = condition_assignment.read_phase

    def read_phase(path: Path) -> str | None:
        looked_at.append(path.name)
        return real(path)

    monkeypatch.setattr(condition_assignment, "read_phase", read_phase)
    third = in_phase(tmp_path / "study", "replication")
    stored = data / "drawn" / condition_assignment.ASSIGNMENTS
    for lost in (False, True):
        if lost:
            stored.write_bytes(b"damaged")
        with condition_assignment.open_ledger(data, third) as ledger:
            ledger.enter("sub-P9_ses-1_20300101T000000Z", ledger.draw("P9"))
        looked_at.clear()
        everybody = [person.participant for person in people_of(data, loaded.study)]
        assert everybody == ["P1", "P2"], "as without what is stored"
        assert count_other_phases(data / "drawn", third.study) == {"trial": 2, "main": 2}
        assert not looked_at


HYPOTHESIS = """
analysis:
  outcomes: {primary: [completion_rate]}
  contrasts: [{name: hints, hint: {"with": 1, without: -1}}]
hypotheses:
- {text: Hints help., outcome: completion_rate, contrast: hints, direction: greater}
"""


def test_a_registration_counts_the_sessions_of_its_phase(data: Path, tmp_path: Path) -> None:
    """Those of other phases are named, and the authors say what was known of them."""
    expected = {
        "main": (2, "Yes: 2 sessions of the phase main of this study", "other phases: trial 2."),
        "new": (0, "No session of the phase new of this study", "other phases: main 2, trial 2."),
        "": (4, "Yes: 4 sessions of this study", "recorded"),
    }
    for phase, (n, *told) in expected.items():
        loaded = in_phase(tmp_path / f"study-{phase}", phase)
        loaded.path.write_text(loaded.path.read_text("utf-8") + HYPOTHESIS, "utf-8")
        made = preregister(loading.load(str(loaded.path)), tmp_path / f"out-{phase}", data)
        assert Registration.read(made.folder).sessions_before == n
        form = (made.folder / "aspredicted.md").read_text("utf-8")
        for words in (*told, "what was known of them"):
            assert words in form


def test_a_session_of_before_there_were_phases_is_chosen_by_none(tmp_path: Path) -> None:
    for phase, labels in (("", "T"), ("main", "P")):
        record(in_phase(tmp_path / "study", phase, labels), 1, tmp_path / "data")
    with pytest.raises(RecordError, match=r"main \(1\), none \(1\)"):
        analyze([tmp_path / "data"], tmp_path / "out")
    assert read(tmp_path / "data", only=["none"]) == ["T1"]
    assert read(tmp_path / "data", without=["none"]) == ["P1"]


@pytest.mark.parametrize("phase", ["none", "simulated", "Main study", "x" * 41])
def test_a_phase_has_a_name_for_files(tmp_path: Path, phase: str) -> None:
    with pytest.raises(StudyError, match="phase"):
        in_phase(tmp_path, json.dumps(phase))


def test_the_home_says_the_phase(tmp_path: Path) -> None:
    path = in_phase(tmp_path, "main").path
    path.write_text(f"minutes: 20\n{path.read_text('utf-8')}", "utf-8")
    assert about(loading.head_of(path)) == "Phase main · about 20 min"
