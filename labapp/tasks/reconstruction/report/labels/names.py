"""The names that dials had at the end of their stage, and who met the dials: from the tables; and
what paper 000 says of names of dials (6.2.2), and what can be counted in its Tables 1 and A.4.

Counted are stages of reconstruction, of sessions that count, in which dials could be named.
De-identified copies hold no names; who is in the tables by such a copy only is left out. Which
names were bold (consistent) in the paper is not set against ours: it was up to the experimenters,
and how they judged is not told.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pandas as pd

from labapp.analysis.declared import follows
from labapp.analysis.tables import Tables
from labapp.base.report.listing import records
from labapp.models.representations.card import installed, published_as
from labapp.models.representations.data import MnistData
from labapp.tasks.reconstruction.plan import TASK

NAME, PAPER = "ross2021", "000"
"""How studies name the published study in `analysis.profile`, and its paper in `replicates`."""
PARTICIPANTS = 5
"""Who met each model (5.1.3)."""
COVERED = 0.8
"""A dial is covered when this share of the participants named it (6.2.2)."""

_NAMES = {
    "ae5": (1, 1, 1, 1, 0),
    "tc5": (4, 3, 3, 3, 3),
    "ss5": (4, 4, 5, 4, 4, 4),
    "ae10": (1, 0, 0, 2, 0, 0, 1, 0, 0, 0),
    "tc10": (4, 4, 2, 2, 3, 5, 5, 3, 2, 3),
    "ss10": (3, 3, 2, 4, 5, 1, 4, 3, 2, 2, 4),
}
"""Names in each row of the tables, the discrete dimension first; a row that is not there has 0."""
_NAMED_ANY = {"ae": 20, "tc": 100, "ss": 100}
"""Per cent of the users who "were able to assign labels to any" dimension (6.2.2), D = 5 and 10
together."""

TEXT = (
    "Ross et al. 2021, 6.2.2: “on average, only 20% of users were able to assign labels to any AE "
    "dimensions, but 100% were able to do so for at least one SS or TC dimension, with all "
    "dimensions at D = 5 and many at D = 10 having at least 80% coverage”. Counted in its Tables 1 "
    "and A.4 (5 participants a model): at D = 5 that coverage holds of every dimension of SS, and "
    "of one of the five of TC, the others having 3 names; and one dimension of AE at D = 10 has "
    "two names, so that at least 2 of 5 named one there."
)
"""What the paper says beside what its tables show."""


@dataclass(frozen=True, slots=True)
class Published:
    """Of one model of the paper. names: in each row of its table; named_any: per cent of users with
    at least one name, over both D; same_model: ours was imported, or trained on all digits."""

    names: tuple[int, ...]
    named_any: int
    same_model: bool

    @property
    def covered(self) -> int:
        """Dials that at least `COVERED` of the participants named; one name a participant."""
        return sum(n >= COVERED * PARTICIPANTS for n in self.names)


def published(model: str) -> Published | None:
    """Of the model that ours is or stands for, as its card says, if the paper tells its names."""
    own = published_as(model, PAPER)
    card = installed(model)
    if own not in _NAMES or card is None or card.dataset != "mnist":
        return None
    imported = card.origin is not None
    full = isinstance(card.data, MnistData) and card.data.digits == "all"
    return Published(_NAMES[own], _NAMED_ANY[own.rstrip("0123456789")], imported or full)


_ORDER = ("ae", "vae", "ig", "tc", "ss", "gt")
"""Kinds of models in the order of the paper's tables, by the letters of its names."""


@dataclass(frozen=True, slots=True)
class Name:
    """One name, as it was at the end of the stage. id: of the name in the rating sheet, empty
    before the sheet is drawn."""

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
    met: dict[tuple[str, str], set[str]] = {}
    withheld: dict[str, set[str]] = {}
    stages = counted.stages[counted.stages["task"] == TASK]
    for row in records(stages[["study", "participant", "session", "model"]]):
        if (row["study"], row["participant"], row["session"]) in hidden:
            withheld.setdefault(row["study"], set()).add(row["participant"])
            continue
        met.setdefault((row["study"], row["model"]), set()).add(row["participant"])
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
            made = _model(study, model, frozenset(who), dials, given)
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
