"""A study of three sessions in which somebody withdraws, is excluded, replaced, and misses a visit:
every number of people is the same wherever it is given."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from threading import Event

import pandas as pd
import pytest

from labapp.analysis import load
from labapp.analysis.analyze import analyze
from labapp.analysis.participation import flow_of
from labapp.analysis.retention import retention
from labapp.analysis.tables import Tables
from labapp.base.clock import FakeClock
from labapp.base.errors import BundleError, RecordError, SessionError, StudyFull
from labapp.record.journal.sessions import list_sessions
from labapp.session.bids.export import export
from labapp.session.bids.verify import verify
from labapp.session.condition_assignment import count_held_cells, people_of, preview
from labapp.session.folder import refuse_taken
from labapp.session.overview import overview
from labapp.session.simulation import simulation_job
from labapp.session.simulation.simulation_job import Decoders, simulate, simulate_study
from labapp.session.withdrawal import decide_by_hand, withdraw
from labapp.study.loading import LoadedStudy
from labapp.ui.moderator.wording import people_text
from labapp.ui.session_lists import Reader
from tests.session.test_slots import slotted

TEXT = """\
id: drawn
title: Visits
version: 1
design:
  between: {hint: ["with", "without"]}
  by_moderator: [hint]
  per_cell: %(per_cell)s
flow:
- questionnaire: shipped:seq
- questionnaire: shipped:comments
  only_if: {hint: "with"}
"""
"""Sessions that take no time."""


def visiting(folder: Path, *, per_cell: int = 2, more: str = "") -> LoadedStudy:
    return slotted(
        folder, per_cell, TEXT.replace("  per_cell", f"  sessions: [1, 2, 3]\n{more}  per_cell")
    )


def single(folder: Path) -> LoadedStudy:
    return slotted(folder, 2, TEXT)


def come(loaded: LoadedStudy, data: Path, participant: str, *sessions: str) -> None:
    """Simulate sessions of a participant, in the place that is theirs."""
    for session in sessions:
        drawn = preview(data, loaded, participant)
        private = data.parent / "private"
        known = Decoders().dependencies(loaded, participant, drawn, None, private, session)
        simulate(loaded, participant, known, session=session, data=data, strategy="knowing")


def folder_of(data: Path, participant: str, session: str = "1") -> Path:
    return next((data / "drawn").glob(f"sub-{participant}_ses-{session}_*"))


def states(data: Path, loaded: LoadedStudy) -> dict[str, str]:
    return {person.participant: person.state for person in people_of(data, loaded.study)}


def who_counts(tables: Tables) -> set[str]:
    return set(tables.participants[tables.participants["included"]]["participant"])


def test_a_study_of_three_sessions_adds_up_everywhere(tmp_path: Path) -> None:
    loaded, data = visiting(tmp_path), tmp_path / "data"
    simulate_study(str(loaded.path), 4, "knowing", data)
    assert len(list((data / "drawn").glob("sub-P0*"))) == 12, "all sessions of everybody"
    with pytest.raises(StudyFull):
        preview(data, loaded, "P05")
    place = preview(data, loaded, "P01")
    # P01 withdraws with deletion: one session is named, all of them go.
    lines = withdraw(folder_of(data, "P01", "2"), tmp_path / "private", delete=True).lines()
    assert not list((data / "drawn").glob("sub-P01*"))
    assert f"Free again: {place[0]}." in lines
    assert preview(data, loaded, "P05") == place
    # P02 withdraws and lets the data be kept.
    withdraw(folder_of(data, "P02"), tmp_path / "private", delete=False)
    assert {line.withdrawn for line in list_sessions(data) if line.participant == "P02"} == {"keep"}
    # One session of P03 is excluded: with all three needed, P03 does not count any more.
    _, lines = decide_by_hand(folder_of(data, "P03", "2"), False, "fire alarm")
    assert any("P03 no longer counts" in line for line in lines)
    # P05 comes once, P06 misses the second visit, P07 is complete.
    come(loaded, data, "P05", "1")
    come(loaded, data, "P06", "1", "3")
    come(loaded, data, "P07", "1", "2", "3")
    expected = {
        "P01": "withdrawn",
        "P02": "withdrawn",
        "P03": "excluded",
        "P04": "included",
        "P05": "awaited",
        "P06": "missed",
        "P07": "included",
    }
    assert states(data, loaded) == expected
    assert sum(count_held_cells(people_of(data, loaded.study)).values()) == 3
    told = "\n".join(overview(str(loaded.path), 2, data).lines())
    assert "7 (2 included, 1 still to come, 1 missed a session, 1 excluded, 2 withdrawn)" in told
    at_home = Reader(data).read(lambda _: None, Event(), loaded.study).people
    assert people_text(at_home) == (
        "7 participants: 2 included, 1 still to come, 1 missed a session, 1 excluded, 2 withdrawn"
    )
    assert "P05  still to come: 1 included, 2 still to come, 3 still to come" in told
    assert "P06  missed a session: 1 included, 2 missed, 3 included" in told
    assert "Retention: 2 of 6 participants who finished (33 %)." in told
    # The tables, the flow diagram, the report and the bundle.
    tables = load([data])
    assert who_counts(tables) == {"P04", "P07"}
    assert set(tables.included().answers["participant"]) == {"P04", "P07"}
    assert {each.participant for each in tables.withdrawn} == {"P01", "P02"}
    assert any(
        "Withdrew (counted, but not in any table): 2 participants" in note
        for note in tables.remarks
    )
    flow = flow_of(tables.participants, tables.withdrawn)
    assert (flow.began, flow.analysed) == (7, 2)
    assert flow.reasons == {
        "Withdrew": 2,
        "Excluded by hand": 1,
        "Too few sessions completed": 1,
        "Sessions still to come": 1,
    }
    report = "".join(map(str, retention(tables.participants, "drawn", "s1", tables.withdrawn)))
    assert "Included: 2 of 7 participants (29 %)" in report
    page = analyze([data], tmp_path / "report").read_text()
    assert "Included: 2 of 7 participants (29 %)" in page
    assert "7 participants took part" in page
    bundle = export([data / "drawn"], tmp_path / "bundle", deidentify=False)
    people = pd.read_csv(bundle / "participants.tsv", sep="\t").set_index("participant_id")
    assert dict(people["included"]) == {
        f"sub-{who}": state == "included"
        for who, state in expected.items()
        if who not in ("P01", "P02")
    }
    # A bundle says how many withdrew: its analysis counts them, and its export keeps the number.
    again = load([bundle])
    assert who_counts(again) == {"P04", "P07"}
    assert flow_of(again.participants, again.withdrawn) == flow
    assert any("not in any table): 2 participants" in note for note in again.remarks)
    copy = export([bundle], tmp_path / "copy", deidentify=False)
    assert flow_of(load([copy]).participants, load([copy, bundle]).withdrawn) == flow
    assert load([data, bundle]).withdrawn == tables.withdrawn, "the folder says who they are"
    readme = (bundle / "README").read_text("utf-8")
    assert "\n2 participants withdrew from the study. " in readme
    facts = json.loads((bundle / "sourcedata/labapp/manifest.json").read_text("utf-8"))
    assert facts["withdrawn"] == 2
    assert not any(who in path.name for path in bundle.rglob("*") for who in ("P01", "P02"))
    assert not verify(bundle).problems
    (bundle / "README").write_text(readme.replace("2 participants withdrew", "1 withdrew"), "utf-8")
    assert any("README" in problem for problem in verify(bundle).problems)
    part = export([folder_of(data, "P04")], tmp_path / "part", deidentify=False)
    assert "withdrew" not in (part / "README").read_text("utf-8"), "who beside others is not known"
    # With leave, the kept data are in the tables; they still count nowhere.
    kept = load([data], withdrawn=True)
    assert set(kept.participants["participant"]) == set(expected) - {"P01"}
    assert flow_of(kept.participants, kept.withdrawn) == flow


def test_fewer_sessions_may_be_enough(tmp_path: Path) -> None:
    loaded, data = visiting(tmp_path, more="  needed_sessions: 2\n"), tmp_path / "data"
    come(loaded, data, "P01", "1", "3")
    _, lines = decide_by_hand(folder_of(data, "P01"), False, "noise")
    assert states(data, loaded) == {"P01": "missed"} or states(data, loaded) == {"P01": "excluded"}
    decide_by_hand(folder_of(data, "P01"), True, "")
    assert states(data, loaded) == {"P01": "included"}
    come(loaded, data, "P02", "1", "2", "3")
    _, lines = decide_by_hand(folder_of(data, "P02", "2"), False, "noise")
    assert "P02 can still count with their other sessions, and keeps their place." in lines
    tables = load([data])
    counting = tables.participants[tables.participants["included"]]
    assert sorted(zip(counting["participant"], counting["session"], strict=True)) == [
        ("P01", "1"), ("P01", "3"), ("P02", "1"), ("P02", "3"),
    ]  # fmt: skip


def test_including_somebody_whose_place_was_given_away_is_told(tmp_path: Path) -> None:
    loaded, data = single(tmp_path), tmp_path / "data"
    simulate_study(str(loaded.path), 4, "knowing", data)
    decide_by_hand(folder_of(data, "P02"), False, "doubtful")
    come(loaded, data, "P05", "1")
    _, lines = decide_by_hand(folder_of(data, "P02"), True, "not doubtful")
    assert any(
        line.startswith("3 participants now share the 2 places in “hint: with”, ") for line in lines
    )
    told = "\n".join(overview(str(loaded.path), 1, data).lines())
    assert "3 participants occupy the 2 places of hint: " in told
    assert list(overview(str(loaded.path), 1, data).to_json()["coverage"]["beyond"].values()) == [3]


def test_an_order_that_is_refused(tmp_path: Path) -> None:
    loaded, data = visiting(tmp_path, more="  session_order: refused\n"), tmp_path / "data"
    for session in ("2", "3"):
        with pytest.raises(SessionError, match="P01 has not had session 1"):
            refuse_taken(data, loaded, "P01", session)
    refuse_taken(data, loaded, "P01", "1")


def test_a_session_out_of_order_is_a_deviation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    days = iter(range(1, 30))

    class Later(FakeClock):
        def __init__(self, utc: datetime | None = None) -> None:
            super().__init__(utc=datetime(2026, 1, next(days), tzinfo=UTC))

    monkeypatch.setattr(simulation_job, "FakeClock", Later)
    loaded, data = visiting(tmp_path, per_cell=9), tmp_path / "data"
    come(loaded, data, "P01", "1", "3", "2")
    come(loaded, data, "P02", "2")
    found = load([data]).deviations
    told = found[found["kind"] == "session_order"]
    assert list(zip(told["participant"], told["session"], told["detail"], strict=True)) == [
        ("P01", "3", "before session 2"),
        ("P02", "2", "before session 1"),
    ]


def test_kept_data_stop_nobody_unless_nothing_else_is_there(tmp_path: Path) -> None:
    loaded, data = single(tmp_path), tmp_path / "data"
    simulate_study(str(loaded.path), 2, "knowing", data)
    withdraw(folder_of(data, "P01"), tmp_path / "private", delete=False)
    assert list(load([data]).participants["participant"]) == ["P02"]
    bundle = export([data / "drawn"], tmp_path / "bundle")
    assert [path.name for path in bundle.glob("sub-*")] == ["sub-P02"]
    with pytest.raises(
        RecordError, match="Everybody in this selection withdrew, but their data were kept: sub-P01"
    ):
        load([folder_of(data, "P01")])
    with pytest.raises(
        BundleError, match="Everybody in this selection withdrew, but their data were kept: sub-P01"
    ):
        export([folder_of(data, "P01")], tmp_path / "none")
    assert set(load([data], withdrawn=True).participants["participant"]) == {"P01", "P02"}


def test_a_renamed_folder_counts_as_its_journal_says_everywhere(tmp_path: Path) -> None:
    loaded, data = single(tmp_path), tmp_path / "data"
    simulate_study(str(loaded.path), 2, "knowing", data)
    path = folder_of(data, "P02")
    path.rename(path.with_name(path.name.replace("P02", "P07")))
    assert states(data, loaded) == {"P01": "included", "P02": "included"}
    sentence = "Its journal belongs to session 1 of participant P02"
    assert sentence in "\n".join(overview(str(loaded.path), 1, data).lines())
    assert any(sentence in (line.problem or "") for line in list_sessions(data))
    tables = load([data])
    assert list(tables.participants["participant"]) == ["P01", "P02"]
    assert any(sentence in note for note in tables.remarks)
    with pytest.raises(BundleError, match=sentence):
        export([data / "drawn"], tmp_path / "bundle")
    # The same label from another data folder: one person here, and told.
    other = tmp_path / "other"
    simulate_study(str(loaded.path), 1, "knowing", other, seed=5)
    (one,) = (other / "drawn").glob("sub-P01*")
    one.rename(data / "drawn" / one.name.replace("P01", "P08"))
    assert states(data, loaded) == {"P01": "included", "P02": "included"}
    told = "\n".join(overview(str(loaded.path), 1, data).lines())
    assert "Session 1 of P01 exists twice but counts only once" in told
    with pytest.raises(RecordError, match="both call themselves participant P01"):
        load([data])
    assert json.loads(json.dumps(overview(str(loaded.path), 1, data).to_json()))["recorded"] == 2
