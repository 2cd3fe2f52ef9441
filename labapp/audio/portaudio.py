"""Loads PortAudio, when a device is first needed and not before."""

from __future__ import annotations

import importlib
import threading
from types import ModuleType

from labapp.errors import AudioError
from labapp.messages import Message

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
                Message("sound_system", error=str(error)),
                safe="Everything but sound works.",
                todo="Run `labapp doctor`, or record without sound (--audio off).",
            ) from error
