"""Every shipped study without torch, in windows: simulated, replayed and analysed.

    python scripts/trial_without_torch.py PYTHON [--studies ID,ID] [--out FOLDER] [--speed 5]
        [--display :113]

PYTHON is the interpreter of an environment that has what `locks/run.txt` names, and no torch. For
each study, a process of it opens the console and the participant's window on Xvfb and lets a
simulated participant go through a session; opens the session in a replay window and clicks, by
XTEST, on three moments of its timeline; and analyses it. Prints a table, and keeps a picture of
each moment in the folder. Ends with 1 where a session did not end, a screen could not be shown, a
click did not lead to its moment, or an analysis failed. Needs Xvfb and openbox.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scripts.two_hands import Hands, on_monitors

if TYPE_CHECKING:
    from collections.abc import Callable

    from labapp.ui.replay.window import ReplayWindow

INSIDE = "--inside"
STUDIES = Path(__file__).resolve().parents[1] / "assets" / "studies"
STRATEGIES = ("knowing", "explanation", "careful", "understanding", "random")
"""The first that can do a study takes part in it; the quickest first."""
MOMENTS = (0.25, 0.55, 0.9)
PATIENCE_S = 60.0
STUDY_S = 900.0


def wait(until: Callable[[], bool], what: str) -> None:
    from PySide6.QtWidgets import QApplication

    end = time.monotonic() + PATIENCE_S
    while not until():
        assert time.monotonic() < end, f"{what}: not within {PATIENCE_S:.0f} s"
        QApplication.processEvents()


def run_session(study: str, out: Path, speed: float) -> Path:
    """A session in windows; returns its folder."""
    from labapp.base.errors import UsageError
    from labapp.session.simulation.fitting import check_fits
    from labapp.study.loading import load
    from labapp.ui import starting

    for strategy in STRATEGIES:
        try:
            check_fits(strategy, load(study).study)
            break
        except UsageError:
            continue
    options = starting.RunOptions(
        data=out / "data", private=out / "private", windowed=True, simulate=strategy, speed=speed
    )
    status = starting.run_session(study, "P01", None, options)
    assert status == 0, f"the session ended with {status}"
    (session,) = (out / "data" / study).glob("sub-*")
    return session


def click_moments(window: ReplayWindow, out: Path) -> int:
    """Click on three moments of the timeline; returns how many screens were shown."""
    from PySide6.QtCore import QPointF

    line, controller, hands = window.timeline, window.controller, Hands()
    begin, end = controller.begin_ns, controller.end_ns
    line.show_stretch(begin, end)
    for number, share in enumerate(MOMENTS, start=1):
        t_ns = round(begin + share * (end - begin))
        at = line.mapToGlobal(QPointF(line.scale.x(t_ns), line.axis_rect().center().y()).toPoint())
        hands.do({"at": (at.x(), at.y())})
        near = (end - begin) / line.width() * 3
        wait(lambda t=t_ns, d=near: abs(controller.now_ns() - t) <= d, f"moment {number}")  # type: ignore[misc]
        wait(lambda: not window.picture._awaits_model(), "its model")
        assert not window.picture.problem, window.picture.problem
        wait(lambda: window.picture._pixmap is not None, "its screen")
        window.grab().save(str(out / f"moment-{number}.png"))
    hands.close()
    return len(MOMENTS)


def inside(study: str, out: Path, speed: float) -> None:
    """One study, on a display of its own; the last line that is printed is what came of it."""
    from importlib.util import find_spec

    assert find_spec("torch") is None, "this environment has torch"
    begin = time.monotonic()
    session = run_session(study, out, speed)
    ran = time.monotonic()
    from labapp.ui.replay.window import Replay

    replay = Replay(session)
    wait(lambda: replay.window.filled, "the timeline")
    shown = click_moments(replay.window, out)
    replay.window.close()
    replayed = time.monotonic()
    command = [sys.executable, "-m", "labapp", "analyze", str(session), "--out"]
    done = subprocess.run(
        [*command, str(out / "results")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert (out / "results" / "report.html").is_file(), "there is no report"
    from labapp.record.journal.opening import open_record

    events = sum(1 for _ in open_record(session).events())
    assert "torch" not in sys.modules
    seconds = [ran - begin, replayed - ran, time.monotonic() - replayed]
    print(json.dumps({"events": events, "shown": shown, "seconds": seconds}))


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("python", type=Path)
    parser.add_argument("--studies", default="")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--speed", type=float, default=5.0)
    parser.add_argument("--display", default=":113")
    parser.add_argument(INSIDE, metavar="STUDY")
    asked = parser.parse_args()
    if asked.inside:
        inside(asked.inside, asked.out, asked.speed)
        return 0
    out = (asked.out or Path(tempfile.mkdtemp(prefix="without-torch-"))).absolute()
    shipped = sorted(path.stem for path in STUDIES.glob("*.yaml"))
    studies = asked.studies.split(",") if asked.studies else shipped
    return on_monitors(asked.display, lambda env: table(asked, out, studies, env), 1)


def table(asked: Any, out: Path, studies: list[str], environment: dict[str, str]) -> int:
    failed = 0
    print(f"pictures, data and results: {out}")
    print(f"{'study':32}{'events':>8}{'screens':>9}{'session':>9}{'replay':>8}{'analysis':>10}")
    for study in studies:
        (out / study).mkdir(parents=True)
        command = [str(asked.python), __file__, str(asked.python), INSIDE, study]
        command += ["--out", str(out / study), "--speed", str(asked.speed)]
        try:
            done = subprocess.run(
                command, cwd=out / study, env=environment, capture_output=True, text=True,
                timeout=STUDY_S, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            print(f"{study:32} not over within {STUDY_S:.0f} s", flush=True)
            failed += 1
            continue
        if done.returncode:
            print(f"{study:32} FAILED", done.stdout[-2000:], done.stderr[-4000:], sep="\n")
            failed += 1
            continue
        row = json.loads(done.stdout.splitlines()[-1])
        seconds = "".join(
            f"{value:{wide}.1f}" for value, wide in zip(row["seconds"], (9, 8, 10), strict=True)
        )
        print(f"{study:32}{row['events']:8}{row['shown']:9}{seconds}", flush=True)
    print(f"{len(studies) - failed} of {len(studies)} studies worked without torch")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
