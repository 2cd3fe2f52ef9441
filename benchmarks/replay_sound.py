"""The sound of a replay: opening 90 minutes, drawing them, stretching, seeking, looping.

    .venv/bin/python -m benchmarks.replay_sound [--minutes 90] [--n 20] [--json]

The session is made in a temporary folder: noise like a voice at 48 kHz, a clock 60 ppm fast, with
the events of a real one. Opening is measured in processes of their own, from the command's first
line in labapp to the waveform of the whole session: with an empty cache (the file's pages may
be in memory), and with a full one. What is heard is recorded from the monitor of a
private PulseAudio (scripts/virtual_microphone.sh): from the call of `seek` to the first sample, and
how long a loop is silent between its end and its beginning.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from labapp.base.clock import NS
from labapp.coding.sound import Peaks, SessionSound
from labapp.record.audio.player import Player, Stretcher
from labapp.record.journal.opening import open_record
from tests.helpers.heard import Monitor
from tests.helpers.recorded_sounds import Take, sounding_session

RATE = 48_000
LOUD = 5_000
SCRIPT = Path(__file__).resolve().parent.parent / "scripts" / "virtual_microphone.sh"
COLUMNS = 1_600


def voice(seconds: float) -> Take:
    """Noise like a voice, from half a second on."""
    rng = np.random.default_rng(1)
    second = rng.normal(0, 100, RATE) * (1 + 5 * np.abs(np.sin(np.arange(RATE) / RATE * 9)))
    samples = np.tile(second.astype(np.int16), round(seconds))
    return Take(samples, start_s=0.5, rate=RATE, ppm=60)


def session_of(root: Path, minutes: float) -> Path:
    """A session folder with so much sound; every 30 s begins with a loud tone."""
    take = voice(minutes * 60)
    samples = take.samples
    tone = (20_000 * np.sin(np.arange(RATE // 20) * 2 * np.pi * 1500 / RATE)).astype(np.int16)
    for at_s in range(30, round(minutes * 60), 30):
        first = round((at_s - take.start_s) * take.true_rate)
        samples[first : first + tone.size] = tone
    return sounding_session(root, take, end_s=minutes * 60 + 1)


def opened(folder: Path) -> dict[str, float]:
    """Seconds to the journal, the sound and the waveform, of the processor in all, and MiB of
    memory at the end."""
    began, used = time.perf_counter(), time.process_time()
    record = open_record(folder)
    journal_s = time.perf_counter() - began
    sound = SessionSound(record)
    sound_s = time.perf_counter() - began
    peaks = Peaks(sound)
    peaks.between(sound.begin_ns, sound.end_ns, COLUMNS)
    whole_s = time.perf_counter() - began
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "journal_s": journal_s,
        "sound_s": sound_s,
        "waveform_s": whole_s,
        "cpu_s": time.process_time() - used,
        "mib": memory,
    }


def openings(folder: Path, cache: Path, n: int) -> dict[str, Any]:
    """Of `opened` in new processes, without and with a cache."""
    runs_of: dict[str, list[dict[str, float]]] = {"cold": [], "cached": []}
    command = [sys.executable, "-m", "benchmarks.replay_sound", "--open", str(folder)]
    for kind in ("cold", "cached"):
        for _ in range(n):
            if kind == "cold":
                shutil.rmtree(cache, ignore_errors=True)
            env = {**os.environ, "LABAPP_CACHE": str(cache)}
            done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
            runs_of[kind].append(json.loads(done.stdout))
    return {
        f"open_{kind}_{part}": _spread([each[part] for each in runs])
        for kind, runs in runs_of.items()
        for part in ("journal_s", "sound_s", "waveform_s", "cpu_s", "mib")
    }


def drawing(folder: Path, n: int) -> dict[str, Any]:
    """Milliseconds for the columns of a picture, of stretches of every length."""
    sound = SessionSound(open_record(folder))
    peaks = Peaks(sound)
    rng = np.random.default_rng(3)
    figures = {}
    for seconds in (sound.end_ns / NS, 600.0, 60.0, 10.0, 1.0):
        took = []
        for _ in range(5 * n):
            first = rng.uniform(0, max(0.0, sound.end_ns / NS - seconds))
            began = time.perf_counter()
            peaks.between(round(first * NS), round((first + seconds) * NS), COLUMNS)
            took.append(1e3 * (time.perf_counter() - began))
        figures[f"draw_{seconds:g}_s_ms"] = _spread(took)
    sound.close()
    return figures


def stretching(folder: Path) -> dict[str, Any]:
    """Processor seconds for a second of output, reading included."""
    sound = SessionSound(open_record(folder))
    figures = {}
    for speed in (0.25, 0.5, 1.0, 1.5, 2.0, 3.0):
        stretcher = Stretcher(
            lambda first, frames: sound.read(round(first * NS / RATE), frames), RATE
        )
        stretcher.seek(60.0 * RATE)
        began = time.process_time()
        for _ in range(1500):
            stretcher.hop(speed)
        figures[f"stretch_{speed:g}_cpu_s"] = (time.process_time() - began) / 30.0
    sound.close()
    return figures


def hearing(folder: Path, n: int) -> dict[str, Any]:
    """Seeks, loops and the share of a core, through the private PulseAudio."""
    sound = SessionSound(open_record(folder))
    player = Player(sound)
    while not player.sounding:
        if player.problem:
            raise SystemExit(player.problem)
        time.sleep(0.01)
    time.sleep(2.5)
    monitor = Monitor(RATE)
    time.sleep(1.0)
    sought = []
    player.seek(10 * NS)
    player.play()
    time.sleep(0.5)
    for number in range(n):
        sought.append(time.perf_counter_ns())
        player.seek((30 + 30 * (number % 20)) * NS)
        time.sleep(0.35)
    samples, began_ns = monitor.stop()
    heard_ns = began_ns + np.flatnonzero(np.abs(samples.astype(int)) > LOUD) * (NS / RATE)
    late = [(heard_ns[heard_ns > at].min() - at) / 1e6 for at in sought]
    monitor = Monitor(RATE)
    player.set_loop(round(60.2 * NS), round(60.7 * NS))
    player.seek(round(60.2 * NS))
    time.sleep(0.5 + 0.5 * n)
    samples, _ = monitor.stop()
    inside = samples[RATE // 2 :]
    zeros = np.flatnonzero(np.diff(np.concatenate(([0], (np.abs(inside) <= 1), [0]))))
    lengths = np.diff(zeros)[::2]
    silent = 1e3 * float(lengths.max(initial=0)) / RATE
    player.set_loop(None)
    shares = {}
    for speed in (1.0, 2.0):
        player.set_speed(speed)
        player.seek(60 * NS)
        used, began = time.process_time(), time.perf_counter()
        while time.perf_counter() - began < 10.0:
            player.heard_ns()
            time.sleep(1 / 60)
        shares[f"play_{speed:g}_core_share"] = (time.process_time() - used) / 10.0
    player.close()
    sound.close()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    figures = {"seek_to_sound_ms": _spread(late), "loop_silent_at_most_ms": silent}
    return figures | shares | {"player_mib": memory}


def measure(minutes: float, n: int) -> dict[str, Any]:
    """All figures."""
    with tempfile.TemporaryDirectory(prefix="labapp-benchmark-") as root:
        cache = Path(root) / "cache"
        os.environ["LABAPP_CACHE"] = str(cache)
        # The making of 90 minutes takes more memory than all that is measured.
        command = [sys.executable, "-m", "benchmarks.replay_sound", "--make", root]
        done = subprocess.run(
            [*command, "--minutes", str(minutes)], capture_output=True, text=True, check=True
        )
        folder = Path(done.stdout.strip())
        figures = openings(folder, cache, max(3, n // 4))
        figures |= drawing(folder, n) | stretching(folder)
        with tempfile.TemporaryDirectory(prefix="lab-") as server:
            env = {**os.environ, "LABAPP_VIRTUAL_MICROPHONE": server}
            started = subprocess.run(
                [str(SCRIPT), "start"], env=env, capture_output=True, text=True, check=True
            )
            for line in started.stdout.splitlines():
                name, _, value = line.removeprefix("export ").partition("=")
                os.environ[name] = value.strip("'")
            try:
                figures |= hearing(folder, n)
            finally:
                subprocess.run([str(SCRIPT), "stop"], env=env, check=True, capture_output=True)
    return figures


def _spread(values: list[float]) -> dict[str, float]:
    median, p95, p99 = np.percentile(values, [50, 95, 99])
    return {"median": float(median), "p95": float(p95), "p99": float(p99)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=90.0)
    parser.add_argument("--n", type=int, default=20)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--open", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--make", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.make:
        print(session_of(options.make, options.minutes))
    elif options.open:
        print(json.dumps(opened(options.open)))
    else:
        figures = measure(options.minutes, options.n)
        if options.json:
            print(json.dumps(figures, indent=2))
            return
        for name, value in figures.items():
            if isinstance(value, dict):
                text = ", ".join(f"{key} {each:.4g}" for key, each in value.items())
            else:
                text = f"{value:.4g}"
            print(f"{name}: {text}")


if __name__ == "__main__":
    main()
