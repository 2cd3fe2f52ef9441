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
    """A sound file was opened. Each segment has one file, with one clock fit, and a further one
    whenever recording started again or the microphone returned with a different rate.

    Attributes
    ----------
    file : its name in the session's folder.
    device : the microphone's name.
    host_api : the audio system through which the microphone was opened, such as ALSA.
    nominal_rate : the requested sampling rate, in Hz.
    channels : the number of channels.
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
    """The session is recorded without sound.

    Attributes
    ----------
    reason : the reason, in words.
    planned : whether this is intended, because the study records no sound or the participant did
        not agree to a recording.
    """

    reason: str
    planned: bool = False
    message: dict[str, Any] = field(default_factory=dict)


@kind("audio.block", version=2)
class AudioBlock(Payload):
    """About a second of sound was written to disk (fsynced).

    Attributes
    ----------
    file : the sound file.
    first_frame : the number of the block's first frame in the file, from 0.
    frames : the number of frames in the file after this block.
    sha256 : hash of the block's PCM bytes as written; empty in blocks of an earlier version.
    anchors : triples (frame index, ADC time in s on the stream's clock, session time in ns of that
        ADC time), taken in the callbacks of this block.
    crc32 : checksum of a block of an earlier version, instead of the hash; null in newer blocks.
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
    """Sound was lost and replaced by silence, so that times remain correct.

    Attributes
    ----------
    file : the sound file.
    at_frame : the frame at which the silence begins.
    frames : its length in frames; 0 if the host reports an overflow although no time is missing.
    cause : overflow, queue, device_lost, reopened, stalled, or write_failed (neither the disk nor
        the memory had space).
    """

    file: Word
    at_frame: Frames
    frames: Frames
    cause: Word


@kind("audio.device_lost", durable=True, lane="alarms")
class AudioDeviceLost(MessagePayload):
    """The microphone was lost, or its stream was moved to another source.

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
    """Recording continues after the device was lost.

    Attributes
    ----------
    device : the microphone's name.
    """

    device: str


@kind("audio.state", durable=True)
class AudioState(Payload):
    """The state of the sound level changed.

    Attributes
    ----------
    state : heard, silent, zeros (exact zeros: no permission or a muted device) or clipping.
    since_ns : session time at which that state began.
    """

    state: Word
    since_ns: Whole


@kind("audio.stopped", durable=True)
class AudioStopped(Payload):
    """The sound file was closed properly.

    Attributes
    ----------
    file : the sound file.
    frames : the number of frames in it.
    lost_frames : the number of frames of silence that replace lost sound.
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
    """A simulated participant thought aloud.

    Attributes
    ----------
    t0_ns, t1_ns : session time at which the first word begins and the last one ends. The words
        begin with the event or, if the participant is still speaking, after that.
    text : the words.
    codes : for each tier of the shipped codebooks, the code from which the words were generated.
    """

    t0_ns: Whole
    t1_ns: Whole
    text: Written
    codes: dict[str, Word]
