"""What a de-identified bundle holds, and questionnaires as phenotype tables."""

from __future__ import annotations

import io
import json
import os
import re
import sqlite3
import zipfile
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
import soundfile

from labapp.analysis.rows import SessionRecords
from labapp.base import resources
from labapp.base.errors import BundleError, DataFolderError
from labapp.record.events import registered_kinds
from labapp.record.events.commands import Next
from labapp.record.events.lifecycle import (
    AlarmRaised,
    DeviationNoted,
    FlagAdded,
    NoteAdded,
    PointerMoved,
    PromptGiven,
    SessionPaused,
    SessionResumed,
)
from labapp.record.events.registry import Source, personal_fields
from labapp.record.events.trials import QuestionnaireSubmitted, ResponseChanged
from labapp.record.events.voice import AudioBlock, AudioStarted, AudioStopped
from labapp.record.journal.opening import open_record
from labapp.record.journal.read import check_rows, payloads
from labapp.session.bids.contents import WITHHELD, clock_fits, redact, redact_payload
from labapp.session.bids.derived import Phenotypes
from labapp.session.bids.export import export
from labapp.session.bids.verify import verify
from labapp.session.runner import YEARS
from labapp.session.withdrawal import withdraw
from labapp.study.instruments import Instrument, Written
from labapp.study.plugins import registry
from labapp.tasks.questionnaire.machine import Answer
from labapp.tasks.reconstruction.events import DialMoved, EditLabel
from tests.analysis.sessions import stage_row
from tests.helpers.bids import validator_errors
from tests.helpers.golden import golden_builder
from tests.helpers.journals import SessionBuilder, golden_session
from tests.helpers.questionnaires import own_study, questionnaire_study
from tests.helpers.trees import snapshot
from tests.session.sessions import begin_session, settle, spin, watch

INSTRUMENT = """
id: who-are-you
version: 1
title: About yourself
source: this test
items:
  - {id: years, kind: slider, text: Your age in years, low: 18, high: 99}
  - {id: kind_of_person, kind: choice, text: Gender, options: [
      {id: planted_woman, text: Woman}, {id: planted_other, text: Other, describe: true}]}
  - {id: reached_at, kind: written, text: Your e-mail}
  - {id: life, kind: written, lines: 5, text: Tell us about yourself}
  - {id: tool, kind: choice, identifying: no, text: What did you use, options: [
      {id: with_mouse, text: Mouse}, {id: with_keys, text: Keyboard}]}
  - {id: ease, text: How easy it was, points: 7, low: hard, high: easy}
"""

PLANTED = (
    '"chosen":["planted_other"]',
    '""chosen"":[""planted_other""]',
    "Planted Gender",
    "ada@planted.example",
    "My planted life",
    "planted note",
    "planted deviation",
    "planted flag",
    "planted prompt",
    "planted reason",
    "planted alarm",
    "planted name of a dial",
    "planted microphone",
    "planted screen",
    "planted-host",
    "planted-serial",
    "[6113,6114]",
)

STAMP = re.compile(r"(?<![\d.])1\d{9}(?:\d{3}|\d{6}|\d{9})?(?!\d)")

AGE = 83

"""Nothing else in the session is 83."""


def stream_clock() -> tuple[tuple[int, float, int], ...]:
    """Time marks as PortAudio gives them on Linux: seconds since 1970."""
    now_s = datetime.now(UTC).timestamp()
    return ((0, now_s, 5), (4000, now_s + 0.5, 500_000_005))


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A session of today in which every place that takes words has some, with sound."""
    folder = tmp_path_factory.mktemp("planted")
    study = own_study(folder / "study", INSTRUMENT)
    screens = [{"name": "planted screen", "serial": "planted-serial"}]
    one = begin_session(folder, study=study, extra={"screens": screens, "host": "planted-host"})
    answers = {
        "years": {"value": AGE, "touched": True},
        "kind_of_person": {"chosen": ["planted_other"], "described": "Planted Gender"},
        "reached_at": "ada@planted.example",
        "life": "My planted life\nin two lines",
        "tool": {"chosen": ["with_mouse"]},
        "ease": 6,
    }
    for item, value in answers.items():
        one.runner.send(Answer(item, value))
    told = (
        NoteAdded("planted note", 0),
        DeviationNoted("planted deviation", 0),
        FlagAdded(1, "planted flag"),
        PromptGiven("planted prompt"),
        AlarmRaised("disk", "planted alarm"),
        SessionPaused("planted reason"),
        SessionResumed("planted reason"),
        AudioStarted(
            "audio/segment-01.wav", "planted microphone", "planted-serial", 8000, 1, "PCM_16"
        ),
        AudioBlock("audio/segment-01.wav", 0, 0, "", stream_clock()),
        AudioStopped("audio/segment-01.wav", 0, 0),
        PointerMoved(0, 1366, 768, (0, 33), (6113, 6114), (7, 8)),
    )
    for payload in told:
        one.runner.emit(payload, Source.MODERATOR)
    events = watch(one)
    for _ in ("the questionnaire", "what comes before the stage"):
        one.runner.send(Next())
        settle(one)
    spin(one, lambda: any(event.kind == "trial.started" for event in events))
    one.runner.send(EditLabel(0, "planted name of a dial"))
    one.close("planted reason")
    sound = one.folder.path / "audio" / "segment-01.wav"
    soundfile.write(sound, np.zeros(0, np.int16), 8000)
    return one.folder.path


@pytest.fixture(scope="module", params=["folder", "zip"])
def bundle(
    request: pytest.FixtureRequest, session: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    out = tmp_path_factory.mktemp("out")
    private = tmp_path_factory.getbasetemp() / "dates"
    zipped = request.param == "zip"
    return export([session], out / "b", zip=zipped, deidentify=True, private=private)


def contents(bundle: Path) -> Iterator[tuple[str, str]]:
    """Every name, file and time in a bundle as text; archives and Parquet files opened."""
    if bundle.is_file():
        with zipfile.ZipFile(bundle) as archive:
            for entry in archive.infolist():
                yield from opened_up(entry.filename, archive.read(entry))
                yield entry.filename, str(entry.date_time)
        yield bundle.name, time_of(bundle)
        return
    for path in (bundle, *bundle.rglob("*")):
        name = path.relative_to(bundle.parent).as_posix()
        yield name, time_of(path)
        if path.is_file():
            yield from opened_up(name, path.read_bytes())


def opened_up(name: str, content: bytes) -> Iterator[tuple[str, str]]:
    yield name, name
    yield name, content.decode("latin-1")
    yield name, content.decode("utf-8", "replace")
    if name.endswith(".parquet"):
        file = pq.ParquetFile(io.BytesIO(content))
        yield name, str(file.metadata.metadata)
        yield name, "\n".join(str(row) for row in file.read().to_pylist())


def time_of(path: Path) -> str:
    return datetime.fromtimestamp(path.stat().st_mtime, UTC).isoformat()


def days_of(session: Path) -> list[date]:
    """The day by the session's clock, and today, on which its files were made; with the days before
    and after, whose dates these have in other time zones."""
    first = date.fromisoformat(open_record(session).rows[0].utc[:10])
    both = (first, datetime.now(UTC).date())
    return [day + timedelta(days) for day in both for days in (0, -1, 1)]


def moments(text: str, day: date) -> list[int]:
    """Seconds, milli-, micro- or nanoseconds since 1970 of any moment of the day, in seconds."""
    begin = int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp())
    seconds = (int(number[:10]) for number in STAMP.findall(text))
    return [second for second in seconds if begin <= second < begin + 86_400]


def as_written(day: date) -> tuple[str, ...]:
    forms = ("%Y-%m-%d", "%Y%m%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "(%Y, %-m, %-d,", "%d %b %Y")
    return tuple(day.strftime(form) for form in forms)


def test_nothing_that_was_planted_is_in_it(bundle: Path) -> None:
    for name, text in contents(bundle):
        for planted in PLANTED:
            assert planted not in text, f"{planted!r} is in {name}"
        assert not re.search(rf'[\t:" ]{AGE}[\t\n,}}" ]', text), f"the age is in {name}"


def test_no_date_of_the_session_is_in_it(bundle: Path, session: Path) -> None:
    for name, text in contents(bundle):
        for day in days_of(session):
            for moment in as_written(day):
                assert moment not in text, f"{moment} is in {name}"
            assert moments(text, day) == [], f"a moment of {day} is in {name}"


def test_the_same_is_found_in_a_plain_bundle(session: Path, tmp_path: Path) -> None:
    """So that the tests above can fail."""
    text = "\n".join(part for _, part in contents(export([session], tmp_path / "plain")))
    day = days_of(session)[0]
    wanted = {*PLANTED, day.isoformat(), day.strftime("%Y%m%d")}
    assert [planted for planted in wanted if planted not in text] == []
    assert re.search(rf"\t{AGE}\t", text)
    assert moments(text, datetime.now(UTC).date())


def test_it_is_whole_and_keeps_what_does_not_identify(bundle: Path, session: Path) -> None:
    assert verify(bundle).problems == []
    record, original = open_record(bundle), open_record(session)
    assert [row.t_ns for row in record.rows] == [row.t_ns for row in original.rows]
    moved = {
        datetime.fromisoformat(one.utc) - datetime.fromisoformat(other.utc)
        for one, other in zip(original.rows, record.rows, strict=True)
    }
    assert len(moved) == 1, "every interval is true"
    (days,) = moved
    assert days == timedelta(days.days), "times of day are true"
    today, day = datetime.now(UTC).date(), date.fromisoformat(original.rows[0].utc[:10])
    moved_today = today - days  # what is drawn is drawn for a session of this day
    assert YEARS[0] <= moved_today.year <= YEARS[1]
    assert date.fromisoformat(record.rows[0].utc[:10]) == day - days
    phenotype = "".join(text for name, text in contents(bundle) if name.endswith("you.tsv"))
    assert "with_mouse" in phenotype
    assert "\t6\t" in phenotype or "\t6\n" in phenotype
    assert not any(name.endswith(".wav") for name, _ in contents(bundle))


def test_copies_of_one_participant_agree_and_nothing_says_by_how_much(
    session: Path, tmp_path: Path
) -> None:
    private = tmp_path / "private"
    copies = [
        export([session], tmp_path / name, deidentify=True, private=private)
        for name in ("one", "two")
    ]
    copies.append(export([copies[0]], tmp_path / "three", deidentify=True, private=private))
    plain = export([session], tmp_path / "plain")
    copies.append(export([plain], tmp_path / "four", deidentify=True, private=private))
    assert len({open_record(copy).rows[-1].hash for copy in copies}) == 1
    assert len({str(open_record(copy).name) for copy in copies}) == 1
    with sqlite3.connect(private / "own.sqlite") as connection:
        ((days,),) = connection.execute("SELECT days FROM shift WHERE participant = 'P01'")
    connection.close()
    assert all(str(days) not in text for name, text in contents(copies[0]) if name[-4:] != "quet")
    other = export([session], tmp_path / "other", deidentify=True, private=tmp_path / "elsewhere")
    assert open_record(other).rows[0].utc != open_record(copies[0]).rows[0].utc


def test_sound_only_where_it_is_asked_for(session: Path, tmp_path: Path) -> None:
    bundle = export([session], tmp_path / "heard", deidentify=True, audio=True)
    assert len(list(bundle.rglob("*.wav"))) == 1
    assert "A voice can be recognised" in (bundle / "README").read_text()
    assert {time_of(path)[:10] for path in bundle.rglob("*")} == {"1980-01-01"}


@pytest.mark.skipif(os.name != "posix", reason="rights of files are those of POSIX")
def test_where_others_could_read_the_days_nothing_is_exported(
    session: Path, tmp_path: Path
) -> None:
    private = tmp_path / "private"
    private.mkdir()
    private.chmod(0o755)
    with pytest.raises(DataFolderError, match="Others can read"):
        export([session], tmp_path / "bundle", deidentify=True, private=private)
    assert not (tmp_path / "bundle").exists()
    assert list(private.iterdir()) == []


def test_a_time_that_is_none_is_told(session: Path) -> None:
    from labapp.session.bids.contents import move_time

    with pytest.raises(BundleError, match="cannot be read as a date"):
        move_time("yesterday at noon", 3)


def test_the_days_go_with_the_last_session_of_a_participant(tmp_path: Path) -> None:
    study = own_study(tmp_path / "study", INSTRUMENT)
    one = begin_session(tmp_path, study=study)
    one.close("over")
    private = tmp_path / "private"
    export([one.folder.path], tmp_path / "bundle", deidentify=True, private=private)
    withdraw(one.folder.path, private, delete=True)
    with sqlite3.connect(private / "own.sqlite") as connection:
        assert list(connection.execute("SELECT * FROM shift")) == []
    connection.close()


SAID = (
    "third dial",
    "slant",
    "asked for water",
    "Table microphone",
    "boot-1",
    "U2720Q",
    "No speech for 15 s",
    "35-50",
    "liked the waves",
)


@pytest.fixture
def bundle_redaction(tmp_path: Path) -> Path:
    builder = golden_builder()
    builder.at(122, ResponseChanged("demographics", "age", "35-50"), "debrief")
    builder.at(122.5, QuestionnaireSubmitted("demographics", 1, {"age": 3}), "debrief")
    builder.at(122.6, ResponseChanged("comments", "free", "I liked the waves"), "debrief")
    answers = {"free": "I liked the waves", "again": 4}
    builder.at(122.7, QuestionnaireSubmitted("comments", 1, answers), "debrief")
    return export([builder.write(tmp_path / "data")], tmp_path / "bundle", deidentify=True)


def test_no_word_of_a_person_is_in_any_file(bundle_redaction: Path) -> None:
    texts = snapshot(bundle_redaction)
    record = open_record(bundle_redaction)
    texts["rows"] = "\n".join(row.payload for row in record.rows).encode()
    for word in SAID:
        found = [name for name, content in texts.items() if word.encode() in content]
        assert found == [], f"{word!r} is in {found}"
    assert not (bundle_redaction / "phenotype/demographics.tsv").exists()
    assert (bundle_redaction / "phenotype/comments.tsv").read_text().split("\t")[
        -1
    ].strip() == WITHHELD


def test_the_same_words_are_in_a_plain_bundle(tmp_path: Path) -> None:
    """So that the test above can fail."""
    record = open_record(export([golden_session(tmp_path / "data")], tmp_path / "plain"))
    text = "\n".join(row.payload for row in record.rows)
    assert all(word in text for word in SAID[:-2])


def test_rows_are_marked_and_chained_anew(bundle_redaction: Path) -> None:
    record = open_record(bundle_redaction)
    assert record.redacted
    assert check_rows(record.rows, "journal") == []
    kinds = {row.kind for row in record.rows if row.redacted}
    assert {"note.added", "label.edited", "flag.added", "prompt.given", "audio.started"} <= kinds
    assert "audio.block" in kinds, "the sound card's clock may count from 1970"
    assert not kinds & {"dial.moved", "picture.decoded", "trial.solved"}
    seq = [row for row in record.rows if row.kind == "response.changed" and "seq" in row.payload]
    assert not any(row.redacted for row in seq), "numbers are kept"


def test_no_hash_of_the_recording_is_given_away(bundle_redaction: Path, tmp_path: Path) -> None:
    """With the original hashes, a withheld answer could be found by trying the few there are."""
    (original,) = (tmp_path / "data" / "golden").glob("sub-*")
    before = {row.hash for row in open_record(original).rows}
    assert not before & {row.hash for row in open_record(bundle_redaction).rows}


def test_the_bundle_verifies_and_says_what_it_is(bundle_redaction: Path) -> None:
    report = verify(bundle_redaction)
    assert report.ok, report.problems
    assert any("de-identified" in note for note in report.notes)
    readme = (bundle_redaction / "README").read_text()
    assert "was de-identified by an agreed list" in readme
    assert "The sound was left out" in readme
    assert not list(bundle_redaction.rglob("*.wav"))


def test_redacting_a_bundle_gives_what_redacting_the_session_gives(tmp_path: Path) -> None:
    folder = golden_session(tmp_path / "data")
    direct = open_record(export([folder], tmp_path / "direct", deidentify=True))
    plain = export([folder], tmp_path / "plain", zip=True)
    later = open_record(export([plain], tmp_path / "later", deidentify=True))
    assert list(later.rows) == list(direct.rows)
    again = open_record(export([tmp_path / "later"], tmp_path / "again"))
    assert again.redacted
    assert "was de-identified" in (tmp_path / "again" / "README").read_text()


def test_redacted_events_can_still_be_read(bundle_redaction: Path) -> None:
    record = open_record(bundle_redaction)
    notes = [payload for _, payload in payloads(record.rows) if isinstance(payload, NoteAdded)]
    assert notes == [NoteAdded(WITHHELD, 47_500_000_000)]


def test_text_is_withheld_unless_it_is_listed() -> None:
    known = registry.collect_kept_text()
    for kind, cls in registered_kinds().items():
        fields = list(cls.__struct_fields__)
        payload = dict.fromkeys(fields, "something said")
        if "instrument" in payload:
            payload["instrument"] = "seq"
        reduced = redact_payload(kind, payload, {})
        open_fields = {name for name in fields if reduced[name] == "something said"}
        assert open_fields <= known.get(kind, frozenset()), kind
    assert known["trial.ended"] == {"outcome"}
    assert known["dial.moved"] == {"device"}
    assert known["stimuli.kept"] == {"stimuli", "manifest_sha256", "files"}
    assert {"text"} == personal_fields(registered_kinds()["label.edited"])
    assert not any(known[kind] & personal_fields(cls) for kind, cls in registered_kinds().items())


def test_an_unknown_kind_is_withheld_too() -> None:
    said = {"a": ["x", {"b": "y"}], "n": 3, "t": True, "o": None}
    assert redact_payload("of.tomorrow", said, {}) == {
        "a": [WITHHELD, {"b": WITHHELD}],
        "n": 3,
        "t": True,
        "o": None,
    }


OPTIONS = [{"id": "a", "text": "A"}, {"id": "b", "text": "B", "describe": True}]

ASKED = Instrument.model_validate(
    {
        "id": "seq-of-ours",
        "version": 1,
        "title": "Ours",
        "source": "this test",
        "items": [
            {"id": "rating", "text": "?", "points": 5, "low": "low", "high": "high"},
            {"id": "slider", "kind": "slider", "text": "?", "low": 18, "high": 99},
            {"id": "choice", "kind": "choice", "text": "?", "options": OPTIONS},
            {"id": "words", "kind": "written", "text": "?"},
        ],
    }
)

"""An instrument that declares nothing."""

ANSWERS = {
    "rating": 3,
    "slider": {"value": 41, "touched": True},
    "choice": {"chosen": ["a", "b"], "described": "in my words"},
    "words": "something",
}


def declaring(identifying: bool | None) -> dict[str, Instrument]:
    items = [item.model_copy(update={"identifying": identifying}) for item in ASKED.items]
    return {ASKED.id: ASKED.model_copy(update={"items": tuple(items)})}


@pytest.mark.parametrize(
    ("instruments", "kept"),
    [
        (declaring(None), {"rating": 3, "words": WITHHELD}),
        (declaring(True), {"words": WITHHELD}),
        (
            declaring(False),
            ANSWERS | {"choice": {"chosen": ["a", "b"], "described": WITHHELD}},
        ),
        ({}, {"words": WITHHELD}),
    ],
    ids=["nothing declared", "declared identifying", "declared not identifying", "unknown"],
)
def test_answers_go_by_what_their_items_declare(
    instruments: dict[str, Instrument], kept: dict[str, object]
) -> None:
    answers = ANSWERS | {"of_no_item": 7}
    submitted = {"instrument": ASKED.id, "instrument_version": 1, "answers": answers}
    reduced = redact_payload("questionnaire.submitted", submitted, instruments)
    assert reduced == submitted | {"answers": kept}
    for item, value in answers.items():
        changed = {"instrument": ASKED.id, "item": item, "value": value}
        one = redact_payload("response.changed", changed, instruments)
        assert one == changed | {"value": kept.get(item)}


def test_every_shipped_item_declares_whether_it_identifies() -> None:
    folder = resources.assets() / "instruments"
    for path in folder.glob("*.yaml"):
        instrument = Instrument.parse(path, path.read_bytes())
        for item in instrument.items:
            assert item.identifying is not None, f"{instrument.id}: {item.id}"
            assert item.withheld or not isinstance(item, Written), f"{instrument.id}: {item.id}"


def test_the_sound_stays_where_it_is_on_the_timeline(tmp_path: Path) -> None:
    folder = golden_session(tmp_path / "data")
    bundle = export([folder], tmp_path / "bundle", deidentify=True)
    marks = [
        payload for _, payload in open_record(bundle).payloads() if isinstance(payload, AudioBlock)
    ]
    first = {block.file: block.anchors[0][1] for block in reversed(marks) if block.anchors}
    assert set(first.values()) == {0.0}
    assert clock_fits(open_record(bundle)) == clock_fits(open_record(folder))


def test_the_path_of_the_pointer_is_kept_in_trials_only(tmp_path: Path) -> None:
    builder = golden_builder()
    path = PointerMoved(0, 1366, 768, (0, 33), (6113, 6114), (7, 8))
    turned = next(
        unstamped for _, _, unstamped in builder.rows if isinstance(unstamped.payload, DialMoved)
    )
    builder.at(122, path, "debrief")
    builder.at(122.5, path, turned.part_id, turned.trial, attempt=turned.attempt)
    record = open_record(export([builder.write(tmp_path)], tmp_path / "bundle", deidentify=True))
    nowhere = PointerMoved(0, 1366, 768, (), (), ())
    moved = [payload for _, payload in record.payloads() if isinstance(payload, PointerMoved)]
    assert moved == [nowhere, path]
    rows = SessionRecords.of(list(record.payloads()), "golden").rows()["pointer"]
    assert [row["x_px"] for row in rows] == [[], [6113, 6114]]


def test_redacting_twice_changes_nothing(tmp_path: Path) -> None:
    once = redact(open_record(golden_session(tmp_path)).rows, {})
    assert redact(once, {}) == once
    assert json.loads(once[0].payload)["participant"] == "P01"


def test_a_correction_is_withheld_and_what_was_taken_back_stays_so() -> None:
    reworded = redact_payload(
        "note.corrected", {"seq": 7, "text": "Anna", "typing_began_ns": 1}, {}
    )
    assert reworded == {"seq": 7, "text": WITHHELD, "typing_began_ns": 1}
    taken_back = {"seq": 7, "text": "", "typing_began_ns": 1}
    assert redact_payload("note.corrected", taken_back, {}) == taken_back
    asked = {"question": 1, "text": "What was hard?"}
    assert redact_payload("interview.question_asked", asked, {}) == asked, "the study's words"


OWN = {"chosen": ["woman", "self_described"], "described": "zebra\twords"}


@pytest.fixture(scope="module")
def session_phenotype(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One participant who answered two questionnaires."""
    folder = tmp_path_factory.mktemp("asked")
    study = questionnaire_study(folder / "study", ["demographics", "comments", "nasa-tlx"])
    one = begin_session(folder, study=study)
    for item, value in (("gender", OWN), ("age", {"chosen": ["from_70"]})):
        one.runner.send(Answer(item, value))
    one.runner.send(Next())
    one.runner.send(Answer("comments", "first line\nsecond"))
    one.runner.send(Next())
    one.close("test over")
    return one.folder.path


def table(bundle: Path, name: str) -> tuple[dict[str, str], dict[str, Any]]:
    """The one row of a questionnaire by column, and its sidecar."""
    text = (bundle / "phenotype" / f"{name}.tsv").read_text()
    header, row = (line.split("\t") for line in text.splitlines())
    sidecar = json.loads((bundle / "phenotype" / f"{name}.json").read_text())
    assert set(header) == set(sidecar) - {"MeasurementToolMetadata"}
    return dict(zip(header, row, strict=True)), sidecar


def test_choices_and_descriptions_have_columns_of_their_own(
    session_phenotype: Path, tmp_path: Path
) -> None:
    bundle = export([session_phenotype], tmp_path / "bundle")
    row, sidecar = table(bundle, "demographics")
    gender = "ses_1_questionnaire_1_gender"
    assert row[gender] == "woman;self_described"
    assert row[f"{gender}_described"] == "zebra words"
    assert "self_described = Prefer to self-describe" in sidecar[gender]["Description"]
    age = "ses_1_questionnaire_1_age"
    assert row[age] == "from_70"
    assert sidecar[age]["Levels"]["from_70"] == "70 and above"
    row, _ = table(bundle, "comments")
    assert row["ses_1_questionnaire_2_comments"] == "first line second"


@pytest.mark.parametrize("deidentify", [False, True])
def test_the_tables_are_valid_bids(
    session_phenotype: Path, tmp_path: Path, deidentify: bool
) -> None:
    bundle = export([session_phenotype], tmp_path / "bundle", deidentify=deidentify)
    assert validator_errors(bundle) == []


def test_two_versions_of_an_instrument_are_both_told(
    session_phenotype: Path, tmp_path: Path
) -> None:
    study = questionnaire_study(tmp_path / "study", ["demographics"])
    shipped = (resources.assets() / "instruments" / "demographics.yaml").read_text()
    later = study.parent / "instruments" / "demographics.yaml"
    later.parent.mkdir(exist_ok=True)
    text = shipped.replace("version: 2", "version: 3").replace("from_70", "old")
    assert text.count("old") > shipped.count("old")
    later.write_text(text)
    one = begin_session(tmp_path, study=study, participant="P02")
    one.runner.send(Answer("age", {"chosen": ["old"]}))
    one.runner.send(Next())
    one.close("test over")
    bundle = export([session_phenotype, one.folder.path], tmp_path / "bundle")
    sidecar = json.loads((bundle / "phenotype" / "demographics.json").read_text())
    assert sidecar["MeasurementToolMetadata"]["Version"] == [2, 3]
    assert {"old", "from_70"} <= sidecar["ses_1_questionnaire_1_age"]["Levels"].keys()


def test_nothing_written_is_in_a_deidentified_copy(session_phenotype: Path, tmp_path: Path) -> None:
    bundle = export([session_phenotype], tmp_path / "bundle", deidentify=True)
    assert not (bundle / "phenotype" / "demographics.tsv").exists()
    row, _ = table(bundle, "comments")
    assert row["ses_1_questionnaire_2_comments"] == WITHHELD
    for path in bundle.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            for said in (b"zebra", b"first line", b"from_70\t", b"woman;"):
                assert said not in content, path


def test_of_an_older_session_the_shipped_declarations_hold_word_for_word(tmp_path: Path) -> None:
    """Its instruments declare nothing yet; one that was changed is not the shipped one any more."""
    study = questionnaire_study(tmp_path / "study", ["nasa-tlx-weights", "synthetic-end"])
    own = study.parent / "instruments"
    own.mkdir(exist_ok=True)
    for name in ("nasa-tlx-weights", "synthetic-end"):
        text = (resources.assets() / "instruments" / f"{name}.yaml").read_text()
        text = text.replace(", identifying: no", "").replace("    identifying: no\n", "")
        (own / f"{name}.yaml").write_text(text.replace("    identifying: yes\n", ""))
    one = begin_session(tmp_path, study=study)
    pairs = [item.id for item in instrument_of(own / "nasa-tlx-weights.yaml").items]
    for pair in pairs:
        one.runner.send(Answer(pair, {"chosen": [pair.split("_or_")[0]]}))
    one.runner.send(Next())
    one.runner.send(Next())
    one.close("test over")
    bundle = export([one.folder.path], tmp_path / "bundle", deidentify=True)
    row, _ = table(bundle, "nasa-tlx-weights")
    assert row["ses_1_questionnaire_1_effort_or_frustration"] == "effort"


def instrument_of(path: Path) -> Instrument:
    return Instrument.parse(path, path.read_bytes())


def test_no_answer_takes_the_place_of_another(tmp_path: Path) -> None:
    """Items may have any ids, and a stage may be asked about twice."""
    asked = {"part": "questionnaire", "title": "Own", "instrument": "own", "about": "stage-1"}
    builder = SessionBuilder()
    builder.plan([stage_row(), {"id": "first", **asked}, {"id": "again", **asked}])
    slider = {"value": 30.0, "touched": True}
    answers = {"model": 5, "pace": slider, "pace_touched": 6, "why": "so"}
    for at, part in ((10, "first"), (20, "again"), (30, "again")):
        given = answers | {"model": at}
        builder.at(at, QuestionnaireSubmitted("own", 1, given), part)
    phenotypes = Phenotypes()
    phenotypes.add(open_record(builder.write(tmp_path)), {})
    (own,) = phenotypes.finished()
    (row,) = own.table.rows
    assert row == {
        "participant_id": "sub-P01",
        "ses_1_stage_1_model": "mnist8k/ss2",
        "ses_1_stage_1_model_2": 10,
        "ses_1_stage_1_pace": 30.0,
        "ses_1_stage_1_pace_touched": True,
        "ses_1_stage_1_pace_touched_2": 6,
        "ses_1_stage_1_why": "so",
        "ses_1_again_model": "mnist8k/ss2",
        "ses_1_again_model_2": 30,
        "ses_1_again_pace": 30.0,
        "ses_1_again_pace_touched": True,
        "ses_1_again_pace_touched_2": 6,
        "ses_1_again_why": "so",
    }
    assert [column.name for column in own.table.columns] == ["participant_id", *sorted(row)[1:]]
    said = {column.name: column.description for column in own.table.columns}
    assert said["ses_1_again_why"] == (
        "The answer to why (about stage-1 in session 1, in part again)"
    )
