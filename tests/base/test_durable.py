"""What is written outlasts a power cut, and what a crash cut off harms nothing after it."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest

from labapp.base import durable
from labapp.base.reading.values import json_value


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
