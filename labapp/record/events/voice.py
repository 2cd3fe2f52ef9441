"""Kinds of the sound recording.

Also what a simulated participant says.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal

from labapp.record.events.registry import (
    Channels,
    Crc32,
    Frames,
    Hertz,
    MessagePayload,
    Payload,
    Whole,
    Word,
    Written,
    kind,
    migration,
)


@kind("audio.started", durable=True)
class AudioStarted(Payload):
    """A sound file was opened. One file, with one clock fit, for each segment; a further one where
    recording began again, or the microphone came back with another rate.

    Attributes
    ----------
    file : its name in the session's folder.
    device : the microphone's name.
    host_api : the sound system that it was opened by, such as ALSA.
    nominal_rate : samples a second that were asked for, in Hz.
    channels : how many.
    subtype : how samples are stored, such as PCM_16.
    """

    file: Word
    device: str
    host_api: str
    nominal_rate: Hertz
    channels: Channels
    subtype: Word


@kind("audio.off", durable=True)
class AudioOff(MessagePayload):
    """The session is recorded without sound, and why.

    Attributes
    ----------
    reason : why, in words.
    planned : it is as it should be, for the study asks for none or the participant did not agree to
        a recording.
    """

    reason: str
    planned: bool = False
    message: dict[str, Any] = field(default_factory=dict)


@kind("audio.block", version=2)
class AudioBlock(Payload):
    """About a second of sound is on disk (fsynced).

    Attributes
    ----------
    file : the sound file.
    first_frame : the number of the block's first frame in the file, from 0.
    frames : frames in the file after this block.
    sha256 : of the block's PCM bytes as written; empty in a block of an earlier version.
    anchors : triples (frame index, ADC time in s on the stream's clock, session time in ns of that
        ADC time), taken in the callbacks of this block.
    crc32 : of a block written by an earlier version, instead of the hash; null in new ones.
    """

    file: Word
    first_frame: Frames
    frames: Frames
    sha256: Word
    anchors: tuple[tuple[Whole, float, Whole], ...]
    crc32: Crc32 | None = None


@migration("audio.block", 1)
def _block_with_crc32(payload: dict[str, Any]) -> dict[str, Any]:
    """Version 1 has a CRC-32 alone, which is kept: the sound's SHA-256 is not known."""
    return {**payload, "sha256": ""}


@kind("audio.gap", durable=True, lane="alarms")
class AudioGap(Payload):
    """Sound was lost and filled with silence so that time is kept.

    Attributes
    ----------
    file : the sound file.
    at_frame : the frame where the silence begins.
    frames : how long it is; 0 where the host reports an overflow although no time is missing.
    cause : overflow, queue, device_lost, reopened, stalled, or write_failed (neither disk nor
        memory had room).
    """

    file: Word
    at_frame: Frames
    frames: Frames
    cause: Word


@kind("audio.device_lost", durable=True, lane="alarms")
class AudioDeviceLost(MessagePayload):
    """The microphone vanished, or its stream was moved to another source.

    Attributes
    ----------
    device : its name.
    detail : what happened, in words for people.
    """

    device: str
    detail: str
    message: dict[str, Any] = field(default_factory=dict)


@kind("audio.device_back", durable=True)
class AudioDeviceBack(Payload):
    """Recording goes on after a lost device.

    Attributes
    ----------
    device : the microphone's name.
    """

    device: str


@kind("audio.state", durable=True)
class AudioState(Payload):
    """What the level says changed.

    Attributes
    ----------
    state : heard, silent, zeros (exact zeros: no permission or a muted device) or clipping.
    since_ns : session time at which that state began.
    """

    state: Word
    since_ns: Whole


@kind("audio.stopped", durable=True)
class AudioStopped(Payload):
    """The sound file was closed in an orderly way.

    Attributes
    ----------
    file : the sound file.
    frames : frames in it.
    lost_frames : how many of them are silence, put in for lost sound.
    """

    file: Word
    frames: Frames
    lost_frames: Frames


SoundNow = Literal["waiting", "on", "lost", "stopped", "off"]
"""What becomes of sound at a moment. `waiting`: it is recorded once the participant agrees; `on`:
it is recorded; `lost`: it should be, and is not (no microphone, or one that gives nothing);
`stopped`: the recorder rests; `off`: none is recorded."""


@dataclass(frozen=True, slots=True)
class SoundState:
    """What the recorder does, as its events say it: the one state from which participants,
    moderators and replay are told of a recording. file: that is being written."""

    now: SoundNow = "waiting"
    file: str = ""

    def apply(self, payload: Payload) -> SoundState:
        """The state after an event; the same one after an event of something else."""
        match payload:
            case AudioStarted(file=file):
                return SoundState("on", file)
            case AudioOff():
                return SoundState("off")
            case AudioDeviceLost():
                return replace(self, now="lost")
            case AudioDeviceBack():
                return replace(self, now="on")
            case AudioState(state=state) if self.now in ("on", "lost"):
                return replace(self, now="lost" if state == "zeros" else "on")
            case AudioStopped(file=file) if file == self.file:
                return SoundState("stopped")
        return self


@kind("speech.simulated")
class SpeechSimulated(Payload):
    """A simulated participant says what it thinks.

    Attributes
    ----------
    t0_ns, t1_ns : session time at which the first word begins and the last one ends. It begins with
        the event, or where the participant still speaks, after that.
    text : the words.
    codes : by tier of the shipped codebooks, the code that the words were made from.
    """

    t0_ns: Whole
    t1_ns: Whole
    text: Written
    codes: dict[str, Word]
