"""Mixtures: shares as text, and who has which strategy."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from labapp import analysis
from labapp.base.errors import UsageError
from labapp.record.journal.read import check_journal
from labapp.session.resuming import is_finished, read_verified_events
from labapp.session.simulation.names import MIXTURE
from labapp.session.simulation.person import FAST, PATIENCE_S, ParticipantTraits
from labapp.session.simulation.simulation_job import simulate
from labapp.session.simulation.strategies import SHARES, STRATEGIES, draw_strategy, members, parse
from labapp.study.loading import load
from tests.helpers.nightly import EVERYTHING
from tests.session.sessions import surroundings

STUDY = """\
id: skips
title: Who goes on, who gives up
version: 1
unnamed_texts: shipped
flow:
  - stages:
      {task: reconstruction, models: [sinelines/gt, sinelines/ae], trials: 3, skip: after,
       skip_after_s: 4, after: [shipped:seq]}
"""


def test_shares_are_read() -> None:
    assert parse("understanding=0.3, random = 0.7") == {"understanding": 0.3, "random": 0.7}
    assert parse("ascent=1,random=0") == {"ascent": 1.0}
    assert members("partial") == ("partial",)
    assert members(MIXTURE) == tuple(SHARES)
    assert set(SHARES) == set(STRATEGIES)
    assert sum(SHARES.values()) == pytest.approx(1)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("understanding", "not NAME=SHARE"),
        ("understanding=half,random=0.5", "not NAME=SHARE"),
        ("mixture=1", "'mixture' is not one of the strategies"),
        ("knowing=1", "'knowing' is not one of the strategies"),
        ("random=0.5,random=0.5", "stands twice"),
        ("random=-0.5,ascent=1.5", "from 0 to 1"),
        ("random=0.5,ascent=0.4", "add up to 0.9"),
        ("random=nan", "from 0 to 1"),
    ],
)
def test_wrong_shares_are_refused(text: str, why: str) -> None:
    with pytest.raises(UsageError, match=why) as told:
        parse(text)
    assert told.value.todo
    assert told.value.safe


def test_only_strategies_that_are_able_can_have_a_share() -> None:
    with pytest.raises(UsageError, match="'explanation' is not one of the strategies") as told:
        parse("explanation=1", tuple(SHARES))
    assert "understanding, partial, ascent, random." in told.value.todo
    assert parse("explanation=1") == {"explanation": 1.0}


def test_people_have_strategies_in_these_shares_and_keep_them() -> None:
    many = 2000 if EVERYTHING else 800
    labels = [f"P{number}" for number in range(many)]
    who = [draw_strategy(MIXTURE, 5, label) for label in labels]
    counted = Counter(name for name, _ in who)
    for name, share in SHARES.items():
        assert counted[name] / many == pytest.approx(share, abs=0.04)
    assert all(share == SHARES[name] for name, share in who)
    assert [draw_strategy(MIXTURE, 5, label) for label in labels] == who
    assert [draw_strategy(MIXTURE, 6, label) for label in labels] != who
    assert draw_strategy("ascent", 5, "P1") == ("ascent", None)
    halves = Counter(draw_strategy("ascent=0.5,random=0.5", 5, label)[0] for label in labels)
    assert abs(halves["ascent"] / many - 0.5) < 0.04


def test_people_differ_and_stay_who_they_are() -> None:
    people = [ParticipantTraits.drawn(3, f"P{number}") for number in range(400)]
    assert ParticipantTraits.drawn(3, "P7") == people[7]
    patience = sorted(one.patience_s for one in people)
    assert patience[200] == pytest.approx(PATIENCE_S, rel=0.1)
    assert patience[20] < 0.6 * PATIENCE_S < 1.6 * PATIENCE_S < patience[380]
    tired = people[0]
    assert tired.gives_up_after(3, near=False) < tired.gives_up_after(0, near=False)
    assert tired.gives_up_after(0, near=True) > tired.gives_up_after(0, near=False)


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A session of each strategy."""
    folder = tmp_path_factory.mktemp("each")
    file = folder / "skips.yaml"
    file.write_text(STUDY)
    study, around = load(file), surroundings(folder)
    return [
        simulate(study, "P01", around, data=folder / name, strategy=name, pace=FAST)
        for name in (*sorted(STRATEGIES), MIXTURE)
    ]


def test_a_session_says_who_took_part(paths: list[Path]) -> None:
    told = []
    for path in paths:
        (who,) = [e for e in read_verified_events(path) if e.kind == "participant.simulated"]
        told.append(who.payload)
        assert who.source == "simulated"
    assert [one["strategy"] for one in told[:-1]] == sorted(STRATEGIES)
    assert told[-1]["share"] == SHARES[told[-1]["strategy"]]
    assert {one["share"] for one in told[:-1]} == {None}
    assert all(one["traits"] == told[0]["traits"] for one in told), "the same person"


def test_they_act_by_commands_and_give_up_only_where_skip_is_offered(paths: list[Path]) -> None:
    outcomes: Counter[str] = Counter()
    for path in paths:
        events = read_verified_events(path)
        assert is_finished(events)
        assert not check_journal(path)
        offered: set[tuple[object, ...]] = set()
        for event in events:
            if event.kind == "skip.offered":
                offered.add(event.key)
            if event.kind == "trial.ended":
                outcomes[event.payload["outcome"]] += 1
                if event.payload["outcome"] == "skipped":
                    assert event.key in offered
    assert set(outcomes) == {"solved", "skipped"}
    assert sum(outcomes.values()) == 5 * 2 * 3


def test_difficulty_is_rated_by_what_was_lived_through(paths: list[Path]) -> None:
    share, seq = [], []
    for path in paths:
        solved: dict[str, list[bool]] = {}
        for event in read_verified_events(path):
            if event.kind == "trial.ended":
                solved.setdefault(str(event.part_id), []).append(
                    event.payload["outcome"] == "solved"
                )
            if event.kind == "questionnaire.submitted":
                seq.append(event.payload["answers"]["seq"])
        share += [sum(stage) / len(stage) for stage in solved.values()]
    assert len(share) == len(seq)
    easy = [said for said, ok in zip(seq, share, strict=True) if ok > 0.5]
    hard = [said for said, ok in zip(seq, share, strict=True) if ok < 0.5]
    assert easy
    assert hard
    assert sum(easy) / len(easy) < sum(hard) / len(hard)


def test_the_table_of_participants_says_how_each_solved(paths: list[Path]) -> None:
    for path, strategy in zip(paths[:2], sorted(STRATEGIES), strict=False):
        (row,) = analysis.load(path).participants.to_dict("records")
        assert row["simulated"]
        assert row["strategy"] == strategy
