"""The animation of the documentation's first page: a simulated participant in a real session.

    python scripts/docs_animation.py [--display :71] [--out FILE]

Starts Xvfb with two monitors and a window manager, runs the study `quickstart` there with both of
its windows, and takes pictures of both while the first questions are solved. Needs Xvfb, openbox
and xrandr (Debian: xvfb openbox x11-xserver-utils).
"""

from __future__ import annotations

import argparse
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image, ImageGrab

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from scripts.two_hands import HIGH, WIDE, on_monitors  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator

FILE = ROOT / "docs" / "pictures" / "session.webp"
SHOWN = "A participant moves sliders until both pictures match, and the moderator follows along"
SPEED = 3
"""Session seconds a second: people wait longer for a dial to move."""
FRAME_MS, FRAMES = 250, 60
WIDTH = 620
"""Pixels of each of the two windows."""
PRACTICE, PATIENCE_S = 3, 120
"""Questions that are solved before the first frame, and how long that may take."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--display", default=":71")
    parser.add_argument("--out", type=Path, default=FILE)
    options = parser.parse_args()

    def run(environment: dict[str, str]) -> int:
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-m", "labapp", "run", "quickstart", "--participant", "P02"]
            command += ["--simulate", "understanding", "--speed", str(SPEED), "--audio", "off"]
            command += ["--data", folder, "--private", f"{folder}/private"]
            session = subprocess.Popen(command, env=environment, cwd=folder)
            try:
                wait_for_stage(Path(folder))
                frames = list(taken(options.display))
            finally:
                session.terminate()
                session.wait(30)
        save(frames, options.out)
        return 0

    return on_monitors(options.display, run)


def wait_for_stage(folder: Path) -> None:
    """Wait until practice is over and a dial of the first question has moved."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        time.sleep(0.2)
        for journal in folder.glob("*/*/journal.sqlite"):
            with closing(sqlite3.connect(f"file:{journal}?mode=ro", uri=True)) as connection:
                rows = connection.execute("SELECT kind FROM events ORDER BY seq").fetchall()
            kinds = [kind for (kind,) in rows]
            if kinds.count("trial.solved") >= PRACTICE and kinds[-1] == "dial.moved":
                return
    raise TimeoutError("the session did not reach its first stage")


def taken(display: str) -> Iterator[Image.Image]:
    """Pictures of both monitors side by side, FRAME_MS apart."""
    begin = time.monotonic()
    for number in range(FRAMES):
        time.sleep(max(0.0, begin + number * FRAME_MS / 1000 - time.monotonic()))
        whole = ImageGrab.grab(xdisplay=display)
        both = Image.new("RGB", whole.size)
        both.paste(whole.crop((WIDE, 0, 2 * WIDE, HIGH)), (0, 0))
        both.paste(whole.crop((0, 0, WIDE, HIGH)), (WIDE, 0))
        size = (2 * WIDTH, round(WIDTH * HIGH / WIDE))
        yield both.resize(size, Image.Resampling.LANCZOS)


def save(frames: list[Image.Image], out: Path) -> None:
    frames[0].save(
        out,
        save_all=True,
        append_images=frames[1:],
        duration=FRAME_MS,
        loop=0,
        quality=70,
        method=6,
    )
    print(f"{out}: {frames[0].width} x {frames[0].height}, {out.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    sys.exit(main())
