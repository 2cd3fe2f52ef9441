"""Many bundles, to measure the analysis at scale.

    python benchmarks/many_bundles.py --out FOLDER [--bundles 1000] [--simulated 8] [--jobs 2]

A few participants of the think-aloud study on digits are really simulated, with 5 instead of 7
questions a stage: some 2,080 snapshots each. How many they are is counted at the end. Every bundle
is one of these sessions under a label of its own, its errors scaled a little so that no two say the
same, its journal written and chained anew and exported by the program's own export. The bundles lie
in FOLDER/bundles; those that are there already are kept.
"""

from __future__ import annotations

import argparse
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from multiprocessing import get_context
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

QUESTIONS = 5
SHIPPED = "mnist-think-aloud"
STUDY = "mnist-short"


def simulated(participants: int, folder: Path) -> list[Path]:
    """Session folders of the shorter study, made where they are not there yet."""
    from labapp.session.simulation.simulation_job import simulate_study

    data = folder / "simulated"
    if not data.exists():
        simulate_study(str(shorter(folder)), participants, "understanding", data, seed=3)
    return sorted((data / STUDY).glob("sub-*"))


def shorter(folder: Path) -> Path:
    """Write the shorter study, beside what it names."""
    from labapp.base.resources import assets
    from tests.helpers.beside import put_beside

    text = (assets() / "studies" / f"{SHIPPED}.yaml").read_text(encoding="utf-8")
    for old, new in (
        (f"id: {SHIPPED}", f"id: {STUDY}"),
        ("trials: 7 ", f"trials: {QUESTIONS} "),
        ("audio: required", 'audio: "off"'),
    ):
        if old not in text:
            raise SystemExit(f"The study {SHIPPED} does not say {old!r} any more.")
        text = text.replace(old, new)
    study = put_beside(folder) / f"{STUDY}.yaml"
    study.write_text(text, encoding="utf-8")
    return study


def journal(rows: Sequence[Any], label: str, factor: float) -> Iterator[tuple[Any, ...]]:
    """The rows of a session as those of participant `label`, with errors times `factor`."""
    from labapp.record.events import GENESIS, row_hash
    from labapp.record.events.registry import payload_text

    head = GENESIS
    for row in rows:
        event = row.event()
        payload = dict(event.payload)
        for name in ("error_sum", "error_mean"):
            if name in payload:
                payload[name] *= factor
        if row.kind == "session.planned":
            payload["participant"] = label
        text = payload_text(payload)
        head = row_hash(head, event, text)
        yield (*event[:10], text, head)


def bundle(source: Path, number: int, out: Path) -> None:
    """Bundle `number`, of the session folder `source`."""
    from labapp.record.journal.layout import COLUMNS, JOURNAL, SCHEMA, SCHEMA_VERSION, FolderName
    from labapp.record.journal.read import read_rows
    from labapp.session.bids.export import export

    label = f"S{number:05d}"
    name = FolderName.parse(source.name)
    assert name is not None
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary) / STUDY / f"sub-{label}_ses-{name.session}_{name.utc}"
        shutil.copytree(source, copy, ignore=shutil.ignore_patterns(f"{JOURNAL}*"))
        with closing(sqlite3.connect(copy / JOURNAL)) as connection, connection:
            connection.executescript(SCHEMA)
            connection.execute("INSERT INTO meta VALUES ('schema_version', ?)", (SCHEMA_VERSION,))
            places = ", ".join("?" * len(COLUMNS))
            connection.executemany(
                f"INSERT INTO events VALUES ({places})",
                journal(read_rows(source), label, 1 + number / 1e4),
            )
        export([copy], out / label)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--bundles", type=int, default=1000)
    parser.add_argument("--simulated", type=int, default=8, help="sessions really simulated")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    given = parser.parse_args()
    out = given.out / "bundles"
    out.mkdir(parents=True, exist_ok=True)
    sources = simulated(given.simulated, given.out)
    numbers = [n for n in range(1, given.bundles + 1) if not (out / f"S{n:05d}").exists()]
    with ProcessPoolExecutor(given.jobs, mp_context=get_context("spawn")) as pool:
        waiting = [pool.submit(bundle, sources[n % len(sources)], n, out) for n in numbers]
        for job in waiting:
            job.result()
    each = [snapshots(source) for source in sources]
    total = sum(each[n % len(each)] for n in range(1, given.bundles + 1))
    mean = total / given.bundles
    print(f"{given.bundles} bundles of {total} snapshots, {mean:.0f} each, in {out}")


def snapshots(session: Path) -> int:
    """How many snapshots a session has."""
    from labapp.analysis.tables import load

    return len(load(session).snapshots)


if __name__ == "__main__":
    main()
