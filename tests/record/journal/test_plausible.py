"""Values of the right type that no session has are told by event, and stop nothing else."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from labapp.analysis.folding.folded import fold
from labapp.base.errors import LabappError, RecordError
from labapp.record.events import Event, Payload, payload_of
from labapp.record.events.lifecycle import SessionPlanned, SessionReopened, SkipRequested
from labapp.record.journal.opening import SessionPlace, describe
from labapp.record.journal.read import Row, check_rows, payloads, plausible
from labapp.session.bids.export import export
from labapp.session.bids.verify import verify
from labapp.session.resuming import recover
from labapp.study.plan import to_rows
from tests.helpers.play import Play, stage_machine
from tests.hostile import rehashed
from tests.hostile.rehashed import Change, set_in

SECOND = rehashed.GOLDEN / "journals" / "second.jsonl"


def without(kind: str) -> Change:
    """Without the first row of a kind."""

    def change(rows: list[Row]) -> list[Row]:
        at = next(index for index, row in enumerate(rows) if row.kind == kind)
        return rehashed.replaced(rows, at)

    return change


def plan_without(key: str) -> Change:
    """Without a key of every part of the plan."""

    def change(rows: list[Row]) -> list[Row]:
        plan = json.loads(rows[0].payload)["plan"]
        lacking = [{name: one for name, one in part.items() if name != key} for part in plan]
        return set_in("session.planned", {"plan": lacking})(rows)

    return change


CASES: dict[str, tuple[Change, str]] = {
    "a dial that is none": (set_in("dial.moved", {"dimension": 9}), "dials, none 9"),
    "a dial before the first": (set_in("dial.moved", {"dimension": -1}), "its dimension is -1"),
    "a name of no dial": (set_in("label.edited", {"dimension": 99}), "dials, none 99"),
    "a dial of no box": (set_in("tutorial.dial_moved", {"box": 9}), "no dial"),
    "too few dials": (set_in("trial.drawn", {"z_start": [0.5]}), "it has 1 dials"),
    "solved with too many": (set_in("trial.solved", {"z": [0.5] * 99}), "it has 99 dials"),
    "a part that is none": (set_in("part.started", {"index": 99}), "index 99"),
    "a stage that is none": (set_in("note.added", {}, part_id="nope"), "no part 'nope'"),
    "a question never drawn": (without("trial.drawn"), "was drawn"),
    "a question numbered 0": (set_in("trial.drawn", {}, trial=0), "of no question"),
    "a question of a text": (set_in("trial.drawn", {}, part_id="consent"), "no such questions"),
    "a plan without ids": (plan_without("id"), "id"),
    "planned twice": (lambda rows: [rows[0], rows[0], *rows[1:]], "planned once"),
    "a text for a number": (set_in("picture.decoded", {"alignment": "x"}), "its alignment is 'x'"),
    "a field too few": (set_in("session.planned", {"plan": 5}), "its plan is 5"),
    "a rate of nothing": (set_in("audio.started", {"nominal_rate": 0}), "its nominal_rate is 0"),
}


@pytest.mark.parametrize("case", CASES)
def test_every_reader_tells_it(case: str, tmp_path: Path) -> None:
    change, said = CASES[case]
    folder = rehashed.write(tmp_path, rehashed.chained(change(rehashed.rows_of(SECOND))))
    for read in (
        lambda: fold(SessionPlace(folder)),
        lambda: export([folder], tmp_path / "bundle"),
        lambda: export([folder], tmp_path / "bundle", deidentify=True),
        lambda: describe(folder),
        lambda: recover(folder),
    ):
        with pytest.raises(LabappError) as told:
            read()
        assert said in told.value.what
        assert told.value.todo
    assert any(said in problem for problem in verify(folder).problems)


@pytest.mark.parametrize("path", rehashed.JOURNALS, ids=lambda path: path.stem)
def test_what_was_recorded_is_plausible(path: Path) -> None:
    rows = rehashed.rows_of(path)
    assert len(list(plausible(payloads(rows)))) == len(rows)
    assert check_rows(rows, path.name) == []


def test_a_broken_chain_is_told_and_not_what_follows_from_it() -> None:
    rows: Sequence[Row] = without("trial.drawn")(rehashed.rows_of(SECOND))
    assert all("cannot be" not in problem.what for problem in check_rows(rows, "journal"))
    with pytest.raises(RecordError, match="was drawn"):
        list(plausible(payloads(rows)))


@pytest.mark.parametrize(
    ("payload", "why"),
    [
        (SkipRequested("trial", 99), "index 99"),
        (SkipRequested("part", 1), "is not 'stage-1'"),
        (SessionReopened(3), "event 3 is no end"),
    ],
)
def test_what_is_taken_back_was_there(payload: Payload, why: str) -> None:
    play = Play(stage_machine()).start()
    rows = [planned_row(play), *play.events]
    event = rows[-1]._replace(
        seq=len(rows) + 1,
        kind=payload.kind,
        part_id="stage-1",
        payload=payload.as_dict(),
        v=payload.version,
    )
    with pytest.raises(RecordError, match=why):
        list(plausible((row, payload_of(row)) for row in (*rows, event)))


def planned_row(play: Play) -> Event:
    """What a session of a played machine begins with."""
    rows = to_rows(play.machine.parts)
    planned = SessionPlanned("s", 1, "0", "P01", "1", 7, {}, "improved", "en", "off", rows)
    first = play.events[0]
    return first._replace(seq=1, kind=planned.kind, payload=planned.as_dict(), v=planned.version)
