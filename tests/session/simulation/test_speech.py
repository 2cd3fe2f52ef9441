"""Simulated participants that think aloud: what they say follows from what they know, and changes
nothing else."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from labapp.coding.annotations.codebook import codebooks_of
from labapp.coding.annotations.simulated import (
    SIMULATED,
    WITHHELD,
    codebook_path,
    codebook_sha256,
    leave_codebooks,
    read_shipped_codebooks,
    read_simulated_speech,
)
from labapp.record.events import Event, payload_of
from labapp.record.journal.read import check_journal, payloads, read_rows
from labapp.session.bids.contents import WITHHELD as IN_COPIES
from labapp.session.bids.contents import redact
from labapp.session.resuming import read_verified_events
from labapp.session.simulation.driver import BACKLOG_S
from labapp.session.simulation.person import thoughts
from labapp.session.simulation.simulation_job import simulate
from labapp.study.loading import load
from tests.session.sessions import surroundings

SPEECH = "speech.simulated"


def session(folder: Path, *, thinks_aloud: bool, strategy: str = "understanding") -> Path:
    folder.mkdir()
    study = folder / "aloud.yaml"
    study.write_text(
        "{id: aloud, title: Aloud, version: 1, unnamed_texts: shipped, seed: 3, flow: ["
        "{stages: {task: reconstruction, models: [sinelines/gt], order: as_listed, trials: 3}}, "
        "{stages: {task: single-dimension, models: [sinelines/gt], order: as_listed, "
        "visualisation: exemplars}}]}"
    )
    return simulate(
        load(study),
        "P01",
        surroundings(folder),
        data=folder / "data",
        strategy=strategy,
        thinks_aloud=thinks_aloud,
    )


def told(events: list[Event]) -> list[tuple[Any, ...]]:
    """What happened besides speech, without the numbers of the rows and what was measured."""
    return [
        (event.t_ns, *event[4:])
        for event in events
        if event.kind not in (SPEECH, "decoder.warmed", "segment.started", "session.planned")
    ]


@pytest.fixture(scope="module")
def aloud(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return session(tmp_path_factory.mktemp("aloud") / "with", thinks_aloud=True)


def test_nothing_else_is_different(aloud: Path, tmp_path: Path) -> None:
    silent = list(read_verified_events(session(tmp_path / "without", thinks_aloud=False)))
    events = list(read_verified_events(aloud))
    assert not [event for event in silent if event.kind == SPEECH]
    assert [event for event in events if event.kind == SPEECH]
    assert told(events) == told(silent)
    assert not check_journal(aloud)


def test_words_and_codes_are_those_of_a_thought(aloud: Path) -> None:
    codebook = yaml.safe_load(codebook_path().read_text("utf-8"))
    tiers = {code["id"]: code["tier"] for code in codebook["codes"]}
    for event in read_verified_events(aloud):
        if event.kind == SPEECH:
            assert [
                name
                for name, thought in thoughts("en").items()
                if dict(thought.codes) == event.payload["codes"]
                and any(
                    re.fullmatch(re.escape(way).replace(r"\{what\}", ".+"), event.payload["text"])
                    for way in thought.ways
                )
            ]
            for tier, code in event.payload["codes"].items():
                assert tiers[code] == tier


def test_it_says_that_it_gives_up_before_it_skips_and_that_it_fits_once_it_does(
    aloud: Path,
) -> None:
    events = list(read_verified_events(aloud))
    affects = [
        (event.seq, event.payload["codes"].get("affect"))
        for event in events
        if event.kind == SPEECH and set(event.payload["codes"]) == {"affect"}
    ]
    stage = next(event.part_id for event in events if event.kind == "trial.drawn")
    ends = [event for event in events if event.kind == "trial.ended" and event.part_id == stage]
    assert len(ends) == 3
    for end in ends:
        before = [affect for seq, affect in affects if seq < end.seq]
        assert before[-1] == ("sure" if end.payload["outcome"] == "solved" else "uncertain")


def test_utterances_follow_each_other_and_soon(aloud: Path) -> None:
    spoken = [event for event in read_verified_events(aloud) if event.kind == SPEECH]
    ends = 0
    for event in spoken:
        t0_ns, t1_ns = event.payload["t0_ns"], event.payload["t1_ns"]
        assert ends <= t0_ns < t1_ns
        assert 0 <= t0_ns - event.t_ns <= BACKLOG_S * 1e9
        ends = t1_ns


def test_a_dial_is_named_after_it_was_learnt(aloud: Path) -> None:
    """No effect is told before the first question was gone through."""
    events = list(read_verified_events(aloud))
    first = next(e for e in events if e.kind == SPEECH and "affect" in e.payload["codes"])
    dials = [event for event in events if event.kind == SPEECH and "dial" in event.payload["codes"]]
    assert dials
    assert all(event.seq > first.seq for event in dials)


def test_units_texts_and_marks(aloud: Path) -> None:
    events = list(read_verified_events(aloud))
    speech = read_simulated_speech([(event, payload_of(event)) for event in events])
    spoken = [event for event in events if event.kind == SPEECH]
    assert [unit.t0_ns for unit in speech.units] == [e.payload["t0_ns"] for e in spoken]
    assert {unit.origin for unit in speech.units} == {SIMULATED}
    assert [text.text for text in speech.texts] == [e.payload["text"] for e in spoken]
    assert [(mark.tier, mark.code) for mark in speech.marks] == [
        pair for event in spoken for pair in event.payload["codes"].items()
    ]
    assert len({mark.id for mark in speech.marks}) == len(speech.marks)
    assert speech.rater.machine
    assert {mark.codebook for mark in speech.marks} == {codebook_sha256()}


def test_a_deidentified_copy_has_units_and_marks_without_words(aloud: Path) -> None:
    assert WITHHELD == IN_COPIES
    rows = redact(list(read_rows(aloud)), {})
    speech = read_simulated_speech(payloads(rows))
    assert speech.units
    assert speech.marks
    assert speech.texts == ()


def test_a_study_gets_the_codebook_where_it_has_none(tmp_path: Path) -> None:
    leave_codebooks(tmp_path)
    assert [book.sha256 for book in codebooks_of(tmp_path)] == [codebook_sha256()]
    (tmp_path / "codebook.yaml").write_text("mine")
    leave_codebooks(tmp_path)
    assert (tmp_path / "codebook.yaml").read_text() == "mine"


def test_a_task_with_codes_of_its_own_brings_its_codebook(tmp_path: Path) -> None:
    leave_codebooks(tmp_path, ("concept-repair", "think-aloud"))
    assert {book.id for book in codebooks_of(tmp_path)} == {"concept-repair", "think-aloud"}
    for tier, code in (("surprise", "surprise"), ("model", "leak"), ("model", "expectation")):
        assert codebook_sha256(tier, code) == sha_of("concept-repair")
    assert codebook_sha256("affect", "sure") == codebook_sha256() == sha_of("think-aloud")


def sha_of(name: str) -> str:
    return next(book.sha256 for book in read_shipped_codebooks() if book.id == name)


def test_every_thought_has_codes_of_a_shipped_codebook() -> None:
    known = {(code.tier, code.id) for book in read_shipped_codebooks() for code in book.codes}
    for thought in thoughts("en").values():
        assert set(thought.codes.items()) <= known
