"""A session without its controller: a real study, real journal, real tasks and decoders, for tests
of windows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labapp.base.clock import Clock, SessionClock
from labapp.models.representations.decoders import percentiles_of
from labapp.models.representations.decoding import Decoder
from labapp.models.representations.package import load_package
from labapp.models.representations.space import LatentSpace
from labapp.record.audio.devices import Device
from labapp.record.audio.recorder import Level
from labapp.record.events.commands import ConfirmSkip, GiveConsent, SkipStage
from labapp.record.events.lifecycle import DecoderWarmed
from labapp.record.events.voice import AudioStarted
from labapp.session.folder import SessionFolder
from labapp.session.opening import EmitBody, MakeRecorder, OpenSession, SessionDependencies, create
from labapp.session.runner import Runner, Scheduler
from labapp.study.loading import LoadedStudy, load
from labapp.study.loading import list_shipped as shipped_studies
from labapp.tasks.reconstruction.events import MoveDial
from tests.helpers.skips import skip_stage

Array = NDArray[np.float32]
SHIPPED = frozenset(path.stem for path in shipped_studies())


@dataclass(frozen=True)
class FormulaDecoder:
    """A decoder given by a function of z; latents: what questions are drawn from."""

    id: str
    space: LatentSpace
    latents: Array | None
    formula: Callable[[Array], Array]
    from_prior: bool = False

    @property
    def percentiles(self) -> dict[int, Array]:
        assert self.latents is not None
        return percentiles_of(self.latents)

    def decode(self, z: Array) -> Array:
        return self.formula(z)


@cache
def decoder_of(model: str) -> Decoder:
    """A shipped model, loaded once."""
    return load_package(model, device="cpu")


@cache
def shipped(study: str) -> LoadedStudy:
    """A shipped study, loaded once."""
    return load(study)


@dataclass
class Room:
    """An open session and what windows are given."""

    session: OpenSession
    loaded: LoadedStudy
    clock: Clock
    bridge: Any = None  # labapp.ui.participant.view.Bridge, in tests of windows

    def __post_init__(self) -> None:
        self.events: list[tuple[str, dict[str, Any]]] = []
        self.runner.journal.subscribe(lambda e: self.events.append((e.kind, dict(e.payload))))

    @property
    def runner(self) -> Runner:
        return self.session.runner

    def kinds(self) -> list[str]:
        """Kinds of all events so far, in order."""
        return [kind for kind, _ in self.events]

    def last(self, kind: str) -> dict[str, Any]:
        """The payload of the last event of a kind; fails where there is none."""
        return next(payload for k, payload in reversed(self.events) if k == kind)

    def count(self, kind: str) -> int:
        return self.kinds().count(kind)


class SilentRecorder:
    """A recorder that says when it starts and records nothing."""

    device = Device(0, "USB headset", "ALSA", 1, 48_000, True)

    def __init__(self, folder: SessionFolder, segment: int, emit: EmitBody, clock: Clock) -> None:
        self.folder, self.emit, self.segment, self.clock = folder, emit, segment, clock
        self.take = ""

    def again(self) -> SilentRecorder:
        other = SilentRecorder(self.folder, self.segment, self.emit, self.clock)
        other.take = "-2"
        return other

    def start(self) -> None:
        file = f"audio/segment-{self.segment:02d}{self.take}.wav"
        self.emit(AudioStarted(file, self.device.name, self.device.host_api, 48_000, 1, "PCM_16"))

    def stop(self, timeout_s: float = 5.0) -> None:
        """There is nothing to close."""

    def level(self) -> Level:
        return Level("heard", rate=48_000, envelope=(0.1,) * 100)


def make_runner(
    tmp_path: Path,
    study: str | Path = "quickstart",
    participant: str = "P01",
    *,
    scheduler: Callable[[Clock], Scheduler],
    clock: Clock | None = None,
    decoders: dict[str, Decoder] | None = None,
    make_recorder: MakeRecorder | None = None,
    warmed: Sequence[DecoderWarmed] = (),
    blind: bool | None = None,
) -> Room:
    """An open session on a real journal in tmp_path; `room.session.begin()` shows the first screen.

    study: id or file. decoders: by model id, instead of `decoder_of`. warmed: what
    the warm-up measured (slow ones decode in the worker). clock: a FakeClock for tests
    that move time by hand; the real one by default.
    """
    loaded = shipped(str(study)) if study in SHIPPED else load(study)
    used = clock or SessionClock()
    known = _Decoders(decoders or {})
    around = SessionDependencies(
        decoders=known,
        warmed=warmed,
        make_scheduler=scheduler,
        make_recorder=make_recorder,
        private=tmp_path / "private",
        commit_timeout_s=60.0,
        blind=blind,
    )
    session = create(
        loaded, participant, around, data=tmp_path / "data", make_clock=lambda start: used
    )
    return Room(session, loaded, used)


class _Decoders(dict[str, Decoder]):
    def __missing__(self, model: str) -> Decoder:
        self[model] = decoder_of(model)
        return self[model]

    def __contains__(self, model: object) -> bool:
        return True


def skip_to(room: Room, part_id: str) -> None:
    """End parts until the one with this id is on the screen (consent is given), also where it asks
    about a stage that is skipped here."""
    runner = room.runner
    parts = runner.machine.parts
    places = {part.id: place for place, part in enumerate(parts)}
    asked_about = places.get(parts[places[part_id]].belongs_to() or "", len(parts))
    while runner.part is not None and runner.part.id != part_id:
        if runner.part.part == "consent":
            runner.send(GiveConsent())
        elif runner.state.index >= asked_about:
            runner.send(SkipStage(to=places[part_id]))
            runner.send(ConfirmSkip())
        else:
            skip_stage(runner)
    assert runner.part is not None, f"{part_id!r} is not on the screen"


def solve(room: Room) -> None:
    """Turn every dial of the question to the target's value, as commands."""
    trial = room.runner.state.part_state.trial
    for dimension, value in enumerate(trial.z_target):
        room.runner.send(MoveDial(dimension, value, "simulated"))
