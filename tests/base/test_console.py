"""What commands print steers no terminal, and what goes wrong unexpectedly is told in words."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labapp.base import console
from labapp.base.console import say_json, shown
from labapp.cli import main as cli

ROOT = Path(__file__).resolve().parents[2]
PRINTING = {
    "labapp/base/console.py": "the one place",
    "labapp/ui/starting.py": "a line that is written over, of numbers alone",
}
"""Modules that print by themselves, and why."""


@pytest.mark.parametrize(
    ("text", "picture"),
    [
        ("\x1b[2J\x1b]0;title\x07", "␛[2J␛]0;title␇"),
        ("a\r\nb", "a␍\nb"),
        ("\x9b31m", "\\u009b31m"),
        ("evil\u202egnp.exe", "evil\\u202egnp.exe"),
        (os.fsdecode(b"caf\xe9"), "caf\\xe9"),
        ("Größe\tß 数字 🙂", "Größe\tß 数字 🙂"),
    ],
)
def test_what_steers_a_terminal_is_a_picture(text: str, picture: str) -> None:
    assert shown(text) == picture


def test_a_line_stays_one() -> None:
    assert shown("a\nb", lines=False) == "a␊b"


@given(st.text(alphabet=st.characters()))
def test_json_is_read_as_it_was(text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        printed: list[str] = []
        patch.setattr("typer.echo", lambda text, err: printed.append(text))
        say_json({text: [text]})
    assert json.loads(printed[0]) == {text: [text]}
    assert not console._STEERING.search(printed[0].replace("\n", ""))
    printed[0].encode()


def test_nothing_else_prints() -> None:
    found = set()
    for path in (ROOT / "labapp").rglob("*.py"):
        text = path.read_text("utf-8")
        if not re.search(r"\b(print|s?echo|std(out|err)\.write)\(", text):
            continue  # parsing all of labapp takes five seconds
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in (
                "print", "typer.echo", "click.echo", "typer.secho", "sys.stdout.write",
                "sys.stderr.write",
            ):  # fmt: skip
                found.add(path.relative_to(ROOT).as_posix())
    assert found == set(PRINTING)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (MemoryError(), "not enough memory"),
        (RecursionError("maximum"), "nested too deeply"),
        (KeyError("z"), "a mistake in labapp (KeyError: 'z')"),
    ],
)
def test_what_nobody_expected_is_told_and_kept(
    error: Exception, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    def fails(**_: object) -> int:
        raise error

    monkeypatch.setattr(cli, "command_tree", lambda: fails)
    monkeypatch.setenv("LABAPP_LOG", str(tmp_path / "logs"))
    with pytest.raises(SystemExit) as end:
        cli.main()
    told = capsys.readouterr().err
    assert end.value.code == 1
    assert said in told
    assert "Traceback" not in told
    (file,) = (tmp_path / "logs").iterdir()
    assert str(file) in told
    assert type(error).__name__ in file.read_text()


def test_a_hostile_argument_is_shown_as_a_picture() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "labapp", "sessions", "show", "\x1b[31mred"],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert done.returncode == 2, done
    assert "\x1b" not in done.stderr
