"""Kinds of the sound recording."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from labapp.events.registry import MessagePayload, Payload, kind, migration


@kind("audio.started", durable=True)
class AudioStarted(Payload):
    """A sound file was opened. nominal_rate in Hz. One file, with one clock fit, for each segment;
    a further one where recording began again, or the microphone came back with another rate."""

    file: str
    device: str
    host_api: str
    nominal_rate: int
    channels: int
    subtype: str


@kind("audio.off", durable=True)
class AudioOff(MessagePayload):
    """The session is recorded without sound, and why. planned: it is as it should be, for the study
    asks for none or the participant did not agree to a recording; message: code and values of the
    reason where it is one of the program's own sentences with values in it."""

    reason: str
    planned: bool = False
    message: dict[str, Any] = field(default_factory=dict)


@kind("audio.block", version=2)
class AudioBlock(Payload):
    """About a second of sound is on disk (fsynced). frames: frames in the file after this block;
    sha256 of the block's PCM bytes as written; anchors: triples (frame index, ADC time in s on the
    stream's clock, session time in ns of that ADC time) taken in the callbacks of this block.
    crc32 instead of sha256: a block written by an earlier version; null in new ones."""

    file: str
    first_frame: int
    frames: int
    sha256: str
    anchors: tuple[tuple[int, float, int], ...]
    crc32: int | None = None


@migration("audio.block", 1)
def _block_with_crc32(payload: dict[str, Any]) -> dict[str, Any]:
    """Version 1 has a CRC-32 alone, which is kept: the sound's SHA-256 is not known."""
    return {**payload, "sha256": ""}


@kind("audio.gap", durable=True)
class AudioGap(Payload):
    """Sound was lost and filled with silence so that time is kept. cause: overflow, queue,
    device_lost, reopened, stalled, or write_failed (neither disk nor memory had room). frames is 0
    where the host reports an overflow although no time is missing."""

    file: str
    at_frame: int
    frames: int
    cause: str


@kind("audio.device_lost", durable=True)
class AudioDeviceLost(MessagePayload):
    """The microphone vanished, or its stream was moved to another source. message: code and values
    of the detail where it is one of the program's own sentences with values in it."""

    device: str
    detail: str
    message: dict[str, Any] = field(default_factory=dict)


@kind("audio.device_back", durable=True)
class AudioDeviceBack(Payload):
    """Recording goes on after a lost device."""

    device: str


@kind("audio.state", durable=True)
class AudioState(Payload):
    """What the level says changed. state: heard, silent, zeros (exact zeros: no permission or a
    muted device), clipping. since_ns: session time at which that state began."""

    state: str
    since_ns: int


@kind("audio.stopped", durable=True)
class AudioStopped(Payload):
    """The sound file was closed in an orderly way."""

    file: str
    frames: int
    lost_frames: int
