"""Every command that makes something of a session is killed before each change that it makes to the
disk. A withdrawal then leaves nothing of the participant but what it names, and the next run clears
what the killed one left."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from labapp.base import resources
from labapp.base.clock import NS
from labapp.base.leftovers import REGISTER
from labapp.cli.main import command_tree
from labapp.coding.annotations import codebook as codebooks
from labapp.coding.annotations.model import Text, Unit
from labapp.coding.annotations.packs import make_pack, open_pack
from labapp.coding.annotations.rounds import assign_study
from labapp.coding.annotations.store import open_marks, open_texts, open_units
from labapp.coding.exchange.gathering import export_coding
from labapp.coding.exchange.incoming import FORMATS
from labapp.record.journal.anchor import ANCHOR
from labapp.record.journal.decisions import add_comment
from labapp.record.journal.opening import open_record
from labapp.session.withdrawal import WithdrawalReport, withdraw
from tests.helpers.journals import GOLDEN, golden_session
from tests.helpers.sample import EVERYTHING, sample

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="a child that is killed is forked")

SECRET = b"Xanthippe"
CHANGES = {
    "os.mkdir", "os.rename", "os.link", "os.remove", "os.rmdir", "os.truncate", "sqlite3.connect",
}  # fmt: skip
NAME = "sub-P01_ses-1_20260102T030405Z"
COMMANDS = {
    "pack": "code pack {study} --rater anna --out {out}/anna.zip",
    "code export": "code export {session} --rater anna --to eaf --with-sound --out {out}/P01.eaf",
    "code export to one file": (
        "code export {session} --rater anna --to qdpx --with-sound --out {out}/P01.qdpx"
    ),
    "code export of joined sound": (
        "code export {session} --rater anna --to csv --joined --with-sound --out {out}/P01.csv"
    ),
    "quotes": "code quotes {study} --out {out}/quotes.md --no-pictures",
    "clip": "replay {session} --clip 19 23 --out {out}/clip.wav",
    "receive": "code receive {home}/in/anna --study {study}",
    "import": "code import {home}/in/P01.csv --session {session} --rater carl",
    "redact": "code redact {session} 20 22 --by anna",
    "export": "export {session} --out {out}/bundle",
    "export to an archive": "export {session} --out {out}/bundle.zip --zip",
    "analyse": "analyze {session} --out {out}/results --workers 1",
    "withdraw": "sessions withdraw {session} --delete --yes",
}
OFTEN = ["pack", "code export", "receive", "redact", "withdraw"]
FEW = 2
"""Kills of a command where not all tests run; `make nightly` does all."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A coded session, a pack of it that came back, and a file of another tool."""
    home = tmp_path_factory.mktemp("on-the-way") / "whole"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(resources, "models", lambda: GOLDEN / "models")
        session = golden_session(home / "data")
        assert session.name == NAME
        study = session.parent
        book = (resources.assets() / "codebooks" / "think-aloud.yaml").read_bytes()
        (study / "codebook.yaml").write_bytes(book)
        with open_units(session, "anna") as units:
            units.put_all([Unit("a", 20 * NS, 22 * NS), Unit("b", 22 * NS, 24 * NS)])
            units.freeze()
        with open_texts(session, "anna") as texts:
            texts.put(Text("a", f"{SECRET.decode()} is my name", reviewed=True))
            texts.put(Text("b", "let me turn this", reviewed=True))
        assign_study(study, ["anna"], 0.0, 1, "independent")
        (home / "in").mkdir()
        make_pack(study, "anna", home / "in" / "pack.zip")
        pack = open_pack(home / "in" / "pack.zip")
        pack.folder.rename(home / "in" / "anna")
        (home / "in" / "pack.zip").unlink()
        packed = home / "in" / "anna" / session.name
        with open_marks(packed, "anna", codebooks.read(next(packed.parent.glob("*.yaml")))) as m:
            m.give("explore", unit="a", memo=f"{SECRET.decode()}!")
            m.set_status("done")
        with open_marks(session, "anna", codebooks.read(study / "codebook.yaml")) as marks:
            marks.give("goal", unit="b")
        export_coding(open_record(session), "anna", FORMATS["csv"], home / "in" / "P01.csv")
        add_comment(session, SECRET.decode())
        (study / "annotations" / "packs.jsonl").unlink()
        (home / "data" / ANCHOR).unlink()
        make_pack(study, "anna", home / "in" / "again.zip")  # by which what came back is known
        (home / "in" / "again.zip").unlink()
        for name in ("out", "temporary", "cache", "log", "settings"):
            (home / name).mkdir()
        yield home


def arguments(command: str, home: Path) -> list[str]:
    places = {
        "home": home,
        "study": home / "data" / "golden",
        "session": home / "data" / "golden" / NAME,
        "out": home / "out",
    }
    return COMMANDS[command].format(**places).split()


def run(command: str, home: Path, kill_at: int = 0) -> tuple[bool, int]:
    """Run a command on a copy in a child, killed before the `kill_at`-th thing it does to the disk;
    whether it was, and how many things it did."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        count = 0

        def hook(event: str, happened: tuple[Any, ...]) -> None:
            nonlocal count
            if event == "open":
                path, mode, flags = happened
                changes = bool(mode and set(str(mode)) & set("wax+")) or bool(
                    isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
                )
            else:
                path, changes = happened[0] if happened else "", event in CHANGES
            named = isinstance(path, str | bytes | os.PathLike)
            if changes and named and str(home) in os.fsdecode(path):
                count += 1
                if count == kill_at:
                    os.kill(os.getpid(), signal.SIGKILL)

        devnull = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1):
            os.dup2(devnull, stream)
        os.environ |= {
            "TMPDIR": str(home / "temporary"),
            "LABAPP_CACHE": str(home / "cache"),
            "LABAPP_LOG": str(home / "log"),
            "LABAPP_SETTINGS": str(home / "settings"),
            "LABAPP_PRIVATE": str(home / "private"),
        }
        import tempfile

        tempfile.tempdir = str(home / "temporary")
        resources.models = lambda: GOLDEN / "models"  # type: ignore[assignment]
        sys.addaudithook(hook)
        status = 1
        try:
            status = command_tree()(arguments(command, home), standalone_mode=False) or 0
        except BaseException as error:  # noqa: BLE001 - the child must not go on as a test
            os.write(2, f"{command}: {error!r}\n".encode())
        finally:
            os.write(write, str(count).encode())
            os._exit(0 if status == 0 else 1)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        told = pipe.read()
    _, status = os.waitpid(child, 0)
    if not os.WIFSIGNALED(status):
        assert kill_at or os.WEXITSTATUS(status) == 0, f"{command} failed"
    return os.WIFSIGNALED(status), int(told or 0)


def withdrawn(home: Path) -> WithdrawalReport | None:
    """Withdraw the session, with deletion; None where that was done already."""
    study = home / "data" / "golden"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tempfile.tempdir", str(home / "temporary"))
        patch.setenv("LABAPP_CACHE", str(home / "cache"))
        if (study / NAME).exists() or any(study.glob(".withdrawn-*")):
            return withdraw(study / NAME, home / "private", delete=True)
    return None


def left(home: Path) -> set[str]:
    files = (path for path in home.rglob("*") if path.is_file() or path.is_symlink())
    return {path.relative_to(home).as_posix() for path in files}


def kill_points(count: int) -> list[int]:
    if EVERYTHING or count <= FEW:
        return list(range(1, count + 1))
    return [round(count * (place + 1) / (FEW + 1)) for place in range(FEW)]


def hidden(home: Path) -> list[str]:
    """What a program had on its way, wherever it lies."""
    names = [*(home / "out").rglob(".*"), *(home / "temporary").iterdir()]
    names += (home / "data" / "golden").glob(f"{REGISTER}/*")
    return [str(path.relative_to(home)) for path in names if not path.name.endswith(".lock")]


@pytest.mark.timeout(7200 if EVERYTHING else 600)
@pytest.mark.parametrize("command", sample(list(COMMANDS), OFTEN))
def test_nothing_is_left_of_who_withdraws(command: str, whole: Path, tmp_path: Path) -> None:
    base = tmp_path / "base"
    shutil.copytree(whole, base)
    withdrawn(base)
    usual = left(base)
    home = tmp_path / "counted"
    shutil.copytree(whole, home)
    killed, count = run(command, home)
    assert not killed
    assert count > 3, f"{command} does so little that the kills miss it"
    assert hidden(home) == [], "a run that ends well leaves nothing on its way"
    shutil.rmtree(home)
    for number in kill_points(count):
        home = tmp_path / str(number)
        shutil.copytree(whole, home)
        run(command, home, kill_at=number)
        if number % 2 == 0 and command != "withdraw":
            run(command, home, kill_at=10**9)  # it may refuse what stands there by now
            assert hidden(home) == [], (number, "the next run clears it")
        report = withdrawn(home)
        named = [] if report is None else [*report.exported, *(h.file for h in report.handed_out)]
        places = {os.path.relpath(name, home) for name in named}
        more = {
            name
            for name in left(home) - usual
            if not any(name == place or name.startswith(f"{place}/") for place in places)
            and not name.endswith(".lock")
            and not name.startswith(("cache/", "settings/"))
        }
        assert hidden(home) == [], (number, "a withdrawal clears it")
        logs = {"data/golden/withdrawn.jsonl", "data/golden/exports.jsonl"}
        logs |= {name for name in more if name.startswith("data/golden/annotations/codebooks/")}
        if command == "analyse":  # what is whole of an analysis is its owner's, and in its place
            more = {name for name in more if not name.startswith("out/results/")}
        assert more - logs == set(), number
        for name in left(home):
            ours = any(name == place or name.startswith(f"{place}/") for place in places)
            if not ours and not name.startswith(("in/", "out/results/")):
                assert SECRET not in (home / name).read_bytes(), (number, name)
        shutil.rmtree(home)
