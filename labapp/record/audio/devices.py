"""The microphones of this machine, how a microphone is chosen by name, and which one is behind a
PulseAudio or PipeWire device.

PortAudio sees a single device, `pulse`, for which the sound server chooses a source. When that
source is unplugged, the server silently moves the stream to another source, or feeds it zeros. This
is noticed only by asking the server which source the stream records from.

Loads PortAudio, when a device is first needed and not before.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import shutil
import subprocess
import threading
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from labapp.base.errors import AudioError, NoMicrophone
from labapp.base.installation import child_environment, module_command
from labapp.base.messages import Message

DEFAULT = "default"
LOOK_S = 1.0


@dataclass(frozen=True, slots=True)
class Device:
    """A device that can record.

    Attributes
    ----------
    index : PortAudio's number, valid until the next refresh only.
    name, host_api : what identifies the device for longer.
    default_rate : the device's own rate in Hz; behind PulseAudio or PipeWire the rate of the
        source, so that nothing is resampled on the way.
    source, description : of the source behind a sound server; empty without one.
    """

    index: int
    name: str
    host_api: str
    channels: int
    default_rate: int
    is_default: bool
    source: str = ""
    description: str = ""

    @property
    def spec(self) -> str:
        """The text that `choose` takes to find this device again."""
        return f"{self.name}@{self.host_api}"

    @property
    def label(self) -> str:
        """The name for people."""
        return f"{self.description} ({self.name})" if self.description else self.name


def list_devices(*, refresh: bool = True) -> list[Device]:
    """Every device that can record, in PortAudio's order.

    refresh: look again for devices plugged in since. Raises AudioError: PortAudio is missing or
    cannot start.
    """
    sounddevice = load()
    if refresh:
        refresh_devices()
    try:
        host_apis = [str(api["name"]) for api in sounddevice.query_hostapis()]
        entries = list(sounddevice.query_devices())
        default = int(sounddevice.default.device["input"])
        if default < 0 and entries:
            # No default of the user's: PortAudio's own is that of the first host API that has one.
            defaults = [int(api["default_input_device"]) for api in sounddevice.query_hostapis()]
            default = next((index for index in defaults if index >= 0), -1)
    except sounddevice.PortAudioError as error:
        raise AudioError(
            Message("sound_devices", error=in_words(error)),
            safe="Everything but sound works.",
            todo="Run `labapp doctor`, or record without sound (--audio off).",
        ) from error
    server: SoundSource | None = None
    server_asked = none_behind = False
    devices = []
    for index, entry in enumerate(entries):
        channels = int(entry["max_input_channels"])
        if channels < 1:
            continue
        name, host_api = str(entry["name"]), host_apis[int(entry["hostapi"])]
        rate, source, description = round(float(entry["default_samplerate"])), "", ""
        if behind_sound_server(name, host_api):
            if not server_asked:
                server, server_asked = default_source(), True
                none_behind = microphones() == []
            if none_behind:
                continue  # the server gives what the loudspeakers play
            if server is not None:
                rate, source, description = server.rate or rate, server.name, server.description
        devices.append(
            Device(index, name, host_api, channels, rate, index == default, source, description)
        )
    return devices


class MicrophoneFinder:
    """Looks for a microphone in a thread of its own until it is closed. other_than: device that is
    gone: its recorder looks for it itself."""

    def __init__(self, other_than: Device | None = None) -> None:
        self._other_than = other_than
        self.found: Device | None = None
        """The microphone that is there now; None while there is none."""
        self._known: list[str] | None = None
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="labapp-microphones", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._closing.is_set():
            self._look()
            self._closing.wait(LOOK_S)

    def _look(self) -> None:
        behind = microphones()
        names = None if behind is None else [source.name for source in behind]
        if names is not None and names == self._known:
            return  # nothing came or went
        self._known = names
        try:
            devices = list_devices()
        except AudioError:
            devices = []
        gone = self._other_than
        others = [
            device
            for device in devices
            if gone is None or (device.spec, device.source) != (gone.spec, gone.source)
        ]
        ranked = sorted(others, key=lambda device: not device.is_default)
        self.found = next(iter(ranked), None)

    def close(self) -> None:
        """Look no more; what is being looked for is not waited for."""
        self._closing.set()


def choose(spec: str = DEFAULT, *, refresh: bool = True) -> Device:
    """The device named `NAME`, `NAME@HOSTAPI`, or `default` for the system's own choice.

    A name need not be complete: an exact match wins, else a part of a name that only one device
    has. Of several host APIs with the same name the default device wins, then the first. Raises
    NoMicrophone: there is no such device, or the text fits several; the message lists them.
    AudioError: PortAudio is missing or cannot start.
    """
    return pick(list_devices(refresh=refresh), spec)


def pick(devices: list[Device], spec: str) -> Device:
    """`choose` among these devices."""
    if not devices:
        raise NoMicrophone(
            "No microphone was found.",
            safe="Everything but sound works.",
            todo="Plug one in and allow access to it, or record without sound (--audio off).",
        )
    exact = [d for d in devices if spec in (d.name, d.spec)]
    if not exact and spec == DEFAULT:
        exact = [d for d in devices if d.is_default] or devices[:1]
    if exact:
        return next((d for d in exact if d.is_default), exact[0])
    name, _, host_api = spec.rpartition("@") if "@" in spec else (spec, "", "")
    partial = [
        d
        for d in devices
        if name.casefold() in d.label.casefold()
        and (not host_api or d.host_api.casefold() == host_api.casefold())
    ]
    if len({d.name for d in partial}) == 1:
        return next((d for d in partial if d.is_default), partial[0])
    listed = "\n".join(f"  {d.spec}" for d in partial or devices)
    problem = "fits several" if partial else "was not found"
    raise NoMicrophone(
        f"The microphone {spec!r} {problem}. The microphones here are:\n{listed}",
        safe="Everything but sound works.",
        todo="Choose one of these, or record without sound (--audio off).",
    )


_PACTL_TIMEOUT_S = 2.0


@dataclass(frozen=True, slots=True)
class SoundSource:
    """A source of the sound server. rate in Hz, 0 if unknown; monitor: it is what a loudspeaker
    plays, and no microphone."""

    index: int
    name: str
    description: str
    rate: int
    channels: int
    monitor: bool = False


@dataclass(frozen=True, slots=True)
class SourceOutput:
    """A recording stream as the sound server sees it."""

    index: int
    source: int


def pactl(*arguments: str) -> Any:
    """The JSON answer of `pactl`, or None if there is no (answering) server or no pactl."""
    if shutil.which("pactl") is None:
        return None
    try:
        done = subprocess.run(
            ["pactl", "-f", "json", *arguments],
            capture_output=True,
            timeout=_PACTL_TIMEOUT_S,
            stdin=subprocess.DEVNULL,
            # pactl writes decimals with the locale's comma otherwise, which is not JSON.
            env={**os.environ, "LC_ALL": "C"},
            check=True,
        )
        return json.loads(done.stdout) if done.stdout.strip() else []
    except (OSError, subprocess.SubprocessError, ValueError):
        return None


def list_sources() -> list[SoundSource] | None:
    """Every source of the sound server; None if no server answers."""
    answer = pactl("list", "sources")
    return None if answer is None else [_source(entry) for entry in answer]


def microphones() -> list[SoundSource] | None:
    """The sources that are microphones; None if no server answers."""
    known = list_sources()
    return None if known is None else [source for source in known if not source.monitor]


def default_source() -> SoundSource | None:
    """The source that a new stream records from; None if no server answers."""
    info = pactl("info")
    if not isinstance(info, dict):
        return None
    name = info.get("default_source_name")
    return next((s for s in list_sources() or [] if s.name == name), None)


def recordings_of(pid: int) -> list[SourceOutput] | None:
    """Recording streams of a process, oldest first; None if no server answers."""
    answer = pactl("list", "source-outputs")
    if answer is None:
        return None
    streams = [
        SourceOutput(int(entry["index"]), int(entry["source"]))
        for entry in answer
        if entry.get("properties", {}).get("application.process.id") == str(pid)
    ]
    return sorted(streams, key=lambda stream: stream.index)


def behind_sound_server(name: str, host_api: str) -> bool:
    """Whether a PortAudio device may stand for PulseAudio or PipeWire."""
    if host_api.casefold() == "pulseaudio":
        return True
    return host_api == "ALSA" and name.casefold() in {"pulse", "default", "pipewire"}


class SourceWatcher:
    """Says when the source behind an open stream is not the one it was opened on. This one knows of
    none: it is for devices whose stream ends by itself when they are unplugged."""

    def follow(self, pid: int) -> None:
        """A stream has just been opened by this process: learn, or restore, its source."""

    def unfollow(self) -> None:
        """That stream is being closed; say nothing about it any more."""

    def gone(self) -> str | None:
        """Why the source is lost, for people; None while all is well or nothing is known."""
        return None

    def available(self) -> bool:
        """Whether it makes sense to open the device again."""
        return True

    def close(self) -> None:
        """End the watcher and its thread."""


class PulseWatcher(SourceWatcher):
    """Watches the recording of a process with `pactl`, about once a second, in its own thread.

    The first source seen is the microphone of the session. When a later stream is opened (after a
    loss) on another source, it is moved to that one.
    """

    def __init__(self, period_s: float = 1.0) -> None:
        self._period_s = period_s
        self._lock = threading.Lock()
        self._following = False
        self._generation = 0
        self._pid = 0
        self._stream: int | None = None
        self._source: str | None = None
        self._misses = 0
        self._gone: str | None = None
        self._wake = threading.Event()
        self._closing = False
        self._thread: threading.Thread | None = None

    def follow(self, pid: int) -> None:
        with self._lock:
            self._pid = pid
            self._following, self._stream, self._misses, self._gone = True, None, 0, None
            self._generation += 1
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._run, name="labapp-sound-source", daemon=True
                )
                self._thread.start()
        self._wake.set()

    def unfollow(self) -> None:
        with self._lock:
            self._following, self._gone = False, None
            self._generation += 1

    def gone(self) -> str | None:
        with self._lock:
            return self._gone

    def available(self) -> bool:
        with self._lock:
            wanted = self._source
        if wanted is None:
            return True
        sources = list_sources()
        return sources is not None and any(source.name == wanted for source in sources)

    def close(self) -> None:
        self._closing = True
        self._wake.set()
        if self._thread is not None:
            self._thread.join(2 * _PACTL_TIMEOUT_S + 1)

    @property
    def source(self) -> str | None:
        """Name of the source that the session records from, once it is known."""
        with self._lock:
            return self._source

    def _run(self) -> None:
        while not self._closing:
            if self._following:
                self._look()
            self._wake.wait(self._period_s)
            self._wake.clear()

    def _look(self) -> None:
        generation = self._generation
        streams, sources = recordings_of(self._pid), list_sources()
        if not streams or sources is None:
            # No server, or our stream is not there (any more): the stream itself will tell.
            with self._lock:
                if generation == self._generation and self._stream is not None:
                    self._misses += 1
                    if self._misses >= 2:
                        self._gone = "the sound server no longer knows our recording"
            return
        names = {source.index: source.name for source in sources}
        with self._lock:
            if generation != self._generation:
                return
            self._misses = 0
            if self._stream is None:
                self._stream = streams[-1].index
            ours = next((s for s in streams if s.index == self._stream), None)
            source = None if ours is None else names.get(ours.source)
            if ours is None or source is None:
                self._gone = Message(
                    "microphone_ended", source=self._source or Message("the_microphone")
                )
                return
            if self._source is None:
                self._source = source
            wanted = self._source
            if source == wanted:
                return
            if wanted not in names.values():
                self._gone = Message("microphone_moved", source=wanted, other=source)
                return
        pactl("move-source-output", str(ours.index), wanted)


def _source(entry: dict[str, Any]) -> SoundSource:
    rate = channels = 0
    for word in str(entry.get("sample_specification", "")).split():
        if word.endswith("Hz") and word[:-2].isdigit():
            rate = int(word[:-2])
        elif word.endswith("ch") and word[:-2].isdigit():
            channels = int(word[:-2])
    return SoundSource(
        index=int(entry["index"]),
        name=str(entry["name"]),
        description=str(entry.get("description", "")) or str(entry["name"]),
        rate=rate,
        channels=channels,
        monitor=bool(entry.get("monitor_source"))
        or entry.get("properties", {}).get("device.class") == "monitor",
    )


_lock = threading.RLock()


def load() -> ModuleType:
    """The `sounddevice` module. Raises AudioError: PortAudio's library is not on this machine, or
    cannot start."""
    with _lock:
        try:
            return importlib.import_module("sounddevice")
        except (OSError, ImportError) as error:
            raise AudioError(
                Message("sound_library", error=str(error)),
                safe="Everything but sound works.",
                todo="Install it (Debian, Ubuntu: sudo apt-get install libportaudio2), "
                "or record without sound (--audio off).",
            ) from error


def refresh_devices() -> None:
    """Make PortAudio look for devices again; it lists them once, when it starts.

    Restarting it ends every stream of this process; microphones are open in processes of their own.
    """
    with _lock:
        sounddevice = load()
        try:
            # sounddevice offers no public restart; these two are what it calls itself.
            sounddevice._terminate()
            sounddevice._initialize()
        except sounddevice.PortAudioError as error:
            raise AudioError(
                Message("sound_system", error=in_words(error)),
                safe="Everything but sound works.",
                todo="Run `labapp doctor`, or record without sound (--audio off).",
            ) from error


def start_child(module: str, *arguments: str) -> subprocess.Popen[bytes]:
    """Run a module of this package in a process of its own, with pipes to and from it.

    PortAudio and ALSA explain themselves on stderr at length; what matters comes as events.
    """
    return subprocess.Popen(
        module_command(module, *arguments),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=child_environment(),
    )


_CODED = re.compile(
    r"(?:Error [^:\[\]]*: )?[^:\[\]]*\[PaErrorCode (-?\d+)\](?:: '[^']*'(?: \[[^\]]*\])?)?"
)
_MEANINGS = {
    -9999: "portaudio_refused",
    -9998: "portaudio_format",
    -9997: "portaudio_format",
    -9996: "portaudio_gone",
    -9994: "portaudio_format",
    -9993: "portaudio_format",
    -9992: "portaudio_memory",
    -9987: "portaudio_late",
    -9985: "portaudio_in_use",
}
"""What PortAudio's error codes (portaudio.h, PaErrorCode) mean for somebody with a microphone."""


def in_words(error: object, say: Callable[[Message], str] = str) -> str:
    """What PortAudio reports, in plain words; any other text as it is, without its full stop.

    The number stays in the sentence, so that a problem can be looked up. say: puts the words into
    a text that holds more than them, for example in another language.
    """
    text = str(error)
    code = _CODED.search(text)
    if code is None:
        return text.rstrip(".")
    meaning = Message(_MEANINGS.get(int(code[1]), "portaudio_unknown"), code=code[1])
    return (
        meaning if code[0] == text else f"{text[: code.start()]}{say(meaning)}{text[code.end() :]}"
    )
