"""From the hand to the picture: a mouse event is posted to a dial of the full participant screen,
with a real journal on disk and the sound recorder writing, until the end of the picture's
paintEvent. benchmarks/remote_link.py has the mouse moved by the X server instead.

    python benchmarks/slider_path.py [--platform offscreen|xcb] [--n 2000] [--json FILE]
        [--only X] [--console] [--lsl] [--own] [--package FOLDER ...]

With --console each case is measured twice, in turns: without the moderator's console and with it
open on the same session, as it always is in one. Target with it: p99 4 ms.

With --lsl each case is measured twice, too: without LSL, and with the streams of the session sent
to a receiver in another process.

With --own, decoders as labs import them are measured beside the shipped ones: 8 x 8 grey, 64 x 64
and 256 x 256 in colour, of random weights, computed by ONNX Runtime. Targets of p99, offscreen: 4,
6 and 16.7 ms, a frame. --package measures a model package, such as one just imported.

With xcb, run it on a display (xvfb-run -s "-screen 0 1920x1080x24" …). Targets, offscreen:
dSprites size median 3.5 ms and p99 8.3 ms, MNIST size p99 16 ms (the published web application on
such a machine with two cores: 11.5 / 18.6 ms).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

if TYPE_CHECKING:
    from PySide6.QtCore import QEvent

    from labapp.session.opening import OpenSession
    from labapp.tasks.reconstruction.screen.matching import ReconstructionScreen
    from labapp.ui.participant.window import ParticipantWindow
    from labapp.ui.widgets.dial import DialSlider

WARM_UP = 200
RATE = 48_000
BLOCK_S = 0.05
LONGEST_NS = 5 * 10**9

CASES = (
    ("Sinelines VAE", "sinelines/vae", 5),
    ("dSprites size", "dsprites-conv", 5),
    ("dSprites size", "dsprites-conv", 10),
    ("MNIST size", "mnist-conv", 5),
    ("MNIST size", "mnist-conv", 10),
)

OWN = (
    ("own 8 x 8", "own/grey8", (8, 8)),
    ("own 64 x 64 colour", "own/colour64", (64, 64, 3)),
    ("own 256 x 256 colour", "own/colour256", (256, 256, 3)),
)

STUDY = """
id: benchmark
title: Slider path
version: 1
unnamed_texts: shipped
flow:
  - stages: {{task: reconstruction, models: [{model}], trials: 1, target_alignment: 1.0,
             distance: {distance}, overlay_at_start: {overlay}, sampling: held_out}}
"""


class Hum:
    """A microphone that hears a hum: blocks come as PortAudio's thread brings them."""

    rate, channels, finished, pid = RATE, 1, False, os.getpid()

    def __init__(self, _device: object) -> None:
        from labapp.record.audio.capture import PacketQueue

        self._queue = PacketQueue(60 * RATE, 2)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="hum", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        frames = round(RATE * BLOCK_S)
        wave = (3000 * np.sin(np.arange(frames) * 2 * np.pi * 200 / RATE)).astype("<i2").tobytes()
        while not self._ended.wait(BLOCK_S):
            now = time.perf_counter()
            self._queue.put(time.perf_counter_ns(), now - BLOCK_S, now, False, wave)

    def take(self) -> list[Any]:
        return self._queue.take()

    def close(self, timeout_s: float = 2.0) -> bool:
        self._ended.set()
        self._thread.join(timeout_s)
        return not self._thread.is_alive()


@contextmanager
def participant(
    model: str, dimensions: int, *, console: bool = False, lsl: bool = False
) -> Iterator[tuple[OpenSession, ParticipantWindow]]:
    """The participant's window on the first question of a stage with this model."""
    from benchmarks.random_weights import random_decoder
    from labapp.models.representations.package import load_package
    from labapp.record.audio.devices import Device
    from labapp.record.audio.recorder import Recorder
    from labapp.record.lsl import SessionStreams
    from labapp.session.opening import SessionDependencies, create
    from labapp.study.loading import load
    from labapp.ui.participant.view import Bridge, QtScheduler
    from labapp.ui.participant.window import ParticipantWindow
    from labapp.ui.strings import strings_of

    if Path(model).is_dir():
        decoder = load_package(Path(model), device="cpu")
        name = decoder.id
    elif "/" in model:
        decoder, name = load_package(model, device="cpu"), model
    else:
        decoder = random_decoder(model, dimensions=dimensions, device="cpu")
        name = f"{model.split('-')[0]}/random"
    # Under these a target of 100 % is not met by chance: the dials must not lock.
    own = decoder.card.task if "/" in model else None
    distance = "dsprites" if name.startswith("sinelines") else "mnist"
    if own is not None and not name.startswith("sinelines"):
        distance = own.distance
    overlay = "false" if name.startswith("mnist") else "true"
    with tempfile.TemporaryDirectory(prefix="labapp-slider-") as folder:
        study = Path(folder) / "benchmark.yaml"
        study.write_text(STUDY.format(model=name, distance=distance, overlay=overlay))
        device = Device(0, "hum", "none", 1, RATE, True)
        around = SessionDependencies(
            decoders={name: decoder},
            warmed=(),
            make_scheduler=QtScheduler,
            make_recorder=lambda home, segment, emit, clock: Recorder(
                home.path,
                segment,
                device,
                emit=emit,
                from_perf_ns=clock.from_perf_ns,
                open_input=Hum,
            ),
            private=Path(folder) / "private",
            make_streams=SessionStreams if lsl else None,
        )
        loaded = load(study)
        session = create(loaded, "P01", around, data=Path(folder) / "data")
        bridge = Bridge(session.runner)
        recorder = session.runner.recorder
        desk = None
        if console:
            from labapp.ui.moderator.console import ConsoleWindow

            level = recorder.level if recorder is not None else lambda: None
            desk = ConsoleWindow(bridge, loaded, "P01", level)
        window = ParticipantWindow(
            bridge,
            loaded,
            strings_of(loaded),
            loaded.study.presentation,
            session.give_consent,
        )
        session.begin()
        receiver = receive(session) if lsl else None
        from labapp.record.events.commands import Next

        session.runner.send(Next())  # past the stage's text
        window.open_on()
        if desk is not None:
            desk.resize(1366, 768)
            desk.show()
        try:
            yield session, window
        finally:
            if desk is not None:
                desk.shut()
            window.close_for_good()
            session.close("benchmark over")
            if receiver is not None:
                receiver.kill()
                receiver.wait()


def receive(session: OpenSession) -> subprocess.Popen[bytes]:
    """A program that receives the streams; returns once it does."""
    script = Path(__file__).resolve().parents[1] / "tests" / "lsl" / "receiver.py"
    command = [sys.executable, str(script), "3"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    streams = session.runner.streams
    assert streams is not None
    while not streams.received:
        assert process.poll() is None, "the receiver found no streams"
        time.sleep(0.01)
    return process


class PostedMouse:
    """Events of a mouse that are posted to a dial."""

    def __init__(self) -> None:
        self._dial: DialSlider | None = None

    def press(self, dial: DialSlider) -> None:
        """Let go of the dial before and take the handle of this one."""
        from PySide6.QtCore import QEvent

        self.release()
        self._dial = dial
        self._post(QEvent.Type.MouseButtonPress, dial.handle_x(dial.shown), down=True)

    def release(self) -> None:
        from PySide6.QtCore import QEvent

        if self._dial is not None:
            self._post(QEvent.Type.MouseButtonRelease, 0, down=False)

    def move(self, x: float) -> None:
        from PySide6.QtCore import QEvent

        self._post(QEvent.Type.MouseMove, x, down=True)

    def _post(self, kind: QEvent.Type, x: float, *, down: bool) -> None:
        from PySide6.QtCore import QCoreApplication, QEvent, QPointF, Qt
        from PySide6.QtGui import QMouseEvent

        assert self._dial is not None
        place = QPointF(x, self._dial.height() / 2)
        left, none = Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton
        event = QMouseEvent(
            kind,
            place,
            self._dial.mapToGlobal(place),
            none if kind == QEvent.Type.MouseMove else left,
            left if down else none,
            Qt.KeyboardModifier.NoModifier,
        )
        QCoreApplication.postEvent(self._dial, event)


class XtestMouse:
    """The mouse of the X server, moved through the XTEST extension."""

    def __init__(self) -> None:
        from scripts.real_hands import XServer

        self._server = XServer()
        self._dial: DialSlider | None = None

    def press(self, dial: DialSlider) -> None:
        """Let go of the dial before and take the handle of this one."""
        self.release()
        self._dial = dial
        self.move(dial.handle_x(dial.shown))
        self._server.hold(down=True)

    def release(self) -> None:
        if self._dial is not None:
            self._server.hold(down=False)

    def move(self, x: float) -> None:
        from PySide6.QtCore import QPoint

        assert self._dial is not None
        self._server.move(self._dial, QPoint(round(x), self._dial.height() // 2))


def measure(
    window: ParticipantWindow, n: int, mouse: PostedMouse | XtestMouse | None = None
) -> np.ndarray:
    """Milliseconds of n movements, one at a time, after a warm-up."""
    from PySide6.QtWidgets import QApplication

    from labapp.tasks.reconstruction.screen.matching import ReconstructionScreen
    from labapp.ui.widgets.dial import DialSlider

    screen = window.screen_shown
    assert isinstance(screen, ReconstructionScreen)
    mouse = mouse or PostedMouse()
    done = watch(screen)
    rng = np.random.default_rng(0)
    times = []
    held: DialSlider | None = None

    def settle() -> None:
        """Until the event loop has nothing left to do."""
        QApplication.processEvents()
        QApplication.processEvents()

    settle()
    dials = [row.control for row in screen.dials.rows]
    for index in range(n + WARM_UP):
        if index % 25 == 0:
            control = dials[(index // 25) % len(dials)]
            assert isinstance(control, DialSlider)
            held = control
            mouse.press(held)
            settle()
        assert held is not None
        before = held.shown
        while True:
            x = float(rng.uniform(15, held.width() - 15))
            if abs(x - held.handle_x(before)) > 3:
                break
        # As a hand does: a new movement every 8 ms or so, not one on the heels of the other.
        pause = time.perf_counter() + 0.004
        while time.perf_counter() < pause:
            QApplication.processEvents()
            time.sleep(0.0005)
        done.clear()
        began = time.perf_counter_ns()
        mouse.move(x)
        while not done:
            QApplication.processEvents()
            if time.perf_counter_ns() - began > LONGEST_NS:
                raise RuntimeError("the picture was not painted: is the dial locked?")
        times.append((done[0] - began) / 1e6)
        settle()
    mouse.release()
    settle()
    return np.array(times[WARM_UP:])


def watch(screen: ReconstructionScreen) -> list[int]:
    """A list that gets the time at which the picture in front was painted."""
    done: list[int] = []
    view = screen.pictures.front
    inner: Callable[[], None] | None = view.painted

    def painted() -> None:
        done.append(time.perf_counter_ns())
        if inner is not None:
            inner()

    view.painted = painted
    return done


def run(
    case: tuple[str, str, int], n: int, *, console: bool = False, lsl: bool = False
) -> dict[str, Any]:
    from labapp.ui.qtapp import settle_memory, unsettle_memory

    title, model, dimensions = case
    with participant(model, dimensions, console=console, lsl=lsl) as (session, window):
        dials = len(session.runner.part.space) if session.runner.part is not None else dimensions
        settle_memory()
        times = measure(window, n)
        unsettle_memory()
        moved = session.runner.state.part_state.trial.z_seq
        level = session.runner.recorder.level() if session.runner.recorder else None
    assert moved >= n, f"only {moved} of {n} movements reached the session"
    assert level is not None, "there was no recorder"
    assert level.frames > 0, "the sound writer did not run"
    median, p95, p99 = (round(float(v), 2) for v in np.percentile(times, (50, 95, 99)))
    return {
        "case": title + ", console" * console + ", LSL" * lsl,
        "dimensions": dials,
        "n": n,
        "median_ms": median,
        "p95_ms": p95,
        "p99_ms": p99,
        "max_ms": round(float(times.max()), 2),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--platform", choices=("offscreen", "xcb"), default="offscreen")
    parser.add_argument("--n", type=int, default=2000)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--console", action="store_true", help="also with the console open")
    parser.add_argument("--lsl", action="store_true", help="also with events sent over LSL")
    parser.add_argument("--own", action="store_true", help="also decoders as labs import them")
    parser.add_argument("--package", action="append", default=[], help="a model package's folder")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if options.platform == "offscreen":
            screen = {"name": "1080p", "x": 0, "y": 0, "width": 1920, "height": 1080}
            screen |= {"logicalDpi": 96, "logicalBaseDpi": 96, "dpr": 1}
            config = Path(folder) / "screen.json"
            config.write_text(json.dumps({"screens": [screen]}))
            os.environ["QT_QPA_PLATFORM"] = f"offscreen:configfile={config}"
        else:
            os.environ["QT_QPA_PLATFORM"] = "xcb"
        from labapp.ui.qtapp import make_app

        app = make_app()
        consoles = (False, True) if options.console else (False,)
        sent = (False, True) if options.lsl else (False,)
        cases = list(CASES)
        if options.own:
            from benchmarks.onnx_decoders import write
            from labapp.models.representations.recipe import Task

            task = Task(distance="mse/0.1", target_alignment=1, skip_after_s=5)
            cases += [
                (title, str(write(Path(folder), model, shape, task=task)), 5)
                for title, model, shape in OWN
            ]
        cases += [(path.rstrip("/"), path, 0) for path in options.package]
        rows = [
            run(case, options.n, console=console, lsl=lsl)
            for case in cases
            if options.only in f"{case[0]} {case[2]}"
            for console in consoles
            for lsl in sent
        ]
        app.quit()
    print(f"platform {options.platform}, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print(f"{'':24}{'dials':>6}{'median':>9}{'p95':>9}{'p99':>9}{'max':>9}   ms")
    for row in rows:
        figures = "".join(f"{row[f'{key}_ms']:9.2f}" for key in ("median", "p95", "p99", "max"))
        print(f"{row['case']:24}{row['dimensions']:6}{figures}")
    if options.json:
        options.json.write_text(json.dumps({"platform": options.platform, "cases": rows}, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
