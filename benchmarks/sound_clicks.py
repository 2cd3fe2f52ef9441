"""How well recorded sound lies on the session's clock: clicks played, recorded, fitted, compared.

    python benchmarks/sound_clicks.py [--seconds 75] [--every 0.5] [--json]

Needs a microphone that hears the output: `eval "$(scripts/virtual_microphone.sh start)"`, or it
starts that one by itself. The reference for each click is the player's DAC time mapped to the
monotonic clock, from a stream that is open for 2 s before the first click. The recording goes
through the program's own Recorder, its events through the program's own clock fit. What is compared
is the click's session time by the WAV file with its session time by the player.
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
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labapp.base.clock import SessionClock
from labapp.record.audio import devices
from labapp.record.audio.alignment import ClockFit, fit_clock
from labapp.record.audio.capture import HEADER_BYTES
from labapp.record.audio.devices import Device, choose
from labapp.record.audio.recorder import Recorder
from labapp.record.events import Payload
from labapp.record.events.voice import AudioBlock, AudioGap

SCRIPT = Path(__file__).resolve().parent.parent / "scripts" / "virtual_microphone.sh"
LEAD_S = 2.0
CLICK_FRAMES = 24
AMPLITUDE = 20_000


class Player:
    """Plays a click every `every_s` and notes the DAC time of every block."""

    def __init__(self, device: Device, every_s: float) -> None:
        sounddevice = devices.load()
        self.rate = device.default_rate
        self._every = round(every_s * self.rate)
        self._frame = 0
        self.clicks: list[int] = []
        self.blocks: list[tuple[int, int, float]] = []
        self._stopping = False
        self._stream = sounddevice.RawOutputStream(
            samplerate=self.rate,
            device=device.index,
            channels=1,
            dtype="int16",
            latency=0.1,
            callback=self._callback,
        )

    def start(self) -> None:
        self._stream.start()

    def close(self) -> None:
        self._stream.close()

    def mute(self) -> None:
        """No more clicks."""
        self._stopping = True

    def _callback(self, out: Any, frames: int, when: Any, _status: Any) -> None:
        now_ns = time.perf_counter_ns()
        self.blocks.append((self._frame, now_ns, when.outputBufferDacTime - when.currentTime))
        samples = np.zeros(frames, dtype="<i2")
        first = -(-self._frame // self._every) * self._every
        for at in range(first, self._frame + frames, self._every):
            if at >= LEAD_S * self.rate and not self._stopping:
                start = at - self._frame
                samples[start : start + CLICK_FRAMES] = AMPLITUDE
                self.clicks.append(at)
        out[:] = samples.tobytes()
        self._frame += frames

    def click_ns(self) -> NDArray[np.int64]:
        """`perf_counter_ns` of every click by the DAC times, (n,).

        A single DAC time is as noisy as the callback's turn at Python's lock, so the offset of a
        click is the median of those within a second of it.
        """
        frames = np.array([block[0] for block in self.blocks], dtype=np.float64)
        origin = self.blocks[0][1]
        dac_s = np.array([(ns - origin) / 1e9 + lead for _, ns, lead in self.blocks])
        offset_s = dac_s - frames / self.rate
        times = []
        for click in self.clicks:
            near = np.abs(frames - click) < self.rate
            at_s = float(np.median(offset_s[near])) + click / self.rate
            times.append(origin + round(at_s * 1e9))
        return np.array(times, dtype=np.int64)


def onsets(path: Path, rate: int) -> NDArray[np.int64]:
    """Frames at which clicks begin, (n,)."""
    samples = np.fromfile(path, dtype="<i2", offset=HEADER_BYTES)
    loud = np.flatnonzero(np.abs(samples.astype(np.int32)) > AMPLITUDE // 3)
    if loud.size == 0:
        return loud
    return loud[np.concatenate(([True], np.diff(loud) > rate // 10))]


def measure(seconds: float, every_s: float) -> dict[str, Any]:
    """Record clicks for so long; returns the figures."""
    clock = SessionClock()
    events: list[Payload] = []
    device = choose("default")
    with tempfile.TemporaryDirectory() as folder:
        recorder = Recorder(
            Path(folder), 1, device, emit=events.append, from_perf_ns=clock.from_perf_ns
        )
        recorder.start()
        player = Player(device, every_s)
        player.start()
        time.sleep(seconds - 1.0)
        player.mute()
        time.sleep(1.0)
        recorder.stop()
        player.close()
        fit = fit_clicks(events, device.default_rate)
        heard = np.array([fit.frame_to_ns(int(f)) for f in onsets(recorder.path, fit.nominal_rate)])
    played = np.array([clock.from_perf_ns(int(ns)) for ns in player.click_ns()])
    differences = match_clicks(played, heard, every_s)
    distance = np.abs(differences)
    return {
        "device": device.label,
        "seconds": seconds,
        "clicks_played": len(played),
        "clicks_heard": len(differences),
        "gaps": sum(isinstance(event, AudioGap) for event in events),
        "nominal_rate": fit.nominal_rate,
        "rate": round(fit.rate, 3),
        "used_nominal": fit.used_nominal,
        "reason": fit.reason,
        "residual_ms": round(fit.residual_ms, 3),
        "median_ms": round(float(np.median(distance)), 3),
        "p95_ms": round(float(np.percentile(distance, 95)), 3),
        "max_ms": round(float(distance.max()), 3),
        "bias_ms": round(float(np.median(differences)), 3),
    }


def fit_clicks(events: Sequence[Payload], rate: int) -> ClockFit:
    """How the frames of a recording lie on the session's clock, by its events."""
    anchors = [a for e in events if isinstance(e, AudioBlock) for a in e.anchors]
    breaks = [e.at_frame + e.frames for e in events if isinstance(e, AudioGap)]
    return fit_clock(anchors, rate, breaks)


def match_clicks(
    played: NDArray[np.int64], heard: NDArray[np.int64], every_s: float
) -> NDArray[np.float64]:
    """Heard minus played in ms, for each click played that has one heard within half the beat."""
    differences = []
    for at in played:
        nearest = heard[np.argmin(np.abs(heard - at))]
        if abs(nearest - at) < every_s * 0.5e9:
            differences.append((nearest - at) / 1e6)
    return np.array(differences)


def use_virtual_microphone(folder: str) -> None:
    """Start a private one and let this process use it."""
    env = {**os.environ, "LABAPP_VIRTUAL_MICROPHONE": folder}
    done = subprocess.run(
        [str(SCRIPT), "start"], env=env, capture_output=True, text=True, check=True
    )
    for line in done.stdout.splitlines():
        name, _, value = line.removeprefix("export ").partition("=")
        os.environ[name] = value.strip("'")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=75.0)
    parser.add_argument("--every", type=float, default=0.5, help="seconds between clicks")
    parser.add_argument("--own-microphone", action="store_true", help="do not start a virtual one")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="labapp-clicks-") as folder:
        try:
            if not options.own_microphone:
                use_virtual_microphone(folder)
            figures = measure(options.seconds, options.every)
        finally:
            if not options.own_microphone:
                env = {**os.environ, "LABAPP_VIRTUAL_MICROPHONE": folder}
                subprocess.run([str(SCRIPT), "stop"], env=env, capture_output=True, check=False)
    if options.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name:>14}  {value}")
    return 0 if figures["median_ms"] <= 10.0 else 1


if __name__ == "__main__":
    sys.exit(main())
