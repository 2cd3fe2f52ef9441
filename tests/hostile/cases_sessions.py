"""Hostile session folders and data folders."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

from labapp.analysis.folding.folded import fold
from labapp.base.errors import LabappError, RecordError
from labapp.record.journal.opening import SessionPlace, describe
from labapp.record.journal.sessions import list_problems, list_sessions
from labapp.session.bids.export import export
from labapp.session.bids.verify import verify
from labapp.session.resuming import recover
from tests.hostile import rehashed
from tests.hostile.corpus import DEEP, MIB, SECOND, case


def session(tmp: Path) -> Path:
    return rehashed.write(tmp / "data", rehashed.rows_of(SECOND))


def listed(tmp: Path) -> list[str]:
    """The lines of `sessions list`, the others beside a bad one still there."""
    from labapp.record.journal.opening import line

    lines = [line(one) for one in list_sessions(tmp / "data")] + list_problems(tmp / "data")
    assert any("complete" in one for one in lines), lines
    return lines


def each_reader(folder: Path) -> None:
    """Every reader of a session tells it; the last error is raised."""
    told: list[LabappError] = []
    for read in (
        lambda: fold(SessionPlace(folder)),
        lambda: export([folder], folder.parents[2] / "bundle"),
        lambda: recover(folder),
        lambda: describe(folder),
    ):
        try:
            read()
        except LabappError as error:
            told.append(error)
    report = verify(folder)
    assert told or not report.ok
    if told:
        raise told[-1]
    raise RecordError("; ".join(report.problems))


def changed_payload(tmp: Path, kind: str, payload: str) -> None:
    rows = rehashed.rows_of(SECOND)
    at = next(index for index, row in enumerate(rows) if row.kind == kind)
    rows = rehashed.replaced(rows, at, rows[at]._replace(payload=payload))
    each_reader(rehashed.write(tmp / "data", rehashed.chained(rows)))


for _kind in ("note.added", "dial.moved", "session.planned", "environment.recorded"):
    case(f"journal: deep JSON in {_kind}", "cannot be read")(
        lambda tmp, kind=_kind: changed_payload(tmp, kind, "[" * DEEP + "]" * DEEP)
    )
    case(f"journal: 500 levels in {_kind}", "cannot be read")(
        lambda tmp, kind=_kind: changed_payload(tmp, kind, '{"text":' * 500 + "1" + "}" * 500)
    )
    case(f"journal: NaN in {_kind}", "cannot be read")(
        lambda tmp, kind=_kind: changed_payload(tmp, kind, '{"text":NaN}')
    )


@case("journal: a payload of 64 MiB", "too big")
def _(tmp: Path) -> None:
    folder = session(tmp)
    with closing(sqlite3.connect(folder / "journal.sqlite")) as connection, connection:
        connection.execute(
            f"UPDATE events SET payload = CAST(zeroblob({64 * MIB}) AS TEXT) WHERE seq = 9"
        )
    each_reader(folder)


@case("journal: events without end", "does not belong to a journal")
def _(tmp: Path) -> None:
    folder = session(tmp)
    with closing(sqlite3.connect(folder / "journal.sqlite")) as connection, connection:
        connection.execute("ALTER TABLE events RENAME TO kept")
        connection.execute(
            "CREATE VIEW events AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
            " SELECT i AS seq, segment, t_ns, utc, source, kind, v, stage, trial, attempt, payload,"
            " hash FROM n, kept"
        )
    each_reader(folder)


@case("journal: pages overwritten", "cannot be read")
def _(tmp: Path) -> None:
    folder = session(tmp)
    content = bytearray((folder / "journal.sqlite").read_bytes())
    for at in range(4096, len(content), 4096):
        content[at : at + 64] = os.urandom(64)
    (folder / "journal.sqlite").write_bytes(content)
    each_reader(folder)


PIPES = ("session.lock", "environment.json", "journal.sqlite-wal")


@case("session: pipes for its files", "")
def _(tmp: Path) -> None:
    folder = session(tmp)
    for name in PIPES:
        (folder / name).unlink(missing_ok=True)
        os.mkfifo(folder / name)
    assert not verify(folder).ok
    listed(tmp)


@case("session: a pipe for its sound", "")
def _(tmp: Path) -> None:
    folder = session(tmp)
    for row in rehashed.rows_of(SECOND):
        if row.kind == "audio.started":
            os.mkfifo(folder / json.loads(row.payload)["file"])
    assert any("pipe" in problem for problem in verify(folder).problems)


@case("session: sound of 20 bytes", "")
def _(tmp: Path) -> None:
    folder = session(tmp)
    for row in rehashed.rows_of(SECOND):
        if row.kind == "audio.started":
            (folder / json.loads(row.payload)["file"]).write_bytes(b"RIFF" + bytes(16))
    assert not verify(folder).ok


@case("session: sound by a path out of it", "does not lie in")
def _(tmp: Path) -> None:
    change = rehashed.set_in("audio.started", {"file": "../../../etc/passwd"})
    each_reader(rehashed.write(tmp / "data", rehashed.chained(change(rehashed.rows_of(SECOND)))))


@case("session: environment.json is deep", "")
def _(tmp: Path) -> None:
    folder = session(tmp)
    (folder / "environment.json").write_text("[" * DEEP)
    assert any("environment.json" in problem for problem in verify(folder).problems)


@case("session: 1100 folders within each other", "levels deep")
def _(tmp: Path) -> None:
    folder = session(tmp)
    here = os.getcwd()  # noqa: PTH109
    os.chdir(folder / "study")
    try:
        for _ in range(1100):
            os.mkdir("d")  # noqa: PTH102
            os.chdir("d")
    finally:
        os.chdir(here)
    try:
        export([folder], tmp / "bundle")
    finally:
        os.system(f"rm -rf '{folder}'")


NAMES = {
    "a time that never was": b"sub-P02_ses-1_99999999T999999Z",
    "bytes that are no text": b"sub-\xff\xfe_ses-1_20260102T030405Z",
    "an end of line": b"sub-P02\n_ses-1_20260102T030405Z",
    "an escape sequence": b"\x1b[2Jsub-P02_ses-1_20260102T030405Z",
    "digits of another script": "sub-P02_ses-1_٢٠٢٦٠١٠٢T٠٣٠٤٠٥Z".encode(),
}
for _name, _bytes in NAMES.items():

    def _listed_beside(tmp: Path, name: bytes = _bytes) -> None:
        folder = session(tmp)
        os.mkdir(os.fsencode(folder.parent) + b"/" + name)  # noqa: PTH102
        os.mkdir(os.fsencode(tmp / "data") + b"/" + name)  # noqa: PTH102
        listed(tmp)

    case(f"list: beside {_name}", "")(_listed_beside)


@case("list: beside links that go round", "")
def _(tmp: Path) -> None:
    folder = session(tmp)
    (folder.parent / "sub-P02_ses-1_20260102T030406Z").symlink_to("sub-P02_ses-1_20260102T030406Z")
    (tmp / "data" / "round").symlink_to("round")
    listed(tmp)


@case("list: a study's folder is a pipe", "")
def _(tmp: Path) -> None:
    session(tmp)
    os.mkfifo(tmp / "data" / "pipe")
    listed(tmp)


for _file in ("withdrawn.jsonl", "exports.jsonl"):

    def _list_with(tmp: Path, file: str = _file, line: str = "[" * DEEP) -> None:
        folder = session(tmp)
        (folder.parent / file).write_text(line + "\n")
        assert any(file in one for one in listed(tmp))

    def _list_with_pipe(tmp: Path, file: str = _file) -> None:
        folder = session(tmp)
        os.mkfifo(folder.parent / file)
        assert any(file in one for one in listed(tmp))

    case(f"list: {_file} is deep", "")(_list_with)
    case(f"list: {_file} is a pipe", "")(_list_with_pipe)


@case("withdrawn: a line that names nobody", "but not who")
def _(tmp: Path) -> None:
    folder = session(tmp)
    (folder.parent / "withdrawn.jsonl").write_text("{]\n")
    each_reader(folder)
