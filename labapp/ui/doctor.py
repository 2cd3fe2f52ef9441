"""`labapp doctor`: what this machine can do for a session, and what to do about the rest."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from labapp.base import access, resources
from labapp.base.errors import AudioError, LabappError
from labapp.base.installation import code_command, install_command
from labapp.ui import fitting, qtapp
from labapp.ui.fitting import can_grow

GB = 1e9
LOW_DISK_GB = 2.0
SLOW_MS = 16.0
"""A picture takes longer than one frame of a display."""
NO_SOUND = (
    "There was no signal at all. Allow access to the microphone, or unmute it. A microphone "
    "with a noise gate gives no signal while nobody speaks, so say something while this runs."
)
_FONTS = """\
from PySide6.QtGui import QFontDatabase, QGuiApplication
app = QGuiApplication([])
print(len(QFontDatabase.families()), app.font().family())
"""
_SCREENS = """\
import json
from PySide6.QtGui import QGuiApplication
app = QGuiApplication([])
rows = [(s.name(), *s.size().toTuple(), s.devicePixelRatio()) for s in app.screens()]
print(json.dumps(rows))
"""


@dataclass(frozen=True, slots=True)
class Check:
    """ok: fine for a session; level: pass, note (works, with something to know) or fail."""

    name: str
    level: str
    found: str
    todo: str = ""

    @property
    def ok(self) -> bool:
        return self.level != "fail"

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "ok": self.ok}

    def line(self) -> str:
        head = f"{self.level.upper():5} {self.name:12} {self.found}"
        return f"{head}\n{'':18} {self.todo}" if self.todo else head


def examine(data: Path | None = None, private: Path | None = None) -> list[Check]:
    """All checks, each in its turn; a failing one does not stop the others."""
    checks: list[Callable[[], list[Check]]] = [
        _display,
        _screens,
        _fonts,
        _microphone,
        _lsl,
        _speech,
        _video,
        _decoders,
        lambda: _disk(resources.data_root(data)),
        lambda: _access(resources.data_root(data), resources.private_root()),
        lambda: _private(resources.private_root(private)),
        _models,
    ]
    return [check for examined in checks for check in examined()]


def _display() -> list[Check]:
    choice = qtapp.choose()
    if choice.visible:
        return [Check("display", "pass", choice.why)]
    text = f"windows will be drawn offscreen: {choice.why}"
    todo = "Fine for `labapp demo` and simulations; a session with people needs a display."
    return [Check("display", "note", text, todo)]


def _ask_qt(code: str) -> subprocess.CompletedProcess[str]:
    """What Qt says, in a process of its own: no application is begun here."""
    return subprocess.run(
        code_command(code), capture_output=True, text=True, timeout=60, check=False
    )


def _screens() -> list[Check]:
    done = _ask_qt(_SCREENS) if qtapp.choose().visible else None
    if done is None or done.returncode:
        return []
    checks = []
    for name, width, height, scale in json.loads(done.stdout):
        size = f"{name or 'screen'}: {width} × {height} points at {scale * 100:.0f} %"
        if fitting.fits(width, height, fitting.PARTICIPANT, fitting.CONSOLE):
            checks.append(Check("screen", "pass", size))
            continue
        needed = fitting.format_needed_room(fitting.PARTICIPANT, fitting.CONSOLE)
        todo = f"Choose a smaller scale for the display, because windows need {needed} points."
        checks.append(Check("screen", "note", f"{size}, too small for a whole window", todo))
    if checks and not can_grow():
        what = "this version of Qt cannot enlarge participants' pages on large screens"
        checks.append(
            Check("screen", "note", what, "Install the version of PySide6 that labapp requires.")
        )
    return checks


def _fonts() -> list[Check]:
    done = _ask_qt(_FONTS)
    count, _, family = done.stdout.strip().partition(" ")
    if done.returncode == 0 and count != "0":
        return [Check("fonts", "pass", f"{family} ({count} families)")]
    return [Check("fonts", "fail", "no fonts were found", "Install some, for example DejaVu Sans.")]


def _microphone() -> list[Check]:
    from labapp.record.audio import check, devices

    off = "Sessions can be recorded without sound (--audio off) if the study allows it."
    try:
        device = devices.choose()
        heard = check.record_test(device, 1.0)
    except AudioError as error:
        return [Check("microphone", "note", error.what, error.todo or off)]
    level, todo = ("note", NO_SOUND) if heard.zeros else ("pass", "")
    text = f"{device.label} · {heard.rate / 1000:g} kHz · peak {heard.peak_dbfs:.0f} dBFS"
    checks = [Check("microphone", level, text, todo)]
    try:
        loop = check.loopback(device)
    except AudioError as error:
        return [*checks, Check("playback", "note", error.what, error.todo)]
    text = "a tone was played and heard" if loop.heard else "a tone was played but not heard"
    todo = "" if loop.heard else "This is normal with a headset. If not, turn up the loudspeaker."
    return [*checks, Check("playback", "pass" if loop.heard else "note", text, todo)]


def _lsl() -> list[Check]:
    from labapp.record import lsl

    if (problem := lsl.problem()) is not None:
        todo = f"Needed only for studies that send their events to other devices. {problem.todo}"
        return [Check("lsl", "note", problem.what, todo)]
    return [Check("lsl", "pass", "events can be sent to other devices")]


def _speech() -> list[Check]:
    from labapp.coding.transcription.models import speech_tools, what_to_get

    tools = speech_tools()
    parts = [f"{engine.package} {engine.version}" for engine in tools.engines] or ["no engine"]
    parts += [f"{model.name} ({model.engine.package})" for model in tools.models]
    parts += [] if tools.models else [f"no model in {tools.folder}"]
    if tools.usable:
        return [Check("speech", "pass", "; ".join(parts))]
    todo = "Needed only for transcription (labapp transcribe). "
    if not tools.models:
        todo += f"Put a model into {tools.folder}. {what_to_get()} "
    if (engine := tools.missing) is not None:
        todo += f"Install {engine.package}: {engine.install}"
    return [Check("speech", "note", "; ".join(parts), todo.strip())]


def _video() -> list[Check]:
    from labapp.coding.videos import decoding

    if decoding.is_installed():
        return [Check("video", "pass", "videos of participants can be added and shown")]
    todo = (
        "Needed only for videos of participants (labapp videos). Install it: "
        f"{install_command('video')}"
    )
    return [Check("video", "note", "the package av (PyAV) is not installed", todo)]


def _decoders() -> list[Check]:
    """What decodes in sessions here, and what else could."""
    from labapp.models.representations.package import default_device

    checks = [_decoder("cpu", default_device())]
    if find_spec("torch") is None:
        text = "not installed: no graphics card, no training, explanations or concept learners"
        todo = (
            f"Sessions, replay and analysis work without it. Install it: {install_command('torch')}"
        )
        checks.append(Check("torch", "note", text, todo))
        if (device := default_device()) != "cpu":
            text = f"LABAPP_DEVICE is {device!r}, which needs torch, so decoders cannot start"
            checks.append(Check("decoder", "fail", text, "Remove LABAPP_DEVICE, or install torch."))
        return checks
    from labapp.models.representations.torch_backend import devices

    checks += [_decoder(device, default_device()) for device in devices() if device != "cpu"]
    if default_device() not in devices():
        text = f"LABAPP_DEVICE is {default_device()!r}, but this machine has {', '.join(devices())}"
        checks.append(Check("decoder", "fail", text, "Set it to one of these, or remove it."))
    return checks


def _decoder(device: str, used: str) -> Check:
    from labapp.models.representations import effects, package

    try:
        times = effects.warm_up(package.load_package("sinelines/vae", device=device), 200)
    except LabappError as error:
        return Check("decoder", "fail", error.what, error.todo)
    by = "ONNX Runtime" if device == "cpu" else "torch"
    by += ", as in sessions here" if device == used else ""
    text = f"sinelines/vae on {device} by {by}: median {times.median_ms:.2f} ms"
    text += f", p99 {times.p99_ms:.2f} ms"
    if times.p99_ms <= SLOW_MS:
        return Check("decoder", "pass", text)
    todo = "Close other programs, or pictures will lag behind the sliders."
    return Check("decoder", "note", text, todo)


def _disk(data: Path) -> list[Check]:
    from labapp.session.environment import network_drive, network_warning
    from labapp.session.folder import check_data_root

    try:
        free = check_data_root(data) / GB
    except LabappError as error:
        return [Check("disk", "fail", error.what, error.todo)]
    if kind := network_drive(data):
        todo = "Copy sessions there when they are finished."
        return [Check("disk", "note", f"{data}: {network_warning(kind)}", todo)]
    if free < LOW_DISK_GB:
        return [Check("disk", "note", f"{data}: only {free:.1f} GB free", "Make room.")]
    return [Check("disk", "pass", f"{data}: {free:.0f} GB free")]


def _access(data: Path, private: Path) -> list[Check]:
    wide = [path for path in (private, *private.glob("*")) if access.wide(path, private=True)]
    if wide:
        text = f"others can read {wide[0]} ({access.wide(wide[0], private=True)})"
        todo = f"To prevent this: {access.narrower(private, private=True)}"
        return [Check("access", "fail", text, todo)]
    if rights := access.wide(data):
        text = f"others can read {data} ({rights})"
        return [Check("access", "note", text, f"To prevent this: {access.narrower(data)}")]
    who = "only you can read" if access.group() is None else "you and your lab's group can read"
    return [Check("access", "pass", f"{who} the recordings; they are not encrypted")]


def _private(private: Path) -> list[Check]:
    from labapp.session.private import check_private

    try:
        check_private(private, "labapp-doctor")
    except LabappError as error:
        return [Check("private", "fail", error.what, error.todo)]
    return [Check("private", "pass", f"{private}: names and signatures can be stored")]


def _models() -> list[Check]:
    from labapp.models import catalog as models_catalog

    rows = models_catalog.models()
    broken = [row for row in rows if "problem" in row]
    if broken or not rows:
        result = "; ".join(f"{row['id']}: {row['problem']}" for row in broken) or "none found"
        return [Check("models", "fail", result, "Install labapp again.")]
    return [Check("models", "pass", f"{len(rows)} shipped models are valid")]
