"""Models of one's own: given another title, and removed. Shipped ones stay as they are."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

from labapp.base import durable, resources
from labapp.base.errors import LabappError, ModelError, NotFoundError, UsageError
from labapp.base.reading.values import steering_in
from labapp.models.concepts import card as concept_cards
from labapp.models.explanations import package as classifier_cards
from labapp.models.representations import card as cards
from labapp.models.representations import package
from labapp.models.representations.recipe import ID_PATTERN
from labapp.models.training import files
from labapp.record.events.lifecycle import SessionPlanned
from labapp.record.journal import sessions
from labapp.record.journal.read import payloads, read_rows
from labapp.study.plugins import registry

NAMED = 5
"""Sessions of a study that are named, of those that use a model."""
_FILES = (
    cards.CARD,
    classifier_cards.CARD,
    concept_cards.CARD,
    cards.TITLE,
    files.WEIGHTS,
    classifier_cards.WEIGHTS,
    concept_cards.ENCODER,
    concept_cards.PREDICTOR,
    concept_cards.CODES,
    concept_cards.INTERVENTION,
    files.GRAPH,
    files.LATENTS,
)


def own_folder(model: str) -> Path:
    """The folder of a model of one's own. Raises UsageError for a shipped model, NotFoundError
    if there is none of this id."""
    folder = resources.user_models() / model
    if re.fullmatch(ID_PATTERN, model):
        for card in package.KINDS:
            own = folder in package.places(model, card=card)
            if own and folder.resolve() != (resources.models() / model).resolve():
                return folder
            if package.places(model, resources.models(), card=card):
                raise UsageError(
                    f"The model {model} comes with labapp and cannot be changed.",
                    todo="Name one of your own models. `labapp models list` shows them.",
                )
    raise NotFoundError(
        f"There is no model {model!r} of your own in {resources.user_models()}.",
        todo="Give the id of a model. `labapp models list` shows them.",
    )


def set_title(model: str, title: str) -> str:
    """Call a model otherwise; gives the title as it is now. It is written beside the card, whose
    hash sessions know. Raises UsageError."""
    folder, words = own_folder(model), " ".join(title.split())
    if not words or len(words) > cards.LONGEST_TITLE or steering_in(words):
        raise UsageError(
            "A title must be a single line of text.",
            todo=f"Give one of 1 to {cards.LONGEST_TITLE} characters.",
        )
    durable.write(folder / cards.TITLE, f"{words}\n".encode())
    return words


def uses(model: str, data_root: Path) -> list[str]:
    """The sessions of a data folder and its pilots that have a model in their plan, a line for each
    study; and how many sessions cannot be read."""
    using: dict[tuple[str, str], list[str]] = defaultdict(list)
    unreadable: list[str] = []
    for root, kind in ((data_root, "sessions"), (resources.pilot_root(data_root), "pilots")):
        for study in sessions.study_folders(root):
            for folder in sessions.sessions_in(study):
                try:
                    if model in _models_of(folder):
                        using[study.name, kind].append(folder.name)
                except LabappError:
                    unreadable.append(f"{study.name}/{folder.name}")
    lines = [
        f"The study {study} uses it in {kind}, which could then no longer be resumed or replayed "
        f"here ({len(names)}): {_some(names)}."
        for (study, kind), names in using.items()
    ]
    if unreadable:
        lines.append(f"It is not known whether these use it: {_some(unreadable)}.")
    return lines or [f"No session in {data_root} uses it."]


def _models_of(folder: Path) -> set[str]:
    """The models and classifiers of a session's plan. Raises RecordError."""
    return {
        model
        for _, payload in payloads(read_rows(folder, (SessionPlanned.kind,), lenient=True))
        if isinstance(payload, SessionPlanned)
        for part in registry.read_known_parts(payload.plan)
        for model in (*part.models(), *(name for name, _ in part.classifiers()))
    }


def _some(names: list[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def remove(model: str) -> list[str]:
    """Delete a model of one's own; says what was done. Files that are no part of a model stay.

    Raises ModelError if that cannot be done.
    """
    folder = own_folder(model)
    try:
        # The card first: without it, what is left after a fault is no model.
        for name in _FILES:
            (folder / name).unlink(missing_ok=True)
        left = sorted(path.name for path in folder.iterdir())
        if not left:
            folder.rmdir()
            if not any(folder.parent.iterdir()):
                folder.parent.rmdir()
    except OSError as error:
        raise ModelError(
            f"{folder} could not be removed ({error.strerror}).",
            safe="What is left in it can no longer be used as a model.",
            todo="Delete the folder by hand.",
        ) from error
    lines = [f"removed: {model}"]
    return (
        [*lines, f"{folder} was not removed, because it also contains {', '.join(left)}."]
        if left
        else lines
    )
