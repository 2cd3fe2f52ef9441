"""What lies beside journals and says what they do not: the cards of bundles, and the study file of
older sessions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

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
    below = record.tree.below(STUDY)
    for name in study_files_of(below.names())[:1]:
        if told := _replicates(below.read(name)):
            event, planned = events[0]
            return [(event, replace(planned, replicates=dict(told))), *events[1:]]
    return events


@lru_cache(maxsize=64)
def _replicates(content: bytes) -> tuple[tuple[str, str], ...]:
    try:
        study = parse_yaml(Path("study.yaml"), content).value
    except StudyError:
        return ()
    told = study.get("replicates") if isinstance(study, dict) else None
    if not isinstance(told, dict):
        return ()
    return tuple((str(key), str(value)) for key, value in told.items())
