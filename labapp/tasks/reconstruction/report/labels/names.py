"""The names that dials had at the end of their stage, and who met the dials: from the tables.

Counted are stages of reconstruction, of sessions that count, in which dials could be named.
De-identified copies hold no names; who is in the tables by such a copy only is left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import pandas as pd

from labapp.analysis.declared import follows
from labapp.analysis.tables import Tables
from labapp.report.listing import records
from labapp.representations.card import published_as
from labapp.tasks.reconstruction.plan import TASK
from labapp.tasks.reconstruction.report.labels.published import NAME, PAPER, Published, published

_ORDER = ("ae", "vae", "ig", "tc", "ss", "gt")
"""Kinds of models in the order of the paper's tables, by the letters of its names."""

SessionKey = tuple[str, str]
"""Participant and session."""


@dataclass(frozen=True, slots=True)
class Name:
    """One name, as it was at the end of the stage.

    id: of the name in the rating sheet, empty before the sheet is drawn.
    """

    participant: str
    session: str
    text: str
    stage: str = ""
    id: str = ""


@dataclass(frozen=True, slots=True)
class Dial:
    """A dial of a model, and its names by participant. number: from 1 as on the screen; title: as
    the paper calls it (Discrete 1, Continuous 3); own_name: the representation's; distance: the
    study's, by its name, None where sessions say none."""

    number: int
    title: str
    own_name: str
    distance: str | None
    names: tuple[Name, ...] = ()

    @property
    def people(self) -> frozenset[str]:
        """Participants who named it."""
        return frozenset(name.participant for name in self.names)

    def others(self, name: Name) -> tuple[Name, ...]:
        """The names that other participants gave it."""
        return tuple(other for other in self.names if other.participant != name.participant)


@dataclass(frozen=True, slots=True)
class Model:
    """A model of one study with its dials. met: participants who met it; cards: hashes of its model
    card that the sessions recorded (none, one, or, of a model that was replaced, several).
    programs: of those who met it, the simulated ones. published: what the paper prints of the model
    that this one is or stands for, in a study that declares the paper's analysis."""

    study: str
    model: str
    met: frozenset[str]
    cards: frozenset[str]
    dials: tuple[Dial, ...]
    programs: frozenset[str] = frozenset()
    published: Published | None = None

    @property
    def sliders(self) -> int:
        """Number of its sliders: the D of the paper's tables."""
        return sum(dial.title.startswith("Continuous") for dial in self.dials)

    @property
    def people(self) -> frozenset[str]:
        """Participants who named at least one of its dials."""
        return frozenset().union(*(dial.people for dial in self.dials))


@dataclass(frozen=True, slots=True)
class NamedModels:
    """All models that could be named. withheld: participants whose names are not here, by study."""

    models: tuple[Model, ...] = ()
    withheld: dict[str, int] = field(default_factory=dict)

    @property
    def names(self) -> tuple[tuple[Model, Dial, Name], ...]:
        """Every name with its dial and model."""
        return tuple(
            (model, dial, name)
            for model in self.models
            for dial in model.dials
            for name in dial.names
        )


def named(counted: Tables) -> NamedModels:
    """The names of the sessions that count (`Tables.included()`); nothing where there are none."""
    if not (counted.labels["final"] & (counted.labels["text"].fillna("") != "")).any():
        return NamedModels()
    copies = counted.participants[counted.participants["deidentified"]]
    hidden = set(zip(copies["study"], copies["participant"], copies["session"], strict=True))
    met: dict[tuple[str, str], set[SessionKey]] = {}
    withheld: dict[str, set[str]] = {}
    stages = counted.stages[counted.stages["task"] == TASK]
    for row in records(stages[["study", "participant", "session", "model"]]):
        if (row["study"], row["participant"], row["session"]) in hidden:
            withheld.setdefault(row["study"], set()).add(row["participant"])
            continue
        of_model = met.setdefault((row["study"], row["model"]), set())
        of_model.add((row["participant"], row["session"]))
    given = _final(counted, hidden)
    simulated = counted.participants[counted.participants["simulated"]]
    programs = {study: frozenset(of["participant"]) for study, of in simulated.groupby("study")}
    result = []
    for (study, model), who in met.items():
        dials = counted.dials[
            (counted.dials["study"] == study)
            & (counted.dials["model"] == model)
            & counted.dials["labels_editable"]
        ]
        if not dials.empty:
            made = _model(study, model, frozenset(p for p, _ in who), dials, given)
            result.append(
                replace(
                    made,
                    programs=made.met & programs.get(study, frozenset()),
                    published=published(model) if follows(counted, study, NAME, PAPER) else None,
                )
            )
    result.sort(key=lambda model: (model.study, model.sliders, order(model.model)))
    return NamedModels(tuple(result), {study: len(people) for study, people in withheld.items()})


_Given = dict[tuple[str, str, int], list[Name]]


def _final(counted: Tables, hidden: set[tuple[str, str, str]]) -> _Given:
    """The last names by study, model and dial, in the order of the tables."""
    given: _Given = {}
    stages = counted.stages[["study", "participant", "session", "stage"]]
    known = set(stages.itertuples(index=False, name=None))
    for row in records(counted.labels[counted.labels["final"]]):
        who = (row["study"], row["participant"], row["session"])
        # Of a dial in the practice nothing is asked here.
        if row["text"] and who not in hidden and (*who, row["stage"]) in known:
            name = Name(row["participant"], row["session"], row["text"], row["stage"])
            given.setdefault((row["study"], row["model"], row["dimension"]), []).append(name)
    return given


def _model(study: str, model: str, met: frozenset[str], rows: pd.DataFrame, given: _Given) -> Model:
    dials: dict[int, Dial] = {}
    counts: dict[str, int] = {}
    for row in records(rows.drop_duplicates("dimension").sort_values("dimension")):
        kind = str(row["dial"]).capitalize()
        counts[kind] = counts.get(kind, 0) + 1
        number = int(row["dimension"])
        dials[number] = Dial(
            number,
            f"{kind} {counts[kind]}",
            row["dimension_name"],
            row["distance"],
            tuple(given.get((study, model, number), ())),
        )
    cards = frozenset(str(sha) for sha in rows["card_sha256"].dropna())
    return Model(study, model, met, cards, tuple(dials.values()))


def order(model: str) -> tuple[int, str]:
    """Models as the paper's tables list them (AE, TC, SS), by their cards; others after them by
    id."""
    kind = published_as(model, PAPER).rstrip("0123456789")
    return (_ORDER.index(kind) if kind in _ORDER else len(_ORDER), model)


def people(names: Iterable[Name]) -> int:
    """How many participants gave them."""
    return len({name.participant for name in names})
