"""`labapp simulate`: a study's first participants, simulated into a folder of their own."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path

from labapp.errors import ExportExists, SessionError, StudyFull, UsageError
from labapp.journal.read import read_rows
from labapp.plugins.simulated import NO_OPTIONS, Options
from labapp.session import condition_assignment
from labapp.session.gate import gate
from labapp.simulation.decoders import Decoders
from labapp.simulation.fitting import check_fits
from labapp.simulation.headless import simulate
from labapp.study.allocation import rule_of, sessions_of
from labapp.study.assignment import generator
from labapp.study.loading import LoadedStudy
from labapp.study.people import Visits

IN_VAIN = 100
"""A study does not fill when so many participants in a row are excluded."""


def simulate_study(
    study: str,
    participants: int | None,
    strategy: str,
    out: Path,
    seed: int | None = None,
    progress: Callable[[str], None] = lambda participant: None,
    *,
    careless: float = 0.0,
    thinks_aloud: bool = False,
    options: Options = NO_OPTIONS,
) -> list[Path]:
    """All sessions of the first participants under `out`, which must not exist; their folders.

    strategy: a name, or shares of several (see `mixtures`). participants: how many; fewer where
    the study is full before, None for until it is full. careless: share of participants who do not
    try (see `Driver`), drawn by seed and label. thinks_aloud, options: see `Driver`.
    """
    loaded = checked(study, participants, strategy, out)
    decoders = Decoders()
    folders: list[Path] = []
    in_vain = 0
    for number in count(1):
        if number - 1 == participants:
            break
        label = loaded.study.participants.label(number)
        try:
            drawn = condition_assignment.preview(out, loaded, label, seed)
        except StudyFull:
            break
        lot = generator(loaded.study.seed if seed is None else seed, label, "careless")
        tries_not = bool(lot.random() < careless)
        counting = 0
        for session in sessions_of(loaded.study):
            dependencies = decoders.dependencies(
                loaded, label, drawn, seed, out / "private", session
            )
            path = simulate(
                loaded,
                label,
                dependencies,
                session=session,
                data=out,
                strategy=strategy,
                seed=seed,
                careless=tries_not,
                thinks_aloud=thinks_aloud,
                options=options,
            )
            folders.append(path)
            counting += included(path)
        progress(label)
        in_vain = 0 if counting >= Visits.of(loaded.study.design).needed else in_vain + 1
        if participants is None and in_vain == IN_VAIN:
            raise does_not_fill()
    return folders


def checked(study: str, participants: int | None, strategy: str, out: Path) -> LoadedStudy:
    """The study, where so many participants of a strategy can be simulated into `out`. Raises
    ExportExists or UsageError, and as `gate`."""
    if out.exists():
        raise ExportExists(
            f"{out} exists already.",
            safe="Nothing in it was changed.",
            todo="Choose a new folder with --out.",
        )
    loaded = gate(study)
    check_fits(strategy, loaded.study)
    if participants is None and not fills(loaded):
        raise UsageError(
            f"The study {loaded.study.id!r} is never full: it wants no number of participants.",
            todo="Say how many: --participants N.",
        )
    return loaded


def does_not_fill() -> SessionError:
    """What is told when nobody is included any more."""
    return SessionError(
        f"None of the last {IN_VAIN} participants is included: the study does not fill.",
        safe="The sessions until then are in the folder.",
        todo="Simulate fewer careless participants, or look at the rules of inclusion.",
    )


def fills(loaded: LoadedStudy) -> bool:
    """Whether the study is full one day."""
    rule = rule_of(loaded.study)
    return rule is not None and rule.wanted is not None


def included(path: Path) -> bool:
    """Whether a finished session counts."""
    rows = read_rows(path, ("inclusion.decided",))
    return bool(rows) and bool(rows[-1].event().payload["included"])
