"""Items and scores of questionnaires, and numbers of tables, by the names that a study gives them.

A study file is checked, registered and analysed by these names, and here alone is decided what one
stands for.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from math import inf
from typing import TYPE_CHECKING

from labapp.base.documents import format_path
from labapp.base.errors import StudyError
from labapp.study.flow import items_of
from labapp.study.instruments.instrument import resolve_scoring

if TYPE_CHECKING:
    from labapp.base.documents import Path_
    from labapp.study.instruments import Instrument, Item
    from labapp.study.loading import LoadedStudy

Called = tuple[str, str]
"""A questionnaire (empty for a table), and the name of one of its items, scores or numbers."""
Limits = tuple[float, float]


def is_called(measure: str, instrument: str, name: str) -> bool:
    """Whether the name of an item or score, alone or behind its questionnaire's and a dot, is that
    of this one."""
    of, dot, own = measure.rpartition(".")
    return own == name and (not dot or of == instrument)


def meanings(measure: str, known: Iterable[Called]) -> list[Called]:
    """What a name may stand for; a name is clear where that is one thing.

    A name without a dot is the number of a table where there is one, such as the mean of a score
    in each stage; the score itself is then named with its questionnaire.
    """
    possible = [each for each in dict.fromkeys(known) if is_called(measure, *each)]
    return [("", measure)] if ("", measure) in possible else possible


def several(measure: str, possible: Iterable[Called]) -> str:
    """That a name is not clear, in words."""
    return f"{measure!r} has several meanings: {' and '.join(map('.'.join, possible))}"


def resolve(
    loaded: LoadedStudy,
    place: Path_,
    measure: str,
    known: Iterable[Called],
    unknown: str,
    todo: str,
) -> Called:
    """The one thing that a name at a place of a study file stands for.

    unknown: what is wrong where it stands for nothing. Raises StudyError.
    """
    known = list(known)
    possible = meanings(measure, known)
    if len(possible) == 1:
        return possible[0]
    what = several(measure, possible) if possible else unknown
    if possible:
        todo = "Write the questionnaire, a dot and the name, or rename one of them."
    else:
        names = sorted({own for _, own in known} | {f"{of}.{own}" for of, own in known if of})
        near = difflib.get_close_matches(measure, names, 3)
        todo = f"Perhaps {' or '.join(near)}? {todo}" if near else todo
    raise StudyError.at(loaded.path, loaded.located.line(place), format_path(place), what, todo)


def has_unread(loaded: LoadedStudy) -> bool:
    """Whether a questionnaire could not be read. This is reported in its place, since it may
    contain names used elsewhere."""
    asked = {name for item in items_of(loaded.study.flow) for name in item.instruments()}
    files = (name.partition("instruments/") for name in loaded.files)
    asked |= {file.removesuffix(".yaml") for _, folder, file in files if folder}
    return not asked <= loaded.instruments.keys()


def items(loaded: LoadedStudy) -> dict[Called, Item]:
    """Every item of the questionnaires of a study's flow; of one with several values its parts."""
    return {
        (instrument.id, item_id): item
        for instrument in loaded.instruments.values()
        for item_id, item in instrument.parts().items()
    }


def scores(loaded: LoadedStudy) -> dict[Called, Limits]:
    """Every score of the questionnaires of a study's flow, and its lowest and highest value."""
    limits: dict[Called, Limits] = {}
    for instrument in loaded.instruments.values():
        scoring = resolve_scoring(instrument.planned_scores())
        if isinstance(scoring, str):
            limits |= _numeric_items(instrument)
        elif scoring is not None:
            limits |= {
                (instrument.id, name): (
                    -inf if score.low is None else score.low,
                    inf if score.high is None else score.high,
                )
                for name, score in scoring.items()
            }
    return limits


def numeric_items(loaded: LoadedStudy) -> dict[Called, Limits]:
    """Every item that is answered with a number, and the lowest and highest one."""
    limits: dict[Called, Limits] = {}
    for instrument in loaded.instruments.values():
        limits |= _numeric_items(instrument)
    return limits


def _numeric_items(instrument: Instrument) -> dict[Called, Limits]:
    own = ((item_id, item.bounds()) for item_id, item in instrument.parts().items())
    return {(instrument.id, name): ends for name, ends in own if ends is not None}


def with_items(measure: str, known: Iterable[Called], items: Iterable[Called]) -> list[Called]:
    """What an outcome can be called: numbers of tables and scores, and, where its name is none of
    these, items that are answered with a number."""
    known = list(known)
    return known if meanings(measure, known) else [*known, *items]
