"""The state machine of a planned session: a machine for each part of its plan."""

from __future__ import annotations

from collections.abc import Mapping

from labapp.events.lifecycle import SessionPlanned
from labapp.plugins import registry
from labapp.plugins.task_type import MachineContext
from labapp.representations.decoding import Decoder
from labapp.session.machine import SessionMachine
from labapp.study import plan
from labapp.study.loading import LoadedStudy


def machine_of(
    loaded: LoadedStudy, planned: SessionPlanned, decoders: Mapping[str, Decoder]
) -> SessionMachine:
    """The state machine of a planned session."""
    parts = plan.parts_of(planned)
    context = MachineContext(loaded, planned, decoders)
    study = loaded.study
    return SessionMachine(
        parts,
        [
            registry.task_type_of(part).machine(part, index, context)
            for index, part in enumerate(parts)
        ],
        dict(study.flags),
        study.inclusion,
        study.incentive,
        restarts=study.when_interrupted == "restart_stage",
        takes_back=planned.presentation != "as_published",
        stalls=study.stalls,
        debriefs="never" if study.flow[-1].only_if else study.flow[-1].shown_early(),
    )
