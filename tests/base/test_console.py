"""What commands print and say: no terminal is steered, and sentences keep their code and values."""

from __future__ import annotations

import ast
import json
import os
import pickle
import re
import subprocess
import sys
from pathlib import Path
from string import Formatter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labapp.base import console, messages
from labapp.base.console import make_printable, say_json
from labapp.base.errors import ProgramError, SetupError
from labapp.base.installation import (
    EXTRAS,
    child_environment,
    code_command,
    install_command,
    module_command,
    script_command,
)
from labapp.base.messages import Message, decode_message, encode_message, form
from labapp.base.mistakes import explain_unexpected
from labapp.cli import main as cli
from tests.helpers.nightly import EVERYTHING

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
    assert make_printable(text) == picture


def test_a_line_stays_one() -> None:
    assert make_printable("a\nb", lines=False) == "a␊b"


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
        (KeyError("z"), "an error in labapp (KeyError: 'z')"),
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


IDS = {key if isinstance(key, str) else key[0] for key in messages.catalogue("en").texts()}

CODES = sorted(key.removeprefix("message.") for key in IDS if key.startswith("message."))

VALUES = st.one_of(st.text(), st.integers(-(10**6), 10**6), st.floats(-1e6, 1e6))


def names(form: str) -> list[str]:
    return [name for _, name, *_ in Formatter().parse(form) if name]


@given(data=st.data())
def test_a_message_comes_back_from_what_is_stored(data: st.DataObject) -> None:
    code = data.draw(st.sampled_from(CODES))
    n = data.draw(st.integers(-(10**6), 10**6))
    values = {name: data.draw(VALUES) for name in names(form(code, {"n": n}))}
    message = Message(code, **values | ({"n": n} if "n" in values else {}))
    outer = Message("microphone_lost", reason=message)
    for each in (message, outer):
        back = decode_message(str(each), json.loads(json.dumps(encode_message(each))))
        assert isinstance(back, Message)
        assert (back, back.code, back.values) == (each, each.code, each.values)
        again = pickle.loads(pickle.dumps(each))
        assert (again, again.values) == (each, each.values)


NAMES = st.sampled_from(["code", "values", "x"])

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.sampled_from(["code", "values", "x"]), inner)
    ),
)


@settings(max_examples=100 if EVERYTHING else 12)
@given(text=st.text(), stored=JSON)
def test_whatever_is_stored_the_text_stays(text: str, stored: object) -> None:
    assert decode_message(text, stored) == text


def test_other_words_or_values_are_not_taken() -> None:
    stored = encode_message(Message("disk_free", size=2.5, unit="GB"))
    for text, other in (
        ("3 GB free", stored),
        ("2.5 GB free", stored | {"code": "disk_full"}),
        ("2.5 GB free", {"code": "disk_free", "values": {"size": 2.5}}),
        ("2.5 GB free", {}),
    ):
        assert not isinstance(decode_message(text, other), Message)
    assert encode_message("2.5 GB free") == {}


def test_a_message_about_a_number_has_its_plural() -> None:
    assert [Message("project_cases", n=n) for n in (0, 1, 2)] == ["0 cases", "1 case", "2 cases"]
    stored = json.loads(json.dumps(encode_message(Message("project_cases", n=1))))
    assert decode_message("1 case", stored) == Message("project_cases", n=1)
    assert not isinstance(decode_message("1 case", stored | {"values": {"n": 2}}), Message)


INSTALLATION_ROOT = Path(__file__).parents[2]


def test_a_module_of_ours_runs_from_anywhere(tmp_path: Path) -> None:
    """Also where somebody works in a folder with a module that Python itself needs."""
    (tmp_path / "random.py").write_text("raise SystemExit('the wrong one')", "utf-8")
    (tmp_path / "labapp.py").write_text("raise SystemExit('the wrong one')", "utf-8")
    for command in (
        module_command("labapp", "--version"),
        code_command("import labapp, random; print(labapp.__version__)"),
    ):
        done = subprocess.run(
            command,
            cwd=tmp_path,
            env=child_environment(),
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.strip()


def test_a_script_runs_with_packages_or_without(tmp_path: Path) -> None:
    script = tmp_path / "try.py"
    script.write_text("import numpy", "utf-8")
    assert subprocess.run(script_command(script, packages=True), check=False).returncode == 0
    done = subprocess.run(script_command(script), capture_output=True, text=True, check=False)
    assert "No module named 'numpy'" in done.stderr


def test_the_environment_of_a_process_has_what_was_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/mine")
    environment = child_environment(ANSWER="42")
    assert environment["PYTHONPATH"].split(":") == [str(INSTALLATION_ROOT), "/mine"]
    assert environment["ANSWER"] == "42"


def test_nothing_else_starts_the_interpreter() -> None:
    """A program that a packager made has its own; one place knows it."""
    users = {
        str(path.relative_to(INSTALLATION_ROOT))
        for path in (INSTALLATION_ROOT / "labapp").rglob("*.py")
        if "sys.executable" in path.read_text("utf-8")
    }
    assert users == {"labapp/base/installation.py"}


@pytest.mark.parametrize("package", sorted(EXTRAS))
def test_a_missing_extra_is_said_with_what_installs_it(
    package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ModuleNotFoundError) as failed:
        __import__(package)
    error = explain_unexpected(failed.value)
    assert isinstance(error, SetupError)
    assert package in error.what
    assert install_command(EXTRAS[package]) in error.todo
    assert error.todo.endswith(f"labapp extras add {EXTRAS[package]}")


def test_another_missing_module_is_a_mistake() -> None:
    assert isinstance(
        explain_unexpected(ModuleNotFoundError("No module", name="labapp.nowhere")), ProgramError
    )
