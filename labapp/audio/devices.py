"""The microphones of this machine, and how a microphone is chosen by name."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from labapp.audio import portaudio, sources
from labapp.errors import AudioError, NoMicrophone
from labapp.messages import Message

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

    refresh: look again for devices plugged in since.

    Raises
    ------
    AudioError : PortAudio is missing or cannot start.
    """
    sounddevice = portaudio.load()
    if refresh:
        portaudio.refresh()
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
            Message("sound_devices", error=portaudio.in_words(error)),
            safe="Everything but sound works.",
            todo="Run `labapp doctor`, or record without sound (--audio off).",
        ) from error
    server: sources.SoundSource | None = None
    server_asked = none_behind = False
    devices = []
    for index, entry in enumerate(entries):
        channels = int(entry["max_input_channels"])
        if channels < 1:
            continue
        name, host_api = str(entry["name"]), host_apis[int(entry["hostapi"])]
        rate, source, description = round(float(entry["default_samplerate"])), "", ""
        if sources.behind_sound_server(name, host_api):
            if not server_asked:
                server, server_asked = sources.default_source(), True
                none_behind = sources.microphones() == []
            if none_behind:
                continue  # the server gives what the loudspeakers play
            if server is not None:
                rate, source, description = server.rate or rate, server.name, server.description
        devices.append(
            Device(index, name, host_api, channels, rate, index == default, source, description)
        )
    return devices


class MicrophoneFinder:
    """Looks for a microphone in a thread of its own until it is closed.

    Parameters
    ----------
    other_than : device that is gone: its recorder looks for it itself.
    """

    def __init__(self, other_than: Device | None = None) -> None:
        self._other_than = other_than
        self._found: Device | None = None
        self._known: list[str] | None = None
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="labapp-microphones", daemon=True)
        self._thread.start()

    @property
    def found(self) -> Device | None:
        """The microphone that is there now; None while there is none."""
        return self._found

    def _run(self) -> None:
        while not self._closing.is_set():
            self._look()
            self._closing.wait(LOOK_S)

    def _look(self) -> None:
        behind = sources.microphones()
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
        self._found = next(iter(ranked), None)

    def close(self) -> None:
        """Look no more; what is being looked for is not waited for."""
        self._closing.set()


def choose(spec: str = DEFAULT, *, refresh: bool = True) -> Device:
    """The device named `NAME`, `NAME@HOSTAPI`, or `default` for the system's own choice.

    A name need not be complete: an exact match wins, else a part of a name that only one device
    has. Of several host APIs with the same name the default device wins, then the first.

    Raises
    ------
    NoMicrophone : there is no such device, or the text fits several; the message lists them.
    AudioError : PortAudio is missing or cannot start.
    """
    return pick(list_devices(refresh=refresh), spec)


def pick(devices: list[Device], spec: str) -> Device:
    """`choose` among these devices."""
    if not devices:
        raise NoMicrophone(
            "No microphone was found.",
            safe="Everything but sound works.",
            todo="Plug one in and allow its use, or record without sound (--audio off).",
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
        f"The microphone {spec!r} {problem}. There is:\n{listed}",
        safe="Everything but sound works.",
        todo="Name one of these, or record without sound (--audio off).",
    )
