"""Whether a strategy of simulated participants can do a study."""

from __future__ import annotations

from labapp.errors import UsageError
from labapp.plugins import registry
from labapp.simulation.mixtures import members
from labapp.simulation.names import EXPLAINS, KNOWING, RECONSTRUCTS
from labapp.study.flow import items_of_tasks
from labapp.study.schema import Study


def check_fits(strategy: str, study: Study) -> None:
    """Refuse a strategy that cannot do a part of the study, or a mixture with such a one.

    Raises UsageError.
    """
    for member in members(strategy):
        for item in items_of_tasks(study.flow):
            asks = registry.task_type_of_item(item).asks_about
            if asks == "explanations" and member not in EXPLAINS:
                raise _unable(member, study, "turns dials", asks, EXPLAINS)
            if asks == "representations" and member not in {*RECONSTRUCTS, KNOWING}:
                only, asked = "answers about explanations", "dials of representations"
                raise _unable(member, study, only, asked, RECONSTRUCTS)


def _unable(strategy: str, study: Study, does: str, asked: str, able: frozenset[str]) -> UsageError:
    return UsageError(
        f"A simulated participant of the strategy {strategy!r} cannot do the study "
        f"{study.id!r}: it only {does}, and this study asks about {asked}.",
        safe="No session was begun.",
        todo=f"Take a strategy that can: {', '.join(sorted(able))}.",
    )
