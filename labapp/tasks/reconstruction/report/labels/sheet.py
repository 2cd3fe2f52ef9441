"""What the names of dials say (paper 000, Tables 1 and A.4): the sheet in which raters mark names
that participants agree on, written and read as CSV; effects, coverage and agreement, and their
tables.

A spreadsheet program takes 3-5-6 for a date, 2-0 for another and =1+1 for a formula, and people do
name dials so (paper 000, Table 1). Each name therefore stands behind an apostrophe, as text that
could be a formula does in every table (see `labapp.base.reading.tables`): no program takes such a
cell for anything but text. The apostrophe is taken off again when the sheet is read; whether a
program has taken it away, or an older sheet has curly quotation marks instead, is the same to the
reader.

Agreement is given in per cent, and as Cohen's or Fleiss's kappa. The paper says only that
experimenters identified consistent names (Tables 1 and A.4); how many they were, and how far they
agreed, is ours to add.

The tables of sessions hold no pictures; the decoder has to draw some. Models are looked up by id,
and taken only where the hash of the model card is the one that the sessions recorded.

The names that dials had at the end of their stage, and who met the dials: from the tables; and
what paper 000 says of names of dials (6.2.2), and what can be counted in its Tables 1 and A.4.

Counted are stages of reconstruction, of sessions that count, in which dials could be named.
De-identified copies hold no names; who is in the tables by such a copy only is left out. Which
names were bold (consistent) in the paper is not set against ours: it was up to the experimenters,
and how they judged is not told.
"""

from __future__ import annotations

import io
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import pandas as pd

from labapp.analysis.column import number, text, whole, yes
from labapp.analysis.declared import follows
from labapp.analysis.tables import Tables, build_frame
from labapp.base.errors import ModelError, RatingError
from labapp.base.reading import files, tables
from labapp.base.reading.tables import MARK, AsItIs, write_csv
from labapp.base.report.listing import records
from labapp.base.report.page import count
from labapp.coding.agreement.coefficients import CohenKappa, FleissKappa
from labapp.coding.agreement.measure import DRAWS, SEED, Ratings, resample
from labapp.models.representations.card import find_card, find_published_name
from labapp.models.representations.recipe import MnistData
from labapp.tasks.reconstruction.plan import TASK

if TYPE_CHECKING:
    from labapp.base.report.drawing import ReportFigure
    from labapp.models.representations.effects import DialEffect


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
    "Ross et al. 2021, 6.2.2: “on average, only 20% of users were able to assign labels to any "
    "AE dimensions, but 100% were able to do so for at least one SS or TC dimension, with all "
    "dimensions at D = 5 and many at D = 10 having at least 80% coverage”. According to its "
    "Tables 1 and A.4 (5 participants per model), at D = 5 every dimension of SS has that "
    "coverage, but only one of the five of TC, since the others have 3 names; and one dimension "
    "of AE at D = 10 has two names, so at least 2 of 5 participants named one there."
)
"""What the paper says beside what its tables show."""


@dataclass(frozen=True, slots=True)
class PublishedNames:
    """Of one model of the paper. names: in each row of its table; named_any: per cent of users with
    at least one name, over both D; same_model: ours was imported, or trained on all digits."""

    names: tuple[int, ...]
    named_any: int
    same_model: bool

    @property
    def covered(self) -> int:
        """Dials that at least `COVERED` of the participants named; one name per participant."""
        return sum(n >= COVERED * PARTICIPANTS for n in self.names)


def find_published(model: str) -> PublishedNames | None:
    """Of the model that ours is or stands for, as its card says, if the paper tells its names."""
    own = find_published_name(model, PAPER)
    card = find_card(model)
    if own not in _NAMES or card is None or card.dataset != "mnist":
        return None
    imported = card.origin is not None
    full = isinstance(card.data, MnistData) and card.data.digits == "all"
    return PublishedNames(_NAMES[own], _NAMED_ANY[own.rstrip("0123456789")], imported or full)


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
class LabelledDial:
    """A dial of a model, and its names by participant. number: from 1 as on the screen; title: as
    the paper calls it (Discrete 1, Continuous 3); own_name: the representation's; distance: the
    study's, by its name, None if sessions say none."""

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
class LabelledModel:
    """A model of one study with its dials. met: participants who met it; cards: hashes of its model
    card that the sessions recorded (none, one, or, of a model that was replaced, several).
    programs: of those who met it, the simulated ones. published: what the paper prints of the model
    that this one is or stands for, in a study that declares the paper's analysis."""

    study: str
    model: str
    met: frozenset[str]
    cards: frozenset[str]
    dials: tuple[LabelledDial, ...]
    programs: frozenset[str] = frozenset()
    published: PublishedNames | None = None

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

    models: tuple[LabelledModel, ...] = ()
    withheld: dict[str, int] = field(default_factory=dict)

    @property
    def names(self) -> tuple[tuple[LabelledModel, LabelledDial, Name], ...]:
        return tuple(
            (model, dial, name)
            for model in self.models
            for dial in model.dials
            for name in dial.names
        )


def collect_names(counted: Tables) -> NamedModels:
    """The names of the sessions that count (`Tables.included()`); nothing if there are none."""
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
                    published=find_published(model)
                    if follows(counted, study, NAME, PAPER)
                    else None,
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


def _model(
    study: str, model: str, met: frozenset[str], rows: pd.DataFrame, given: _Given
) -> LabelledModel:
    dials: dict[int, LabelledDial] = {}
    counts: dict[str, int] = {}
    for row in records(rows.drop_duplicates("dimension").sort_values("dimension")):
        kind = str(row["dial"]).capitalize()
        counts[kind] = counts.get(kind, 0) + 1
        number = int(row["dimension"])
        dials[number] = LabelledDial(
            number,
            f"{kind} {counts[kind]}",
            row["dimension_name"],
            row["distance"],
            tuple(given.get((study, model, number), ())),
        )
    cards = frozenset(str(sha) for sha in rows["card_sha256"].dropna())
    return LabelledModel(study, model, met, cards, tuple(dials.values()))


def order(model: str) -> tuple[int, str]:
    """Models as the paper's tables list them (AE, TC, SS), by their cards; others after them by
    id."""
    kind = find_published_name(model, PAPER).rstrip("0123456789")
    return (_ORDER.index(kind) if kind in _ORDER else len(_ORDER), model)


SHEET = "labels_to_rate.csv"
HELP = "labels_to_rate.txt"
COLUMNS = ("sheet", "label", "study", "model", "dial", "dimension", "name", "other_names")
RATED = "consistent"
ALONE = "no"
"""What stands for a name that nobody else's can agree with."""
OPEN, CLOSE = "“", "”"

INSTRUCTIONS = """\
How to mark names that participants agree on

{sheet} has one row for each name that a participant gave to a slider. The order was drawn, and
nothing says who gave a name.

1. Make a copy for each rater, for example ratings-A.csv and ratings-B.csv. Rate alone.
2. In each row compare "name" with "other_names", the names that other participants gave to the
   same slider of the same model. Write into the column "consistent":
     yes   the name says the same as at least one of the other names, in whatever words;
     no    it says something else than all of them, or nothing that can be compared.
   Rows without other names have "no" already: leave it there.
3. Change nothing else; rows may be sorted. Save as CSV in UTF-8, with commas, semicolons or tabs.
   A program that shows all in one column: open the file through its import of text, with commas.
4. Read the copies back, with the same sessions:
     labapp analyze PATH... --out DIR --ratings ratings-A.csv --ratings ratings-B.csv

A name counts as consistent where every rater says yes.
"""


@dataclass(frozen=True, slots=True)
class SheetLine:
    model: LabelledModel
    dial: LabelledDial
    name: Name

    @property
    def alone(self) -> bool:
        """Nobody else named the dial: the name can agree with none."""
        return not self.dial.others(self.name)


@dataclass(frozen=True, slots=True)
class Sheet:
    """Names in the order in which they are rated. id: of exactly these names; another sample or
    another name makes another sheet."""

    id: str
    lines: tuple[SheetLine, ...]

    def text(self) -> str:
        """As CSV with commas and a byte order mark, without which some spreadsheet programs do not
        take it for UTF-8."""
        stream = io.StringIO()
        rows = [
            (
                self.id,
                line.name.id,
                line.model.study,
                line.model.model,
                line.dial.number,
                line.dial.title,
                AsItIs(MARK + line.name.text),
                ", ".join(quote(name.text) for name in line.dial.others(line.name)),
                ALONE if line.alone else "",
            )
            for line in self.lines
        ]
        write_csv(stream, (*COLUMNS, RATED), rows, end="\r\n")
        return "\ufeff" + stream.getvalue()


def quote(text: str) -> str:
    return f"{OPEN}{text}{CLOSE}"


def names_in(cell: str) -> tuple[str, ...]:
    """The names that a cell may stand for: without its mark, and as it is where a program has taken
    the mark away."""
    cell = cell.strip()
    return cell.removeprefix(MARK), cell.removeprefix(OPEN).removesuffix(CLOSE)


def draw(named_models: NamedModels) -> tuple[NamedModels, Sheet]:
    """The names with their ids, and the sheet.

    The order of the dials, and that of the names of each, are drawn by a hash of all names: the
    same sessions always give the same sheet.
    """
    keys = {
        _key(model, dial, name): (model, dial, name) for model, dial, name in named_models.names
    }
    mark = _hash(*sorted(keys))[:12]

    def draw_key(key: str) -> tuple[str, str]:
        model, dial, _ = keys[key]
        return _hash(mark, model.study, model.model, str(dial.number)), _hash(mark, key)

    digits = max(3, len(str(len(keys))))
    ids = {
        key: f"N{place:0{digits}d}" for place, key in enumerate(sorted(keys, key=draw_key), start=1)
    }

    def with_ids(model: LabelledModel, dial: LabelledDial) -> LabelledDial:
        names = (replace(name, id=ids[_key(model, dial, name)]) for name in dial.names)
        return replace(dial, names=tuple(sorted(names, key=lambda name: name.id)))

    models = tuple(
        replace(model, dials=tuple(with_ids(model, dial) for dial in model.dials))
        for model in named_models.models
    )
    named = NamedModels(models, named_models.withheld)
    lines = sorted((SheetLine(*name) for name in named.names), key=lambda line: line.name.id)
    return named, Sheet(f"S-{mark}", tuple(lines))


def _key(model: LabelledModel, dial: LabelledDial, name: Name) -> str:
    where = (model.study, model.model, str(dial.number), name.stage)
    return repr((*where, name.participant, name.session, name.text))


def _hash(*parts: str) -> str:
    return sha256("\0".join(parts).encode()).hexdigest()


Row = dict[str, Any]


def frames(result: LabelResults) -> dict[str, pd.DataFrame]:
    """By name, in the order they are written; without names they have no rows."""
    rows: dict[str, list[Row]] = {
        "label_names": [
            _name(result, model, dial, name)
            for model in result.models
            for dial in model.dials
            for name in dial.names
        ],
        "label_dials": list(_dials(result)),
        "label_models": list(_models(result)),
        "label_agreement": list(_agreement(result)),
    }
    return {name: build_frame(rows[name], columns) for name, columns in LABEL_TABLES.items()}


def _dial(model: LabelledModel, dial: LabelledDial) -> Row:
    return {
        "study": model.study,
        "model": model.model,
        "dimension": dial.number,
        "dimension_title": dial.title,
        "dimension_name": dial.own_name,
    }


def _name(result: LabelResults, model: LabelledModel, dial: LabelledDial, name: Name) -> Row:
    votes = [rating.says[name.id] for rating in result.ratings]
    texts = (f"{r.rater}: {'yes' if r.says[name.id] else 'no'}" for r in result.ratings)
    return _dial(model, dial) | {
        "label": name.id,
        "participant": name.participant,
        "session": name.session,
        "text": name.text,
        "n_others": len(dial.others(name)),
        "n_raters": len(votes),
        "n_yes": sum(votes) if votes else None,
        "consistent": result.consistent(name),
        "ratings": "; ".join(texts) or None,
    }


def _dials(result: LabelResults) -> Iterator[Row]:
    for model, effects in zip(result.models, result.effects, strict=True):
        theirs = model.published
        for at, dial in enumerate(model.dials):
            effect = effects.of[at] if effects.of else None
            known = theirs is not None and len(theirs.names) == len(model.dials)
            yield _dial(model, dial) | {
                "effect_distance": effect and effect.distance,
                "effect_change": effect and effect.change,
                "effect_share": effect and effect.share,
                "little_effect": effect and effect.little,
                "no_effect_because": effects.why_not or None,
                "n_met": len(model.met),
                "n_named": len(dial.people),
                "coverage": coverage(model, dial),
                "n_names": len(dial.names),
                "n_consistent": result.n_consistent(dial),
                "published_names": theirs.names[at] if theirs and known else None,
            }


def _models(result: LabelResults) -> Iterator[Row]:
    for model, effects in zip(result.models, result.effects, strict=True):
        theirs = model.published
        agreed = [result.n_consistent(dial) for dial in model.dials]
        yield {
            "study": model.study,
            "model": model.model,
            "n_met": len(model.met),
            "n_named_any": len(model.people),
            "named_any_share": len(model.people) / len(model.met) if model.met else None,
            "published_named_any_share": theirs.named_any / 100 if theirs else None,
            "n_dials": len(model.dials),
            "n_covered": count_covered(model),
            "published_n_covered": theirs.covered if theirs else None,
            "n_little_effect": sum(effect.little for effect in effects.of) if effects.of else None,
            "n_names": sum(len(dial.names) for dial in model.dials),
            "n_consistent": sum(n or 0 for n in agreed) if result.ratings else None,
        }


def _agreement(result: LabelResults) -> Iterator[Row]:
    if (both := result.agreement) is not None:
        yield {
            "n_raters": both.raters,
            "n_names": both.n,
            "percent": both.percent,
            "statistic": both.name,
            "kappa": both.kappa,
            "low": both.low,
            "high": both.high,
            "no_kappa_because": both.why_not or None,
        }


_DIAL = (
    text("study", "id of the study"),
    text("model", "id of the representation"),
    whole("dimension", "the slider, from 1 as on the screen"),
    text("dimension_title", "the slider as the paper's tables call it, for example Continuous 3"),
    text("dimension_name", "the representation's own name of the dimension"),
)

NAMES = (
    *_DIAL,
    text("label", "id of the name in labels_to_rate.csv"),
    text("participant", "who gave it"),
    text("session", "label of the session"),
    text("text", "the name as it was at the end of the stage"),
    whole("n_others", "names that other participants gave to this slider"),
    whole("n_raters", "raters"),
    whole("n_yes", "raters who call it consistent; empty without raters"),
    yes("consistent", "every rater calls it consistent; empty without raters"),
    text("ratings", "what each rater says, by the name of the file"),
)
"""The names of sessions that count, as they were rated."""

COVERAGE = (
    *_DIAL,
    number("effect_distance", "mean distance d between its low and its high end", "0-1"),
    number("effect_change", "mean sum over pixels of absolute differences between them", "pixels"),
    number("effect_share", "its effect over that of the model's strongest slider", "0-1"),
    yes("little_effect", "that share is below 0.05; ours"),
    text("no_effect_because", "why the effect is not known"),
    whole("n_met", "participants who saw the model"),
    whole("n_named", "of these, who named the slider"),
    number("coverage", "n_named / n_met", "0-1"),
    whole("n_names", "names"),
    whole("n_consistent", "of these, consistent; empty without raters"),
    whole("published_names", "names in the paper's table, for the model with the same name"),
)
"""What each dial is worth a name."""

MODELS = (
    text("study", "id of the study"),
    text("model", "id of the representation"),
    whole("n_met", "participants who met it"),
    whole("n_named_any", "of these, who named at least one of its sliders"),
    number("named_any_share", "n_named_any / n_met", "0-1"),
    number("published_named_any_share", "in the paper, both D together (6.2.2)", "0-1"),
    whole("n_dials", "dials"),
    whole("n_covered", "of these, named by at least 80 % of the participants"),
    whole("published_n_covered", "likewise, counted in the paper's tables (5 participants)"),
    whole("n_little_effect", "sliders with little effect; empty where effects are not known"),
    whole("n_names", "names"),
    whole("n_consistent", "of these, consistent; empty without raters"),
)

AGREEMENT = (
    whole("n_raters", "raters"),
    whole("n_names", "names that can agree with another participant's"),
    number("percent", "share of these on which all raters agree", "%"),
    text("statistic", "Cohen's kappa (two raters) or Fleiss's kappa (more)"),
    number("kappa", "its value; empty where it is undefined"),
    number("low", "lower end of its 95 % interval, a percentile bootstrap over names"),
    number("high", "upper end"),
    text("no_kappa_because", "why there is none"),
)

LABEL_TABLES = {
    "label_names": NAMES,
    "label_dials": COVERAGE,
    "label_models": MODELS,
    "label_agreement": AGREEMENT,
}
"""Tables that are computed from the others and from what raters say."""


WORDS = {"yes": True, "no": False, "ja": True, "nein": False}
"""What may stand in the rater's column, in capitals or not."""
NEEDED = ("sheet", "label", "name", RATED)
"""The columns that are read; the others are there for the rater."""
_SHOWN = 3
_SAFE = "No analysis was made; the file was only read."


@dataclass(frozen=True, slots=True)
class NameRatings:
    """What one rater says of each name, by the name's id. rater: the file's name without ending."""

    rater: str
    says: dict[str, bool]


def read_ratings(paths: Sequence[Path], sheet: Sheet) -> tuple[NameRatings, ...]:
    """The sheets that raters filled in, compared with the names in the sessions.

    Raises RatingError (file, line, column, what was found, what is allowed) when a file cannot be
    read, is of another analysis, lacks a name or has one that is not of the sessions or was
    changed, or says something other than yes or no.
    """
    check_files(paths)
    result: list[NameRatings] = []
    for path in paths:
        # With its folder where another rater's file is called the same.
        taken = any(rating.rater == path.stem for rating in result)
        rater = f"{path.parent.name}/{path.stem}" if taken else path.stem
        result.append(NameRatings(rater, _read(path, sheet)))
    return tuple(result)


def check_files(paths: Sequence[Path]) -> None:
    """Whether these are rating sheets at all, which can be said before the sessions are read.

    Raises RatingError when a file cannot be read, is no sheet, or was given twice.
    """
    for place, path in enumerate(paths):
        if any(path.resolve() == other.resolve() for other in paths[:place]):
            raise RatingError(
                f"{path} was given twice.", safe=_SAFE, todo="Give one file for each rater."
            )
        for _ in _rows(path):
            pass


def _read(path: Path, sheet: Sheet) -> dict[str, bool]:
    expected = {line.name.id: line for line in sheet.lines}
    says: dict[str, bool] = {}
    lines: dict[str, int] = {}
    for place in _rows(path):
        label = place.cell("label")
        if place.cell("sheet") != sheet.id:
            place.refuse(
                "sheet",
                f"{sheet.id}, the sheet of these sessions",
                "It was rated for a different analysis, with other sessions or before names "
                f"were added. Give the same sessions, or rate the {SHEET} of this analysis.",
            )
        if (line := expected.get(label)) is None:
            place.refuse(
                "label",
                f"a label of the sheet, {min(expected)} to {max(expected)}",
                "Remove rows that were added.",
            )
        if label in lines:
            place.refuse(
                "label",
                f"each label once; it is already in line {lines[label]}",
                "Remove one of the two rows.",
            )
        if _plain(line.name.text) not in map(_plain, names_in(place.cell("name"))):
            place.refuse(
                "name",
                MARK + line.name.text,
                f"The name was changed, by a program or a person. Restore it from {SHEET}, and "
                "save the file as CSV in UTF-8.",
            )
        says[label], lines[label] = _word(place, line), place.line
    if missing := [label for label in expected if label not in says]:
        more = f" and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else ""
        raise RatingError(
            f"{path}, column label: {count(len(missing), 'name')} of {len(expected)} missing "
            f"({', '.join(missing[:_SHOWN])}{more}); every name of the sheet is needed.",
            safe=_SAFE,
            todo=f"Restore the missing rows from {SHEET} and rate them.",
        )
    return says


def _word(place: _RatedRow, line: SheetLine) -> bool:
    """yes or no; a name without others beside it can agree with none."""
    rating = WORDS.get(place.cell(RATED).casefold())
    if rating is None:
        place.refuse(RATED, ", ".join(WORDS), "Every name needs an answer.")
    if rating and line.alone:
        todo = "Nobody else named this slider, so the name cannot agree with another."
        place.refuse(RATED, ALONE, todo)
    return rating


@dataclass(frozen=True, slots=True)
class _RatedRow:
    """A row of a file. line: number of its first line in the file, from 1."""

    path: Path
    line: int
    cells: dict[str, str]

    def cell(self, column: str) -> str:
        return self.cells[column].strip()

    def refuse(self, column: str, allowed: str, todo: str) -> NoReturn:
        found = self.cell(column) or "nothing"
        raise RatingError(
            f"{self.path}, line {self.line}, column {column}: found {found}; allowed: {allowed}.",
            safe=_SAFE,
            todo=todo,
        )


def _rows(path: Path) -> Iterator[_RatedRow]:
    try:
        table = tables.read(files.content(path), padded=True)
        places = table.columns(NEEDED)
        for line, cells in table.rows:
            yield _RatedRow(path, line, {column: cells[at] for column, at in places.items()})
    except OSError as error:
        raise RatingError(
            f"{path} cannot be read: {error.strerror or error}.",
            safe="No analysis was made.",
            todo=f"Give the path of a {SHEET} from an earlier analysis that a rater has filled "
            "in. Check the name and the folder.",
        ) from error
    except tables.TableError as error:
        raise RatingError(
            f"{path}: {error.what}.",
            safe=_SAFE,
            todo=f"{error.todo}. Rate a copy of {SHEET} and leave its first row as it is.",
        ) from error


def _plain(text: str) -> str:
    """A name without what programs change unasked: kind of composition, line ends, outer blanks."""
    return unicodedata.normalize("NFC", text).replace("\r\n", "\n").replace("\r", "\n").strip()


@dataclass(frozen=True, slots=True)
class DialEffects:
    """of: each dial's, in the order of the dials; empty if they are not known, and why_not says
    why."""

    of: tuple[DialEffect, ...] = ()
    why_not: str = ""


Measure = Callable[[LabelledModel], DialEffects]


def measure(model: LabelledModel) -> DialEffects:
    """Load the model and turn its dials (`representations.effects`)."""
    from labapp.models.representations.card import CARD
    from labapp.models.representations.package import find, load_package

    if len(model.cards) != 1:
        why = "several versions of it were used" if model.cards else "its hash was not recorded"
        return DialEffects(why_not=why)
    try:
        card = find(model.model) / CARD
        if sha256(files.content(card)).hexdigest() not in model.cards:
            return DialEffects(why_not="the model installed here under this id is different")
        decoder = load_package(model.model, "cpu")
    except ModelError as error:
        return DialEffects(why_not=error.what.rstrip("."))
    if len(decoder.space) != len(model.dials):
        return DialEffects(why_not="the model installed here has other sliders")
    from labapp.models.representations.effects import effects

    distances = {dial.distance for dial in model.dials}
    return DialEffects(effects(decoder, distances.pop() if len(distances) == 1 else None))


@dataclass(frozen=True, slots=True)
class NameAgreement:
    """Of two raters or more, over the names that can agree with another one.

    n : names. percent : of names on which all raters say the same, 0-100; None without names.
    kappa : Cohen's of two raters (Cohen 1960), Fleiss's of more (Fleiss 1971); None if it is
        undefined. low, high : its 95 % interval, percentiles of `DRAWS` bootstrap draws of names;
        None without kappa, or where it is undefined in more than half of the draws.
    undefined : draws in which kappa is undefined, left out of the interval. why_not : why there is
        no kappa.
    """

    raters: int
    n: int
    percent: float | None
    kappa: float | None
    low: float | None
    high: float | None
    undefined: int
    why_not: str = ""

    @property
    def name(self) -> str:
        return "Cohen's kappa" if self.raters == 2 else "Fleiss's kappa"


def agreement(says: Sequence[Sequence[bool]]) -> NameAgreement:
    """says: by rater what he or she says of each name, in one order; two raters or more."""
    votes = np.asarray(says, dtype=bool).reshape(len(says), -1)
    raters, n = votes.shape
    if n == 0:
        return NameAgreement(raters, 0, None, None, None, None, 0, "there is no name to agree on")
    percent = 100 * float(np.mean((votes == votes[0]).all(axis=0)))
    if (votes == votes[0, 0]).all():
        text = "consistent" if votes[0, 0] else "not consistent"
        why = f"every rater calls every name {text}, so that agreement by chance is certain"
        return NameAgreement(raters, n, percent, None, None, None, 0, why)
    # A draw of names is a draw of how many there are of each kind of votes.
    kinds, counts = np.unique(votes.T.astype(np.int64), axis=0, return_counts=True)
    alone = np.arange(len(kinds))
    ratings = Ratings(kinds, (False, True), alone, alone)
    measure = CohenKappa() if raters == 2 else FleissKappa()
    sums = measure.sums(ratings)
    kappa = float(measure.value(np.tensordot(counts, sums, 1)))
    drawn = resample(measure, sums, counts / n, n, DRAWS, SEED)
    defined = drawn[np.isfinite(drawn)]
    undefined = DRAWS - defined.size
    if undefined > DRAWS / 2:
        return NameAgreement(raters, n, percent, kappa, None, None, undefined)
    low, high = (float(end) for end in np.percentile(defined, [2.5, 97.5]))
    return NameAgreement(raters, n, percent, kappa, low, high, undefined)


@dataclass(frozen=True)
class LabelResults:
    """All names of an analysis. models: by study, then as the paper's tables list them; effects: of
    each of these; ratings: one per rater; agreement: where there are two raters or more. withheld:
    participants, by study, whose names a de-identified copy does not hold."""

    models: tuple[LabelledModel, ...]
    effects: tuple[DialEffects, ...]
    sheet: Sheet | None
    ratings: tuple[NameRatings, ...]
    agreement: NameAgreement | None
    withheld: dict[str, int]

    @property
    def studies(self) -> list[str]:
        """Those in which a dial was named, by id."""
        named = (model for model in self.models if any(dial.names for dial in model.dials))
        return sorted({model.study for model in named})

    def of_study(self, study: str) -> list[tuple[LabelledModel, DialEffects]]:
        both = zip(self.models, self.effects, strict=True)
        return [(model, effects) for model, effects in both if model.study == study]

    @cached_property
    def drawn(self) -> Mapping[str, Sequence[ReportFigure]]:
        """The figures by study, drawn once for the page and the files. matplotlib is loaded
        here."""
        from labapp.tasks.reconstruction.report.labels.figures import of_study

        return {study: of_study(study, self) for study in self.studies}

    def consistent(self, name: Name) -> bool | None:
        """Where every rater says so; None without raters."""
        if not self.ratings:
            return None
        return all(rating.says[name.id] for rating in self.ratings)

    def n_consistent(self, dial: LabelledDial) -> int | None:
        """Its names that count as consistent; None without raters."""
        return sum(map(bool, map(self.consistent, dial.names))) if self.ratings else None


def coverage(model: LabelledModel, dial: LabelledDial) -> float:
    """Share of the participants who saw the model that named the dial, 0-1."""
    return len(dial.people) / len(model.met) if model.met else 0.0


def count_covered(model: LabelledModel) -> int:
    return sum(coverage(model, dial) >= COVERED for dial in model.dials)


NOTHING = LabelResults((), (), None, (), None, {})


def find(
    counted: Tables, ratings: Sequence[Path] = (), measured: Measure = measure
) -> LabelResults:
    """counted: `Tables.included()`; ratings: files of raters; measured: gives the effects of a
    model's dials. Raises RatingError when a file does not fit the names, see `read_ratings`."""
    names = collect_names(counted)
    if not names.names:
        if ratings:
            raise RatingError(
                f"{ratings[0]} was given, but no session that counts contains slider names.",
                safe="No analysis was made.",
                todo="Leave --ratings out, or give the sessions that were rated.",
            )
        return NOTHING
    names, sheet = draw(names)
    says = read_ratings(ratings, sheet)
    together = None
    if len(says) > 1:
        open_ones = [line.name.id for line in sheet.lines if not line.alone]
        together = agreement([[rating.says[label] for label in open_ones] for rating in says])
    effects = tuple(measured(model) for model in names.models)
    return LabelResults(names.models, effects, sheet, says, together, names.withheld)
