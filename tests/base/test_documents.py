"""Documents, durable writing, the clock, and names of files."""

from __future__ import annotations

import errno
import json
import os
import time
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
import yaml
from pydantic import TypeAdapter, ValidationError

from labapp.base import durable
from labapp.base.clock import NS, FakeClock, SessionClock, utc_label, utc_text
from labapp.base.documents import parse_yaml
from labapp.base.errors import LabappError, ModelError, SessionError, StudyError
from labapp.base.naming import OWN, WINDOWS, find_name_problem
from labapp.base.reading.values import json_value
from labapp.models.representations.card import ModelCard
from labapp.models.representations.recipe import Recipe
from labapp.models.representations.tfjs import _checked
from labapp.models.stimuli.manifest import Manifest
from labapp.study import loading, planner
from labapp.study.schema import Participants, StudyId
from labapp.ui.moderator import checklist

CONTENT = b"id: one\nparts: [{name: first}, {name: second}]\n"


def test_what_a_reader_changes_is_not_there_for_the_next() -> None:
    first = parse_yaml(Path("a.yaml"), CONTENT).value
    first["parts"][0]["name"] = "changed"
    first["parts"].append("more")
    first["id"] = "other"
    again = parse_yaml(Path("a.yaml"), CONTENT).value
    assert again == {"id": "one", "parts": [{"name": "first"}, {"name": "second"}]}


def test_a_refusal_names_the_file_that_is_read_now_and_is_of_the_kind_asked_for() -> None:
    with pytest.raises(StudyError, match=r"one\.yaml, line 2: the key 'a' is given twice"):
        parse_yaml(Path("one.yaml"), b"a: 1\na: 2\n")
    with pytest.raises(ModelError, match=r"two\.yaml, line 2: the key 'a' is given twice"):
        parse_yaml(Path("two.yaml"), b"a: 1\na: 2\n", ModelError)


def test_a_line_stands_behind_what_a_crash_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    durable.add_line(path, {"n": 1})
    path.write_bytes(path.read_bytes() + b'{"n": 2, "te')
    durable.add_line(path, {"n": 3})
    lines = path.read_bytes().split(b"\n")
    assert lines == [b'{"n": 1}', b'{"n": 2, "te', b'{"n": 3}', b""]


def test_a_name_that_is_no_text_comes_back(tmp_path: Path) -> None:
    path, name = tmp_path / "log.jsonl", os.fsdecode(b"b\xfcro")
    durable.add_line(path, {"bundle": name, "text": "Büro"})
    assert json_value(path.read_bytes()) == {"bundle": name, "text": "Büro"}
    assert "Büro" in path.read_text("utf-8"), "text stays as it is"


def test_a_new_log_has_its_name_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[Path] = []
    monkeypatch.setattr(durable, "sync_folder", synced.append)
    for number in range(2):
        durable.add_line(tmp_path / "log.jsonl", {"n": number})
    assert synced == [tmp_path]


@pytest.mark.parametrize("number", [errno.EINVAL, errno.EIO])
def test_a_drive_that_cannot_sync_folders_is_not_a_broken_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refused(descriptor: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", refused)
    if number == errno.EINVAL:
        durable.sync_folder(tmp_path)
    else:
        with pytest.raises(OSError, match="error"):
            durable.sync_folder(tmp_path)


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "log.jsonl")
    with pytest.raises(OSError):
        durable.add_line(tmp_path / "log.jsonl", json.loads("{}"))


def test_session_time_goes_on_from_where_it_starts() -> None:
    clock = SessionClock(start_ns=5_000)
    reading = time.perf_counter_ns()
    assert clock.now_ns() >= 5_000
    assert clock.from_perf_ns(reading + 1_000) - clock.from_perf_ns(reading) == 1_000
    assert clock.real_seconds(2_000_000_000) == 2.0


def test_a_fast_clock_counts_more_for_the_same_wait() -> None:
    clock = SessionClock(speed=8.0)
    reading = time.perf_counter_ns()
    assert clock.from_perf_ns(reading + 1_000_000) - clock.from_perf_ns(reading) == 8_000_000
    assert clock.real_seconds(8_000_000_000) == 1.0
    for speed in (0, -1):
        with pytest.raises(ValueError, match="speed"):
            SessionClock(speed=speed)


def test_a_fake_clock_moves_only_when_told_and_never_back() -> None:
    clock = FakeClock()
    clock.advance(1.5)
    assert clock.now_ns() == 1_500_000_000
    assert clock.utc() == datetime(2026, 1, 2, 3, 4, 6, 500_000, tzinfo=UTC)
    with pytest.raises(ValueError, match="back"):
        clock.set_ns(1)


def test_utc_as_text() -> None:
    moment = datetime(2026, 7, 1, 1, 30, tzinfo=timezone(timedelta(hours=2)))
    assert utc_text(moment) == "2026-06-30T23:30:00.000000Z"
    assert utc_label(moment) == "20260630T233000Z"


def test_the_text_of_a_virtual_time_is_that_of_its_moment() -> None:
    late = datetime(2026, 12, 31, 23, 59, 58, 999_999, tzinfo=timezone(timedelta(hours=-1)))
    clock = FakeClock(0, late)
    for now_ns in (0, 500, 1500, 2 * NS, 86_400 * NS - 1, 40 * 86_400 * NS + 123_456_789):
        clock.set_ns(now_ns)
        assert clock.utc_text() == utc_text(clock.utc())


BAD = ("con", "CON", "nul", "aux", "prn", "com1", "LPT9", "private", "Models", "con.txt")


@pytest.mark.parametrize("name", BAD)
def test_what_is_reserved(name: str) -> None:
    assert name in find_name_problem(name)
    assert find_name_problem(f"dsprites/{name}")
    assert find_name_problem(f"{name}/ss10")


@pytest.mark.parametrize("name", ["console", "p01", "com", "com10", "P01", "dsprites/gt", "privat"])
def test_what_is_not(name: str) -> None:
    assert find_name_problem(name) == ""


@pytest.mark.parametrize("name", ["con", "private"])
def test_no_document_takes_such_an_id(name: str) -> None:
    with pytest.raises(ValidationError, match="another name"):
        TypeAdapter(StudyId).validate_python(name)
    for model, id_ in ((ModelCard, f"dsprites/{name}"), (Recipe, f"{name}/gt"), (Manifest, name)):
        with pytest.raises(ValidationError) as caught:
            TypeAdapter(model).validate_python({"id": id_})
        assert any(
            "another name" in str(e["msg"]) and e["loc"][-1] == "id" for e in caught.value.errors()
        ), model
    with pytest.raises(LabappError, match="cannot be called"):
        _checked(f"mnist/{name}")


def test_no_participant_is_a_device() -> None:
    with pytest.raises(ValidationError, match="another pattern"):
        Participants(pattern="COM{}")
    assert Participants(pattern="C{}").label(1) == "C1"


def test_no_session_is_a_device() -> None:
    loaded = loading.load("quickstart")
    with pytest.raises(SessionError, match="Windows reserves the name 'nul'"):
        planner.realise(loaded, "P01", "nul", space_of=lambda model: None)  # type: ignore
    row = checklist.participant_row(loaded.study.participants, {}, "P01", "nul")
    assert row.state == "missing"


def test_a_study_file_is_refused_with_its_line(tmp_path: Path) -> None:
    source = next(path for path in loading.list_shipped() if path.stem == "quickstart")
    study = yaml.safe_load(source.read_text()) | {"id": "private"}
    path = tmp_path / "private.yaml"
    path.write_text(yaml.safe_dump(study, sort_keys=False))
    with pytest.raises(StudyError, match="labapp reserves the name 'private'"):
        loading.load(path)


def test_the_list_is_lower_case() -> None:
    assert all(name == name.casefold() for name in WINDOWS | OWN)
