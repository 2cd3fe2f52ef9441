"""From a chosen microphone to the recorder of a session."""

from __future__ import annotations

from labapp.audio.devices import Device
from labapp.audio.recorder import Recorder
from labapp.clock import Clock
from labapp.session.folder import SessionFolder
from labapp.session.opening import EmitBody, MakeRecorder


def recorder_for(device: Device, silent_after_s: float) -> MakeRecorder:
    """A function that makes the recorder of a segment, once the session's clock is there."""

    def make(folder: SessionFolder, segment: int, emit: EmitBody, clock: Clock) -> Recorder:
        return Recorder(
            folder.path,
            segment,
            device,
            emit=emit,
            from_perf_ns=clock.from_perf_ns,
            silent_after_s=silent_after_s,
        )

    return make
