"""Which sessions count, in the tables and in a bundle."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import msgspec
import pytest

from labapp.analysis import load
from labapp.analysis.analyze import analyze
from labapp.analysis.inclusion import conditions, fold_inclusion_status, inclusion_kinds
from labapp.base.errors import RecordError
from labapp.record.events.lifecycle import (
    InclusionDecided,
    PartEnded,
    PartStarted,
    PaymentComputed,
    SessionCompleted,
    SessionEnded,
)
from labapp.session.bids.export import export
from labapp.session.withdrawal import withdraw
from labapp.tasks.reconstruction.events import TrialSolved
from tests.analysis.sessions import begin_trial, builder, end_trial, paired, stage_row
from tests.helpers.journals import SessionBuilder, golden_session

DRAWN = {"number": 3, "dimensions": 5, "condition": ["a", "b"], "models": ["x/y"]}


def session(participant: str = "P01", *, outcome: str = "completed") -> SessionBuilder:
    """One solved question, and the stage's end."""
    made = builder(stage_row(), participant=participant, study="counted")
    made.at(1, PartStarted(0), "stage-1")
    begin_trial(made, 10)
    made.at(12, TrialSolved(1, (3.0, 1.0, 0.5), 0.8), "stage-1", 1)
    end_trial(made, 13, "solved")
    made.at(20, PartEnded(0, outcome), "stage-1")
    return made


def decided(made: SessionBuilder, *failed: str) -> SessionBuilder:
    made.at(21, InclusionDecided(not failed, failed, {}))
    made.at(21, SessionCompleted())
    return made


def test_what_the_session_decided_is_taken_as_it_is() -> None:
    inclusion_status = fold_inclusion_status(
        paired(decided(session(), "min_solved", "practice_correct"))
    )
    assert (inclusion_status.included, inclusion_status.failed) == (
        False,
        ("min_solved", "practice_correct"),
    )
    assert inclusion_status.achieved.solved == 1
    assert fold_inclusion_status(paired(decided(session(outcome="skipped")))).included


@pytest.mark.parametrize(
    ("outcome", "end", "failed"),
    [
        ("completed", SessionCompleted(), ()),
        ("completed", None, ("completed",)),
        ("completed", SessionEnded("late"), ("completed",)),
        ("skipped", SessionCompleted(), ("completed",)),
        ("completed", SessionEnded("left", "keep"), ("completed", "withdrawn")),
    ],
)
def test_an_undecided_session_counts_when_every_part_was_done(
    outcome: str, end: Any, failed: tuple[str, ...]
) -> None:
    made = session(outcome=outcome)
    if end is not None:
        made.at(21, end)
    inclusion_status = fold_inclusion_status(paired(made))
    assert inclusion_status.failed == failed
    assert inclusion_status.included is not bool(failed)


def test_the_other_kinds_of_events_make_no_difference() -> None:
    events = paired(decided(session()))
    assert {event.kind for event, _ in events} - inclusion_kinds()
    assert fold_inclusion_status(
        pair for pair in events if pair[0].kind in inclusion_kinds()
    ) == fold_inclusion_status(events)


def test_conditions_are_the_variables_in_words() -> None:
    assert conditions(DRAWN) == "condition: a, b; dimensions: 5"
    assert conditions({"number": 1}) == ""


def test_tables_say_who_counts(tmp_path: Path) -> None:
    made = decided(session("P01"))
    made.at(20.5, PaymentComputed("€", 3.0, 0.5, 3.5, 1, 0))
    made.write(tmp_path)
    decided(session("P02"), "min_solved").write(tmp_path)
    tables = load(tmp_path)
    rows = tables.participants.set_index("participant")
    assert rows["included"].tolist() == [True, False]
    assert rows.loc["P02", "excluded_because"] == "min_solved"
    assert rows["n_solved"].tolist() == [1, 1]
    assert rows.loc["P01", "payment_total"] == 3.5
    assert rows.loc["P01", "payment_currency"] == "€"
    for frame in (tables.stages, tables.trials):
        assert frame.set_index("participant")["included"].to_dict() == {"P01": True, "P02": False}
    counted = tables.included()
    assert counted.stages["participant"].tolist() == ["P01"]
    assert counted.snapshots["participant"].unique().tolist() == ["P01"]
    assert counted.participants["participant"].tolist() == ["P01", "P02"]


def cells(path: Path) -> dict[str, str]:
    with path.open(newline="") as file:
        return next(csv.DictReader(file, delimiter="\t"))


def test_a_bundle_says_who_counts_also_without_identities(tmp_path: Path) -> None:
    made = session()
    payload = made.rows[0][2].payload
    msgspec.structs.force_setattr(payload, "assignment", DRAWN)
    made.at(20.5, PaymentComputed("€", 3.0, 0.5, 3.5, 1, 0))
    folder = decided(made, "min_solved").write(tmp_path / "data")
    bundle = export([folder], tmp_path / "bundle", deidentify=True)
    person = cells(bundle / "participants.tsv")
    assert (person["included"], person["excluded_because"]) == ("false", "min_solved")
    assert person["conditions"] == "condition: a, b; dimensions: 5"
    one = cells(bundle / "sub-P01" / "sub-P01_sessions.tsv")
    assert (one["solved"], one["payment"], one["payment_currency"]) == ("1", "3.5", "€")
    tables = load(bundle)
    assert tables.participants["excluded_because"].tolist() == ["min_solved"]


def test_who_withdrew_after_the_decision_does_not_count(tmp_path: Path) -> None:
    folders = [decided(session(label)).write(tmp_path / "data") for label in ("P01", "P02")]
    withdraw(folders[1], tmp_path / "private", delete=False)
    left = load(tmp_path / "data")
    assert left.participants["participant"].tolist() == ["P01"]
    assert [each.participant for each in left.withdrawn] == ["P02"]
    assert any(folders[1].name in note for note in left.remarks)
    bundle = export(folders, tmp_path / "bundle", withdrawn=True)
    reduced = export([bundle], tmp_path / "reduced", withdrawn=True, deidentify=True)
    for source in (tmp_path / "data", bundle, reduced):
        tables = load(source, withdrawn=True)
        assert tables.participants["included"].tolist() == [True, False]
        assert tables.participants["excluded_because"].tolist()[1] == "withdrawn"
        assert tables.included().stages["participant"].tolist() == ["P01"]
    for made in (bundle, reduced):
        assert cells(made / "sub-P02" / "sub-P02_sessions.tsv")["excluded_because"] == "withdrawn"
    again = export([bundle], tmp_path / "again")
    assert not (again / "sub-P02").exists()
    with pytest.raises(RecordError, match="withdrew"):
        analyze([folders[1]], tmp_path / "results")
    assert not (tmp_path / "results").exists()


def test_what_is_to_be_deleted_is_never_analysed(tmp_path: Path) -> None:
    made = session()
    made.at(21, SessionEnded("left", "delete"))
    made.write(tmp_path)
    with pytest.raises(RecordError, match="wants the data deleted"):
        load(tmp_path, withdrawn=True)


def test_the_golden_session_counts(tmp_path: Path) -> None:
    row = load(golden_session(tmp_path)).participants.iloc[0]
    assert row["included"]
    assert row["n_solved"] == 5
