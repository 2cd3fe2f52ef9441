"""`make torture`: every shipped study is resumed in the windows after every kind of event of every
kind of part, and sessions with windows are killed until enough kills are done.

    python -m tests.torture [--out FOLDER] [--kills 200] [--rows N] [--studies ID,ID]
                            [--at-once 2] [--only rows|kills] [--seed N]

kills: in all. rows: at most so many of each study; 0 for all of them.
Shows what it does, and ends with a table of each; exit status 1 if anything was not as it should
be. What went wrong is kept in the folder.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

from labapp.study.loading import list_shipped
from tests.crash.kills import ROOT
from tests.sound import missing

SOUND_STUDY, SOUND_KILLS = "quickstart", 5


@dataclass
class Line:
    """A study's line of the table of rows."""

    study: str
    rows: int = 0
    places: int = 0
    done: int = 0
    problems: list[str] = field(default_factory=list)


_says = Lock()
_BEGAN = time.monotonic()


def tell(text: str) -> None:
    minutes, seconds = divmod(round(time.monotonic() - _BEGAN), 60)
    with _says:
        print(f"{minutes:3d}:{seconds:02d}  {text}", flush=True)


def lines_of(module: str, arguments: Sequence[str], out: Path) -> tuple[list[Any], int]:
    """What a program of this room says, line by line, and how it ended."""
    out.mkdir(parents=True, exist_ok=True)
    environment = {
        **os.environ,
        "QT_QPA_PLATFORM": os.environ.get("QT_QPA_PLATFORM", "offscreen"),
        "OMP_NUM_THREADS": "1",
        "LABAPP_CACHE": str(out.parent.parent / "cache"),
        "LABAPP_LOG": str(out / "log"),
    }
    said: list[Any] = []
    with (out / "stderr.txt").open("w") as errors:
        program = subprocess.Popen(
            [sys.executable, "-m", f"tests.torture.{module}", *arguments],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            cwd=ROOT,
            env=environment,
        )
        assert program.stdout is not None
        with program.stdout as output:
            for text in output:
                if text.startswith(("[", "{")):
                    said.append(json.loads(text))
                    _progress(module, arguments[0], said)
        return said, program.wait()


def _progress(module: str, study: str, said: list[Any]) -> None:
    last = said[-1]
    if module == "rows" and last[0] == "done":
        done = sum(one[0] == "done" for one in said)
        of = next(one[1] for one in said if one[0] == "places")
        if last[2] or done % 10 == 0 or done == of:
            tell(f"{study}: {done} of {of} rows{': ' + str(last) if last[2] else ''}")
    elif module == "killer":
        tell(f"{study}: {last['kills']} kills, {'; '.join(last['problems']) or 'whole'}")


def rows(study: str, out: Path, most: int) -> Line:
    """Resume one study everywhere, or at so many rows."""
    said, status = lines_of("rows", [study, str(out), *([str(most)] if most else [])], out)
    line = Line(study)
    for one in said:
        if one[0] == "places":
            line.rows, line.places = one[1:]
        elif one[0] == "done":
            line.done += 1
            line.problems += [f"{one[1]}: {problem}" for problem in one[2]]
    if status != 0:
        trying = next((one[1] for one in reversed(said) if one[0] == "trying"), "its rehearsal")
        line.problems.append(f"the program ended with {status} at {trying}; see {out}/stderr.txt")
    return line


def kills(study: str, out: Path, many: int, seed: int, sound: str) -> list[dict[str, Any]]:
    """Kill sessions of one study."""
    arguments = [study, str(out), str(many), str(seed), *([sound] if sound else [])]
    said, status = lines_of("killer", arguments, out)
    if status != 0:
        problem = f"the program ended with {status}; see {out}/stderr.txt"
        said.append(
            {"study": study, "kills": 0, "resumed": 0, "made": 0, "lost": 0}
            | {"acknowledged_lost": 0, "complete": False, "problems": [problem]}
        )
    return [one | {"study": f"{study}, with sound" if sound else study} for one in said]


def table(head: Sequence[str], body: Sequence[Sequence[object]]) -> None:
    for row in (head, ["---"] * len(head), *body):
        print("| " + " | ".join(str(cell) for cell in row) + " |")


def show_rows(done: Sequence[Line]) -> bool:
    head = ("study", "kinds of event and part", "rows", "resumed", "problems")
    body = [(one.study, one.places, one.rows, one.done, len(one.problems)) for one in done]
    total = [sum(column) for column in zip(*(row[1:] for row in body), strict=True)]
    table(head, [*body, ("all", *total)])
    for one in done:
        for problem in one.problems:
            print(f"{one.study}: {problem}")
    return all(one.done == one.rows and not one.problems for one in done)


def show_kills(done: Sequence[dict[str, Any]]) -> bool:
    head = (
        "study",
        "kills",
        "resumed",
        "events made",
        "not stored at a kill",
        "acknowledged and lost",
        "complete",
        "verified",
    )
    studies: dict[str, list[dict[str, Any]]] = {}
    for one in done:
        studies.setdefault(one["study"], []).append(one)
    names = ("kills", "resumed", "made", "lost", "acknowledged_lost")
    body: list[list[Any]] = []
    for study, told in {**studies, "all": list(done)}.items():
        whole = sum(not one["problems"] for one in told)
        complete = sum(one["complete"] for one in told)
        sums = [sum(one[name] for one in told) for name in names]
        body.append([study, *sums, f"{complete} of {len(told)}", f"{whole} of {len(told)}"])
    table(head, body)
    for one in done:
        for problem in one["problems"]:
            print(f"{one['study']}: {problem}")
    good = (not one["problems"] and one["complete"] for one in done)
    return all(good) and not sum(one["acknowledged_lost"] for one in done)


def main() -> int:
    every = [path.stem for path in list_shipped()]
    parser = argparse.ArgumentParser(prog="python -m tests.torture")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--rows", type=int, default=0)
    parser.add_argument("--studies", default=",".join(every))
    parser.add_argument("--at-once", type=int, default=2)
    parser.add_argument("--only", choices=("rows", "kills"))
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    studies = asked.studies.split(",")
    out = asked.out or Path(tempfile.mkdtemp(prefix="labapp-torture-"))
    out.mkdir(parents=True, exist_ok=True)
    tell(f"{len(studies)} studies; what goes wrong is kept in {out}")
    good = True
    with ThreadPoolExecutor(asked.at_once) as pool:
        if asked.only != "kills":
            resumed = list(
                pool.map(lambda study: rows(study, out / "rows" / study, asked.rows), studies)
            )
            good &= show_rows(resumed)
        if asked.only != "rows":
            each = [
                (asked.kills + place) // len(studies) for place in reversed(range(len(studies)))
            ]
            jobs = [
                (study, out / "kills" / study, many, asked.seed, "")
                for study, many in zip(studies, each, strict=True)
                if many
            ]
            if lacking := missing():
                tell(f"no kills with sound: it needs {lacking}")
            elif SOUND_STUDY in studies:
                jobs.append(
                    (SOUND_STUDY, out / "kills" / "sound", SOUND_KILLS, asked.seed, "sound")
                )
            done = list(pool.map(lambda job: kills(*job), jobs))
            good &= show_kills([one for told in done for one in told])
    tell("all as it should be" if good else "not all is as it should be")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
