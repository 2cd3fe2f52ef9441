"""What lies beside journals and says what they do not: the cards of bundles, and the study file of
older sessions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from labapp.documents import parse_yaml
from labapp.errors import LabappError, StudyError
from labapp.events import Event, Payload
from labapp.events.lifecycle import SessionPlanned
from labapp.journal.layout import SOURCEDATA, STUDY, study_files_of
from labapp.journal.opening import SessionPlace, bundle_tree
from labapp.journal.record import Record
from labapp.representations import card
from labapp.representations.card import ModelCard

MODELS = f"{SOURCEDATA}/models"
"""The folder of a bundle with the cards of its models."""


def know_bundled_cards(places: Iterable[SessionPlace]) -> None:
    """Take in the cards of the bundles among these, for models that are not installed here."""
    for path in dict.fromkeys(place.path for place in places if place.prefix):
        for model, model_card in bundled_cards(path).items():
            card.know(model, model_card)


def bundled_cards(bundle: Path) -> dict[str, ModelCard]:
    """The cards of a bundle that can be read, by the ids of their models."""
    tree = bundle_tree(bundle)
    if tree is None:
        return {}
    below = tree.below(MODELS)
    cards = {}
    for name in below.names():
        model, _, file = name.rpartition("/")
        if file != card.CARD:
            continue
        with TemporaryDirectory() as folder:
            (Path(folder) / card.CARD).write_bytes(below.read(name))
            try:
                cards[model] = card.read(Path(folder))
            except LabappError:
                continue  # of a newer version, or of a classifier
    return cards


def with_replicates(
    events: list[tuple[Event, Payload]], record: Record
) -> list[tuple[Event, Payload]]:
    """The events of a session; where its first one does not say which published study it repeats,
    as that of older ones does not, its copy of the study file does."""
    if not events or not isinstance(events[0][1], SessionPlanned) or events[0][1].replicates:
        return events
    repeated = study_document(record).get("replicates")
    if not isinstance(repeated, Mapping) or not repeated:
        return events
    event, planned = events[0]
    names = {str(key): str(value) for key, value in repeated.items()}
    return [(event, planned.__replace__(replicates=names)), *events[1:]]


def study_document(record: Record) -> Mapping[str, Any]:
    """A session's copy of its study file as it stands there; empty where there is none, or none
    that can be read: what a session needs of it to be analysed stands in its journal."""
    below = record.tree.below(STUDY)
    for name in study_files_of(below.names()):
        return _document(below.read(name))
    return {}


def title_of(record: Record) -> str | None:
    """The title of a session's study, as its copy of the study file has it; None for none."""
    title = study_document(record).get("title")
    return title if isinstance(title, str) else None


@lru_cache(maxsize=64)
def _document(content: bytes) -> Mapping[str, Any]:
    """Read once: the sessions of a study all have the same file."""
    try:
        document = parse_yaml(Path("study.yaml"), content).value
    except StudyError:
        return {}
    return document if isinstance(document, dict) else {}
