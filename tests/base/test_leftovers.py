"""What killed runs left behind is cleared, and nothing that somebody still needs."""

from __future__ import annotations

import ast
import errno
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from labapp.analysis.analyze import stage_output
from labapp.base import durable, leftovers
from labapp.base.errors import ExchangeError
from labapp.coding.exchange.files import write_new
from labapp.record.journal.read import read_rows
from labapp.session.folder import check_data_root
from labapp.session.private import check_private
from tests.helpers.journals import golden_session

HEX = "0123456789abcdef" * 2


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


KILLED = """
import os, signal
from pathlib import Path
from labapp.record.journal.read import open_journal
from labapp.ui.qtapp import offscreen
offscreen()
with open_journal(Path({folder!r})):
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_reader_and_its_windows_left_is_gone_after_the_next(
    temporary: Path, tmp_path: Path
) -> None:
    folder = golden_session(tmp_path / "data", wal=True)
    code = KILLED.format(folder=str(folder))
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", code], check=False, timeout=60)
        assert done.returncode == -9
        names = sorted(path.name.split("-")[1] for path in temporary.iterdir())
        assert names == ["read", "screens"], "of the last one alone"
    read_rows(folder)
    leftovers.prefix("screens")
    assert list(temporary.iterdir()) == []


def test_what_others_still_need_stays(temporary: Path) -> None:
    own = Path(tempfile.mkdtemp(prefix=leftovers.prefix("read")))
    (temporary / "labapp-read-notes").write_text("a person's own file")
    (temporary / "labapp-reader-1-999999999-x").write_text("of another kind")
    elsewhere = temporary / "labapp-read-1-999999999-x"
    elsewhere.write_text("of another machine, which writes to the same drive")
    leftovers.prefix("read")
    assert own.is_dir()
    assert len(list(temporary.iterdir())) == 4
    long_ago = time.time() - 25 * leftovers.OLD_S
    for path in (own, elsewhere):
        os.utime(path, (long_ago, long_ago))
    leftovers.prefix("read")
    assert own.is_dir(), "this process may need it for days"
    assert not elsewhere.exists()


def test_a_link_is_not_followed(temporary: Path, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "data").write_text("kept")
    here = leftovers.prefix("read").rsplit("-", 2)[0]
    (temporary / f"{here}-999999999-x").symlink_to(precious)
    leftovers.prefix("read")
    assert (precious / "data").read_text() == "kept"
    assert list(temporary.iterdir()) == []


def test_old_probes_and_drafts_are_cleared_and_new_ones_left(tmp_path: Path) -> None:
    long_ago = time.time() - 2 * leftovers.OLD_S
    for number, check in enumerate((check_data_root, lambda place: check_private(place, "golden"))):
        place = tmp_path / str(number)
        place.mkdir(mode=0o700)
        old, new = place / f".labapp-probe-{HEX}", place / f".labapp-probe-{HEX[::-1]}"
        for probe in (old, new):
            probe.write_bytes(b"")
        os.utime(old, (long_ago, long_ago))
        check(place)
        assert list(place.iterdir()) == [new]
    folder = tmp_path / "models"
    draft = folder / f".gt-{HEX}"
    draft.mkdir(parents=True)
    (draft / "model.yaml").write_text("half")
    os.utime(draft, (long_ago, long_ago))
    (folder / ".keep").write_text("")
    leftovers.clear(folder, leftovers.DRAFT)
    assert [path.name for path in folder.iterdir()] == [".keep"]


STAGED = """
import os, signal
from pathlib import Path
from labapp.analysis.analyze import stage_output
with stage_output(Path({out!r}), "report.html") as folder:
    (folder / "notes.csv").write_text("what somebody said")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_analysis_left_is_gone_after_the_next(tmp_path: Path) -> None:
    out = tmp_path / "results"
    code = STAGED.format(out=str(out))
    done = subprocess.run([sys.executable, "-c", code], check=False, timeout=60)
    assert done.returncode == -9
    assert len(list(out.iterdir())) == 1
    with stage_output(out, "report.html") as folder:
        (folder / "report.html").write_text("whole")
    assert [path.name for path in out.iterdir()] == ["report.html"]


def test_what_is_on_its_way_is_known_before_its_first_byte(temporary: Path, tmp_path: Path) -> None:
    """Of a program that was killed it is removed by the next one, wherever it lies; of one that is
    at work it is left alone, and no other file is ever touched."""
    study, out = tmp_path / "data" / "study", tmp_path / "out"
    session = study / "sub-P01_ses-1_20260102T030405Z"
    session.mkdir(parents=True)
    out.mkdir()
    code = (
        "import os, signal, sys; from pathlib import Path; from labapp.base import leftovers\n"
        "with leftovers.on_its_way([Path(sys.argv[1])], Path(sys.argv[2])) as (hidden,):\n"
        "    hidden.mkdir(); (hidden / 'voice').write_bytes(b'1')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    program = [sys.executable, "-c", code, str(session), str(out / "pack.zip")]
    assert subprocess.run(program, check=False, timeout=60).returncode < 0
    (left,) = out.iterdir()
    assert left.name.startswith(".pack.zip-")
    (entry,) = (study / leftovers.REGISTER).glob("*.json")
    foreign = entry.with_name(f"{HEX}.json")
    somebodys = tmp_path / "thesis"
    somebodys.write_text("mine")
    foreign.write_text(entry.read_text().replace(str(left), str(somebodys)))
    with leftovers.on_its_way([session], out / "other.zip") as (hidden,):
        hidden.write_bytes(b"2")
        assert not left.exists(), "the next run clears it, for another file, too"
        assert leftovers.under_way(study, session.name) == str(hidden)
        assert leftovers.clear_registered(study) == []
        assert hidden.exists()
    assert not hidden.exists()
    assert somebodys.read_text() == "mine", "a path that a file names is not removed unchecked"
    assert leftovers.under_way(study, session.name) == ""
    assert not (study / leftovers.REGISTER).exists()
    assert subprocess.run(program, check=False, timeout=60).returncode < 0
    leftovers.clear_of([session])
    assert list(out.iterdir()) == []


ROOT = Path(__file__).resolve().parents[2]
REMOVES = frozenset({"unlink", "rmtree", "rmdir", "remove"})
HARMLESS = {
    "labapp/record/audio/recorded_sound.py": "all of it is done within suppress(OSError)",
    "labapp/session/condition_assignment.py": "no clean-up: what is damaged is made again",
}


def bare_removals(tree: ast.AST) -> list[int]:
    """The lines of clean-ups, after an error or at the end, that can raise over what went wrong."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Try):
            bodies = [node.finalbody, *(handler.body for handler in node.handlers)]
            found += [line for body in bodies for inner in body for line in _raising(inner)]
    return found


def _raising(node: ast.AST) -> Iterator[int]:
    if isinstance(node, ast.With) and "suppress(OSError" in ast.unparse(node.items[0]):
        return
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        ignores = any(word.arg == "ignore_errors" for word in node.keywords)
        if node.func.attr in REMOVES and not ignores:
            yield node.lineno
    for child in ast.iter_child_nodes(node):
        yield from _raising(child)


def test_no_clean_up_hides_why_something_failed() -> None:
    """A disk that is full refuses to remove things, too: then it must still be said that it is
    full. `leftovers.drop` raises nothing."""
    removes = re.compile(rf"\.({'|'.join(REMOVES)})\(")
    texts = {path: path.read_text("utf-8") for path in sorted((ROOT / "labapp").rglob("*.py"))}
    found = {
        path.relative_to(ROOT).as_posix(): lines
        for path, text in texts.items()
        if removes.search(text) and (lines := bare_removals(ast.parse(text)))
    }
    assert found.keys() == HARMLESS.keys(), found


def test_a_bare_removal_is_seen() -> None:
    assert bare_removals(ast.parse("try:\n  f()\nfinally:\n  draft.unlink()"))
    assert bare_removals(ast.parse("try:\n  f()\nexcept OSError:\n  shutil.rmtree(a)\n  raise"))
    fine = "try:\n  f()\nfinally:\n  with suppress(OSError):\n    draft.unlink()"
    assert not bare_removals(ast.parse(fine))


def test_a_name_is_taken_over_nothing(tmp_path: Path) -> None:
    draft, path = tmp_path / "draft", tmp_path / "whole"
    draft.write_text("mine")
    durable.take_name(draft, path)
    assert path.read_text() == "mine"
    assert not draft.exists()
    draft.write_text("another")
    with pytest.raises(FileExistsError):
        durable.take_name(draft, path)
    assert path.read_text() == "mine"


def test_a_name_that_is_not_confirmed_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path) -> None:
        raise OSError(errno.EIO, "input/output error")

    monkeypatch.setattr(durable, "sync_folder", refuse)
    with pytest.raises(ExchangeError, match="was written, but the disk did not confirm") as error:
        write_new(tmp_path / "a.csv", b"whole")
    assert "is complete" in str(error.value)
    assert (tmp_path / "a.csv").read_bytes() == b"whole"
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]
