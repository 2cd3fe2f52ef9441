"""Videos of participants: where they are placed by their sound, and how soon a picture is there.

    .venv/bin/python -m benchmarks.videos [--minutes 60] [--ppm 40] [--work FOLDER] [--json]

The session and the videos are made in a temporary folder. What is heard is like speech: syllables
of changing sound with pauses between them. The session has three runs of the program at 48 kHz,
each with a clock of its own and a hole between them; the video has another microphone, more noise,
an automatic gain, AAC at 44.1 kHz, an offset and a drift. It is added in a process of its own.
Pictures are asked for as the replay window asks for them, of H.264 files with 30 pictures a second:
anywhere, and going on with the clock at 1 and 3 times its speed, every 16 ms.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labapp.base.clock import NS
from labapp.base.reading import files
from labapp.coding.annotations.video_files import PlacedVideo, Video, VideoAlignment
from labapp.coding.videos.decoding import ShownPicture, VideoFeed
from tests.helpers.made_videos import heard_by, speech_like, write_video
from tests.helpers.recorded_sounds import Take, sounding_session

BEGINS_S = 31.4159
RATE, CAMERA_RATE = 48_000, 44_100
PIECE_S = 60.0
ADD = """
import json, re, sys, time
from pathlib import Path
from labapp.coding.videos.session import add_video
begun, cpu = time.perf_counter(), time.process_time()
placed = add_video(Path(sys.argv[1]), Path(sys.argv[2]))
# Of this process alone; what the system counts as its largest is that of its parent, too.
memory = int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) / 1024
print(json.dumps(placed.to_json() | {
    "wall_s": time.perf_counter() - begun, "cpu_s": time.process_time() - cpu, "rss_mib": memory
}))
"""


def heard(
    world: NDArray[np.float32], begin_s: float, seconds: float, ppm: float, rate: int, noise: float
) -> NDArray[np.int16]:
    """As `heard_by`, minute by minute: an hour at once would not fit."""
    pieces = []
    for number, first in enumerate(np.arange(0.0, seconds, PIECE_S)):
        at = begin_s + first * (1 + ppm * 1e-6)
        length = min(PIECE_S, seconds - first)
        pieces.append(heard_by(world, at, length, ppm, rate=rate, noise=noise, seed=number + 1))
    return np.concatenate(pieces)


def camera(samples: NDArray[np.int16]) -> NDArray[np.int16]:
    """Another microphone in a small room, with an automatic gain."""
    response = np.zeros(2400, np.float32)
    response[[0, 7, 40, 900, 2399]] = (1.0, -0.5, 0.3, 0.35, 0.2)
    result = np.zeros_like(samples)
    step = 60 * CAMERA_RATE
    for first in range(0, samples.size, step):
        before = min(first, response.size)
        part = samples[first - before : first + step].astype(np.float32)
        wet = sum(
            np.concatenate((np.zeros(at, np.float32), part[: part.size - at])) * response[at]
            for at in np.flatnonzero(response)
        )
        places = np.arange(first - before, first - before + part.size)
        louder = 0.45 + 0.25 * np.sin(places / CAMERA_RATE / 11)
        result[first : first + step] = np.clip(wet * louder, -32768, 32767)[before:]
    return result


def placing(work: Path, minutes: float, ppm: float) -> dict[str, Any]:
    """Add a video to a session, and how far from the truth its times are."""
    total = minutes * 60
    world = speech_like(total + 60, seed=8)
    third = total / 3
    takes = [
        Take(
            heard(world, number * third + 1, third - 20, -clock, RATE, 0.01),
            number * third + 1,
            rate=RATE,
            ppm=clock,
        )
        for number, clock in enumerate((60.0, -25.0, 10.0))
    ]
    session = sounding_session(work / "data", *takes, end_s=total, uses={"video": True})
    del takes
    seconds = total - BEGINS_S - 10
    film = work / "camera.mp4"
    sound = camera(heard(world, BEGINS_S, seconds, ppm, CAMERA_RATE, 0.05))
    write_video(film, sound, seconds, rate=CAMERA_RATE, per_second=1)
    del sound
    done = subprocess.run(
        [sys.executable, "-c", ADD, str(session), str(film)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    placed = json.loads(done.stdout)
    alignment = placed["alignment"]
    times = np.linspace(0, seconds, 1000)
    aligned = alignment["offset_s"] + times * (1 + alignment["drift_ppm"] * 1e-6)
    error = aligned - (BEGINS_S + times * (1 + ppm * 1e-6))
    return {
        "minutes": minutes,
        "worst_error_ms": round(float(np.abs(error).max()) * 1e3, 3),
        **{
            name: alignment[name]
            for name in ("offset_s", "drift_ppm", "residual_ms", "residual_max_ms", "confidence")
        },
        "stretches": alignment["stretches"],
        **{name: round(placed[name], 1) for name in ("wall_s", "cpu_s", "rss_mib")},
    }


class _Shown:
    """What a feed told last."""

    def __init__(self) -> None:
        self.picture: ShownPicture | None = None
        self.came = threading.Event()

    def take(self, shown: ShownPicture) -> None:
        self.picture = shown
        self.came.set()


def pictures(
    work: Path, size: tuple[int, int], every: int, room: tuple[int, int]
) -> dict[str, Any]:
    """How soon pictures of a video are there."""
    seconds = 60.0
    film = write_video(
        work / f"{size[0]}-{every}.mp4", None, seconds, per_second=30, size=size, every=every,
        codec="libx264", grain=24,
    )  # fmt: skip
    video = Video("video-1", film.name, "", 0, seconds, *size, False, "")
    shown = _Shown()
    placed = PlacedVideo(video, VideoAlignment(0.0))
    feed = VideoFeed(placed, partial(files.open_file, film), shown.take)
    random = np.random.default_rng(1)
    waits = []
    for t_s in [0.0, *random.uniform(0, seconds - 0.1, 60)]:
        shown.came.clear()
        begun = time.perf_counter()
        feed.want(round(t_s * NS), room)
        shown.came.wait(20)
        waits.append((time.perf_counter() - begun) * 1e3)
    result: dict[str, Any] = {
        "size": f"{size[0]} × {size[1]}",
        "key_picture_every_s": round(every / 30, 1),
        "first_ms": round(waits[0], 1),
        "seek_ms": _spread(waits[1:]),
    }
    for speed in (1.0, 3.0):
        apart = []
        begun = time.perf_counter()
        while (passed := time.perf_counter() - begun) < 6:
            feed.want(round((5 + passed * speed) * NS), room)
            time.sleep(0.016)
            now = 5 + (time.perf_counter() - begun) * speed
            at = shown.picture
            if passed > 1 and at is not None:
                beside = max(at.begins_ns / NS - now, now - at.ends_ns / NS, 0.0)
                apart.append(beside / speed * 1e3)
        result[f"beside_sound_ms_at_{speed:g}x"] = _spread(apart)
    feed.close()
    return result


def _spread(values: list[float]) -> list[float]:
    """Median, 95th percentile and largest."""
    return [round(float(np.percentile(values, share)), 1) for share in (50, 95, 100)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--ppm", type=float, default=40)
    parser.add_argument("--work", type=Path, default=None)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.work) as folder:
        work = Path(folder)
        results: dict[str, Any] = {}
        if given.minutes:
            results["placing"] = placing(work, given.minutes, given.ppm)
        room = (640, 480)
        cases = (((1280, 720), 60), ((1920, 1080), 60), ((1280, 720), 250))
        results["pictures"] = [pictures(work, size, every, room) for size, every in cases]
    if given.json:
        print(json.dumps(results, indent=1))
        return
    for line in (results.get("placing", "placing was left out"), *results["pictures"]):
        print(line)


if __name__ == "__main__":
    main()
