"""Codes are joined with what happened: by hand for a small session, and against a plain reading of
the journal for random marks in random simulated sessions."""

from __future__ import annotations

import itertools
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labapp.analysis.rows import SessionRecords
from labapp.analysis.speech_rows import SessionSpeech
from labapp.analysis.tables import load
from labapp.base.clock import NS
from labapp.base.errors import AnnotationError
from labapp.base.report.listing import records
from labapp.coding.annotations import codebook as codebooks
from labapp.coding.annotations.model import (
    Assignment,
    Mark,
    RaterMarks,
    Redaction,
    Segmentation,
    SessionAnnotations,
    Text,
    Unit,
    Word,
    rater_file,
)
from labapp.coding.annotations.simulated import codebook_path
from labapp.coding.annotations.store import open_marks
from labapp.coding.annotations.texts import select_visible_texts
from labapp.record.events import Event, payload_of
from labapp.record.events.lifecycle import PartEnded, PartStarted, SessionPaused, SessionResumed
from labapp.record.events.trials import TrialEnded
from labapp.record.events.voice import AudioBlock, AudioGap, AudioStarted
from labapp.session.resuming import read_verified_events
from labapp.session.simulation.simulation_job import simulate, simulate_study
from labapp.study.loading import load as load_study
from labapp.tasks.reconstruction.events import (
    DialMoved,
    PictureDecoded,
    TrialDrawn,
    TrialSolved,
    TrialStarted,
)
from tests.analysis.sessions import TARGET, ZERO, Stamped, builder, paired, stage_row
from tests.helpers.sample import examples, sample
from tests.session.sessions import surroundings

STAGE = "stage-1"


def s(seconds: float) -> int:
    return round(seconds * NS)


def small() -> Stamped:
    """A stage from 1 s on: its first question from 2 s to 21 s (solved at 20 s) with a pause from 9
    to 14 s, its second one from 22 to 30 s, skipped; sound is lost from 5 to 6 s."""
    made = builder(stage_row())
    made.at(0, AudioStarted("a.wav", "mic", "ALSA", 1000, 1, "PCM_16"))
    made.at(1, PartStarted(0), STAGE)
    made.at(2, TrialDrawn(ZERO, TARGET), STAGE, 1)
    made.at(2, TrialStarted(0.25, 1.0, 1.0, False), STAGE, 1)
    for number, (at, dial, alignment) in enumerate(
        [(4, 1, 0.3), (6, 1, 0.4), (8, 2, 0.5), (16, 1, 0.6), (18, 2, 0.8)], start=1
    ):
        if at == 16:
            made.at(9, SessionPaused("the phone rang"))
            made.at(
                10,
                AudioBlock("a.wav", 0, 10_000, "", ((0, 0.0, 0), (10_000, 10.0, 10 * NS))),
            )
            made.at(10, AudioGap("a.wav", 5_000, 1_000, "queue"))
            made.at(14, SessionResumed("on"))
        made.at(at, DialMoved(number, dial, 0.1 * number, "mouse"), STAGE, 1)
        made.at(at, PictureDecoded(number, alignment, 1.0, 1.0), STAGE, 1)
    made.at(20, TrialSolved(5, TARGET, 0.8), STAGE, 1)
    made.at(21, TrialEnded("solved"), STAGE, 1)
    made.at(22, TrialDrawn(ZERO, TARGET), STAGE, 2)
    made.at(22, TrialStarted(0.1, 1.0, 1.0, False), STAGE, 2)
    made.at(24, DialMoved(1, 0, 1.0, "mouse"), STAGE, 2)
    made.at(24, PictureDecoded(1, 0.2, 1.0, 1.0), STAGE, 2)
    made.at(30, TrialEnded("skipped"), STAGE, 2)
    made.at(31, PartEnded(0, "completed"), STAGE)
    return paired(made)


UNITS = (
    Unit("u1", s(3.5), s(7)),
    Unit("u2", s(8.5), s(15), speaker="moderator"),
    Unit("u3", s(17), s(26)),
)
TEXTS = {
    "u1": Text(
        "u1",
        "it is Anna here",
        (
            Word(s(3.5), s(4), "it"),
            Word(s(4), s(5), "is"),
            Word(s(5), s(6), "Anna"),
            Word(s(6), s(7), "here"),
        ),
    ),
    "u3": Text("u3", "there it is", reviewed=True),
}


def mark(
    name: str, t0: float, t1: float, unit: str | None = None, rater: str = "anna", **more: Any
) -> Mark:
    return Mark(name, rater, "strategy", "goal", s(t0), s(t1), unit, **more)


def said(*marks: Mark, transcript: bool = True, **more: Any) -> SessionSpeech:
    raters: dict[str, RaterMarks] = {}
    for given_mark in marks:
        known = raters.get(given_mark.rater, RaterMarks(given_mark.rater))
        raters[given_mark.rater] = replace(known, marks=(*known.marks, given_mark))
    assignments = more.pop("assignments", ())
    units = {unit.id: unit for unit in UNITS}
    texts = select_visible_texts(TEXTS, units, more.get("redactions", ()), allowed=transcript)
    annotations = SessionAnnotations("S", Segmentation(UNITS, frozen=True), texts, raters, **more)
    return SessionSpeech(annotations, assignments, transcript)


def rows(what: SessionSpeech) -> dict[str, list[dict[str, Any]]]:
    return SessionRecords.of(small(), "test", speech=what).rows()


def test_a_mark_has_what_was_done_meanwhile_and_how_its_trial_ended() -> None:
    (row,) = rows(said(mark("m", 3.5, 7, "u1")))["coded"]
    assert (row["trial"], row["outcome"], row["solved"], row["skipped"]) == (
        1,
        "solved",
        True,
        False,
    )
    assert (row["alignment_onset"], row["alignment_offset"]) == (0.25, 0.4)
    assert row["alignment_gain"] == pytest.approx(0.15)
    assert (row["dial_moves"], row["dial_moves_around"], row["dials_touched"]) == (2, 3, "2;3")
    assert (row["paused_s"], row["sound_lost_s"]) == (0.0, 1.0)
    assert row["response_s"] == 14.0, "21 - 2 without a pause of 5 s"
    assert row["correct"] is None
    assert (row["model"], row["speaker"]) == ("mnist8k/ss2", "participant")


def test_a_mark_over_the_end_of_its_trial_has_the_alignment_reached_there() -> None:
    (row,) = rows(said(mark("m", 17, 26, "u3")))["coded"]
    assert (row["trial"], row["alignment_offset"]) == (1, 0.8)
    assert (row["dial_moves"], row["dial_moves_around"]) == (1, 2), "of its own trial"


def test_working_time_stands_still_in_a_pause() -> None:
    (row,) = rows(said(mark("m", 8.5, 15)))["codes"]
    assert (row["onset_working_s"], row["offset_working_s"]) == (8.5, 10.0)
    (row,) = rows(said(mark("m", 8.5, 15)))["coded"]
    assert row["paused_s"] == 5.0


def test_a_point_has_moves_around_it_and_no_gain() -> None:
    (row,) = rows(said(mark("m", 6, 6)))["coded"]
    assert (row["dial_moves"], row["dial_moves_around"], row["alignment_gain"]) == (0, 3, None)
    assert (row["alignment_onset"], row["alignment_offset"]) == (0.4, 0.4)


def test_a_free_stretch_is_spoken_by_whoever_shares_most_time_with_it() -> None:
    by_id = {row["mark"]: row for row in rows(said(mark("a", 6, 9.5), mark("b", 0, 1)))["codes"]}
    assert by_id["a"]["speaker"] == "participant"
    assert by_id["b"]["speaker"] is None
    (row,) = rows(said(mark("c", 8.6, 10)))["codes"]
    assert row["speaker"] == "moderator"


def test_before_a_trial_there_is_no_outcome() -> None:
    (row,) = rows(said(mark("m", 0.5, 0.8)))["coded"]
    assert {row.get(name) for name in ("outcome", "stage", "trial", "dial_moves", "model")} == {
        None
    }


def test_words_are_there_where_that_was_agreed_and_without_those_redacted() -> None:
    utterances = {r["unit"]: r for r in rows(said(mark("m", 3.5, 7, "u1")))["utterances"]}
    assert utterances["u1"]["text"] == "it is Anna here"
    assert utterances["u1"]["n_words"] == 4
    assert (utterances["u2"]["text"], utterances["u2"]["text_withheld"]) == (None, "not_written")
    without = rows(said(mark("m", 3.5, 7, "u1", memo="Anna said so"), transcript=False))
    for table in ("utterances", "coded"):
        told = without[table][0]
        assert (told["text"], told["text_withheld"]) == (None, "not_agreed")
    assert without["codes"][0]["memo"] is None
    redacted = rows(
        said(
            mark("m", 3.5, 7, "u1", memo="Anna said so"),
            redactions=(Redaction("r", s(5.1), s(5.9)),),
        )
    )
    assert redacted["coded"][0]["text"] == "it is […] here"
    assert redacted["coded"][0]["text_withheld"] == "redacted"
    assert redacted["codes_all"][0]["memo"] is None


def test_several_raters_are_all_told_and_one_counts() -> None:
    two = mark("m", 3.5, 7, "u1"), mark("n", 3.5, 7, "u1", rater="ben")
    with pytest.raises(AnnotationError, match="primary rater"):
        rows(said(*two))
    primary = (Assignment("S", "ben", 0, s(60)),)
    table = rows(said(*two, assignments=primary))
    assert [row["rater"] for row in table["codes_all"]] == ["anna", "ben"]
    assert [row["rater"] for row in table["codes"]] == ["ben"]
    assert [row["mark"] for row in table["coded"]] == ["n"]


def test_who_finished_coding_by_what_is_known_also_without_a_mark() -> None:
    names = {("book", "surprise"): "Surprise", ("book", "leak"): "Leak", ("old", "glad"): "Glad"}

    def completed(*raters: RaterMarks) -> tuple[str, ...]:
        annotations = SessionAnnotations("S", raters={each.rater: each for each in raters})
        return SessionSpeech(annotations, code_names=names).completed_codes

    done = RaterMarks("anna", status="done", codebook="book")
    assert completed(done) == ("leak", "surprise")
    assert completed(replace(done, status="locked")) == ("leak", "surprise")
    assert completed(replace(done, status="draft")) == ()
    assert completed(replace(done, round="training")) == ()
    begun = replace(mark("m", 3.5, 7, "u1"), codebook="old")
    assert completed(replace(done, marks=(begun,))) == ("glad", "leak", "surprise")
    assert completed(replace(done, marks=(replace(begun, round="training"),))) == completed(done)
    planted = RaterMarks("simulated", (replace(begun, rater="simulated"),), machine=True)
    assert completed(planted) == ("glad",)
    draft = RaterMarks("anna", (replace(begun, codebook="book"),))
    assert completed(planted, draft) == (), "a person began to code it"


STUDY = (
    "{{id: aloud, title: Aloud, version: 1, unnamed_texts: shipped, seed: {seed}, flow: ["
    "{{stages: {{task: reconstruction, models: [sinelines/gt], order: as_listed, trials: 2}}}}, "
    "{{stages: {{task: single-dimension, models: [sinelines/gt], order: as_listed, "
    "visualisation: exemplars}}}}]}}"
)
SOURCES = ("understanding", "partial", "ascent", "random")


@pytest.fixture(scope="module", autouse=True)
def simulated_in() -> Iterator[None]:
    yield
    session.cache_clear()
    shutil.rmtree(_folder(), ignore_errors=True)
    _folder.cache_clear()


@cache
def _folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="labapp-test-speech-"))


@cache
def session(seed: int, strategy: str) -> Path:
    folder = _folder() / f"{seed}-{strategy}"
    folder.mkdir()
    study = folder / "aloud.yaml"
    study.write_text(STUDY.format(seed=seed))
    return simulate(
        load_study(study),
        "P01",
        surroundings(folder),
        data=folder / "data",
        strategy=strategy,
        thinks_aloud=True,
    )


def expected(events: list[Event], t0: int, t1: int) -> dict[str, Any]:
    """What the journal says of a stretch, by going through all of it."""
    trial: tuple[Any, ...] = (None, None, None)
    for event in events:
        if event.t_ns > t0:
            break
        if event.kind == "part.started":
            trial = (event.part_id, None, None)
        elif event.kind == "part.ended":
            trial = (None, None, None)
        elif event.trial is not None:
            trial = event.key
    own = [event for event in events if event.trial is not None and event.key == trial]
    seen = [
        (e.t_ns, e.payload["alignment"])
        for e in own
        if e.kind in ("trial.started", "picture.decoded")
    ]
    at = [[a for t, a in seen if t <= limit] for limit in (t0, t1)]
    onset, offset = (some[-1] if some else None for some in at)
    moves = [(e.t_ns, e.payload["dimension"]) for e in own if e.kind == "dial.moved"]
    around = [d for t, d in moves if t0 - 5 * NS <= t < t1 + 5 * NS]
    ends = [e.payload["outcome"] for e in own if e.kind == "trial.ended"]
    answers = [e.payload["correct"] for e in own if e.kind == "answer.given"]
    dials = bool(seen or moves)
    gain = None if onset is None or offset is None or t0 == t1 else offset - onset
    return {
        "stage": trial[0],
        "trial": trial[1],
        "attempt": trial[2],
        "outcome": ends[0] if ends else None,
        "correct": answers[0] if answers else None,
        "alignment_onset": onset,
        "alignment_offset": offset,
        "alignment_gain": gain,
        "dial_moves": sum(t0 <= t < t1 for t, _ in moves) if dials else None,
        "dial_moves_around": len(around) if dials else None,
        "dials_touched": ";".join(str(d + 1) for d in sorted(set(around))) or None,
    }


def joined(path: Path, what: SessionSpeech) -> list[dict[str, Any]]:
    events = [(event, payload_of(event)) for event in read_verified_events(path)]
    return SessionRecords.of(events, "test", speech=what).rows()["coded"]


@examples(8)
@given(seed=st.integers(1, 10**6), strategy=st.sampled_from(SOURCES))
def test_the_join_returns_what_was_planted(seed: int, strategy: str) -> None:
    """In random simulated sessions: each code with its trial's outcome, moves and gains."""
    path = session(seed, strategy)
    events = list(read_verified_events(path))
    planted = [
        (event, tier, code)
        for event in events
        if event.kind == "speech.simulated"
        for tier, code in event.payload["codes"].items()
    ]
    tables = load(path)
    coded = tables.coded.astype(object).where(tables.coded.notna(), None).to_dict("records")
    assert len(coded) == len(planted)
    last_ns = events[-1].t_ns
    for row, (event, tier, code) in zip(coded, planted, strict=True):
        t0, t1 = event.payload["t0_ns"], min(event.payload["t1_ns"], last_ns)
        assert (row["tier"], row["code"], row["text"]) == (tier, code, event.payload["text"])
        assert (row["onset_s"], row["offset_s"]) == (t0 / NS, t1 / NS)
        told = expected(events, t0, t1)
        assert {name: row[name] for name in told} == told
        assert row["skipped"] == (None if told["outcome"] is None else told["outcome"] == "skipped")
    assert not tables.utterances.empty


@examples(25)
@given(
    strategy=st.sampled_from(sample(SOURCES, SOURCES[:1])),
    stretches=st.lists(st.tuples(st.floats(0, 1), st.floats(0, 0.1)), min_size=1, max_size=30),
)
def test_the_join_of_any_stretch_is_that_of_a_plain_reading(
    strategy: str, stretches: list[tuple[float, float]]
) -> None:
    path = session(1, strategy)
    events = list(read_verified_events(path))
    last_ns = events[-1].t_ns
    marks = tuple(
        Mark(f"m{n}", "anna", "t", "c", round(at * last_ns), round((at + lasts) * last_ns))
        for n, (at, lasts) in enumerate(stretches)
    )
    annotations = SessionAnnotations("S", raters={"anna": RaterMarks("anna", marks)})
    rows = {row["mark"]: row for row in joined(path, SessionSpeech(annotations))}
    for given_mark in marks:
        told = expected(events, given_mark.t0_ns, given_mark.t1_ns)
        row = rows[given_mark.id]
        assert {name: row.get(name) for name in told} == told


def test_a_session_without_speech_has_empty_tables(tmp_path: Path) -> None:
    study = tmp_path / "aloud.yaml"
    study.write_text(STUDY.format(seed=4))
    path = simulate(
        load_study(study),
        "P01",
        surroundings(tmp_path),
        data=tmp_path / "data",
        strategy="understanding",
    )
    tables = load(path)
    for name in ("utterances", "codes_all", "codes", "coded"):
        frame = tables.by_name()[name]
        assert frame.empty
        assert "included" in frame


@pytest.mark.parametrize(
    ("study", "strategy", "table", "right"),
    [
        ("gradcam-distinction", "explanation", "judgements", "right_distinction"),
        ("unmasking-faces", "understanding", "annotations", "correct"),
    ],
)
def test_codes_meet_the_outcomes_of_every_task(
    tmp_path: Path, study: str, strategy: str, table: str, right: str
) -> None:
    """Whether an answer was right is as the task's own table says."""
    (path,) = simulate_study(study, 1, strategy, tmp_path / "out", 1, thinks_aloud=True)
    tables = load(path)
    own = {
        (row["stage"], row["trial"], row["attempt"]): row[right]
        for row in records(tables.by_name()[table])
    }
    events = list(read_verified_events(path))
    coded = [row for row in records(tables.coded) if row["trial"] is not None]
    judged = 0
    for row in coded:
        told = expected(events, round(row["onset_s"] * NS), round(row["offset_s"] * NS))
        for name in ("stage", "trial", "attempt", "outcome", "dial_moves", "alignment_onset"):
            assert row[name] == told[name]
        key = (row["stage"], row["trial"], row["attempt"])
        if key in own:
            assert row["correct"] == own[key]
            judged += row["correct"] is not None
    assert judged > 10


def test_a_torn_line_of_annotations_is_told(tmp_path: Path) -> None:
    simulated = session(1, "random")
    path = Path(shutil.copytree(simulated, tmp_path / "aloud" / simulated.name))
    with open_marks(path, "anna", codebooks.read(codebook_path())) as marks:
        marks.give("sure", unit=next(iter(load(path).utterances["unit"])))
    with rater_file(path, "anna").open("ab") as file:
        file.write(b'{"seq":')
    tables = load(path)
    (remark,) = tables.remarks
    assert path.name in remark
    assert str(tmp_path) not in remark
    assert tables.codes["rater"].tolist() == ["anna"]


@examples(60)
@given(
    units=st.lists(st.tuples(st.integers(0, 40), st.integers(1, 12)), max_size=8),
    at=st.integers(0, 50),
    lasts=st.integers(0, 15),
)
def test_the_speaker_of_a_free_mark_is_who_shares_most_time(
    units: list[tuple[int, int]], at: int, lasts: int
) -> None:
    """Against a look at every unit."""
    speakers = itertools.cycle(("participant", "moderator", "other"))
    made = [
        Unit(f"u{n}", s(begin), s(begin + length), speaker=speaker)  # type: ignore[arg-type]
        for n, ((begin, length), speaker) in enumerate(zip(sorted(units), speakers, strict=False))
    ]
    marks = RaterMarks("anna", (mark("m", at, at + lasts),))
    annotations = SessionAnnotations("S", Segmentation(tuple(made)), {}, {"anna": marks})
    (row,) = rows(SessionSpeech(annotations))["codes"]
    shared = [
        (min(at + lasts, unit.t1_ns // NS) - max(at, unit.t0_ns // NS), unit)
        for unit in made
        if max(unit.t0_ns, s(at)) < min(unit.t1_ns, s(at + lasts))
        or unit.t0_ns <= s(at) < unit.t1_ns
    ]
    longest = max(shared, key=lambda pair: pair[0], default=(0, None))[1]
    assert row["speaker"] == (None if longest is None else longest.speaker)
