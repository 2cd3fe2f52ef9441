"""The command line: exit status, pure JSON, and messages instead of tracebacks."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from labapp import __version__
from labapp.cli import main as main_module
from labapp.cli.main import command_tree
from tests.helpers.commands import Run
from tests.helpers.drawn import drawn_study, interrupted

MAIN = "from labapp.cli.main import main; main()"
ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def cli(labapp: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Runs `labapp …` with data of its own."""
    monkeypatch.setenv("LABAPP_DATA", str(tmp_path / "sessions"))
    monkeypatch.setenv("LABAPP_PRIVATE", str(tmp_path / "private"))
    return labapp


def _commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    yield path
    for name, command in getattr(group, "commands", {}).items():
        yield from _commands(command, (*path, name))


@pytest.mark.parametrize("path", [*_commands(command_tree())], ids=" ".join)
def test_every_command_has_an_example(cli: Run, path: tuple[str, ...]) -> None:
    status, out, _ = cli(*path, "--help")
    assert status == 0
    assert f"Example: {' '.join(('labapp', *path))}" in " ".join(out.split())


@pytest.mark.parametrize("group", ["studies", "sessions", "models", "stimuli", "concepts"])
def test_a_group_names_all_its_commands(cli: Run, group: str) -> None:
    own = command_tree().commands[group].commands
    assert own
    said = " ".join(cli(group, "--help")[1].split()).partition(" Example:")[0]
    listed = said.rpartition(": ")[2].rstrip(".").split(", ")
    assert sorted(listed) == sorted(own)


def test_help_and_version(cli: Run) -> None:
    status, out, err = cli("--help")
    assert status == 0
    for command in ("demo", "doctor", "run", "studies", "sessions", "models", "simulate"):
        assert command in out
    assert not err
    assert cli("--version") == (0, f"labapp {__version__}\n", "")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nonsense",), "nonsense"),
        (("--nonsense",), "nonsense"),
        (("studies", "nonsense"), "nonsense"),
        (("run", "quickstart"), "--participant"),
        (("run", "quickstart", "--participant", "P01", "--speed", "0"), "--speed"),
        (("run", "quickstart", "--participant", "P01", "--simulate", "wizard"), "understanding"),
        (("studies", "show", "nothing"), "quickstart"),
        (("models", "show", "sinelines/nothing"), "sinelines/nothing"),
        (("sessions", "show", "nobody"), "There is no session or bundle 'nobody'"),
        (("sessions", "verify", "../nobody"), "There is no session or bundle"),
        (("sessions", "recover", "nobody"), "There is no session"),
        (("export", "nobody", "--out", "bundle"), "There is no study, session or bundle"),
        (("export",), "sessions"),
        (("analyze", "nobody", "--out", "x"), "There is no study, session or bundle"),
        (("analyze", "nobody", "--out", "x", "--format", "xls"), "There is no format 'xls'"),
        (
            ("simulate", "quickstart", "--participants", "0", "--strategy", "x", "--out", "y"),
            "--participants",
        ),
        (
            ("simulate", "quickstart", "--participants", "1", "--strategy", "x", "--out", "y"),
            "No task has a strategy 'x'",
        ),
        (("--data", "x", "studies", "list"), "after a command"),
        (("models", "bench", "sinelines/gt", "--n", "0"), "--n"),
        *(
            (
                (*command, "--workers", "2", "--dask", "tcp://[::1]:9", "--out", "x"),
                "use only one of them",
            )
            for command in (
                ("analyze", "."),
                ("simulate", "quickstart", "--participants", "1"),
                ("plan", "quickstart"),
            )
        ),
    ],
)
def test_wrong_usage_ends_with_2(cli: Run, arguments: tuple[str, ...], said: str) -> None:
    status, out, err = cli(*arguments)
    assert (status, out) == (2, "")
    assert said in err


def test_what_is_refused_ends_with_3_and_says_what_to_do(cli: Run, tmp_path: Path) -> None:
    study = tmp_path / "wrong.yaml"
    study.write_text("id: wrong\ntitle: T\nversion: x\nflow: []\n")
    (tmp_path / "taken").mkdir()
    for arguments, said in (
        (("studies", "check", str(study)), "line 3"),
        (("sessions", "recover", str(tmp_path)), "not a session folder"),
        (("sessions", "show", str(tmp_path)), ""),
        (
            (
                *("simulate", "quickstart", "--participants", "1", "--strategy", "understanding"),
                *("--out", str(tmp_path / "taken")),
            ),
            "exists already",
        ),
    ):
        status, out, err = cli(*arguments)
        assert (status, out) == (1 if arguments[1] == "check" else 3, ""), arguments
        assert said in err
        assert len(err.splitlines()) >= 2, "what happened, what is safe, what to do"


@pytest.mark.parametrize(
    "arguments",
    [
        ("studies", "list", "--json"),
        ("studies", "show", "quickstart", "--json"),
        ("studies", "schema"),
        ("sessions", "list", "--json"),
        ("models", "list", "--json"),
    ],
    ids=" ".join,
)
def test_json_is_all_there_is_on_standard_output(cli: Run, arguments: tuple[str, ...]) -> None:
    status, out, _ = cli(*arguments)
    assert status == 0
    value = json.loads(out)
    if arguments[1] == "list":
        assert all("id" in row for row in value)
    if arguments[:2] == ("studies", "list"):
        assert "quickstart" in [row["id"] for row in value]
    if arguments[:2] == ("models", "list"):
        assert {"sinelines/ae", "sinelines/vae"} <= {row["id"] for row in value}


def test_a_bar_is_drawn_once_something_is_begun_and_goes_again(
    cli: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # as on a terminal
    monkeypatch.setenv("TERM", "xterm")
    out = ("--out", str(tmp_path / "out"))
    for arguments, said in (
        (("simulate", "nothing", "--participants", "1", *out), "There is no study 'nothing'."),
        (("simulate", "quickstart", *out), "The study 'quickstart' is never full"),
        (("simulate", "quickstart", "--strategy", "explanation", *out), "A simulated participant"),
        (("plan", "gradcam-distinction", *out), "gradcam-distinction cannot be planned"),
    ):
        _, _, err = cli(*arguments)
        assert err.startswith(said), "nothing before it"
    status, _, err = cli("simulate", "gradcam-distinction", "--participants", "1", *out)
    assert status == 0
    assert "simulated P01" in err
    _, gone, after = err.rpartition("\x1b[2K")
    assert gone
    assert "━" not in after


def test_a_simulated_session_from_the_command_line(cli: Run, tmp_path: Path) -> None:
    data = tmp_path / "simulated"
    study = drawn_study(tmp_path, cells="a", draw=1).path
    status, out, _ = cli(
        *("simulate", study, "--participants", "1"),
        *("--strategy", "understanding", "--out", str(data), "--json"),
    )
    assert status == 0
    ((name, path),) = ((row["id"], Path(row["path"])) for row in json.loads(out))
    assert path.is_dir()
    status, out, _ = cli("sessions", "list", "--data", str(data), "--json")
    assert (status, [row["id"] for row in json.loads(out)]) == (0, [name])
    assert name in cli("sessions", "list", "--data", str(data))[1]
    status, out, _ = cli("sessions", "show", name, "--data", str(data))
    assert (status, "complete" in out) == (0, True)
    bundle = tmp_path / "bundle"
    status, out, _ = cli("export", name, "--data", str(data), "--out", str(bundle))
    assert (status, out.splitlines()[-1]) == (0, f"bundle: {bundle}")
    assert cli("sessions", "verify", str(bundle))[0] == 0
    status, _, err = cli("export", name, "--data", str(data), "--out", str(bundle))
    assert status == 3
    assert "exists" in err
    status, out, _ = cli("sessions", "recover", name, "--data", str(data))
    assert status == 0
    assert "finished" in out
    status, out, _ = cli("sessions", "verify", str(path), "--json")
    assert status == 0
    json.loads(out)
    journal = path / "journal.sqlite"
    content = bytearray(journal.read_bytes())
    content[len(content) // 2] ^= 1
    journal.write_bytes(content)
    assert cli("sessions", "verify", str(path))[0] == 1


@pytest.mark.parametrize("command", [("list",), ("verify", "P01"), ("resume", "P01")])
def test_a_data_root_that_is_a_file_is_refused(
    cli: Run, tmp_path: Path, command: tuple[str, ...]
) -> None:
    (tmp_path / "file").touch(0o644)
    status, out, err = cli("sessions", *command, "--data", str(tmp_path / "file"))
    assert (status, out) == (2, "")
    assert "is a file, but sessions are stored in a folder" in err
    assert "chmod" not in err


def test_a_participant_withdraws_later(
    cli: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = drawn_study(tmp_path, cells="ab", draw=1)
    one, two = interrupted(loaded, tmp_path, "P01"), interrupted(loaded, tmp_path, "P02")
    data = ("--data", str(tmp_path / "data"))
    withdraw = ("sessions", "withdraw", one.name)
    status, _, err = cli(*withdraw, *data)
    assert status == 2
    assert "--delete or --keep" in err
    monkeypatch.setattr(sys, "stdin", io.StringIO("n\n"))
    status, out, _ = cli(*withdraw, "--keep", *data)
    assert status == 1
    assert out.endswith("Nothing was deleted, and no withdrawal was recorded.\n")
    assert not (one.parent / "withdrawn.jsonl").exists(), "asked first"
    status, out, _ = cli(*withdraw, "--keep", "--yes", *data)
    assert (status, out.splitlines()[0]) == (0, f"{one.name} was withdrawn. Its data are kept.")
    listed = cli("sessions", "list", *data)[1]
    assert "withdrawn (data kept)" in listed
    assert listed.count("withdrawn") == 1
    shown = cli("sessions", "show", one.name, *data)[1]
    assert "withdrawn       keep" in shown
    assert re.search("^redacted +no$", shown, re.MULTILINE)
    export = ("export", one.name, "--out", str(tmp_path / "bundle"), *data)
    status, _, err = cli(*export)
    assert status == 3
    assert "withdrew, but their data were kept" in err
    assert cli(*export, "--withdrawn")[0] == 0
    status, out, _ = cli(*withdraw, "--delete", "--yes", *data)
    assert status == 0
    assert f"These bundles still contain the session: {tmp_path / 'bundle'}" in out
    assert not one.exists()
    shown = json.loads(cli("studies", "show", str(loaded.path), "--json", *data)[1])
    freed = next(cell for cell, count in shown["coverage"]["cells"].items() if count["withdrawn"])
    assert shown["next"]["P03"]["condition"] == [freed]
    assert "P04" not in shown["next"], "the study is full then"
    assert cli("sessions", "withdraw", one.name, "--delete", "--yes", *data)[0] == 2, "it is gone"
    assert two.is_dir()


@pytest.mark.parametrize("by_path", [False, True])
def test_an_interrupted_deletion_is_gone_on_with(cli: Run, tmp_path: Path, by_path: bool) -> None:
    path = interrupted(drawn_study(tmp_path), tmp_path, "P01")
    path.rename(path.with_name(f".withdrawn-{path.name}"))
    named = str(path) if by_path else path.name
    command = ("sessions", "withdraw", named, "--delete", "--yes")
    status, out, err = cli(*command, "--data", str(tmp_path / "data"))
    assert (status, err) == (0, "")
    assert f"{path.name} was withdrawn. Its data are deleted." in out
    assert [child.name for child in path.parent.glob("*sub-*")] == []


def test_a_study_is_simulated_until_it_is_full(cli: Run, tmp_path: Path) -> None:
    loaded = drawn_study(tmp_path, cells="abc", draw=1)
    out = tmp_path / "out"
    simulate = ("simulate", str(loaded.path), "--strategy", "understanding", "--out", str(out))
    status, listed, err = cli(*simulate, "--json")
    assert (status, len(json.loads(listed))) == (0, 3)
    assert "The study is full after 3 participants." in err
    more = (*simulate[:-1], str(tmp_path / "more"), "--participants", "4")
    assert "The study is full after 3 participants: 1 of 4 did not run." in cli(*more)[2]
    status, shown, _ = cli("studies", "show", str(loaded.path), "--data", str(out))
    assert status == 0
    assert shown.count("1 of 1 included") == 3
    assert "the study is full" in shown


def test_a_study_without_models_tells_of_no_order_of_them(cli: Run, tmp_path: Path) -> None:
    status, shown, _ = cli("studies", "show", "gradcam-distinction", "--data", str(tmp_path))
    assert status == 0
    _, _, after = shown.partition("Next participants, if all of them are included:\n")
    assert re.match(r"  P01  s\d+\n  P02  s\d+\n", after), shown


def _child(*arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-c", MAIN, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        env=environment,
        check=False,
        **more,
    )


def test_a_reader_that_leaves_early_is_no_failure() -> None:
    command = f"{sys.executable} -c '{MAIN}' studies schema | head -n 1"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert done.stdout == "{\n"
    assert "Traceback" not in done.stderr


def test_status_reaches_the_shell() -> None:
    assert _child("--version").returncode == 0
    assert _child("nonsense").returncode == 2


def test_every_command_that_is_stopped_says_what_is_safe_in_its_own_words(
    cli: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No command borrows another one's words, as those on sessions that were simulated."""
    groups = {(group,) for group in main_module.GROUPS}
    paths = [path for path in _commands(command_tree()) if path not in groups]
    assert {" ".join(path) for path in paths} == set(main_module._STOPPED)

    def stopped(**how: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(main_module, "command_tree", lambda: stopped)
    for path in paths:
        status, out, err = cli(*path, "--something", "simulate")
        said = err.splitlines()
        assert (status, out, said[0]) == (130, "", "Interrupted.")
        assert tuple(said[1:]) == main_module._STOPPED[" ".join(path)]


def test_the_overview_says_what_the_commands_say(cli: Run) -> None:
    for name, (_, sentence) in main_module.COMMANDS.items():
        made = command_tree().commands[name]
        said = " ".join(made.help.split("\n\n")[0].split())
        if name in main_module.GROUPS:
            listed = sentence.rpartition(": ")[2].rstrip(".").split(", ")
            assert said.startswith(sentence.split(":")[0].split(",")[0]), name
            assert sorted(listed) == sorted(made.commands), name
        else:
            assert said == sentence, name


def test_one_command_leaves_the_others_out() -> None:
    code = (
        "import sys\nfrom labapp.cli.main import main\nsys.argv = ['labapp', 'docs', '--path']\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "assert not {'labapp.cli.models', 'labapp.cli.coding'} & set(sys.modules)\n"
    )
    subprocess.run((sys.executable, "-c", code), check=True, capture_output=True)
