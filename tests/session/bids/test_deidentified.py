"""A de-identified bundle is searched for all that was planted in a session, and for its dates."""

from __future__ import annotations

import io
import os
import re
import sqlite3
import zipfile
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import soundfile

from labapp.base.errors import BundleError, DataFolderError
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
from labapp.record.events.registry import Source
from labapp.record.events.voice import AudioBlock, AudioStarted, AudioStopped
from labapp.record.journal.opening import open_record
from labapp.session.bids.export import export
from labapp.session.bids.verify import verify
from labapp.session.runner import YEARS
from labapp.session.withdrawal import withdraw
from labapp.tasks.questionnaire.machine import Answer
from labapp.tasks.reconstruction.events import EditLabel
from tests.helpers.questionnaires import own_study
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
            for written in as_written(day):
                assert written not in text, f"{written} is in {name}"
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
    from labapp.session.bids.contents import moved

    with pytest.raises(BundleError, match="cannot be read as a date"):
        moved("yesterday at noon", 3)


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
