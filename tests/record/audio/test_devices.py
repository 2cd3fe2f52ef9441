from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

from labapp.base.errors import AudioError, NoMicrophone
from labapp.record.audio import devices
from labapp.record.audio.devices import Device, pick

USB = Device(0, "USB Mic: Audio (hw:1,0)", "ALSA", 2, 44100, False)
PULSE = Device(1, "pulse", "ALSA", 32, 48000, False, "alsa_input.usb", "Blue Yeti")
SYSTEM = Device(2, "default", "ALSA", 32, 48000, True, "alsa_input.usb", "Blue Yeti")
JACK = Device(3, "pulse", "JACK", 1, 96000, False)
ALL = [USB, PULSE, SYSTEM, JACK]


@pytest.mark.parametrize(
    ("spec", "found"),
    [
        ("default", SYSTEM),
        ("pulse", PULSE),
        ("pulse@ALSA", PULSE),
        ("pulse@JACK", JACK),
        ("usb mic", USB),
        ("USB Mic: Audio (hw:1,0)@ALSA", USB),
        ("usb@alsa", USB),
    ],
)
def test_a_device_is_chosen_by_name_and_host_api(spec: str, found: Device) -> None:
    assert pick(ALL, spec) == found
    assert pick(ALL, found.spec) == found


def test_default_is_the_system_default_whatever_its_name() -> None:
    assert pick([USB, JACK], "default") == USB
    other = Device(5, "Built-in", "Core Audio", 1, 48000, True)
    assert pick([USB, other], "default") == other


@pytest.mark.parametrize("spec", ["webcam", "pulse@WASAPI"])
def test_an_unknown_device_is_refused_with_what_there_is(spec: str) -> None:
    with pytest.raises(NoMicrophone, match="was not found") as caught:
        pick(ALL, spec)
    for device in ALL:
        assert device.spec in caught.value.what
    assert "--audio off" in caught.value.todo


def test_a_part_of_several_names_is_refused() -> None:
    with pytest.raises(NoMicrophone, match="fits several"):
        pick(ALL, "yeti")


def test_no_device_at_all() -> None:
    with pytest.raises(NoMicrophone, match="No microphone"):
        pick([], "default")


def test_a_machine_without_portaudio_gets_a_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_library(name: str) -> None:
        raise OSError("PortAudio library not found")

    monkeypatch.setattr(importlib, "import_module", no_library)
    with pytest.raises(AudioError, match="PortAudio library not found") as caught:
        devices.load()
    assert "libportaudio2" in caught.value.todo


def test_no_module_loads_portaudio_when_imported() -> None:
    code = """
import pkgutil, importlib, sys, labapp.record.audio
for found in pkgutil.iter_modules(labapp.record.audio.__path__):
    importlib.import_module("labapp.record.audio." + found.name)
sys.exit("sounddevice" in sys.modules or "_sounddevice" in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0
