"""A recorded session at any moment: its state, whatever the order of asking."""

from __future__ import annotations

import random
from bisect import bisect_right
from dataclasses import replace
from pathlib import Path

import pytest

from labapp.base.errors import RecordError
from labapp.record.journal.opening import open_record
from labapp.session.bids.export import export
from labapp.session.replay.history import EVERY, MANY, History
from labapp.session.simulation.at_scale import simulate_at_scale

STUDIES = ("quickstart", "prototree-agreement", "synthetic-think-aloud")


class Simulated(dict[str, Path]):
    """A simulated session of each study, once it is asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __missing__(self, study: str) -> Path:
        found = simulate_at_scale(study, 1, "understanding", self.folder / study, 1)[0]
        return self.setdefault(study, found)


@pytest.fixture(scope="module")
def sessions(tmp_path_factory: pytest.TempPathFactory) -> Simulated:
    return Simulated(tmp_path_factory.mktemp("simulated"))


@pytest.mark.parametrize("study", STUDIES)
def test_a_state_is_the_one_of_a_straight_fold_in_any_order(
    study: str, sessions: Simulated
) -> None:
    with History(open_record(sessions[study])) as history:
        machine = history.machine
        assert machine is not None
        state = machine.initial()
        straight = [state]
        for event, payload in history.events:
            state = machine.apply(state, event, payload)
            straight.append(state)
        times = [event.t_ns for event, _ in history.events]
        rng = random.Random(study)
        for _ in range(200):
            t_ns = rng.randrange(history.begin_ns, history.end_ns + 1)
            count = bisect_right(times, t_ns)
            assert history.events_until(t_ns) == count
            assert history.state_at(t_ns) == straight[count]
        assert history.problems == ()


@pytest.mark.parametrize("study", STUDIES)
def test_folding_ahead_comes_to_the_same_states_and_to_an_end(
    study: str, sessions: Simulated
) -> None:
    session = sessions[study]
    with History(open_record(session)) as asked, History(open_record(session)) as ahead:
        blocks = 0
        while ahead.fold_ahead():
            blocks += 1
        assert blocks == len(ahead.events) // EVERY
        for count in range(0, len(asked.events) + 1, 37):
            assert ahead.state_after(count) == asked.state_after(count)
        assert list(asked.events) == asked.events[:] == list(asked.record.payloads())
        assert asked.events[-1] == asked.events[len(asked.events) - 1]


@pytest.mark.parametrize("study", STUDIES)
def test_read_in_parts_it_is_the_same(study: str, sessions: Simulated) -> None:
    record = open_record(sessions[study])
    with History(record) as whole, History(record, in_parts=True) as parts:
        rng = random.Random(study)
        for _ in range(20):
            t_ns = rng.randrange(whole.begin_ns, whole.end_ns + 1)
            assert parts.state_at(t_ns) == whole.state_at(t_ns)
            assert parts.sound_at(t_ns) == whole.sound_at(t_ns)
            parts.read_on(rng.randrange(20))
        while parts.read_on(500):
            pass
        assert list(parts.times) == list(whole.times)
        assert list(parts.decoders) == list(whole.decoders)
        assert (parts.end_ns, parts.problems) == (whole.end_ns, ())
        assert parts.simulated


@pytest.mark.parametrize("in_parts", [False, True])
def test_a_history_ends_before_what_cannot_be_read(in_parts: bool, sessions: Simulated) -> None:
    record = open_record(sessions["quickstart"])
    rows = list(record.rows)
    broken = len(rows) - 100
    rows[broken] = rows[broken]._replace(payload="{")
    with (
        History(record) as whole,
        History(replace(record, rows=rows), in_parts=in_parts) as history,
    ):
        early = history.state_after(broken // 2)
        assert early == whole.state_after(broken // 2)
        assert (history.problems == ()) == in_parts
        assert history.state_at(whole.end_ns) == whole.state_after(broken)
        assert f"Event {broken + 1}" in history.problem
        assert len(history.events) == len(history.times) == broken
        assert history.end_ns == history.times[-1] < whole.end_ns
        assert not history.read_on(10)


def test_a_time_is_far_until_what_lies_before_it_is_folded(sessions: Simulated) -> None:
    with History(open_record(sessions["quickstart"]), in_parts=True) as history:
        end_ns = history.end_ns
        assert len(history.times) > MANY + EVERY
        assert not history.is_far(history.times[MANY // 2])
        assert history.is_far(end_ns)
        while history.is_far(end_ns):
            assert history.fold_ahead()
        history.state_at(end_ns)
        assert not history.is_far(end_ns)


def test_a_bundle_gives_the_same_states_from_a_folder_and_from_an_archive(
    sessions: Simulated, tmp_path: Path
) -> None:
    session = sessions["prototree-agreement"]
    places = [
        export([session], tmp_path / "bundle"),
        export([session], tmp_path / "bundle-zip", zip=True),
    ]
    with History(open_record(session)) as whole:
        for place in places:
            with History(open_record(place)) as history:
                assert history.problems == ()
                for t_ns in range(0, whole.end_ns, whole.end_ns // 20):
                    assert history.state_at(t_ns) == whole.state_at(t_ns)


def test_a_deidentified_bundle_can_be_replayed(sessions: Simulated, tmp_path: Path) -> None:
    bundle = export([sessions["quickstart"]], tmp_path / "bundle", deidentify=True)
    with History(open_record(bundle)) as history:
        assert history.problems == ()
        assert history.state_at(history.end_ns).ended == "completed"


def test_a_session_without_its_study_says_that_no_screen_can_be_shown(
    sessions: Simulated, tmp_path: Path
) -> None:
    session = sessions["quickstart"]
    copy = tmp_path / session.name
    copy.mkdir()
    for name in ("journal.sqlite", "environment.json"):
        (copy / name).write_bytes((session / name).read_bytes())
    with History(open_record(copy)) as history:
        assert history.machine is None
        assert "no copy of its study file" in history.problem
        assert history.end_ns > 0
        with pytest.raises(RecordError, match="no copy of its study file"):
            history.state_at(0)


def test_trails_are_the_moves_of_the_question_on_the_screen(sessions: Simulated) -> None:
    with History(open_record(sessions["quickstart"])) as history:
        moves = [
            (event.t_ns, event.trial, *movement)
            for event, payload in history.events
            if (movement := payload.moved_dial()) is not None
        ]
        assert len(moves) > 100
        begins = [event.t_ns for event, payload in history.events if payload.begins]
        for t_ns, trial, dial, value in moves[::100]:
            assert history.trails(t_ns - 5_000_000_000, t_ns)[dial][-1] == (t_ns, value)
            last_ns = max(at for at, of, *_ in moves if of == trial)
            if begun := [at for at in begins if at > last_ns]:
                assert history.trails(t_ns - 1, begun[0]) == {}
