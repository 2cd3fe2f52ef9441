"""A computer without liblsl: it is told where a study is checked, prepared and begun."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from labapp.cli.main import app

STUDY = """\
id: sent
title: Sent
version: 1
unnamed_texts: shipped
recording: {audio: optional, lsl: %s}
flow:
  - stages: {task: reconstruction, models: [sinelines/gt], trials: 1}
"""
LACKS = "The package pylsl is not installed, so events cannot be sent over LSL. Install it: "


def checked(folder: Path, policy: str) -> str:
    file = folder / "sent.yaml"
    file.write_text(STUDY % policy)
    done = CliRunner().invoke(app, ["studies", "check", str(file)])
    assert done.exit_code == 0, done.output
    return " ".join(done.output.split())


def test_the_check_of_a_study_says_that_its_events_cannot_be_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "LSL" not in checked(tmp_path, "required")
    monkeypatch.setitem(sys.modules, "pylsl", None)
    told = checked(tmp_path, "required")
    assert ": valid (" in told
    assert f"On this computer no session begins (recording.lsl: required). {LACKS}" in told
    told = checked(tmp_path, "optional")
    assert f"its sessions will not send events (recording.lsl: optional). {LACKS}" in told
    assert "LSL" not in checked(tmp_path, "off")
