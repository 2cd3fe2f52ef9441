"""Loads PortAudio, when a device is first needed and not before."""

from __future__ import annotations

import importlib
import re
import subprocess
import threading
from collections.abc import Callable
from types import ModuleType

from labapp.base.errors import AudioError
from labapp.base.installation import child_environment, module_command
from labapp.base.messages import Message

_lock = threading.RLock()


def load() -> ModuleType:
    """The `sounddevice` module.

    Raises
    ------
    AudioError : PortAudio's library is not on this machine, or cannot start.
    """
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


def refresh() -> None:
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
