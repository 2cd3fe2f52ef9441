"""The report's section on a registration: what was changed since, and what was not registered."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from labapp.analysis.declared import factor_column, read_declared
from labapp.analysis.design.analyses import StudyAnalyses
from labapp.analysis.design.contrasts import CONTRAST
from labapp.analysis.registration import Registration
from labapp.analysis.session_totals import true_date
from labapp.analysis.snapshots import Who
from labapp.base.report.page import Html, count, heading, paragraph, table
from labapp.study.allocation import cell_name


def registration_section(
    registrations: Sequence[Registration],
    study: str,
    sessions: pd.DataFrame,
    results: StudyAnalyses | None,
    cards: Mapping[Who, Mapping[str, str]] | None = None,
) -> Iterator[Html]:
    """Of one study; nothing where no registration of it was given. sessions: its participants;
    cards: see `Tables`."""
    for registration in registrations:
        if registration.study != study:
            continue
        yield heading(3, "Registration")
        yield paragraph(" ".join(_facts(registration, sessions)))
        rows = [("Changed", text) for text in _files(registration, sessions)]
        rows += [("Changed", text) for text in _changes(registration, sessions)]
        rows += [("Changed", text) for text in _models(registration, sessions, cards or {})]
        rows += [("Sample", text) for text in _sample(registration, sessions)]
        rows += [("Not registered", text) for text in _by_hand(sessions)]
        rows += [("Not registered", text) for text in _unregistered(registration, results)]
        if rows:
            yield table(("Difference", "What"), rows, caption="Differences from the registration")
        else:
            yield paragraph("Nothing differs from what was registered.")


def _facts(registration: Registration, sessions: pd.DataFrame) -> Iterator[str]:
    yield (
        f"Registered on {registration.registered_utc}, when there were "
        f"{count(registration.sessions_before, 'session')}."
    )
    # A virtual clock and a moved date say nothing of when it was.
    dated = sessions[~sessions["simulated"].fillna(False).astype(bool)]
    started = [utc for utc in dated["started_utc"].dropna().map(str) if true_date(utc)]
    early = sum(utc < registration.registered_utc for utc in started)
    if early:
        yield f"{count(early, 'session')} began before it was registered."


def _files(registration: Registration, sessions: pd.DataFrame) -> Iterator[str]:
    """That sessions were run with other files of the study than those that were registered."""
    files = sessions["study_sha256"].dropna().map(str)
    if others := int((files != registration.study_sha256).sum()):
        yield (
            f"{count(others, 'session')} of {len(sessions)} ran with other files of the study "
            "than those that were registered"
        )


def _models(
    registration: Registration,
    sessions: pd.DataFrame,
    cards: Mapping[Who, Mapping[str, str]],
) -> Iterator[str]:
    """Models of sessions that are others than those that were registered, by the hashes of their
    cards; nothing of a registration that names none."""
    if not registration.models:
        return
    keys = (sessions[key] for key in ("study", "participant", "session"))
    met = [cards.get(who, {}) for who in zip(*keys, strict=True)]
    for model in sorted({model for of_session in met for model in of_session}):
        registered = registration.models.get(model)
        others = sum(model in own and own[model] != registered for own in met)
        if registered is None:
            yield f"{model} was shown and is no model that was registered"
        elif others:
            yield (
                f"{count(others, 'session')} of {len(sessions)} had another model {model} than "
                "the one that was registered (another card)"
            )


def _sample(registration: Registration, sessions: pd.DataFrame) -> Iterator[str]:
    """Cells that have more or fewer participants than was registered."""
    design = read_declared(json.dumps(registration.declared)).design
    if design is None or design.per_cell is None:
        return
    analysed = sessions[sessions["included"].fillna(False).astype(bool)]
    for cell in design.cells:
        of_cell = analysed
        for factor, level in cell.items():
            levels = analysed.get(factor_column(factor), pd.Series("", analysed.index))
            of_cell = of_cell[levels.loc[of_cell.index].map(str) == str(level)]
        n = of_cell["participant"].nunique()
        if n != design.per_cell:
            where = f" ({cell_name(cell)})" if cell else ""
            yield f"{n} analysed where {design.per_cell} were registered{where}"


def _by_hand(sessions: pd.DataFrame) -> Iterator[str]:
    """Who was excluded, or counted, by a decision that no registered rule makes."""
    if "decided_by_hand" not in sessions:
        return
    for row in sessions[sessions["decided_by_hand"].notna()].to_dict("records"):
        who = f"{row['participant']}, session {row['session']}"
        yield f"{who}: {row['decided_by_hand']} by hand"


def _changes(registration: Registration, sessions: pd.DataFrame) -> Iterator[str]:
    """Of every declaration that sessions were run with."""
    texts = sessions["declared"] if "declared" in sessions else [""] * len(sessions)
    by_version: dict[tuple[int, str], None] = {}
    for version, text in zip(sessions["study_version"], texts, strict=True):
        by_version[int(version), text if isinstance(text, str) else ""] = None
    for version, text in by_version:
        for change in registration.changes(json.loads(text or "{}")):
            yield f"version {version}: {change}" if len(by_version) > 1 else change


def _unregistered(registration: Registration, results: StudyAnalyses | None) -> Iterator[str]:
    if results is None:
        return
    outcomes = list(dict.fromkeys(analysis.outcome.name for analysis in results.analyses))
    rows = (row for analysis in results.analyses for row in analysis.select(CONTRAST))
    contrasts = list(dict.fromkeys(row.contrast for row in rows))
    named = registration.unregistered(outcomes, contrasts)
    yield from (f"outcome {name}" for name in outcomes if name in named)
    yield from (f"contrast {name}" for name in contrasts if name in named)
